//! Plugins that take part in a session by listening or answering: UIs and loggers.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Map, Value};
use stud_abi::{CallContext, CancellationToken, EventHeader};
use stud_contract_interaction::{Request, Response};
use stud_contract_logger::{Accepts, Record, RecordKind, Severity};
use stud_contract_meta::{Error, Result};
use stud_contract_ui::Role;
use stud_host_api::audit::AuditRecord;
use stud_host_api::events::{CoreEvent, SuppressedError, severity};
use stud_host_api::metrics::{DiagnosticItem, Level};
use stud_host_api::{BoxFuture, CallIds};

use crate::activate::{Active, Running};
use crate::events::{Bus, Event, Service, Subscriber};
use crate::executor::{Mailbox, Pace, block_on, or_cancelled};
use crate::ids;
use crate::interactions::Interactor;
use crate::platform;
use crate::recorder::{Listener, PluginLog, Recorder};
use crate::session::Session;
use crate::timeout::{sleep, with_timeout};
use crate::timer::Timer;
use crate::validate::Members;

mod hearing;

use hearing::Hearing;

/// Subscribes a plugin that just became active, and registers it as an interactor, as it declared.
pub fn join(session: &Session, plugin: &Arc<Active>) {
    if plugin.identity().life.word() != "active" {
        return;
    }
    match &*plugin.identity().members {
        Members::Ui(members) => {
            let bus = session.bus();
            let hears = members.roles.contains(&Role::Subscriber);
            let seat = Arc::new(UiSeat {
                plugin: plugin.clone(),
                session_id: session.id().to_owned(),
                hearing: hears.then(|| Hearing::after(bus.last_seq())),
                bus: Arc::downgrade(bus),
                timer: session.timer().clone(),
            });
            if hears {
                session.subscribe(seat.clone(), Service::Shared);
            }
            if members.roles.contains(&Role::Interactor) {
                session.prompts().join(seat);
            }
        }
        Members::Logger(members) => {
            let sink = Arc::new(Sink {
                plugin: plugin.clone(),
                accepts: members.accepts,
                timer: session.timer().clone(),
                ending: session.scope().token(),
            });
            if members.accepts.events {
                // A logger waits for its disk or its network, so it is served apart from the start.
                session.subscribe(sink.clone(), Service::Apart);
            }
            session.listen(Feed::new(sink, session.books()));
        }
        _ => {}
    }
}

/// How long a prompt waits for its interactor to hear what happened before. One that is further behind is asked at once.
const CATCH_UP: Duration = Duration::from_millis(100);

/// A UI as subscriber and interactor.
struct UiSeat {
    plugin: Arc<Active>,
    session_id: String,
    /// How far it has heard; nothing for one that only answers.
    hearing: Option<Hearing>,
    bus: Weak<Bus>,
    timer: Arc<dyn Timer>,
}

impl Subscriber for UiSeat {
    fn ext_id(&self) -> &str {
        self.plugin.identity().ext_id.as_str()
    }

    fn hear(&self, event: &Event) -> Result<()> {
        let header = EventHeader {
            seq: event.seq,
            name: &event.name,
            correlation_id: &event.correlation_id,
        };
        let heard = self.plugin.hear(header, &event.payload);
        if let Some(hearing) = &self.hearing {
            hearing.note(event.seq);
        }
        heard
    }
}

impl Interactor for UiSeat {
    fn ext_id(&self) -> &str {
        self.plugin.identity().ext_id.as_str()
    }

    fn protocol_minor(&self) -> u64 {
        let declared = self.plugin.identity().manifest.interaction_protocol;
        declared.map_or(0, |version| version.minor)
    }

    fn news(&self) -> u64 {
        match (&self.hearing, self.bus.upgrade()) {
            (Some(_), Some(bus)) => bus.last_seq(),
            _ => 0,
        }
    }

    /// A question stands below what led to it.
    fn catch_up(&self, news: u64) -> Option<BoxFuture<'_, ()>> {
        let heard = self.hearing.as_ref()?.until(news)?;
        Some(Box::pin(async move {
            with_timeout(&*self.timer, CATCH_UP, heard).await;
        }))
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        cancelled: CancellationToken,
    ) -> BoxFuture<'a, Result<Response>> {
        let ids = CallIds {
            session_id: Some(self.session_id.clone()),
            correlation_id: Some(request.correlation_id.clone()),
            tool_call_id: None,
        };
        Box::pin(async move {
            let ids = serde_json::to_string(&ids).unwrap_or_default();
            let cx = CallContext::new(cancelled, ids);
            self.plugin.interact(request, cx).await
        })
    }
}

/// A logger's end of the streams.
struct Sink {
    plugin: Arc<Active>,
    accepts: Accepts,
    timer: Arc<dyn Timer>,
    /// Fires when the session ends.
    ending: CancellationToken,
}

impl Sink {
    /// Lets a few records gather, unless the session ends: to wake a thread for each takes longer than to log it, and
    /// a log is never waited for.
    fn gather(&self) {
        const A_MOMENT: Duration = Duration::from_millis(5);
        let moment = sleep(&*self.timer, A_MOMENT);
        block_on(or_cancelled(&self.ending, moment));
    }

    fn take(&self, record: &Record) -> Result<()> {
        if record.severity < self.accepts.min_severity {
            return Ok(());
        }
        let Running::Logger(instance) = self.plugin.running() else {
            return Err(self.plugin.lacks("sink"));
        };
        // Maps with text keys cannot fail to become JSON.
        let payload = serde_json::to_string(record).unwrap_or_default();
        let cx = CallContext::detached();
        let reply = block_on(instance.sink(record.kind.as_str(), payload, cx));
        reply
            .map(drop)
            .map_err(|fault| self.plugin.blame("sink", fault))
    }
}

