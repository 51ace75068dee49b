//! `/compact`: makes room for what is to come.
#![forbid(unsafe_code)]

use stud_sdk::command::{Args, Rendered, command};
use stud_sdk::host::context::{Compacted, Compacting};
use stud_sdk::{Class, Config, Cx, CxExt as _, Result, json};

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
    let goals = match input.percent {
        Some(percent) => vec![percent],
        None => goals(cx.host().metrics().snapshot()?.context.percent),
    };
    let compacted = reach_one(cx, &goals, options.preserve_recent_turns).await?;
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

/// Tries one goal after the other until one can be reached.
async fn reach_one(cx: &Cx, goals: &[u32], preserve_recent_turns: u32) -> Result<Compacted> {
    let (last, others) = goals.split_last().unwrap_or((&LEISURELY, &[]));
    let compact = |target_utilization_percent| {
        let how = Compacting {
            target_utilization_percent,
            preserve_recent_turns,
        };
        cx.host().context().compact(how)
    };
    for goal in others {
        match compact(*goal).await {
            Err(error) if error.is(Class::Validation, "ContextOverflow") => {}
            outcome => return outcome,
        }
    }
    compact(*last).await
}

/// A goal that a conversation only misses when there is no room left.
const LEISURELY: u32 = 80;

/// Half of what is taken up now, or three quarters if the last turns alone are longer than that. What is besides the
/// conversation cannot be summarized; a conversation that is short beside it may stay as it is.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the numbers are between 1 and 75"
)]
fn goals(percent: Option<f64>) -> Vec<u32> {
    let percent = percent.unwrap_or_default().clamp(0.0, 100.0);
    let mut goals: Vec<u32> = [0.5, 0.75]
        .map(|part| (percent * part).max(1.0) as u32)
        .into();
    goals.push(LEISURELY);
    goals.dedup();
    goals
}

#[cfg(test)]
mod tests {
    use stud_sdk::Error;
    use stud_sdk::host::metrics::RuntimeSnapshot;
    use stud_sdk::testing::{FakeHost, Harness};

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
        let tried = host.compactions().into_iter();
        let tried: Vec<u32> = tried.map(|how| how.target_utilization_percent).collect();
        assert_eq!(tried, [1, 80]);
    }
}
