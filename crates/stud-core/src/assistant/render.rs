//! RENDER: the model's last words, written down and shown.

use serde_json::{Value, json};
use stud_contract_hook::Slot;
use stud_contract_meta::Result;

use super::Work;

/// Writes down what the model said, and only then shows it, once.
pub(super) async fn render(work: &Work, text: String) -> Result<String> {
    let shown = |text: &str| json!({"text": text, "correlationId": work.turn.id()});
    let passed = work.pass(Slot::RenderPre, || shown(&text)).await?;
    let changed = passed.and_then(|mut passed| passed.get_mut("text").map(Value::take));
    let text = match changed {
        Some(Value::String(changed)) => changed,
        _ => text,
    };
    let payload = json!({"text": text});
    work.turn
        .record("assistant_message", Some("assistant"), payload)
        .await?;
    work.turn.publish(
        "TurnRendered",
        &json!({"turnId": work.turn.id(), "text": text}),
    );
    work.pass(Slot::RenderPost, || shown(&text)).await?;
    Ok(text)
}
