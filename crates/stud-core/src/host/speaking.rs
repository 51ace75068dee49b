//! Services that tell: events and audit.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use stud_contract_meta::{Error, EventDeclaration, Result};
use stud_diagnostics::codes;
use stud_host_api::BoxFuture;
use stud_host_api::audit::{
    ActiveSubagent, AuditEvent, AuditLogger, AuditQuery, AuditRecord, is_core_class,
};
use stud_host_api::events::{
    Event, EventPublisher, EventType, LogEntry, core_event_types, is_core_event,
};
use stud_host_api::{Severity, refusal};
use tracing::Level;
use tracing::level_filters::LevelFilter;

use super::{Host, now};
use crate::audit::Trail;
use crate::identity::Identity;
use crate::platform;
use crate::settings::Settings;
use crate::validate::schema;

/// How many events one plugin may publish in a second. What it says beyond that is noise to everyone else.
const EVENTS_PER_SECOND: u64 = 10_000;

/// How fast a plugin speaks.
#[derive(Debug, Default)]
pub(super) struct Pace {
    second: AtomicU64,
    said: AtomicU64,
}

impl Pace {
    /// Counts one more event; gives its number in this second if it is too many.
    fn exceeded(&self) -> Option<u64> {
        let second = platform::ticks() / 1_000_000_000;
        if self.second.swap(second, Ordering::AcqRel) != second {
            self.said.store(0, Ordering::Release);
        }
        let said = self.said.fetch_add(1, Ordering::AcqRel) + 1;
        (said > EVENTS_PER_SECOND).then_some(said)
    }
}

impl Host {
    fn declared(&self) -> &BTreeMap<String, jsonschema::Validator> {
        self.events.get_or_init(|| {
            let events = self.plugin.manifest.events.iter();
            // A schema that does not compile was refused with the manifest.
            let ready = events.filter_map(|event| {
                let validator = schema::build(&event.schema).ok()?;
                Some((event.name.clone(), validator))
            });
            ready.collect()
        })
    }

    fn flooding(&self, said: u64) -> Error {
        let code = &codes::EVENT_RATE_EXCEEDED;
        let message = format!(
            "`{}` published more than {EVENTS_PER_SECOND} events in a second; this one was dropped",
            self.id()
        );
        let error = Error::new(code.class, code.name, message)
            .with("extId", self.id())
            .with("limit", EVENTS_PER_SECOND);
        // It is named once for each second in which it happens.
        if said == EVENTS_PER_SECOND + 1
            && let Some(session) = self.link().get()
        {
            let reason = format!("`{}` floods the event stream", self.id());
            let correlation_id = session.correlation_id();
            session.books().suppress(&reason, &correlation_id, &error);
        }
        error
    }
}

impl EventPublisher for Host {
    fn publish(&self, event: Event) -> Result<()> {
        self.alive("events")?;
        if is_core_event(&event.name) {
            return Err(refusal::event_name_reserved(&event.name));
        }
        let Some(validator) = self.declared().get(&event.name) else {
            return Err(refusal::event_undeclared(&event.name));
        };
        if let Some(error) = validator.iter_errors(&event.payload).next() {
            let (place, problem) = (schema::place(&error), schema::problem(&error));
            return Err(refusal::event_payload_invalid(
                &event.name,
                &place,
                &problem,
            ));
        }
        let session = self.session("events")?;
        if let Some(said) = self.pace.exceeded() {
            return Err(self.flooding(said));
        }
        let correlation_id = session.correlation_id();
        session
            .books()
            .publish_custom(&event.name, &correlation_id, &event.payload);
        Ok(())
    }

    fn list(&self) -> Result<Vec<EventType>> {
        self.alive("events")?;
        let mut declared = declared_by(&self.plugin);
        if let Some(session) = self.link().get() {
            for plugin in session.plugins().iter() {
                // The plugin that asks may be on its way up, or on its way out.
                if plugin.identity().ext_id != self.plugin.ext_id {
                    declared.extend(declared_by(plugin.identity()));
                }
            }
        }
        declared.sort_by(|a, b| (&a.name, &a.owner).cmp(&(&b.name, &b.owner)));
        let mut types = core_event_types();
        types.extend(declared);
        Ok(types)
    }

