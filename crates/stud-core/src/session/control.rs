//! Requests from the control socket: each takes effect once, however often it is sent.
//!
//! The record that accepts a request holds both the input and the request's identity. So the input and the knowledge
//! that it was accepted are written and synced together, and neither can be lost or repeated without the other.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use stud_contract_meta::Result;
use stud_contract_session_store::{Durability, JournalRecord, Page};

use super::inputs::CONTROL;
use super::resume::ResumedState;
use super::{Input, Session, State};
use crate::audit::millis_of;
use crate::executor::pause;
use crate::ledger::{Draft, closed};
use crate::platform;
use crate::store::Store;
use crate::sync::{Mutex, Promise, lock, promise};

/// The kind of the record that accepts an interrupt.
const INTERRUPT_RECORD: &str = "control_interrupt";

/// What tells a control request from every other of its session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ControlKey {
    /// The team of the sender and of the session.
    pub team: String,
    /// The agent it is for: `main`, or a child's id.
    pub agent_id: String,
    /// The sender's own id for the logical send.
    pub request_id: String,
}

/// A request that was accepted earlier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedControl {
    /// The record that accepted it.
    pub seq: u64,
    /// The digest of its content; an interrupt has none.
    pub digest: Option<String>,
    /// When it was accepted, in milliseconds since 1970.
    at: u64,
}

/// What a request does with the turn that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEffect {
    /// It was cancelled.
    Cancelled,
    /// None ran that could have been cancelled.
    NoActiveTurn,
    /// It continues.
    Untouched,
}

/// What the session knows of control requests.
#[derive(Default)]
pub(super) struct ControlLog(Mutex<ControlTable>);

#[derive(Default)]
struct ControlTable {
    /// Whether what earlier processes accepted was read from the journal.
    is_loaded: bool,
    accepted: BTreeMap<ControlKey, AcceptedControl>,
    /// Requests that are being decided on, each with the copies that wait for the decision.
    in_flight: BTreeMap<ControlKey, Vec<Promise<()>>>,
}

/// How a request stands when it arrives.
#[derive(Debug)]
pub enum Claim<'a> {
    /// It is new, and only the holder of this may accept it.
    New(ControlSlot<'a>),
    /// It was accepted before.
    Accepted(AcceptedControl),
    /// So many requests were accepted within the time they are remembered that none more can be told apart.
    Full,
}

/// The right to accept one request. Dropped without having accepted it, it leaves the request as if never sent.
#[derive(Debug)]
pub struct ControlSlot<'a> {
    session: &'a Session,
    key: ControlKey,
}

impl Session {
    /// Whether it takes part in anything: from its opening to its end.
    pub fn is_live(&self) -> bool {
        lock(&self.progress).state != State::Closed
    }

    /// Claims a request. A second copy of one that is being decided on waits for the decision; if the first copy is
    /// refused, the second is decided on afresh.
    ///
    /// Accepted requests are remembered for `ttl`, and at most `capacity` of them.
    pub async fn claim_control(
        &self,
        key: &ControlKey,
        ttl: Duration,
        capacity: usize,
    ) -> Result<Claim<'_>> {
        self.load_control_log(ttl)?;
        loop {
            let wait = {
                let mut table = lock(&self.control.0);
                let now = millis(platform::now());
                table
                    .accepted
                    .retain(|_, accepted| !is_expired(accepted.at, now, ttl));
                if let Some(accepted) = table.accepted.get(key) {
                    return Ok(Claim::Accepted(accepted.clone()));
                }
                let in_flight = table.in_flight.len();
                if let Some(waiting) = table.in_flight.get_mut(key) {
                    let (promise, decided) = promise();
                    waiting.push(promise);
                    decided
                } else if table.accepted.len() + in_flight >= capacity {
                    return Ok(Claim::Full);
                } else {
                    table.in_flight.insert(key.clone(), Vec::new());
                    return Ok(Claim::New(ControlSlot {
                        session: self,
                        key: key.clone(),
                    }));
                }
            };
            wait.await;
        }
    }

    /// Reads once what earlier processes accepted.
    fn load_control_log(&self, ttl: Duration) -> Result<()> {
        let mut table = lock(&self.control.0);
        if table.is_loaded {
            return Ok(());
        }
        let last_seq = self.books.ledger.last_seq();
        let accepted = read_accepted(self.id(), &**self.store(), last_seq, ttl)?;
        table.accepted.extend(accepted);
        table.is_loaded = true;
        Ok(())
    }
}

