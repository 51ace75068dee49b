//! Lets the model have the conversation compacted.
#![forbid(unsafe_code)]

use jiff::Timestamp;
use stud_sdk::host::context::{Compacted, Compacting};
use stud_sdk::host::session::SlotValue;
use stud_sdk::tool::{Args, Output, Tool, tool};
use stud_sdk::{Class, Config, Cx, Error, Host, Result, Schema, json};

/// The code of a compaction that came to nothing usable.
const OUTPUT_MALFORMED: &str = "OutputMalformed";

/// The version of what is kept with the session.
const SLOT_VERSION: &str = "1.0.0";

const ID: &str = "context-compaction";

/// What the user can set.
#[derive(Debug, Clone, Copy, Config)]
struct Options {
    /// How much of the model's window may be taken up afterward, unless the model says otherwise.
    #[stud(default = 80, min = 0, max = 100)]
    default_target_utilization_percent: u32,
    /// How many turns stay word by word, unless the model says otherwise.
    #[stud(default = 2, min = 0)]
    default_preserve_recent_turns: u32,
    /// The timeout of a call in milliseconds. A model writes the summary, which takes longer than other tools
    /// may.
    #[stud(default = 600_000, min = 1)]
    #[expect(dead_code, reason = "stud keeps this time, and reads it in the schema")]
    timeout_ms: u64,
}

/// How far to compact.
#[derive(Debug, Clone, Copy, Args)]
struct Input {
    /// How much of the model's window may be taken up afterward, in percent.
    #[stud(min = 0, max = 100)]
    target_utilization_percent: Option<u32>,
    /// How many of the last turns stay word by word.
    #[stud(min = 0)]
    preserve_recent_turns: Option<u32>,
}

/// The numbers of the last time, as they are kept with the session.
#[derive(Schema)]
struct LastTime {
    /// How many pieces were summarized.
    compacted_segments: u64,
    /// What the conversation took up before.
    original_tokens: u64,
    /// What it took up afterward.
    compacted_tokens: u64,
    /// How much of the window was taken up afterward.
    new_utilization_percent: f64,
    /// When that was.
    persisted_at: String,
}

/// Puts a summary in the place of the oldest part of the conversation, to make room for what is to come.
#[tool(
    id = "context-compaction",
    name = "context-compaction",
    title = "Context compaction",
    config = Options,
    init = ContextCompaction::new,
    state_slot(version = "1.0.0", schema = LastTime)
)]
struct ContextCompaction(Options);

impl ContextCompaction {
    fn new(_host: Host, options: Options) -> Self {
        Self(options)
    }

    fn how(&self, input: Input) -> Result<Compacting> {
        let Options {
            default_target_utilization_percent: target,
            default_preserve_recent_turns: turns,
            ..
        } = self.0;
        let target = input.target_utilization_percent.unwrap_or(target);
        if target > 100 {
            let why = "`targetUtilizationPercent` is at most 100";
            let error = Error::new(Class::Validation, "ConfigSchemaViolation", why);
            return Err(error.with("fieldPath", "/targetUtilizationPercent"));
        }
        Ok(Compacting {
            target_utilization_percent: target,
            preserve_recent_turns: input.preserve_recent_turns.unwrap_or(turns),
        })
    }
}

impl Tool for ContextCompaction {
    type Args = Input;

    async fn execute(&self, input: Input, cx: &Cx) -> Result<Output> {
        if cx.is_cancelled() {
            let why = "the turn was cancelled";
            return Err(Error::new(Class::Cancellation, "TurnCancelled", why));
        }
        let how = self.how(input)?;
        let compacted = cx.host().context().compact(how).await;
        let compacted = compacted.map_err(failed).and_then(checked)?;
        keep(cx, &compacted).await?;
        Output::json(compacted)
    }

    fn approval_key(&self, _input: &Input) -> Result<String> {
        Ok(ID.to_owned())
    }
}

/// Whatever failed, the model can only continue without it; unless the turn was cancelled.
fn failed(error: Error) -> Error {
    if error.class() == Class::Cancellation.as_str() {
        return error;
    }
    let cause = format!("{}/{}", error.class(), error.code());
    malformed(&format!(
        "the conversation was not compacted: {}",
        error.message()
    ))
    .with("cause", cause)
}

fn checked(compacted: Compacted) -> Result<Compacted> {
    if compacted.compacted_segments > 0 && compacted.summary.trim().is_empty() {
        return Err(malformed("the summary is empty"));
    }
    Ok(compacted)
}

fn malformed(why: &str) -> Error {
    Error::new(Class::ToolTerminal, OUTPUT_MALFORMED, why)
}

/// Keeps the numbers, and nothing that was said.
async fn keep(cx: &Cx, compacted: &Compacted) -> Result<()> {
    let value = SlotValue {
        slot_version: SLOT_VERSION.to_owned(),
        data: json!({
            "compactedSegments": compacted.compacted_segments,
            "originalTokens": compacted.original_tokens,
            "compactedTokens": compacted.compacted_tokens,
            "newUtilizationPercent": compacted.new_utilization_percent,
            "persistedAt": format!("{:.3}", Timestamp::now()),
        }),
    };
    let write = async { cx.host().session().state_slot(ID)?.write(value).await };
    write.await.map_err(|error| {
        let why = format!("the numbers could not be kept: {}", error.message());
        let cause = format!("{}/{}", error.class(), error.code());
        Error::new(Class::Session, "StoreUnavailable", why).with("cause", cause)
    })
}

#[cfg(test)]
mod tests;
