//! Telling people that a journal was cut.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use serde_json::{Map, Value};
use stud_sdk::host::audit::AuditEvent;
use stud_sdk::time::sleep;
use stud_sdk::{Cx, HostExt as _, Schema};

use crate::journal::Cut;

/// The timeout of the audit trail. A writer of records must not wait for it for long, least of all if writing the
/// trail waits for that record.
const PATIENCE: Duration = Duration::from_secs(1);

/// The end of a journal was not whole and has been cut off.
#[derive(Schema)]
pub(crate) struct JournalTornTail {
    /// The session.
    session_id: String,
    /// How many bytes were cut off.
    dropped_bytes: u64,
    /// How many whole records were among them, none of them acknowledged as safe.
    dropped_records: u64,
    /// The last record that is left; none if there is none.
    last_seq: Option<u64>,
    /// The file that has the bytes now.
    kept_in: String,
}

impl JournalTornTail {
    pub(crate) fn of(session_id: &str, cut: &Cut) -> Self {
        Self {
            session_id: session_id.to_owned(),
            dropped_bytes: cut.bytes,
            dropped_records: cut.records,
            last_seq: cut.last_seq,
            kept_in: cut.kept_in.to_string_lossy().into_owned(),
        }
    }

    /// Publishes it and puts it on record, as far as the host can do either now.
    ///
    /// The journal is repaired whether or not the event is delivered, so a failure here is ignored.
    pub(crate) async fn tell(&self, cx: &Cx) {
        let _ = cx.publish("JournalTornTail", self);
        let Ok(Value::Object(payload)) = serde_json::to_value(self) else {
            return;
        };
        let recorded = cx.host().audit().record(event(payload));
        let mut recorded = pin!(recorded);
        let mut late = pin!(sleep(PATIENCE));
        poll_fn(|task| {
            if recorded.as_mut().poll(task).is_ready() {
                return Poll::Ready(());
            }
            late.as_mut().poll(task)
        })
        .await;
    }
}

fn event(payload: Map<String, Value>) -> AuditEvent {
    AuditEvent {
        class: "JournalTornTail".to_owned(),
        kind: None,
        payload,
    }
}
