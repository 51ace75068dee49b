//! `stud audit show`: the records of one session.

use serde::Serialize;
use serde_json::Value;
use stud_core::audit::{self, AuditQuery, AuditRecord, Broken, Chain, GENESIS, Step};
use stud_diagnostics::{Diagnostic, printable, printable_within};

use crate::cli::AuditShow;
use crate::output::{Outcome, Output, Verdict};
use crate::setup;

/// As much of a payload as fits beside the rest; `--json` has all of it.
const SHOWN: usize = 160;

/// Nothing is indented further than what happened in a child of this depth.
const DEEPEST: u32 = 8;

pub(crate) fn run(asked: &AuditShow, output: &Output) -> Verdict {
    let kept = audit::find(&setup::places()?.global_root, &asked.session)?;
    let query = AuditQuery {
        class: asked.class.clone(),
        kind: asked.kind.clone(),
        correlation_id: asked.correlation.clone(),
        since: asked.since.clone(),
        ..AuditQuery::default()
    };
    let chain = Chain::open(&kept.path).map_err(|broken| broken.diagnostic(&kept.path))?;
    let mut last_hash = GENESIS.to_owned();
    let (mut records, mut shown) = (0_u64, 0_u64);
    let mut broken: Option<Broken> = None;
    for step in chain.of_session(&kept.session_id) {
        if let (Some(reason), None) = (&step.reason, &broken) {
            broken = Some(Broken {
                line: step.line,
                seq: step.seq,
                whole: records,
                reason: reason.clone(),
            });
        }
        let Some(record) = &step.record else {
            if let (Some(reason), false) = (&step.reason, output.is_json()) {
                output.line(output.red(&format!("{:>5}  {reason}", "?")));
            }
            continue;
        };
        records += 1;
        if query.matches(record) {
            shown += 1;
            show(record, &step, output)?;
        }
        if let Some(hash) = step.hash {
            last_hash = hash;
        }
    }
    if !output.is_json() {
        let summary = format!("{shown} of {records} records; last hash {last_hash}");
        output.line(output.dim(&summary));
    }
    // What could be read has been shown; that it is not what was written has to be said all the same.
    match broken {
        Some(broken) => Err(broken.diagnostic(&kept.path)),
        None => Ok(Outcome::Done),
    }
}

/// A record for programs: what stands in the file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(flatten)]
    record: &'a AuditRecord,
    seq: Option<u64>,
    prev_hash: Option<&'a str>,
    hash: Option<&'a str>,
}

fn show(record: &AuditRecord, step: &Step, output: &Output) -> Result<(), Diagnostic> {
    if output.is_json() {
        return output.document(&Document {
            record,
            seq: step.seq,
            prev_hash: step.prev_hash.as_deref(),
            hash: step.hash.as_deref(),
        });
    }
    let seq = step
        .seq
        .map_or_else(|| "?".to_owned(), |seq| seq.to_string());
    let what = match &record.kind {
        Some(kind) => format!("{} {kind}", record.class),
        None => record.class.clone(),
    };
    let who = match &record.subagent_id {
        Some(child) => format!("{} in {child}", record.actor),
        None => record.actor.clone(),
    };
    // What happened in a child session stands one step further in than what happened in the one that opened it.
    let depth = record.depth.map_or(0, |depth| depth.min(DEEPEST));
    let indent = "│ ".repeat(usize::try_from(depth).unwrap_or_default());
    let payload = Value::Object(record.payload.clone()).to_string();
    let seq = format!("{seq:>5}");
    output.line(format!(
        "{}  {}  {indent}{}  {}  {}  {}",
        if step.reason.is_some() {
            output.red(&seq)
        } else {
            seq
        },
        printable(&record.timestamp),
        output.bold(&printable_within(&what, SHOWN)),
        printable_within(&who, SHOWN),
        output.dim(&printable_within(&record.correlation_id, SHOWN)),
        printable_within(&payload, SHOWN),
    ));
    Ok(())
}
