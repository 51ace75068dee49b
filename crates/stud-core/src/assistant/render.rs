//! RENDER: the model's last words, written down and shown.

use serde_json::{Value, json};
use stud_contract_hook::Slot;
use stud_contract_meta::Result;
use stud_host_api::events::TurnRendered;

use super::{Work, misshapen};

/// Writes down what the model said, and only then shows it, once.
pub(super) async fn render(work: &Work, text: String) -> Result<String> {
    let shown = |text: &str, at: u64| {
        json!({
            "text": text,
            "correlationId": work.turn.id(),
            "monotonicTs": at.to_string(),
        })
    };
    // What is not written down yet comes after everything that is.
    let next = work.turn.session().books().ledger.last_seq() + 1;
    let slot = Slot::RenderPre;
    let text = match work.pass(slot, || shown(&text, next)).await? {
        None => text,
        Some(mut passed) => {
            let changed = passed.get_mut("text").map(Value::take);
            serde_json::from_value(changed.unwrap_or_default())
                .map_err(|error| misshapen(slot, &error))?
        }
    };
    let payload = json!({"text": text});
    let seq = work
        .record("assistant_message", "assistant", payload)
        .await?;
    let rendered = TurnRendered {
        monotonic_ts: seq.to_string(),
        text,
        turn_id: work.turn.id().to_owned(),
    };
    work.turn.publish(&rendered);
    let text = rendered.text;
    work.pass(Slot::RenderPost, || shown(&text, seq)).await?;
    Ok(text)
}
