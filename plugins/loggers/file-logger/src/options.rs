//! What the user can set, and what follows from it.

use std::path::PathBuf;

use stud_sdk::logger::Severity;
use stud_sdk::{Class, Config, Error, Host, Result};

use crate::place::Place;
use crate::rotation::Rotation;

/// A file in stud's own folder is not rotated by other programs, so its size is limited.
const DEFAULT_ROTATE_AT_BYTES: u64 = 2 * 1024 * 1024;

/// How many files are kept that were set aside, beside one that the user named and beside that of a session.
const DEFAULT_KEPT: usize = 5;
const DEFAULT_KEPT_OF_SESSION: usize = 10;

/// What the user can set.
#[derive(Debug, Config)]
pub(crate) struct Options {
    /// The file to write to; `logs/session-<sessionId>.jsonl` below stud's global folder when left out. `~/` is the
    /// home folder.
    #[stud(min_length = 1, max_length = 4096)]
    path: Option<PathBuf>,
    /// Nothing that matters less is kept.
    #[stud(default = "info", values("trace", "debug", "info", "warn", "error"))]
    level: String,
    /// Whether what looks like a secret is taken out of events and diagnostics. Has to stay true while the level is
    /// `debug` or `trace`.
    #[stud(default = true)]
    redact_secrets: bool,
    /// A file that would grow beyond this many bytes is set aside, and a new one begun. Without it, the file that
    /// `path` names never is, and that of a session is at 2 MiB.
    #[stud(min = 1)]
    rotate_at_bytes: Option<u64>,
    /// How many files that were set aside are kept: 5 of the file that `path` names and 10 of a session's when left
    /// out.
    #[stud(max = 1024)]
    max_rotated_files: Option<usize>,
}

/// The options, made fit for use.
#[derive(Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) level: Severity,
    pub(crate) redacts_secrets: bool,
    pub(crate) place: Place,
    pub(crate) rotation: Option<Rotation>,
}

impl Options {
    /// Makes the options fit for use, or says what is wrong with them.
    pub(crate) fn settle(self, host: &Host) -> Result<Settings> {
        let level = lowered(named_level(&self.level)?, host);
        if level < Severity::Info && !self.redact_secrets {
            let why = format!(
                "`redactSecrets` is false while the level is `{level}`: set it to true, or raise the level"
            );
            return Err(violation("/redactSecrets", why));
        }
        let at_bytes = match (&self.path, self.rotate_at_bytes) {
            (None, None) => Some(DEFAULT_ROTATE_AT_BYTES),
            (_, set) => set,
        };
        let keep = self.max_rotated_files.unwrap_or(match &self.path {
            Some(_) => DEFAULT_KEPT,
            None => DEFAULT_KEPT_OF_SESSION,
        });
        Ok(Settings {
            level,
            redacts_secrets: self.redact_secrets,
            place: match self.path {
                Some(path) => Place::named(path, host).ok_or_else(|| {
                    let why = "`path` begins with `~`, and `HOME` is not set: write the whole path";
                    violation("/path", why)
                })?,
                None => Place::PerSession,
            },
            rotation: at_bytes.map(|at_bytes| Rotation { at_bytes, keep }),
        })
    }
}

fn named_level(word: &str) -> Result<Severity> {
    severity(word).ok_or_else(|| {
        let why = format!(
            "`level` is none of {}",
            Severity::ALL.map(Severity::as_str).join(", ")
        );
        violation("/level", why)
    })
}

/// The level of a debugging session, where it keeps more than the config says.
fn lowered(level: Severity, host: &Host) -> Severity {
    let global = host.config().read_global("loggingLevel").ok();
    let global = global.as_ref().and_then(|word| severity(word.as_str()?));
    match global {
        Some(debugging @ (Severity::Trace | Severity::Debug)) => level.min(debugging),
        _ => level,
    }
}

fn severity(word: &str) -> Option<Severity> {
    Severity::ALL
        .into_iter()
        .find(|severity| severity.as_str() == word)
}

fn violation(field_path: &str, why: impl Into<String>) -> Error {
    Error::new(Class::Validation, "ConfigSchemaViolation", why).with("fieldPath", field_path)
}
