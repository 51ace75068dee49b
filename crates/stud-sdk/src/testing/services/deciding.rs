//! Services that leave a trace: events, audit, session.

use stud_contract_meta::Result;
use stud_host_api::BoxFuture;
use stud_host_api::Severity;
use stud_host_api::audit::{
    ActiveSubagent, AuditEvent, AuditLogger, AuditQuery, AuditRecord, is_core_class,
};
use stud_host_api::events::{
    Event, EventPublisher, EventType, LogEntry, core_event_types, is_core_event,
};
use stud_host_api::refusal::{self, Phase};
use stud_host_api::session::{
    Appended, ChildOutcome, OpenChild, Page, SessionAccessor, SessionRecord, SessionView,
    SlotValue, StateSlot, TranscriptRecord,
};

use super::super::clock;
use super::super::record::SESSION;
use super::super::script::TURN;
use super::{Services, ready};

impl EventPublisher for Services {
    fn publish(&self, event: Event) -> Result<()> {
        let mut record = self.open("events")?;
        if is_core_event(&event.name) {
            return Err(refusal::event_name_reserved(&event.name));
        }
        let mut declared = record.plugin.events.iter();
        if record.plugin.kind.is_some() && !declared.any(|(name, _)| *name == event.name) {
            return Err(refusal::event_undeclared(&event.name));
        }
        record.published.push(event);
        Ok(())
    }

    fn list(&self) -> Result<Vec<EventType>> {
        let record = self.open("events")?;
        let mut own: Vec<EventType> = record
            .plugin
            .events
            .iter()
            .map(|(name, schema)| EventType {
                name: name.clone(),
                owner: record.plugin.ext_id.clone(),
                schema: schema.clone(),
            })
            .collect();
        own.sort_by(|one, other| one.name.cmp(&other.name));
        let mut types = core_event_types();
        types.extend(own);
        Ok(types)
    }

    fn log_level(&self) -> Result<Option<Severity>> {
        Ok(self.open("events")?.log_level)
    }

    fn log(&self, entry: LogEntry) -> Result<()> {
        let mut record = self.open("events")?;
        if record
            .log_level
            .is_some_and(|least| entry.severity >= least)
        {
            record.logged.push(entry);
        }
        Ok(())
    }
}

impl AuditLogger for Services {
    fn record(&self, event: AuditEvent) -> BoxFuture<'_, Result<()>> {
        ready(self.open("audit").and_then(|mut record| {
            if is_core_class(&event.class) {
                return Err(refusal::audit_class_reserved(&event.class));
            }
            let written = AuditRecord {
                class: event.class,
                kind: event.kind,
                correlation_id: TURN.to_owned(),
                timestamp: record.now(),
                session_id: SESSION.to_owned(),
                actor: record.plugin.ext_id.clone(),
                payload: event.payload,
                ..AuditRecord::default()
            };
            record.audited.push(written);
            Ok(())
        }))
    }

    fn query(&self, query: AuditQuery) -> BoxFuture<'_, Result<Vec<AuditRecord>>> {
        ready(self.open("audit").map(|record| {
            let fitting = record
                .audited
                .iter()
                .filter(|written| query.matches(written));
            fitting.cloned().collect()
        }))
    }

    fn active_subagents(&self) -> BoxFuture<'_, Result<Vec<ActiveSubagent>>> {
        ready(self.open("audit").map(|_| Vec::new()))
    }
}

impl SessionAccessor for Services {
    fn read(&self, page: Page) -> BoxFuture<'_, Result<SessionView>> {
        ready(self.open("session").map(|record| {
            let after = page.after_seq.unwrap_or(0);
            let limit = page.limit.map_or(usize::MAX, |limit| limit as usize);
            let rest = record.transcript.iter().filter(|entry| entry.seq > after);
            let records: Vec<TranscriptRecord> = rest.clone().take(limit).cloned().collect();
            let more = rest.count() > records.len();
            SessionView {
                session_id: SESSION.to_owned(),
                mode: record.mode,
                created_at: clock::text(clock::START_MS),
                turn_count: 1,
                last_seq: record.transcript.last().map_or(0, |entry| entry.seq),
                next_after_seq: more.then(|| records.last().map_or(after, |entry| entry.seq)),
                records,
            }
        }))
    }

    fn append(&self, appended: SessionRecord) -> BoxFuture<'_, Result<Appended>> {
        ready(self.open("session").and_then(|mut record| {
            if matches!(appended, SessionRecord::UserInput { .. }) && !record.is_one_of(&["UI"]) {
                return Err(refusal::user_input_forbidden(record.kind()));
            }
            let mut payload = serde_json::to_value(&appended).unwrap_or_default();
            let kind = payload
                .as_object_mut()
                .and_then(|object| object.remove("kind"));
            let seq = record.transcript.last().map_or(1, |entry| entry.seq + 1);
            let entry = TranscriptRecord {
                seq,
                timestamp: record.now(),
                kind: kind
                    .as_ref()
                    .and_then(|kind| kind.as_str())
                    .unwrap_or_default()
                    .to_owned(),
                correlation_id: Some(TURN.to_owned()),
                ext_id: Some(record.plugin.ext_id.clone()),
                payload,
            };
            record.transcript.push(entry);
            record.appended.push(appended);
            Ok(Appended { seq })
        }))
    }

    fn state_slot(&self, ext_id: &str) -> Result<Box<dyn StateSlot>> {
        let record = self.open("session")?;
        if record.plugin.kind.is_some() && record.plugin.ext_id != ext_id {
            return Err(refusal::slot_access_denied(&record.plugin.ext_id, ext_id));
        }
        Ok(Box::new(Slot(self.clone())))
    }

    fn open_child(&self, child: OpenChild) -> BoxFuture<'_, Result<ChildOutcome>> {
        ready(self.open("session").and_then(|mut record| {
            let plugin = &record.plugin;
            if plugin.kind.is_some() && plugin.ext_id != "delegate" {
                return Err(refusal::open_child_forbidden(&plugin.ext_id));
            }
            record.children.push(child);
            match record.child_outcomes.pop_front() {
                Some(outcome) => outcome,
                // How a child ends is said with `FakeHost::opens_child`.
                None => Err(refusal::not_ready("session", Phase::Active)),
            }
        }))
    }
}

/// The one slot of the one plugin.
struct Slot(Services);

impl StateSlot for Slot {
    fn read(&self) -> BoxFuture<'_, Result<Option<SlotValue>>> {
        ready(self.0.open("session").map(|record| record.slot.clone()))
    }

    fn write(&self, value: SlotValue) -> BoxFuture<'_, Result<()>> {
        ready(
            self.0
                .open("session")
                .map(|mut record| record.slot = Some(value)),
        )
    }
}
