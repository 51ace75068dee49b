//! Audit records on their way to the disk: soon after they are written, and many at a time.

use std::sync::{Arc, Weak};
use std::time::Duration;

use stud_host_api::audit::AuditRecord;
use stud_host_api::metrics::DiagnosticItem;

use crate::audit::CORE;
use crate::executor;
use crate::recorder::{Listener, PluginLog, Recorder};
use crate::sync::{Mutex, lock};
use crate::timer::{Alarm, Timer};

/// A record is safe against the loss of power within this time.
const SYNC_WITHIN: Duration = Duration::from_millis(50);

/// Hears of every audit record, and sees to it that the disk has it before long.
pub(super) struct AuditSync {
    books: Weak<Recorder>,
    timer: Arc<dyn Timer>,
    /// Rings when what was written has to be made safe.
    pending: Arc<Mutex<Option<Alarm>>>,
}

impl AuditSync {
    pub(super) fn of(books: &Arc<Recorder>, timer: &Arc<dyn Timer>) -> Self {
        Self {
            books: Arc::downgrade(books),
            timer: timer.clone(),
            pending: Arc::default(),
        }
    }
}

impl Listener for AuditSync {
    fn ext_id(&self) -> &str {
        CORE
    }

    fn hear_audit(&self, _: &AuditRecord) {
        let mut pending = lock(&self.pending);
        if pending.is_some() {
            return;
        }
        let (books, rung) = (self.books.clone(), self.pending.clone());
        let sync = move || {
            // What is written from here on needs another alarm.
            drop(lock(&rung).take());
            let books = books.upgrade();
            if let Some(trail) = books.as_ref().and_then(|books| books.trail.as_ref()) {
                // A trail that cannot be synced accepts no more records, and the next writer gets the error.
                let _ = trail.sync();
            }
        };
        // The disk may take its time, and others wait for the clock.
        let job = Box::new(move || executor::spawn(sync));
        *pending = Some(self.timer.after(SYNC_WITHIN, job));
    }

    fn hear_diagnostic(&self, _: &DiagnosticItem) {}

    fn hear_log(&self, _: &PluginLog) {}
}
