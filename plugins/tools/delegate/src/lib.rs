//! `delegate`: opens a subagent, a session of its own with one task and the tools it may use for it.
//!
//! Core checks a call before it is judged (the task, the depth, the model, the tools, in this order) and hands on what
//! it settled: the model by name, the tools in order, and how deep the subagent is. A call that fails there has its
//! result already, and reaches neither a person nor this plugin.
#![forbid(unsafe_code)]

mod call;
mod key;

use stud_sdk::host::session::OpenChild;
use stud_sdk::prelude::*;

use call::Call;

/// How subagents are opened.
#[derive(Config)]
struct Options {
    /// How many milliseconds a subagent may take; 0 for as long as it needs.
    #[stud(default = 0, min = 0)]
    #[expect(dead_code, reason = "stud keeps this time, and reads it in the schema")]
    timeout_ms: u64,
    /// How deep subagents may be: 1 for those of the session itself, 2 for those that these open, 0 for none.
    #[stud(default = 1, min = 0)]
    #[expect(
        dead_code,
        reason = "stud checks the depth, and reads it in the schema"
    )]
    max_depth: u32,
}

/// Gives a task to a subagent: an assistant with a conversation of its own, which begins with nothing but `prompt`. It
/// may use the tools of `requestedEnvelope` without asking, and its last words are the result.
#[tool(id = "delegate", name = "delegate", config = Options, init = Delegate::new)]
struct Delegate;

impl Delegate {
    fn new(_host: Host, _options: Options) -> Self {
        Self
    }
}

impl Tool for Delegate {
    type Args = Call;

    async fn execute(&self, call: Call, cx: &Cx) -> Result<Output> {
        let depth = call.settled_depth()?;
        let Call { task, .. } = call;
        let outcome = cx
            .host()
            .session()
            .open_child(OpenChild {
                prompt: task.prompt,
                requested_envelope: task.requested_envelope,
                label: task.label,
                depth,
                model: task.model.map(Into::into),
            })
            .await?;
        Ok(Output::from(outcome.result()))
    }

    fn approval_key(&self, call: &Call) -> Result<String> {
        key::of(call)
    }
}

#[cfg(test)]
mod tests;
