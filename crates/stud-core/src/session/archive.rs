//! Sessions seen from outside: what each is, what was said in it, and a new one that continues from there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use stud_contract_meta::{Error, Result};
use stud_contract_session_store::{Durability, JournalBatch, JournalRecord, Page, Stored};
use stud_diagnostics::{Diagnostic, codes};
use stud_host_api::session::SecurityMode;
pub use stud_host_api::session::TranscriptRecord;

use super::attachment::WorkflowProgress;
use super::damage;
use super::resume::{ResumedState, last_written};
use super::snapshot::{CoreSlot, stored};
use crate::audit::{self, Entry, Trail};
use crate::ids;
use crate::ledger::{OpenRecords, transcript_record};
use crate::platform;
use crate::redact::Redactor;
use crate::store::Store;

/// As many records as are read at a time.
const PAGE: u32 = 500;

/// How far into a session its first words are looked for.
const BEGINNING: u32 = 32;

/// What a session is.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Which session.
    pub session_id: String,
    /// When it began.
    pub created_at: String,
    /// When something last happened in it.
    pub updated_at: String,
    /// Its project's `.stud` folder.
    pub project_root: PathBuf,
    /// How tool calls are gated.
    pub mode: SecurityMode,
    /// How many messages its conversation has.
    pub messages: usize,
    /// What the person said first.
    pub first_words: Option<String>,
    /// The session it continues from, and the record there.
    pub forked_from: Option<(String, u64)>,
    /// The number of its last record.
    pub last_seq: u64,
    /// What of it is not what was written, as far as opening it would tell.
    pub damage: Vec<Diagnostic>,
}

/// What a session is, as its store has it now. It may be running.
pub fn summarize(session_id: &str, store: &dyn Store) -> Result<Summary> {
    let past = ResumedState::of(session_id, store)?;
    let messages = past.conversation.messages();
    let mut first_words = messages.iter().find_map(typed);
    let mut forked_from = None;
    if store.journals() {
        let page = Page {
            after_seq: None,
            limit: Some(BEGINNING),
        };
        let records = store.read_journal(session_id, page)?.records;
        for record in records.into_iter().map(transcript_record) {
            match record.kind.as_str() {
                "session_start" => forked_from = origin(&record.payload["forkedFrom"]),
                "user_input" => {
                    first_words = record.payload["text"].as_str().map(str::to_owned);
                    break;
                }
                _ => {}
            }
        }
    }
    Ok(Summary {
        session_id: past.facts.session_id,
        created_at: past.facts.created_at,
        updated_at: past.updated_at,
        project_root: past.facts.project_root,
        mode: past.facts.mode,
        messages: messages.len(),
        first_words,
        forked_from,
        last_seq: past.last_seq,
        damage: past.damage,
    })
}

/// Goes through everything that is stored of a session, and says what of it is not what was written.
pub fn check(session_id: &str, store: &dyn Store) -> Result<Vec<Diagnostic>> {
    /// More would say nothing new.
    const MOST: usize = 8;
    let mut found = ResumedState::of(session_id, store)?.damage;
    if !store.journals() {
        return Ok(found);
    }
    let mut expected = 1;
    for record in stored_records(session_id, store) {
        let seq = record?.seq;
        let is_told =
            |told: &Diagnostic| told.context.get("firstMissing") == Some(&expected.into());
        if seq > expected && found.len() < MOST && !found.iter().any(is_told) {
            found.push(damage::missing(session_id, expected, seq - 1));
        }
        expected = seq + 1;
    }
    Ok(found)
}

/// The `.stud` folder of the project that a session began in.
pub fn project_root(session_id: &str, store: &dyn Store) -> Result<PathBuf> {
    Ok(ResumedState::facts_of(session_id, store)?.project_root)
}

/// How tool calls are gated in a session: as they were when it began.
pub fn mode(session_id: &str, store: &dyn Store) -> Result<SecurityMode> {
    Ok(ResumedState::facts_of(session_id, store)?.mode)
}

