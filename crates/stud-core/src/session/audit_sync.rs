//! Audit records on their way to the disk: soon after they are written, and many at a time.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use stud_host_api::audit::AuditRecord;
use stud_host_api::metrics::DiagnosticItem;

use crate::audit::{CORE, Index};
use crate::executor;
use crate::recorder::{Listener, PluginLog, Recorder};
use crate::sync::{AtomicBool, Mutex, lock};
use crate::timer::{Alarm, Timer};

/// A record is safe against the loss of power within this time.
const SYNC_WITHIN: Duration = Duration::from_millis(50);

/// Hears of every audit record, and sees to it that the disk has it before long.
pub(super) struct AuditSync {
    books: Weak<Recorder>,
    timer: Arc<dyn Timer>,
    index: Option<Index>,
    /// Whether a turn has ended whose end is not in the index.
    unindexed: Arc<AtomicBool>,
    /// Rings when what was written has to be made safe.
    pending: Arc<Mutex<Option<Alarm>>>,
}

impl AuditSync {
    pub(super) fn of(books: &Arc<Recorder>, timer: &Arc<dyn Timer>, index: Option<Index>) -> Self {
        Self {
            books: Arc::downgrade(books),
            timer: timer.clone(),
            index,
            unindexed: Arc::new(AtomicBool::new(false)),
            pending: Arc::default(),
        }
    }
}

impl Listener for AuditSync {
    fn ext_id(&self) -> &str {
        CORE
    }

    fn hear_audit(&self, record: &AuditRecord) {
        if matches!(record.kind.as_deref(), Some("TurnEnded" | "TurnError")) {
            self.unindexed.store(true, Ordering::Release);
        }
        let mut pending = lock(&self.pending);
        if pending.is_some() {
            return;
        }
        let (books, rung) = (self.books.clone(), self.pending.clone());
        let (index, unindexed) = (self.index.clone(), self.unindexed.clone());
        let sync = move || {
            // What is written from here on needs another alarm.
            drop(lock(&rung).take());
            let books = books.upgrade();
            if let Some(trail) = books.as_ref().and_then(|books| books.trail.as_ref()) {
                // A trail that cannot be synced accepts no more records, and the next writer gets the error.
                let _ = trail.sync();
                if let Some(index) = index.filter(|_| unindexed.swap(false, Ordering::AcqRel)) {
                    // The end of the session tries again, and tells if it cannot.
                    let _ = index.add_head(trail);
                }
            }
        };
        // The disk may take its time, and others wait for the clock.
        let job = Box::new(move || executor::spawn(sync));
        *pending = Some(self.timer.after(SYNC_WITHIN, job));
    }

    fn hear_diagnostic(&self, _: &DiagnosticItem) {}

    fn hear_log(&self, _: &PluginLog) {}
}
