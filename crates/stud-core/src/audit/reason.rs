//! Why a line of an audit trail is not what was written.
use stud_diagnostics::printable;

/// No record is longer, in bytes.
pub(super) const LONGEST: u64 = 4 * 1024 * 1024;

/// Why a line is not the one that was written there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The file cannot be read.
    #[error("it cannot be read: {}", printable(.0))]
    Unreadable(String),
    /// It is no record at all.
    #[error("this is not a record: {}", printable(.0))]
    NotARecord(String),
    /// It is longer than any record.
    #[error("this is longer than any record, {LONGEST} bytes")]
    TooLong,
    /// Its members are not written in canonical form.
    #[error("this record is not in canonical form")]
    NotCanonical,
    /// Its hash is not the hash of what it says: the record was edited.
    #[error("this record was edited: its hash is that of another text")]
    Altered,
    /// Its number is not the next one: records were removed, added, or put in another order.
    #[error("record {expected} should be here: records were removed, added or moved")]
    OutOfSequence {
        /// The number that was due.
        expected: u64,
    },
    /// It does not hold the hash of the record before it: that one, or this one, was put in another's place.
    #[error("this record does not follow from the one before it: one of the two was replaced")]
    Unchained,
    /// It belongs to another session.
    #[error("this record belongs to session `{}`", printable(found))]
    OtherSession {
        /// The session it belongs to.
        found: String,
    },
    /// The file ends before the line does, as after a crash. This is not a sign of tampering.
    #[error("the last record was not written to its end; {bytes} bytes of it are here")]
    Torn {
        /// How much of the record is there.
        bytes: u64,
    },
}

impl Reason {
    /// The word for programs.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::NotARecord(_) => "notARecord",
            Self::TooLong => "tooLong",
            Self::NotCanonical => "notCanonical",
            Self::Altered => "altered",
            Self::OutOfSequence { .. } => "outOfSequence",
            Self::Unchained => "unchained",
            Self::OtherSession { .. } => "otherSession",
            Self::Torn { .. } => "torn",
        }
    }
}