/// The session that was written last. Those that cannot be read are passed over.
///
/// `Session/ResumeMismatch` if there is none, or if another store wrote it: to resume an older one unasked would be a
/// surprise.
///
/// A session's audit trail below `trails` is written when its snapshot is, so the time of that file tells which
/// snapshots need not be read.
pub fn latest(store: &dyn Store, trails: &Path) -> Result<String> {
    /// A snapshot is written after the record about it, on a disk that may be slow.
    const SLACK: Duration = Duration::from_secs(60);
    let mut sessions: Vec<(Option<String>, String)> = store
        .list()?
        .into_iter()
        .map(|id| {
            let touched = audit::last_touched(trails, &id);
            (touched.map(|at| platform::rfc3339(at + SLACK)), id)
        })
        .collect();
    // Those without a trail first, which have to be read, and then the ones touched last.
    sessions.sort_by(|(one, _), (other, _)| match (one, other) {
        (Some(one), Some(other)) => other.cmp(one),
        (one, other) => one.is_some().cmp(&other.is_some()),
    });
    let mut newest: Option<(String, String, Option<Error>)> = None;
    for (touched, id) in sessions {
        let is_older = |(at, ..): &(String, String, _)| touched.as_ref().is_some_and(|it| it < at);
        if newest.as_ref().is_some_and(is_older) {
            break;
        }
        let Some((at, foreign)) = last_written(&id, store) else {
            continue;
        };
        if newest
            .as_ref()
            .is_none_or(|(known, known_id, _)| (known, known_id) < (&at, &id))
        {
            newest = Some((at, id, foreign));
        }
    }
    match newest {
        Some((_, id, None)) => Ok(id),
        Some((_, id, Some(foreign))) => Err(foreign.with("sessionId", id)),
        None => {
            let code = &codes::RESUME_MISMATCH;
            let message = "there is no session to continue";
            Err(Error::new(code.class, code.name, message))
        }
    }
}

fn typed(message: &Map<String, Value>) -> Option<String> {
    let is_typed = message.get("role")? == "user";
    let text = message.get("content")?.as_str()?;
    is_typed.then(|| text.to_owned())
}

fn origin(forked_from: &Value) -> Option<(String, u64)> {
    let session_id = forked_from["sessionId"].as_str()?;
    Some((session_id.to_owned(), forked_from["seq"].as_u64()?))
}

/// The records of a session, oldest first, a page at a time.
///
/// A store without a journal has none of them; [`messages`] is all it knows.
pub fn records<'a>(
    session_id: &'a str,
    store: &'a dyn Store,
) -> impl Iterator<Item = Result<TranscriptRecord>> + 'a {
    stored_records(session_id, store).map(|record| record.map(transcript_record))
}

fn stored_records<'a>(
    session_id: &'a str,
    store: &'a dyn Store,
) -> impl Iterator<Item = Result<JournalRecord>> + 'a {
    let mut page = Vec::new().into_iter();
    let mut after = Some(0);
    std::iter::from_fn(move || {
        loop {
            if let Some(record) = page.next() {
                return Some(Ok(record));
            }
            let next = Page {
                after_seq: Some(after.take()?),
                limit: Some(PAGE),
            };
            match store.read_journal(session_id, next) {
                Ok(read) => {
                    after = read.next_after_seq;
                    page = read.records.into_iter();
                }
                Err(error) => return Some(Err(error)),
            }
        }
    })
}

/// The conversation as a resumed session would have it: without what a summary replaced.
pub fn messages(session_id: &str, store: &dyn Store) -> Result<Vec<Map<String, Value>>> {
    Ok(ResumedState::of(session_id, store)?.conversation.messages())
}

/// A session that was made from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forked {
    /// The new session.
    pub session_id: String,
    /// The last record that both have.
    pub at_seq: u64,
    /// How many messages its conversation has.
    pub messages: usize,
}