impl Subscriber for Sink {
    fn ext_id(&self) -> &str {
        self.plugin.identity().ext_id.as_str()
    }

    fn roused(&self) {
        self.gather();
    }

    fn hears(&self, name: &str) -> bool {
        severity(name) >= self.accepts.min_severity
    }

    fn hear(&self, event: &Event) -> Result<()> {
        // Most events are not for most logs, and taking one apart is the larger part of the work.
        if !self.hears(&event.name) {
            return Ok(());
        }
        let payload = match serde_json::from_str(&event.payload) {
            Ok(Value::Object(members)) => members,
            Ok(value) => Map::from_iter([("value".to_owned(), value)]),
            Err(_) => Map::new(),
        };
        self.take(&Record {
            name: event.name.to_string(),
            kind: RecordKind::Event,
            severity: if is_called_off(&payload) {
                Severity::Info
            } else {
                severity(&event.name)
            },
            correlation_id: event.correlation_id.to_string(),
            timestamp: platform::rfc3339(event.at),
            payload,
        })
    }
}

/// Whether an event reports a cancellation, which is not a failure whatever the event's name.
fn is_called_off(payload: &Map<String, Value>) -> bool {
    let class = payload.get("errorClass");
    class.is_some_and(|class| class == "Cancellation")
}

/// Audit records and diagnostics on their way to a logger, in order and without holding anyone up.
struct Feed {
    ext_id: String,
    accepts: Accepts,
    mailbox: Arc<Mailbox<LoggerItem>>,
}

/// What goes to a logger. It becomes a record where the logger is served.
enum LoggerItem {
    Audit(Box<AuditRecord>),
    Diagnostic(Record),
    Log(Box<PluginLog>),
}

impl Feed {
    fn new(sink: Arc<Sink>, books: &Arc<Recorder>) -> Self {
        let ext_id = sink.plugin.identity().ext_id.as_str().to_owned();
        let accepts = sink.accepts;
        // The books hold this.
        let books = Arc::downgrade(books);
        let mailbox = Mailbox::new(Pace::Leisurely, move |told: VecDeque<LoggerItem>| {
            sink.gather();
            for told in told {
                let record = match told {
                    LoggerItem::Audit(record) => audit_record(*record),
                    LoggerItem::Diagnostic(record) => record,
                    LoggerItem::Log(said) => log_record(*said),
                };
                if let Err(error) = sink.take(&record)
                    && let Some(books) = books.upgrade()
                {
                    suppress(&books, &sink, &record, &error);
                }
            }
        });
        Self {
            ext_id,
            accepts,
            mailbox,
        }
    }
}

impl Listener for Feed {
    fn ext_id(&self) -> &str {
        &self.ext_id
    }

    fn hear_audit(&self, record: &AuditRecord) {
        if self.accepts.audit {
            self.mailbox
                .post(LoggerItem::Audit(Box::new(record.clone())));
        }
    }

    fn hear_diagnostic(&self, item: &DiagnosticItem) {
        if self.accepts.diagnostics {
            self.mailbox
                .post(LoggerItem::Diagnostic(diagnostic_record(item)));
        }
    }

    fn hear_log(&self, said: &PluginLog) {
        // What a logger says while it logs would be logged again.
        if self.accepts.takes(RecordKind::Event, said.severity) && said.ext_id != self.ext_id {
            self.mailbox.post(LoggerItem::Log(Box::new(said.clone())));
        }
    }
}

/// A logger failed. It is reported once: failing to take that report, or what is said of the logger itself, is not.
fn suppress(books: &Recorder, sink: &Sink, record: &Record, error: &Error) {
    let ext_id = sink.plugin.identity().ext_id.as_str();
    let is_own = |source: &Value| source == ext_id;
    let about_itself =
        record.kind == RecordKind::Diagnostic && record.payload.get("source").is_some_and(is_own);
    if record.name != SuppressedError::NAME && !about_itself {
        books.suppress_hearing(ext_id, &record.name, &record.correlation_id, error);
    }
}

fn diagnostic_record(item: &DiagnosticItem) -> Record {
    let payload = match serde_json::to_value(item) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    };
    Record {
        name: item.code.clone().unwrap_or_else(|| "Diagnostic".to_owned()),
        kind: RecordKind::Diagnostic,
        severity: match item.level {
            Level::Error => Severity::Error,
            Level::Warn => Severity::Warn,
            Level::Info | Level::Unknown => Severity::Info,
        },
        correlation_id: ids::fresh(),
        timestamp: item.at.clone(),
        payload,
    }
}

/// The name under which loggers get what a plugin says.
const PLUGIN_LOG: &str = "PluginLog";

fn log_record(said: PluginLog) -> Record {
    Record {
        name: PLUGIN_LOG.to_owned(),
        kind: RecordKind::Event,
        severity: said.severity,
        correlation_id: said.correlation_id,
        timestamp: platform::rfc3339(said.at),
        payload: said.payload,
    }
}

fn audit_record(record: AuditRecord) -> Record {
    let name = match &record.kind {
        Some(kind) => format!("{}.{kind}", record.class),
        None => record.class.clone(),
    };
    let (correlation_id, timestamp) = (record.correlation_id.clone(), record.timestamp.clone());
    let payload = match serde_json::to_value(record) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    };
    Record {
        name,
        kind: RecordKind::Audit,
        severity: Severity::Info,
        correlation_id,
        timestamp,
        payload,
    }
}