impl ControlSlot<'_> {
    /// Accepts text as an input of the session. When this returns, it is answered even if the power fails now.
    ///
    /// With `interrupt` the running turn is cancelled and the text is answered next; without, it waits its turn.
    ///
    /// `Session/InputQueueFull` if `queue_capacity` inputs wait already.
    pub async fn accept_text(
        self,
        text: String,
        sender: &str,
        digest: &str,
        interrupt: bool,
        queue_capacity: usize,
    ) -> Result<TurnEffect> {
        let session = self.session;
        let turn = interrupt.then(|| session.turn_id()).flatten();
        session.inputs.reserve_within(queue_capacity)?;
        let mut origin = self.origin("stdin", sender);
        origin["digest"] = digest.into();
        if interrupt {
            origin["interrupt"] = true.into();
        }
        let draft = Draft {
            kind: "user_input",
            ext_id: Some(CONTROL.to_owned()),
            payload: json!({"text": text, "origin": origin}),
            ..Draft::default()
        };
        let (done, result) = promise();
        let this = session.this.clone();
        let (key, digest) = (self.key.clone(), Some(digest.to_owned()));
        let then = move |written: Result<u64>| {
            if let Some(session) = this.upgrade() {
                if let Ok(seq) = &written {
                    session.control.accept(key, *seq, digest);
                }
                let input = written.as_ref().ok().map(|seq| Input {
                    seq: *seq,
                    ext_id: CONTROL.to_owned(),
                    text,
                    caused_by: None,
                });
                session.inputs.arrive_at(input, interrupt);
            }
            done.keep(written);
        };
        let ledger = &session.books.ledger;
        ledger.commit(vec![draft], Durability::Synced, then);
        result.await.unwrap_or_else(|| Err(closed()))?;
        Ok(if interrupt {
            session.interrupt(turn.as_deref())
        } else {
            TurnEffect::Untouched
        })
    }

    /// Accepts an interrupt: cancels the turn that runs now, and none that begins while this is recorded.
    pub async fn accept_interrupt(self, sender: &str) -> Result<TurnEffect> {
        let session = self.session;
        if !session.is_live() {
            return Err(closed());
        }
        let turn = session.running_or_due_turn();
        let draft = Draft {
            kind: INTERRUPT_RECORD,
            correlation_id: turn.clone(),
            ext_id: Some(CONTROL.to_owned()),
            payload: json!({"origin": self.origin("interrupt", sender)}),
        };
        let ledger = &session.books.ledger;
        let seq = ledger.append(vec![draft], Durability::Synced).await?;
        session.control.accept(self.key.clone(), seq, None);
        Ok(session.interrupt(turn.as_deref()))
    }

    fn origin(&self, action: &str, sender: &str) -> Value {
        json!({
            "kind": CONTROL,
            "action": action,
            "team": self.key.team,
            "agentId": self.key.agent_id,
            "requestId": self.key.request_id,
            "sender": sender,
        })
    }
}

impl Drop for ControlSlot<'_> {
    fn drop(&mut self) {
        let waiting = lock(&self.session.control.0).in_flight.remove(&self.key);
        for copy in waiting.into_iter().flatten() {
            copy.keep(());
        }
    }
}

impl Session {
    /// The turn that runs. An input that was acknowledged a moment ago has no turn yet, so its turn is waited for a little.
    fn running_or_due_turn(&self) -> Option<String> {
        /// In nanoseconds.
        const MOMENT: u64 = 500_000_000;
        let began = platform::ticks();
        loop {
            let turn = self.turn_id();
            let is_due = !self.inputs.waiting().is_empty();
            if turn.is_some() || !is_due || platform::ticks() - began > MOMENT {
                return turn;
            }
            pause(Duration::from_millis(1));
        }
    }

