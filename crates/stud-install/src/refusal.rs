//! The diagnostics of this crate.

use std::fmt::Display;
use std::path::Path;

use stud_diagnostics::{Diagnostic, codes};

/// The source holds no plugin that can be installed.
pub(crate) fn source_invalid(source: &Path, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(&codes::INSTALL_SOURCE_INVALID, message)
        .file(source)
        .with("source", source.to_string_lossy())
}

/// A file or folder of the installation could not be read or written.
pub(crate) fn unwritable(path: &Path, error: &impl Display) -> Diagnostic {
    let message = format!("the installation cannot be changed: {error}");
    Diagnostic::error(&codes::STARTUP_FAILURE, message)
        .file(path)
        .with("path", path.to_string_lossy())
        .help("check who owns the folder and whether the disk is full; what was installed before is unchanged")
}