    fn log_level(&self) -> Result<Option<Severity>> {
        self.alive("events")?;
        Ok(Some(log_severity(&self.facts().ground.settings)))
    }

    fn log(&self, entry: LogEntry) -> Result<()> {
        self.alive("events")?;
        if entry.severity < log_severity(&self.facts().ground.settings) {
            return Ok(());
        }
        if let Some(said) = self.log_pace.exceeded() {
            return Err(self.flooding(said));
        }
        trace(self.id(), &entry);
        if let Some(session) = self.link().get() {
            session.log(self.id(), entry);
        }
        Ok(())
    }
}

/// The least severity of log entries that the host takes: what the settings say, or more where `--log` asks for it.
fn log_severity(settings: &Settings) -> Severity {
    let set = settings.get("logging", "level");
    let set: Option<Severity> = set.and_then(|set| serde_json::from_value(set.value.clone()).ok());
    let of_program = match LevelFilter::current().into_level() {
        Some(Level::TRACE) => Severity::Trace,
        Some(Level::DEBUG) => Severity::Debug,
        Some(Level::INFO) => Severity::Info,
        Some(Level::WARN) => Severity::Warn,
        _ => Severity::Error,
    };
    set.unwrap_or_default().min(of_program)
}

/// Puts what a plugin says into the log of the program, if there is one.
fn trace(ext_id: &str, entry: &LogEntry) {
    macro_rules! say {
        ($level:ident) => {{
            let fields = serde_json::to_string(&entry.fields).unwrap_or_default();
            let within: Vec<&str> = entry.spans.iter().map(|span| span.name.as_str()).collect();
            tracing::event!(
                target: "stud::plugin",
                Level::$level,
                plugin = ext_id,
                part = entry.target,
                within = within.join(":"),
                fields,
                "{}",
                entry.message
            );
        }};
    }
    // A level is a constant of the place that speaks.
    match entry.severity {
        Severity::Trace if tracing::enabled!(target: "stud::plugin", Level::TRACE) => say!(TRACE),
        Severity::Debug if tracing::enabled!(target: "stud::plugin", Level::DEBUG) => say!(DEBUG),
        Severity::Info if tracing::enabled!(target: "stud::plugin", Level::INFO) => say!(INFO),
        Severity::Warn if tracing::enabled!(target: "stud::plugin", Level::WARN) => say!(WARN),
        Severity::Error if tracing::enabled!(target: "stud::plugin", Level::ERROR) => say!(ERROR),
        _ => {}
    }
}

/// The events that a plugin declares in its manifest.
fn declared_by(plugin: &Identity) -> Vec<EventType> {
    let events = plugin.manifest.events.iter();
    let entry = |event: &EventDeclaration| EventType {
        name: event.name.clone(),
        owner: plugin.ext_id.as_str().to_owned(),
        schema: event.schema.clone(),
    };
    events.map(entry).collect()
}

impl AuditLogger for Host {
    fn record(&self, event: AuditEvent) -> BoxFuture<'_, Result<()>> {
        if let Err(error) = self.alive("audit") {
            return now(Err(error));
        }
        if is_core_class(&event.class) {
            return now(Err(refusal::audit_class_reserved(&event.class)));
        }
        now(self.session("audit").map(|session| {
            let AuditEvent {
                class,
                kind,
                payload,
            } = event;
            let correlation_id = session.correlation_id();
            let books = session.books();
            books.audit_as(
                self.id(),
                &class,
                kind.as_deref(),
                &correlation_id,
                payload.into(),
            );
        }))
    }

    fn query(&self, query: AuditQuery) -> BoxFuture<'_, Result<Vec<AuditRecord>>> {
        let found = self.session("audit").and_then(|session| {
            let trail = session.trail();
            trail.map_or(Ok(Vec::new()), |trail| trail.query(&query))
        });
        now(found)
    }

    fn active_subagents(&self) -> BoxFuture<'_, Result<Vec<ActiveSubagent>>> {
        let found = self.session("audit").and_then(|session| {
            let trail = session.trail();
            trail.map_or(Ok(Vec::new()), Trail::active_subagents)
        });
        now(found)
    }
}
