//! What goes wrong here, in the three codes that core acts on.

use std::io;
use std::path::Path;

use stud_sdk::{Class, Error, Result, Value};

/// The place is out of reach, full, held by another writer, or has no such session.
const STORE_UNAVAILABLE: &str = "StoreUnavailable";

/// What is stored is not what this store writes.
const MANIFEST_DRIFT: &str = "ManifestDrift";

/// Another store wrote it.
const RESUME_MISMATCH: &str = "ResumeMismatch";

/// Why the store is unavailable, for programs; it stands in the context as `reason`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The operating system said no.
    Io,
    /// Another writer has the session.
    Locked,
    /// A sync failed, so the state of the disk is unknown.
    Poisoned,
    /// A batch does not continue where the journal ends.
    OutOfOrder,
    /// There is no session of that id.
    NoSession,
    /// The id or a configured folder cannot be a name.
    BadName,
    /// The plugin was disposed of.
    Closed,
}

impl Reason {
    fn as_str(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Locked => "locked",
            Self::Poisoned => "poisoned",
            Self::OutOfOrder => "outOfOrder",
            Self::NoSession => "noSession",
            Self::BadName => "badName",
            Self::Closed => "closed",
        }
    }
}

/// `Session/StoreUnavailable`.
pub(crate) fn unavailable(reason: Reason, message: impl Into<String>) -> Error {
    Error::new(Class::Session, STORE_UNAVAILABLE, message).with("reason", reason.as_str())
}

/// `Session/ManifestDrift`, with the file at fault.
pub(crate) fn drift(path: &Path, message: impl Into<String>) -> Error {
    Error::new(Class::Session, MANIFEST_DRIFT, message).with("path", text(path))
}

/// `Session/ResumeMismatch`.
pub(crate) fn mismatch(manifest_store_id: &str, active_store_id: &str) -> Error {
    let message = format!(
        "the session was written by the store `{manifest_store_id}`, and `{active_store_id}` is active"
    );
    Error::new(Class::Session, RESUME_MISMATCH, message)
        .with("manifestStoreId", manifest_store_id)
        .with("activeStoreId", active_store_id)
}

/// `Session/StoreUnavailable`, because the disk said no. `doing` completes "cannot …".
pub(crate) fn disk(doing: &str, path: &Path, error: &io::Error) -> Error {
    let message = format!("cannot {doing} {}: {error}", path.display());
    unavailable(Reason::Io, message).with("path", text(path))
}

/// Says where an operation of the disk failed, and which one.
pub(crate) trait At<T> {
    /// `doing` completes "cannot …".
    fn at(self, doing: &str, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, doing: &str, path: &Path) -> Result<T> {
        self.map_err(|error| disk(doing, path, &error))
    }
}

fn text(path: &Path) -> Value {
    Value::from(path.to_string_lossy())
}
