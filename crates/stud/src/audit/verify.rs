//! `stud audit verify`: whether trails are the ones that were written.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use stud_core::audit::{
    self, AuditedSession, Chain, GENESIS, Heads, Index, Mismatch, Reason, Verified,
};
use stud_core::plugin_scope::Scope;
use stud_core::redact::Redactor;
use stud_core::settings::Settings;
use stud_diagnostics::{Diagnostic, codes, printable};

use super::index::IndexReport;

use crate::cli::AuditVerify;
use crate::output::{Outcome, Output, Verdict, told};
use crate::setup;

pub(crate) fn run(asked: &AuditVerify, output: &Output) -> Verdict {
    let root = setup::places()?.global_root;
    let mut settings = Settings::default();
    // Trails are verified whatever state the settings are in; without them there is no key.
    let _ = settings.layer(Scope::Global, &root);
    let index = Index::of(&root, &settings, &Arc::new(Redactor::new())).map_err(told)?;
    let (heads, flaw) = audit::read_index(&root, index.seal());
    let kept = chosen(asked.session.as_deref(), &root, &heads)?;
    let reports: Vec<Report> = kept
        .iter()
        .map(|kept| {
            Report::on(
                kept,
                asked.expect.as_deref(),
                &heads,
                index.seal().is_some(),
            )
        })
        .collect();
    let index = IndexReport::on(&root, &heads, flaw, index.seal().is_some());
    let ok = index.is_well() && reports.iter().all(|report| report.diagnostics.is_empty());
    if output.is_json() {
        let mut document = serde_json::json!({ "ok": ok, "trails": reports });
        if heads.is_kept {
            document["index"] = serde_json::json!(index);
        }
        output.document(&document)?;
    } else {
        show(&reports, output);
        index.show(output);
    }
    Ok(if ok { Outcome::Done } else { Outcome::Refused })
}

/// The trails that are asked about: those that are there, and those that the index says should be.
fn chosen(
    word: Option<&str>,
    root: &Path,
    heads: &Heads,
) -> Result<Vec<AuditedSession>, Diagnostic> {
    let gone = |session_id: &str| AuditedSession {
        session_id: session_id.to_owned(),
        path: audit::trail(&audit::folder(root, session_id)),
    };
    let Some(word) = word else {
        let mut kept = audit::kept(root)?;
        let is_kept = |id: &str| kept.iter().any(|kept| kept.session_id == id);
        let missing: Vec<AuditedSession> = heads
            .sessions()
            .filter(|id| !is_kept(id))
            .map(gone)
            .collect();
        kept.extend(missing);
        kept.sort_by(|one, other| one.session_id.cmp(&other.session_id));
        return Ok(kept);
    };
    audit::find(root, word)
        .map(|kept| vec![kept])
        .or_else(|unknown| {
            let mut meant = heads.sessions().filter(|id| id.starts_with(word));
            match (meant.next(), meant.next()) {
                (Some(id), None) => Ok(vec![gone(id)]),
                _ => Err(unknown),
            }
        })
}

/// What was found out about one trail.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    session_id: String,
    path: String,
    status: Status,
    /// How many records are whole, from the first on.
    records: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_hash: Option<String>,
    /// The number of the record that has the expected hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_seq: Option<u64>,
    /// Whether the index knows of it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    indexed: Option<bool>,
    /// Whether the last entry about it in the index has a seal that fits; only with a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    sealed: Option<bool>,
    diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Whole,
    Torn,
    Broken,
    Missing,
    Unreadable,
}

impl Status {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Torn => "torn",
            Self::Broken => "broken",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
        }
    }
}

