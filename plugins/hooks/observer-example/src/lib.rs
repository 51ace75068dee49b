//! `observer-example`: writes down how long tool calls take, and tells of slow ones.
//!
//! An example of an observer. What it sees it keeps in its state slot, so that it is there again when the session is
//! resumed. It changes nothing, and when it fails the turn continues.
#![forbid(unsafe_code)]

mod journal;

use stud_sdk::prelude::*;

use journal::{Call, Calls, Journal};

/// The id, which is also the name of the state slot.
const ID: &str = "observer-example";

/// What is looked for.
#[derive(Config)]
struct Options {
    /// Whether it is enabled; off by default.
    #[stud(default = false)]
    #[expect(dead_code, reason = "core reads it")]
    enabled: bool,
    /// A call that takes more milliseconds than this is slow.
    #[stud(default = 5000, min = 1)]
    slow_tool_threshold_ms: u64,
}

/// A tool call took longer than it should.
#[derive(Schema)]
struct SlowTool {
    /// The tool.
    tool_id: String,
    /// The call.
    invocation_id: String,
    /// How many milliseconds it took.
    duration_ms: u64,
    /// From how many on a call is slow.
    threshold: u64,
}

/// Keeps a record of tool calls, and publishes an event for each slow one.
#[hook(
    id = "observer-example",
    slot = "TOOL_CALL/post",
    firing_mode = "per-call",
    config = Options,
    init = ObserverExample::new,
    events(SlowTool),
    state_slot(version = "1.0.0", schema = Calls)
)]
struct ObserverExample {
    options: Options,
    journal: Journal,
}

impl ObserverExample {
    #[expect(clippy::unnecessary_wraps, reason = "the attribute takes it as it is")]
    fn new(_host: Host, options: Options) -> Result<Self> {
        Ok(Self {
            options,
            journal: Journal::default(),
        })
    }
}

impl Observer for ObserverExample {
    async fn observe(&self, payload: &Value, cx: &Cx) -> Result<()> {
        let seen = Call::seen(payload);
        let threshold = self.options.slow_tool_threshold_ms;
        if seen.duration_ms > threshold {
            let slow = SlowTool {
                tool_id: seen.tool_id.clone(),
                invocation_id: seen.invocation_id.clone(),
                duration_ms: seen.duration_ms,
                threshold,
            };
            cx.publish("SlowTool", &slow)?;
        }
        self.journal.add(seen, cx).await
    }
}

#[cfg(test)]
mod tests;
