//! `RECEIVE_INPUT`: what the person said, as hooks let it pass.

use serde_json::json;
use stud_contract_hook::Slot;
use stud_contract_meta::Result;

use super::Work;
use crate::session::Input;

/// Takes the input in. It is in the conversation already, and stays there as hooks leave it.
pub(super) async fn receive(work: &Work, input: &Input) -> Result<()> {
    let mut text = input.text.clone();
    for slot in [Slot::ReceiveInputPre, Slot::ReceiveInputPost] {
        let payload =
            || json!({"kind": "message", "content": text, "correlationId": work.turn.id()});
        let passed = match work.pass(slot, payload).await {
            Ok(passed) => passed,
            Err(denied) => {
                // What may not pass is not said to the model in a later turn either.
                work.turn.revise_input(input.seq, None).await?;
                return Err(denied);
            }
        };
        let content = passed.and_then(|mut passed| passed.get_mut("content").map(std::mem::take));
        if let Some(serde_json::Value::String(content)) = content {
            text = content;
        }
    }
    if text != input.text {
        work.turn.revise_input(input.seq, Some(text)).await?;
    }
    Ok(())
}