impl Report {
    fn on(kept: &AuditedSession, expected: Option<&str>, heads: &Heads, has_key: bool) -> Self {
        let id = &kept.session_id;
        let mut comparison = heads.comparison(id);
        // What a trail without records ends with is there before the first one.
        let mut expected_seq = (expected == Some(GENESIS)).then_some(0);
        let verified = Chain::open(&kept.path).and_then(|chain| {
            audit::verify_steps(chain.of_session(id), |step| {
                comparison.see(step);
                if expected.is_some() && expected == step.hash.as_deref() {
                    expected_seq = step.seq;
                }
            })
        });
        let report = Self {
            session_id: kept.session_id.clone(),
            path: kept.path.to_string_lossy().into_owned(),
            status: Status::Whole,
            records: 0,
            last_hash: None,
            expected_seq,
            indexed: heads.is_kept.then(|| heads.knows(id)),
            sealed: has_key.then(|| heads.is_sealed(id)),
            diagnostics: Vec::new(),
        };
        match verified {
            Err(_) if kept.path.symlink_metadata().is_err() => {
                let records = comparison.due().unwrap_or_default();
                Self {
                    status: Status::Missing,
                    diagnostics: vec![unlike(kept, &Mismatch::Missing { records })],
                    ..report
                }
            }
            Err(broken) => Self {
                status: match &broken.reason {
                    Reason::Torn { .. } => Status::Torn,
                    Reason::Unreadable(_) => Status::Unreadable,
                    _ => Status::Broken,
                },
                records: broken.whole,
                diagnostics: vec![broken.diagnostic(&kept.path)],
                ..report
            },
            Ok(verified) => {
                let missed = expected.filter(|_| expected_seq.is_none());
                let missed = missed.map(|hash| unexpected(kept, hash, &verified));
                let mismatch = comparison.end(verified.records);
                let mismatch = mismatch.map(|mismatch| unlike(kept, &mismatch));
                let diagnostics: Vec<Diagnostic> = missed.into_iter().chain(mismatch).collect();
                Self {
                    status: if diagnostics.is_empty() {
                        Status::Whole
                    } else {
                        Status::Broken
                    },
                    records: verified.records,
                    diagnostics,
                    last_hash: Some(verified.last_hash),
                    ..report
                }
            }
        }
    }
}

/// The trail is not the one whose head is in the index.
fn unlike(kept: &AuditedSession, mismatch: &Mismatch) -> Diagnostic {
    let message = "the audit trail is not the one whose head is in the index";
    Diagnostic::error(&codes::AUDIT_TRAIL_BROKEN, message)
        .file(&kept.path)
        .with("reason", mismatch.word())
        .with("sessionId", kept.session_id.as_str())
        .note(mismatch.to_string())
        .help("keep the file as it is, and compare it with a backup")
}

/// The trail is whole, and is not the one whose hash was noted.
fn unexpected(kept: &AuditedSession, hash: &str, verified: &Verified) -> Diagnostic {
    let message = "no record of the audit trail has the expected hash";
    Diagnostic::error(&codes::AUDIT_TRAIL_BROKEN, message)
        .file(&kept.path)
        .with("reason", "expectedHashMissing")
        .with("expected", hash)
        .with("lastHash", verified.last_hash.as_str())
        .with("wholeRecords", verified.records)
        .note("records were cut off its end, or the trail was written anew")
        .help("check that the hash was noted for this session")
        .help("keep the file as it is, and compare it with a backup")
}

fn show(reports: &[Report], output: &Output) {
    if reports.is_empty() {
        output.line("no session has an audit trail");
    }
    for report in reports {
        let status = format!("{:<10}", report.status.as_str());
        let status = match report.status {
            Status::Whole => output.green(&status),
            Status::Torn | Status::Broken | Status::Missing | Status::Unreadable => {
                output.red(&status)
            }
        };
        let records = match report.records {
            1 => "1 record".to_owned(),
            many => format!("{many} records"),
        };
        let hash = report
            .last_hash
            .as_ref()
            .map_or_else(String::new, |hash| format!("  last hash {hash}"));
        output.line(format!(
            "{status}  {}  {records}{}",
            printable(&report.session_id),
            output.dim(&hash)
        ));
        if let Some(seq) = report.expected_seq {
            let since = report.records.saturating_sub(seq);
            output.line(format!(
                "            record {seq} has the expected hash; {since} came after it"
            ));
        }
    }
    for diagnostic in reports.iter().flat_map(|report| &report.diagnostics) {
        output.line("");
        output.show(diagnostic);
    }
}
