//! `stud audit verify`: whether trails are the ones that were written.

use serde::Serialize;
use stud_core::audit::{self, AuditedSession, Chain, GENESIS, Reason, Verified};
use stud_diagnostics::{Diagnostic, codes, printable};

use crate::cli::AuditVerify;
use crate::output::{Outcome, Output, Verdict};
use crate::setup;

pub(crate) fn run(asked: &AuditVerify, output: &Output) -> Verdict {
    let root = setup::places()?.global_root;
    let kept = match &asked.session {
        Some(word) => vec![audit::find(&root, word)?],
        None => audit::kept(&root)?,
    };
    let reports: Vec<Report> = kept
        .iter()
        .map(|kept| Report::on(kept, asked.expect.as_deref()))
        .collect();
    let ok = reports.iter().all(|report| report.diagnostics.is_empty());
    if output.is_json() {
        output.document(&serde_json::json!({ "ok": ok, "trails": reports }))?;
    } else {
        show(&reports, output);
    }
    Ok(if ok { Outcome::Done } else { Outcome::Refused })
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
    diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Whole,
    Torn,
    Broken,
    Unreadable,
}

impl Status {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Torn => "torn",
            Self::Broken => "broken",
            Self::Unreadable => "unreadable",
        }
    }
}

impl Report {
    fn on(kept: &AuditedSession, expected: Option<&str>) -> Self {
        // What a trail without records ends with is there before the first one.
        let mut expected_seq = (expected == Some(GENESIS)).then_some(0);
        let verified = Chain::open(&kept.path).and_then(|chain| {
            audit::verify_each(chain.of_session(&kept.session_id), |seq, hash| {
                if expected == Some(hash) {
                    expected_seq = Some(seq);
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
            diagnostics: Vec::new(),
        };
        match verified {
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
                Self {
                    status: match missed {
                        Some(_) => Status::Broken,
                        None => Status::Whole,
                    },
                    records: verified.records,
                    diagnostics: missed
                        .map(|hash| unexpected(kept, hash, &verified))
                        .into_iter()
                        .collect(),
                    last_hash: Some(verified.last_hash),
                    ..report
                }
            }
        }
    }
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
            Status::Torn | Status::Broken | Status::Unreadable => output.red(&status),
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
