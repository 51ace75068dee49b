//! RENDER: the model's last words, written down and shown.

use serde_json::{Value, json};
use stud_contract_hook::Slot;
use stud_contract_meta::Result;

use super::{Work, misshapen};

/// Writes down what the model said, and only then shows it, once.
pub(super) async fn render(work: &Work, text: String) -> Result<String> {
    let shown = |text: &str| json!({"text": text, "correlationId": work.turn.id()});
    let slot = Slot::RenderPre;
    let text = match work.pass(slot, || shown(&text)).await? {
        None => text,
        Some(mut passed) => {
            let changed = passed.get_mut("text").map(Value::take);
            serde_json::from_value(changed.unwrap_or_default())
                .map_err(|error| misshapen(slot, &error))?
        }
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
