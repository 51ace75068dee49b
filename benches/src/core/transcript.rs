//! Long transcripts: what it takes to continue with a session.

use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;
use stud_contract_session_store::{Durability, Page};
use stud_core::executor::block_on;
use stud_core::ledger::Draft;
use stud_core::session::Ending;

use super::{elsewhere, figure};
use crate::home::{Home, bundled, fail};
use crate::table::Row;

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut closed_growth = Vec::new();
    let mut killed_growth = Vec::new();
    for mib in [1, 32, 256, 1024] {
        let home = Home::empty();
        let root = home.root().to_string_lossy().into_owned();
        let id = elsewhere(&["write", &root, &mib.to_string()]);
        let id = id.trim();
        // The writing process ended without closing it. The next process that opens it closes it properly.
        let killed = Opened::elsewhere(&root, id);
        let closed = Opened::elsewhere(&root, id);
        killed_growth.push(format!("{mib} MiB: {killed}"));
        closed_growth.push(format!("{mib} MiB: {closed}"));
        if mib == 1024 {
            let what = "a transcript of 1 GiB, from nothing to its first page";
            rows.push(Row::limit(what, closed.ms, 300.0, "ms"));
            let what = "the most memory that took";
            rows.push(Row::limit(what, closed.mib, 150.0, "MiB"));
        }
    }
    rows.push(Row::fact(
        "the same, as transcripts grow",
        closed_growth.join("; "),
    ));
    rows.push(Row::fact(
        "the same, killed when only its first turn was in a snapshot",
        killed_growth.join("; "),
    ));
    rows
}

/// What opening cost.
struct Opened {
    ms: f64,
    mib: f64,
}

impl Opened {
    fn elsewhere(root: &str, id: &str) -> Self {
        let said = elsewhere(&["open", root, id]);
        let mut figures = said.split_whitespace().map(str::parse);
        match (figures.next(), figures.next()) {
            (Some(Ok(ms)), Some(Ok(mib))) => Self { ms, mib },
            _ => fail(&format!("opening says {said:?}")),
        }
    }
}

impl std::fmt::Display for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} ms and {:.0} MiB", self.ms, self.mib)
    }
}

/// Opens a session, reads its first page, prints milliseconds and mebibytes, and closes it.
pub(crate) fn open_here(root: &str, id: &str) -> ExitCode {
    let began = Instant::now();
    let launched = Home::at(root).session(bundled(), Some(id));
    let first = launched.session.view("bench", Page::default());
    let ms = began.elapsed().as_secs_f64() * 1000.0;
    let mib = figure("status", "VmHWM") / 1024.0;
    println!("{ms} {mib}");
    let whole = first.is_ok_and(|first| first.records.len() == 100);
    if whole && launched.session.close().is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Writes a session of so many mebibytes, prints its id, and ends without closing it.
pub(crate) fn write_here(root: &str, mib: &str) -> ExitCode {
    let launched = Home::at(root).session(bundled(), None);
    let session = &launched.session;
    let written = block_on(async {
        // The first turn is a real one, whose end leaves a snapshot.
        session.submit("bench", "hello".to_owned()).await?;
        if let Some(input) = session.next_input().await {
            session
                .begin_turn(&input)?
                .end(&Ending::Completed, false)
                .await?;
        }
        let ledger = &session.books().ledger;
        let bytes = mib.parse().unwrap_or(0) << 20;
        let mut written = 0;
        while written < bytes {
            let batch: Vec<Draft> = (0..BATCH)
                .flat_map(|turn| turn_after(ledger.last_seq() + turn * TURN_RECORDS))
                .collect();
            let size: usize = batch
                .iter()
                .map(|draft| draft.payload.to_string().len() + ENVELOPE_BYTES)
                .sum();
            ledger.append(batch, Durability::Written).await?;
            written += size;
        }
        Ok::<_, stud_contract_meta::Error>(())
    });
    match written {
        Ok(()) => {
            println!("{}", session.id());
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error.to_string()),
    }
}

/// How many turns are added at a time.
const BATCH: u64 = 40;

/// What stands around a payload in the journal, about.
const ENVELOPE_BYTES: usize = 150;

const TURN_RECORDS: u64 = 7;

/// The records of a turn in which the model calls one tool, when `last` records are there.
fn turn_after(last: u64) -> [Draft; 7] {
    let turn = format!("{last:036}");
    let text = |size: usize| "Some words of a long conversation. ".repeat(size / 35);
    let payloads = [
        ("user_input", json!({"text": text(200)})),
        ("turn_start", json!({"turnId": turn, "inputSeq": last + 1})),
        ("assistant_message", json!({"text": text(1000)})),
        (
            "tool_call",
            json!({"toolCallId": turn, "name": "read", "args": {"path": text(100)}}),
        ),
        (
            "tool_result",
            json!({"toolCallId": turn, "result": text(4000)}),
        ),
        ("assistant_message", json!({"text": text(1000)})),
        ("turn_end", json!({"turnId": turn, "status": "completed"})),
    ];
    payloads.map(|(kind, payload)| Draft {
        kind,
        correlation_id: Some(turn.clone()),
        ext_id: (kind == "user_input").then(|| "bench".to_owned()),
        payload,
    })
}
