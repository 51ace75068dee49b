//! `/compact`: makes room for what is to come.
#![forbid(unsafe_code)]

use stud_sdk::command::{Args, Rendered, command};
use stud_sdk::host::context::Compacting;
use stud_sdk::{Config, Cx, CxExt as _, Result, json};

/// How far to compact.
#[derive(Config)]
struct Options {
    /// How many of the last turns stay word by word.
    #[stud(default = 2, min = 0)]
    preserve_recent_turns: u32,
}

/// What is typed after `/compact`.
#[derive(Args)]
struct Input {
    /// How much of the model's window may be taken up afterward; half of what is taken up now when it is left out.
    #[stud(min = 1, max = 100)]
    percent: Option<u32>,
}

/// Puts a summary in the place of the oldest part of the conversation.
#[command(id = "compact", name = "compact", category = "session", argument_hint = "[percent]", config = Options)]
async fn compact(input: Input, cx: &Cx) -> Result<Rendered> {
    let options: Options = cx.config()?;
    let target = match input.percent {
        Some(percent) => percent,
        None => half_of(cx.host().metrics().snapshot()?.context.percent),
    };
    let how = Compacting {
        target_utilization_percent: target,
        preserve_recent_turns: options.preserve_recent_turns,
    };
    let compacted = cx.host().context().compact(how).await?;
    let shown = if compacted.compacted_segments == 0 {
        format!(
            "The conversation is short enough: {} tokens, {:.1} % of the window. Nothing was changed.",
            compacted.original_tokens, compacted.new_utilization_percent
        )
    } else {
        format!(
            "Compacted from {} to {} tokens, now {:.1} % of the window.",
            compacted.original_tokens,
            compacted.compacted_tokens,
            compacted.new_utilization_percent
        )
    };
    Ok(Rendered::from(shown).with_payload(json!(compacted)))
}

/// Whole percents, and at least one: less than that is no conversation to compact.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is between 1 and 50"
)]
fn half_of(percent: Option<f64>) -> u32 {
    (percent.unwrap_or_default() / 2.0).clamp(1.0, 50.0) as u32
}

#[cfg(test)]
mod tests {
    use stud_sdk::host::context::Compacted;
    use stud_sdk::host::metrics::RuntimeSnapshot;
    use stud_sdk::testing::{FakeHost, Harness};
    use stud_sdk::{Class, Error};

    use super::*;

    fn run(host: &FakeHost, typed: &str) -> Result<Rendered> {
        Harness::new(stud_plugin(), host.clone()).command("compact", typed)
    }

    #[test]
    fn half_of_what_is_taken_up_is_the_goal() {
        let compacted = Compacted {
            compacted_segments: 1,
            original_tokens: 900,
            compacted_tokens: 300,
            new_utilization_percent: 30.25,
            ..Compacted::default()
        };
        let host = FakeHost::new().compacts(Ok(compacted));
        let mut snapshot = RuntimeSnapshot::default();
        snapshot.context.percent = Some(91.0);
        host.push_snapshot(snapshot);
        let shown = run(&host, "").unwrap();
        assert_eq!(
            shown.rendered,
            "Compacted from 900 to 300 tokens, now 30.2 % of the window."
        );
        assert_eq!(shown.payload.unwrap()["compactedSegments"], 1);
        run(&host, "10").unwrap();
        let goals: Vec<u32> = host
            .compactions()
            .iter()
            .map(|how| how.target_utilization_percent)
            .collect();
        assert_eq!(goals, [45, 10]);
    }

    #[test]
    fn a_short_conversation_stays() {
        let host = FakeHost::new();
        let shown = run(&host, "").unwrap();
        assert!(
            shown.rendered.contains("short enough"),
            "{}",
            shown.rendered
        );
        assert_eq!(host.compactions()[0].target_utilization_percent, 1);
    }

    #[test]
    fn what_the_host_says_is_passed_on() {
        let error = Error::new(Class::Validation, "ContextOverflow", "too long");
        let host = FakeHost::new().compacts(Err(error));
        assert_eq!(run(&host, "").unwrap_err().code(), "ContextOverflow");
    }
}