    /// Cancels the turn with this id, if it is the one that runs.
    fn interrupt(&self, turn: Option<&str>) -> TurnEffect {
        let running = self.turn_id();
        if turn.is_some() && running.as_deref() == turn && self.cancel_turn() {
            TurnEffect::Cancelled
        } else {
            TurnEffect::NoActiveTurn
        }
    }
}

impl ControlLog {
    fn accept(&self, key: ControlKey, seq: u64, digest: Option<String>) {
        let at = millis(platform::now());
        let accepted = AcceptedControl { seq, digest, at };
        lock(&self.0).accepted.insert(key, accepted);
    }
}

impl std::fmt::Debug for ControlLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ControlLog")
    }
}

/// The request `key` as a session that is not open in this process accepted it.
pub fn accepted_earlier(
    session_id: &str,
    key: &ControlKey,
    store: &dyn Store,
    ttl: Duration,
) -> Result<Option<AcceptedControl>> {
    if !store.journals() {
        return Ok(None);
    }
    let last_seq = ResumedState::of(session_id, store)?.last_seq;
    let mut accepted = read_accepted(session_id, store, last_seq, ttl)?;
    Ok(accepted.remove(key))
}

/// The requests that the end of a journal shows as accepted within `ttl`.
fn read_accepted(
    session_id: &str,
    store: &dyn Store,
    last_seq: u64,
    ttl: Duration,
) -> Result<BTreeMap<ControlKey, AcceptedControl>> {
    /// Records are read from the end toward the beginning, this many at a time.
    const STEP: u64 = 500;
    let mut accepted = BTreeMap::new();
    if !store.journals() {
        return Ok(accepted);
    }
    let now = millis(platform::now());
    let mut end = last_seq;
    while end > 0 {
        let start = end.saturating_sub(STEP);
        let records = read_range(session_id, store, start, end)?;
        let oldest = records.first().and_then(written_at);
        for record in &records {
            if let Some((key, request)) = accepted_by(record)
                && !is_expired(request.at, now, ttl)
            {
                accepted.entry(key).or_insert(request);
            }
        }
        if oldest.is_some_and(|oldest| is_expired(oldest, now, ttl)) {
            break;
        }
        end = start;
    }
    Ok(accepted)
}

/// The records behind `start` up to and including `end`.
fn read_range(
    session_id: &str,
    store: &dyn Store,
    start: u64,
    end: u64,
) -> Result<Vec<JournalRecord>> {
    let mut records = Vec::new();
    let mut after = Some(start);
    while let Some(after_seq) = after {
        let page = Page {
            after_seq: Some(after_seq),
            limit: u32::try_from(end - after_seq).ok(),
        };
        let read = store.read_journal(session_id, page)?;
        after = read
            .next_after_seq
            .filter(|reached| *reached < end && *reached > after_seq);
        records.extend(read.records.into_iter().filter(|record| record.seq <= end));
    }
    Ok(records)
}

fn written_at(record: &JournalRecord) -> Option<u64> {
    millis_of(record.record["timestamp"].as_str()?)
}

/// The request that a record accepted, if it accepted one.
fn accepted_by(record: &JournalRecord) -> Option<(ControlKey, AcceptedControl)> {
    let content = &record.record;
    if content["kind"] != "user_input" && content["kind"] != INTERRUPT_RECORD {
        return None;
    }
    let origin = &content["payload"]["origin"];
    if origin["kind"] != CONTROL {
        return None;
    }
    let text = |member: &str| Some(origin[member].as_str()?.to_owned());
    let key = ControlKey {
        team: text("team")?,
        agent_id: text("agentId")?,
        request_id: text("requestId")?,
    };
    let accepted = AcceptedControl {
        seq: record.seq,
        digest: text("digest"),
        at: written_at(record)?,
    };
    Some((key, accepted))
}

/// One that is stamped in the future, because the clock was set back, is kept.
const fn is_expired(at: u64, now: u64, ttl: Duration) -> bool {
    now.saturating_sub(at) as u128 >= ttl.as_millis() && now > at
}

fn millis(time: SystemTime) -> u64 {
    let since_epoch = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}
