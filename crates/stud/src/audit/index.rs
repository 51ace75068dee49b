//! What `stud audit verify` says of the index of heads.

use std::path::Path;

use serde::Serialize;
use stud_core::audit::{self, Heads, IndexFlaw};
use stud_diagnostics::{Diagnostic, codes};

use crate::output::Output;

/// What was found out about the index.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IndexReport {
    path: String,
    status: IndexStatus,
    /// How many entries are whole, from the first on.
    entries: u64,
    /// Whether there is a key to check seals with.
    keyed: bool,
    diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum IndexStatus {
    Absent,
    Whole,
    Unsealed,
    Broken,
}

impl IndexReport {
    pub(super) fn on(root: &Path, heads: &Heads, flaw: Option<IndexFlaw>, keyed: bool) -> Self {
        let path = audit::index_path(root);
        let (status, diagnostics) = match flaw {
            None if !heads.is_kept => (IndexStatus::Absent, Vec::new()),
            None => (IndexStatus::Whole, Vec::new()),
            Some(IndexFlaw::Broken(broken)) => {
                let told = broken.diagnostic(&path);
                (
                    IndexStatus::Broken,
                    vec![told.note("this is the index of the heads of all trails")],
                )
            }
            Some(IndexFlaw::Unsealed { line }) => {
                let message =
                    format!("line {line} of the index of audit trails has no seal of the key");
                let told = Diagnostic::error(&codes::AUDIT_TRAIL_BROKEN, message)
                    .file(&path)
                    .with("reason", "unsealed")
                    .with("line", line)
                    .note("it was written without the key that `audit.key` refers to, or with another one")
                    .help("keep the file as it is, and check that `audit.key` still refers to the same key");
                (IndexStatus::Unsealed, vec![told])
            }
        };
        Self {
            path: path.to_string_lossy().into_owned(),
            status,
            entries: heads.entries,
            keyed,
            diagnostics,
        }
    }

    pub(super) fn is_well(&self) -> bool {
        self.diagnostics.is_empty()
    }

    pub(super) fn show(&self, output: &Output) {
        let line = match self.status {
            IndexStatus::Absent => return,
            IndexStatus::Whole if self.keyed => {
                format!(
                    "the index of their heads is whole and sealed, {} entries",
                    self.entries
                )
            }
            IndexStatus::Whole => format!(
                "the index of their heads is whole, {} entries",
                self.entries
            ),
            IndexStatus::Unsealed => "the index of their heads is not sealed throughout".to_owned(),
            IndexStatus::Broken => "the index of their heads is broken".to_owned(),
        };
        output.line(if self.is_well() {
            output.dim(&line)
        } else {
            output.red(&line)
        });
        for diagnostic in &self.diagnostics {
            output.line("");
            output.show(diagnostic);
        }
    }
}
