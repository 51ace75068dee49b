//! `RECEIVE_INPUT`: what the person said, as hooks let it pass.

use serde_json::{Value, json};
use stud_contract_hook::Slot;
use stud_contract_meta::Result;

use super::{Work, misshapen};
use crate::session::{Input, blank};

/// Takes the input in. It is in the conversation already, and stays there as hooks leave it.
pub(super) async fn receive(work: &Work, input: &Input) -> Result<String> {
    match pass(work, input).await {
        Ok(text) if text == input.text => Ok(text),
        Ok(text) => {
            let revised = Some(text.clone());
            work.turn.revise_input(input.seq, revised).await?;
            Ok(text)
        }
        Err(end) => {
            // What may not pass is not said to the model in a later turn either.
            work.turn.revise_input(input.seq, None).await?;
            Err(end)
        }
    }
}

/// What hooks make of the input.
async fn pass(work: &Work, input: &Input) -> Result<String> {
    let mut text = input.text.clone();
    for slot in [Slot::ReceiveInputPre, Slot::ReceiveInputPost] {
        let payload = || {
            json!({
                "kind": "message",
                "content": text,
                "correlationId": work.turn.id(),
                "monotonicTs": input.seq.to_string(),
            })
        };
        let Some(mut passed) = work.pass(slot, payload).await? else {
            continue;
        };
        let content = passed.get_mut("content").map(Value::take);
        text = serde_json::from_value(content.unwrap_or_default())
            .map_err(|error| misshapen(slot, &error))?;
    }
    match text.trim() {
        "" => Err(blank()),
        trimmed => Ok(trimmed.to_owned()),
    }
}