/// Makes a new session with the conversation of another, up to and including the record `at` or as it is now.
///
/// The new one has the records of the other as its own, and says in the first of them and in its audit trail where it
/// comes from. Nothing of the other changes. What was said and not yet taken up stays with the other, and so do its open
/// prompts: they would be answered twice.
///
/// `Session/RecordNotFound` for a number that no record has.
pub fn fork(
    session_id: &str,
    at: Option<u64>,
    store: &Arc<dyn Store>,
    trails: &Path,
) -> Result<Forked> {
    let (mut past, records) = if store.journals() {
        through(session_id, at, &**store)?
    } else if let Some(at) = at {
        return Err(not_found(session_id, at).with(
            "reason",
            "the store keeps no journal, so only the whole session can be had",
        ));
    } else {
        (ResumedState::of(session_id, &**store)?, Vec::new())
    };
    let at_seq = past.last_seq;
    past.facts.session_id = ids::fresh();
    past.facts.created_at = platform::rfc3339(platform::now());
    let forked = Forked {
        session_id: past.facts.session_id.clone(),
        at_seq,
        messages: past.conversation.len(),
    };
    let origin = json!({"sessionId": session_id, "seq": at_seq});
    let trail = begin_trail(&forked, &origin, &**store, trails)?;
    let kept = keep(past, records, &origin, &**store);
    match kept {
        Ok(()) => trail.close()?,
        // It was never published.
        Err(_) => trail.discard(),
    }
    kept.map(|()| forked)
}

/// What a session was at one of its records, and the records up to there.
fn through(
    session_id: &str,
    at: Option<u64>,
    store: &dyn Store,
) -> Result<(ResumedState, Vec<JournalRecord>)> {
    let Some(mut past) = ResumedState::of_first_record(session_id, store)? else {
        // Without records there is a snapshot, or nothing.
        let past = ResumedState::of(session_id, store)?;
        return match at {
            Some(at) => Err(not_found(session_id, at)),
            None => Ok((past, Vec::new())),
        };
    };
    let mut records = Vec::new();
    for record in stored_records(session_id, store) {
        let record = record?;
        if at.is_some_and(|at| record.seq > at) {
            break;
        }
        past.take(transcript_record(record.clone()));
        records.push(record);
    }
    match at {
        Some(at) if at != past.last_seq => {
            Err(not_found(session_id, at).with("lastSeq", summarize(session_id, store)?.last_seq))
        }
        _ => Ok((past, records)),
    }
}

fn begin_trail(forked: &Forked, origin: &Value, store: &dyn Store, trails: &Path) -> Result<Trail> {
    let id = &forked.session_id;
    let folder = trails.join(id).join("audit");
    let trail = Trail::open(&folder, id, Arc::new(Redactor::new()))?.trail;
    let payload = Map::from_iter([
        ("event".to_owned(), "fork".into()),
        ("sessionId".to_owned(), id.as_str().into()),
        ("storeId".to_owned(), store.store_id().into()),
        ("forkedFrom".to_owned(), origin.clone()),
    ]);
    trail.append(Entry {
        class: "SessionLifecycle".to_owned(),
        kind: Some("fork".to_owned()),
        correlation_id: ids::fresh(),
        actor: audit::CORE.to_owned(),
        payload,
        ..Entry::default()
    })?;
    Ok(trail)
}

fn keep(
    past: ResumedState,
    mut records: Vec<JournalRecord>,
    origin: &Value,
    store: &dyn Store,
) -> Result<()> {
    let id = past.facts.session_id.clone();
    let start = records.first_mut().map(|start| &mut start.record);
    if let Some(Value::Object(payload)) = start.and_then(|start| start.get_mut("payload")) {
        let created_at = past.facts.created_at.as_str().into();
        payload.insert("sessionId".to_owned(), id.as_str().into());
        payload.insert("createdAt".to_owned(), created_at);
        payload.insert("forkedFrom".to_owned(), origin.clone());
    }
    if !records.is_empty() {
        let batch = JournalBatch {
            records,
            durability: Durability::Written,
        };
        store.append(&id, &batch)?;
    }
    store.write(&snapshot(past, store.store_id()))
}

fn snapshot(past: ResumedState, store_id: &str) -> Stored {
    let core = CoreSlot {
        through_seq: past.last_seq,
        turn_count: past.turn_count,
        pending_inputs: Vec::new(),
        loose_ends: OpenRecords {
            detached: BTreeMap::new(),
            ..past.loose_ends
        },
        // What was approved and begun there is not continued here.
        workflow: WorkflowProgress::Ready,
    };
    let messages = past.conversation.messages();
    stored(&past.facts, store_id, core, past.slots, messages)
}

fn not_found(session_id: &str, seq: u64) -> Error {
    let code = &codes::RECORD_NOT_FOUND;
    let message = format!("the session has no record {seq}");
    Error::new(code.class, code.name, message)
        .with("sessionId", session_id)
        .with("seq", seq)
}

#[cfg(test)]
mod tests;
