//! A logger that writes one JSON object per line to a file.
//!
//! ```json
//! {"ts":"2026-01-01T00:00:00.000Z","kind":"event","sev":"info","name":"SessionTurnStart","sessionId":"…","correlationId":"…","payload":{}}
//! ```
//!
//! A record goes to the operating system before `sink` returns, so nothing waits in memory for `deactivate` and a
//! killed process loses nothing. A failure is `Session/StoreUnavailable`; the next record tries again.
#![forbid(unsafe_code)]

mod secret;
mod payload;
mod line;
mod stamp;
mod rotation;
mod log_file;
mod place;
mod options;

use std::sync::{Mutex, MutexGuard, PoisonError};

use stud_sdk::logger::{Logger, Record, logger};
use stud_sdk::{Cx, Host, Result};

use log_file::LogFile;
use options::{Options, Settings};

/// Writes records to a file, one JSON object per line.
#[logger(
    id = "file-logger",
    title = "File logger",
    accepts(events, audit, diagnostics),
    min_severity = "trace",
    config = Options,
    init = FileLogger::new,
    deactivate = FileLogger::flush,
    dispose = FileLogger::flush,
    reload = "in-turn"
)]
struct FileLogger {
    settings: Settings,
    desk: Mutex<Desk>,
}

/// What one writer at a time has in hand.
#[derive(Default)]
struct Desk {
    /// Known from the first record on: without a session there may be nothing to name the file after.
    log: Option<LogFile>,
    /// The line being written, kept for the next one.
    line: String,
}

/// A line longer than this gives its memory back.
const USUAL_LINE_BYTES: usize = 64 * 1024;

impl FileLogger {
    fn new(host: Host, options: Options) -> Result<Self> {
        Ok(Self {
            settings: options.settle(&host)?,
            desk: Mutex::default(),
        })
    }

    /// Brings what was written to the disk, and closes the file.
    fn flush(&self) -> Result<()> {
        match &mut self.desk().log {
            Some(log) => log.close(),
            None => Ok(()),
        }
    }

    /// A writer that panicked left nothing half done: every line begins with an empty buffer.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Logger for FileLogger {
    async fn sink(&self, mut record: Record, cx: &Cx) -> Result<()> {
        let Settings {
            level,
            redacts_secrets,
            place,
            rotation,
        } = &self.settings;
        if record.severity < *level {
            return Ok(());
        }
        payload::prepare(&mut record, *redacts_secrets);
        let session_id = place::session_of(cx);

        let mut desk = self.desk();
        let Desk { log, line } = &mut *desk;
        let log = match log {
            Some(log) => log,
            None => log.insert(LogFile::new(place.path(cx)?, *rotation)),
        };
        line::write(line, record, session_id);
        let written = log.append(line);
        line.shrink_to(USUAL_LINE_BYTES);
        written
    }
}

#[cfg(test)]
mod tests;
