//! Going along a trail from its first record, and finding where it was changed.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use stud_diagnostics::{Diagnostic, codes, printable};
use stud_host_api::audit::AuditRecord;

use super::line::{self, GENESIS};
use super::reason::{LONGEST, Reason};
use super::sink::next_line;

/// Where a trail stops being the one that was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Broken {
    /// The line, from 1; 0 if there was none to read.
    pub line: u64,
    /// The number the record there claims to have.
    pub seq: Option<u64>,
    /// How many records before it are whole.
    pub whole: u64,
    /// What is wrong there.
    pub reason: Reason,
}

impl Broken {
    /// The same for people and programs: `Session/AuditTrailTorn` after a crash, `Session/AuditTrailUnavailable` if
    /// the file cannot be read, `Session/AuditTrailBroken` otherwise.
    pub fn diagnostic(&self, path: &Path) -> Diagnostic {
        let (code, message) = match &self.reason {
            Reason::Unreadable(why) => (
                &codes::AUDIT_TRAIL_UNAVAILABLE,
                format!("the audit trail cannot be read: {}", printable(why)),
            ),
            Reason::Torn { .. } => (
                &codes::AUDIT_TRAIL_TORN,
                format!("the audit trail ends in the middle of line {}", self.line),
            ),
            _ => (
                &codes::AUDIT_TRAIL_BROKEN,
                format!("the audit trail is broken at line {}", self.line),
            ),
        };
        let mut diagnostic = Diagnostic::error(code, message)
            .file(path)
            .with("line", self.line)
            .with("reason", self.reason.word())
            .with("wholeRecords", self.whole);
        if let Some(seq) = self.seq {
            diagnostic = diagnostic.with("seq", seq);
        }
        if !matches!(self.reason, Reason::Unreadable(_)) {
            diagnostic = diagnostic
                .note(self.reason.to_string())
                .note(match self.whole {
                    0 => "no record is before it".to_owned(),
                    1 => "the record before it is whole".to_owned(),
                    many => format!("the {many} records before it are whole"),
                });
        }
        match &self.reason {
            Reason::Unreadable(_) => diagnostic,
            Reason::Torn { .. } => diagnostic.help(
                "a crash or a full disk does this; stud moves the piece aside when the session is opened again",
            ),
            _ => diagnostic.help("keep the file as it is, and compare it with a backup"),
        }
    }
}

/// A trail that is the one that was written, up to where it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// How many records it has.
    pub records: u64,
    /// The hash of the last one, or [`GENESIS`].
    pub last_hash: String,
}

/// One line of a trail.
#[derive(Debug)]
pub struct Step {
    /// The line, from 1.
    pub line: u64,
    /// The number it claims to have.
    pub seq: Option<u64>,
    /// The hash it claims to have.
    pub hash: Option<String>,
    /// The hash it claims the record before it has.
    pub prev_hash: Option<String>,
    /// What it says, if that can be told.
    pub record: Option<AuditRecord>,
    /// What is wrong with it.
    pub reason: Option<Reason>,
}

/// The lines of a trail, each held against the one before it.
///
/// It continues after an invalid line, trusting that line's hash, so that everything can still be shown.
#[derive(Debug)]
pub struct Chain {
    reader: Option<BufReader<File>>,
    line: u64,
    /// The number and the hash to continue from, if the line before could be read.
    before: Option<(u64, String)>,
    session_id: Option<String>,
}

impl Chain {
    /// Starts at the first line.
    pub fn open(path: &Path) -> Result<Self, Broken> {
        let unreadable = |why: String| Broken {
            line: 0,
            seq: None,
            whole: 0,
            reason: Reason::Unreadable(why),
        };
        // Opening a pipe would wait for someone to write to it.
        match std::fs::metadata(path) {
            Err(error) => return Err(unreadable(error.to_string())),
            Ok(metadata) if !metadata.is_file() => {
                return Err(unreadable("it is not a file".to_owned()));
            }
            Ok(_) => {}
        }
        let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
        Ok(Self {
            reader: Some(BufReader::with_capacity(64 * 1024, file)),
            line: 0,
            before: Some((0, GENESIS.to_owned())),
            session_id: None,
        })
    }

    /// Every record has to belong to this session, instead of to that of the first one.
    #[must_use]
    pub fn of_session(mut self, session_id: &str) -> Self {
        self.session_id = Some(session_id.to_owned());
        self
    }

    fn check(&mut self, bytes: &[u8]) -> Step {
        let held = line::read(bytes);
        let due = self.before.take();
        let reason = held.reason.or_else(|| {
            let (last, hash) = due?;
            if held.seq != Some(last + 1) {
                Some(Reason::OutOfSequence { expected: last + 1 })
            } else if held.prev_hash.as_ref() != Some(&hash) {
                Some(Reason::Unchained)
            } else {
                None
            }
        });
        let reason = reason.or_else(|| {
            let found = &held.record.as_ref()?.session_id;
            let session_id = self.session_id.get_or_insert_with(|| found.clone());
            (session_id != found).then(|| Reason::OtherSession {
                found: found.clone(),
            })
        });
        self.before = held.seq.zip(held.hash.clone());
        Step {
            line: self.line,
            seq: held.seq,
            hash: held.hash,
            prev_hash: held.prev_hash,
            record: held.record,
            reason,
        }
    }

    /// The last step: nothing can be read behind it.
    fn end(&mut self, reason: Reason) -> Step {
        self.reader = None;
        Step {
            line: self.line,
            seq: None,
            hash: None,
            prev_hash: None,
            record: None,
            reason: Some(reason),
        }
    }
}

impl Iterator for Chain {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let read = next_line(self.reader.as_mut()?);
        self.line += 1;
        Some(match read {
            Ok(None) => return None,
            Err(error) => self.end(Reason::Unreadable(error.to_string())),
            Ok(Some((bytes, true))) => self.check(&bytes),
            Ok(Some((bytes, false))) if bytes.len() as u64 > LONGEST => self.end(Reason::TooLong),
            Ok(Some((bytes, false))) => self.end(Reason::Torn {
                bytes: bytes.len() as u64,
            }),
        })
    }
}

/// Goes along a whole trail, and stops where it is not the one that was written.
pub fn verify(path: &Path) -> Result<Verified, Broken> {
    verify_each(Chain::open(path)?, |_, _| {})
}

/// The same, showing the number and the hash of every record on the way.
pub fn verify_each(chain: Chain, mut see: impl FnMut(u64, &str)) -> Result<Verified, Broken> {
    verify_steps(chain, |step| {
        if let (Some(seq), Some(hash)) = (step.seq, &step.hash) {
            see(seq, hash);
        }
    })
}

/// The same, showing every record on the way.
pub fn verify_steps(chain: Chain, mut see: impl FnMut(&Step)) -> Result<Verified, Broken> {
    let mut verified = Verified {
        records: 0,
        last_hash: GENESIS.to_owned(),
    };
    for step in chain {
        if let Some(reason) = step.reason {
            return Err(Broken {
                line: step.line,
                seq: step.seq,
                whole: verified.records,
                reason,
            });
        }
        see(&step);
        if let (Some(_), Some(hash)) = (step.seq, step.hash) {
            verified.last_hash = hash;
        }
        verified.records += 1;
    }
    Ok(verified)
}
