//! The subscriber that hands entries to the host.

use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

use serde_json::{Map, Value};
use stud_host_api::events::{LogEntry, LogSpan};
use stud_host_api::{Host, Severity};
use tracing::dispatcher::{self, DefaultGuard, Dispatch};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_core::span::Current;

use super::spans::{self, Fields};

/// The crates of the host. They are in the same copy of `tracing` as a plugin that is linked into the program, and what
/// they say is not said by the plugin.
const HOST: &[&str] = &[
    "stud",
    "stud_abi",
    "stud_config",
    "stud_control",
    "stud_core",
    "stud_gateway",
    "stud_mcp",
    "stud_plugins",
    "stud_runtime",
];

/// The member of an event that is its message.
const MESSAGE: &str = "message";

/// The host that hears threads which no call has entered, for as long as its plugin lives.
static LATEST: RwLock<Weak<Host>> = RwLock::new(Weak::new());

/// What is said in the calls of one plugin.
#[derive(Clone, Default)]
pub(crate) struct TracedLog(Arc<OnceLock<Dispatch>>);

impl TracedLog {
    /// Asks the host once how much it wants to hear. A host that knows no log hears nothing.
    pub(crate) fn connect(&self, host: &Host) {
        let Ok(Some(least)) = host.events().log_level() else {
            return;
        };
        let level = level(least);
        let host = Arc::new(host.clone());
        *LATEST.write().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&host);
        let host = Some(host);
        // A second `init` keeps the first one's.
        let _ = self.0.set(Dispatch::new(ToHost { host, level }));
        // In a program that already has a subscriber this fails, and threads of the plugin's own are heard by that one.
        let rest = ToHost { host: None, level };
        let _ = dispatcher::set_global_default(Dispatch::new(rest));
    }

    /// Hears this thread until the guard is dropped.
    pub(crate) fn enter(&self) -> Option<DefaultGuard> {
        self.0.get().map(dispatcher::set_default)
    }
}

impl fmt::Debug for TracedLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TracedLog").finish_non_exhaustive()
    }
}

struct ToHost {
    /// The host; the one that connected last where no call says which.
    host: Option<Arc<Host>>,
    level: LevelFilter,
}

impl ToHost {
    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        let home = metadata.target().split("::").next().unwrap_or_default();
        *metadata.level() <= self.level && !HOST.contains(&home)
    }

    fn hand_over(&self, entry: LogEntry) {
        let host = match &self.host {
            Some(host) => Some(host.clone()),
            None => LATEST
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .upgrade(),
        };
        if let Some(host) = host {
            // What the log does not take is not worth failing for, and saying so would be one more entry.
            let _ = host.events().log(entry);
        }
    }
}

impl Subscriber for ToHost {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.wants(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.wants(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        spans::begin(span)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        spans::record(span, values);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut fields = fields.0;
        let message = match fields.remove(MESSAGE) {
            Some(Value::String(message)) => message,
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let span = match event.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if event.is_contextual() => spans::innermost(),
            None => None,
        };
        self.hand_over(entry(event.metadata(), message, fields, spans::path(span)));
    }

    fn enter(&self, span: &Id) {
        spans::enter(span);
    }

    fn exit(&self, span: &Id) {
        spans::leave(span);
    }

    fn clone_span(&self, span: &Id) -> Id {
        spans::keep(span);
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        let all = spans::release(&span);
        let is_over = !all.is_empty();
        for ended in all {
            let message = format!("{} ended", ended.metadata.name());
            self.hand_over(LogEntry {
                duration_ms: Some(ended.duration_ms),
                ..entry(ended.metadata, message, Map::new(), ended.path)
            });
        }
        is_over
    }

    fn current_span(&self) -> Current {
        let innermost = spans::innermost();
        match innermost.and_then(|id| Some((id, spans::metadata(id)?))) {
            Some((id, metadata)) => Current::new(Id::from_u64(id), metadata),
            None => Current::none(),
        }
    }
}

fn entry(
    metadata: &Metadata<'_>,
    message: String,
    fields: Map<String, Value>,
    spans: Vec<LogSpan>,
) -> LogEntry {
    LogEntry {
        severity: severity(*metadata.level()),
        target: metadata.target().to_owned(),
        message,
        fields,
        spans,
        duration_ms: None,
    }
}

fn severity(level: Level) -> Severity {
    match level {
        Level::TRACE => Severity::Trace,
        Level::DEBUG => Severity::Debug,
        Level::INFO => Severity::Info,
        Level::WARN => Severity::Warn,
        Level::ERROR => Severity::Error,
    }
}

fn level(least: Severity) -> LevelFilter {
    match least {
        Severity::Trace => LevelFilter::TRACE,
        Severity::Debug => LevelFilter::DEBUG,
        Severity::Info => LevelFilter::INFO,
        Severity::Warn => LevelFilter::WARN,
        Severity::Error => LevelFilter::ERROR,
    }
}
