//! What was seen, kept in the state slot.

use std::sync::{Mutex, MutexGuard, PoisonError};

use stud_sdk::host::session::SlotValue;
use stud_sdk::prelude::*;

/// The version of the slot's shape.
const VERSION: &str = "1.0.0";

/// How many calls are kept. A slot is written as a whole, so it must not grow with the session.
pub(crate) const MOST: usize = 1000;

/// What the slot holds.
#[derive(Schema, Default, Clone)]
pub(crate) struct Calls {
    /// The latest calls, oldest first.
    invocations: Vec<Call>,
}

/// One tool call.
#[derive(Schema, Clone)]
pub(crate) struct Call {
    /// The tool.
    pub(crate) tool_id: String,
    /// The call.
    pub(crate) invocation_id: String,
    /// What was approved; nothing for a tool that needs no approval.
    approval_key: Option<String>,
    /// When it began.
    started_at: String,
    /// When it ended.
    ended_at: String,
    /// How many milliseconds lay between.
    pub(crate) duration_ms: u64,
}

impl Call {
    /// What a payload of `TOOL_CALL/post` tells.
    pub(crate) fn seen(payload: &Value) -> Self {
        let text = |name: &str| payload[name].as_str().map(str::to_owned);
        Self {
            tool_id: text("toolName").unwrap_or_default(),
            invocation_id: text("toolCallId").unwrap_or_default(),
            approval_key: text("approvalKey"),
            started_at: text("startedAt").unwrap_or_default(),
            ended_at: text("endedAt").unwrap_or_default(),
            duration_ms: payload["durationMs"].as_u64().unwrap_or_default(),
        }
    }
}

/// The slot, with one writer at a time.
///
/// Tools run at the same time, and so do the observers of their results. Two that read the slot, add to it and write it
/// back would lose each other's calls. So each leaves its call here, and the first without a writer becomes the writer and writes
/// until nothing is left.
#[derive(Default)]
pub(crate) struct Journal(Mutex<Desk>);

#[derive(Default)]
struct Desk {
    /// What is in the slot; nothing before it was read.
    kept: Option<Calls>,
    waiting: Vec<Call>,
    is_taken: bool,
}

impl Journal {
    /// Adds a call. It is in the slot when this returns, or another thread is about to put it there.
    pub(crate) async fn add(&self, call: Call, cx: &Cx) -> Result<()> {
        {
            let mut desk = self.desk();
            desk.waiting.push(call);
            if desk.is_taken {
                return Ok(());
            }
            desk.is_taken = true;
        }
        let mut writer = Writer(Some(self));
        let slot = cx.host().session().state_slot(super::ID)?;
        if self.desk().kept.is_none() {
            let stored = slot.read().await?.map(|stored| stored.data);
            let stored = stored.and_then(|data| serde_json::from_value(data).ok());
            self.desk().kept = Some(stored.unwrap_or_default());
        }
        while let Some(data) = self.next()? {
            let slot_version = VERSION.to_owned();
            slot.write(SlotValue { slot_version, data }).await?;
        }
        writer.0 = None;
        Ok(())
    }

    /// The slot with everything that waits, or nothing if nothing does.
    fn next(&self) -> Result<Option<Value>> {
        let mut desk = self.desk();
        if desk.waiting.is_empty() {
            // Under the same lock as the look, or a call could be left between the two.
            desk.is_taken = false;
            return Ok(None);
        }
        let waiting = std::mem::take(&mut desk.waiting);
        let kept = &mut desk.kept.get_or_insert_default().invocations;
        kept.extend(waiting);
        let surplus = kept.len().saturating_sub(MOST);
        kept.drain(..surplus);
        serde_json::to_value(&desk.kept)
            .map(Some)
            .map_err(Error::failed)
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leaves the desk to the next one when writing failed or was given up halfway.
struct Writer<'a>(Option<&'a Journal>);

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if let Some(journal) = self.0 {
            journal.desk().is_taken = false;
        }
    }
}
