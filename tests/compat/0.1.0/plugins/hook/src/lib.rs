//! A guard that denies tool calls by what is in their arguments.
#![forbid(unsafe_code)]

use stud_sdk::prelude::*;

/// What the operator sets.
#[derive(Config)]
struct Options {
    /// The word that no argument may have.
    #[stud(default = "forbidden")]
    word: String,
}

/// Denies tool calls with a certain word in their arguments.
#[hook(id = "frozen-hook", slot = "TOOL_CALL/pre", firing_mode = "per-call", config = Options, init = WordGuard::open)]
struct WordGuard {
    word: String,
}

impl WordGuard {
    fn open(_host: Host, options: Options) -> Self {
        Self { word: options.word }
    }
}

impl Guard for WordGuard {
    async fn guard(&self, payload: &Value, _cx: &Cx) -> Result<Verdict> {
        let args = payload["args"].to_string();
        Ok(if args.contains(&self.word) {
            Verdict::deny(format!("the frozen hook denies `{}`", self.word))
        } else {
            Verdict::Allow
        })
    }
}
