//! What an approval of a call covers: any task for a subagent of this model and depth with these tools.

use stud_sdk::prelude::*;

use crate::call::Call;

/// The key, from arguments that core has checked. The task is not in it.
pub(crate) fn of(call: &Call) -> Result<String> {
    let depth = call.settled_depth()?;
    let unsettled = || {
        let why = "`delegate` was called with arguments that core has not checked: `model` is not settled";
        Error::invalid_input(why).with("fieldPath", "/model")
    };
    let model = call.task.model.as_ref().ok_or_else(unsettled)?;
    let provider = model.provider_id.as_deref().ok_or_else(unsettled)?;
    let mut tools = call.task.requested_envelope.clone();
    tools.sort_unstable();
    tools.dedup();
    Ok(format!(
        "delegate:provider={provider}:model={}:depth={depth}:envelope={}",
        model.model_id,
        tools.join("+")
    ))
}
