//! Tells subscribers what happened.
//!
//! Events are notifications without authority: no decision may depend on whether one arrived.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stud_contract_meta::{Error, Result};

use crate::Severity;

mod declare;
mod session;
mod extension;
mod turn;
mod provider;
mod model;
mod tool;
mod interaction;
mod context;
mod state_machine;
mod child;
mod problem;

pub use child::*;
pub use context::*;
pub use declare::{CoreEvent, CoreEventInfo};
pub use extension::*;
pub use interaction::*;
pub use model::*;
pub use problem::*;
pub use provider::*;
pub use session::*;
pub use state_machine::*;
pub use tool::*;
pub use turn::*;

/// An event of the plugin's own, declared in its manifest with a schema.
///
/// Core adds the correlation id and the place in the stream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// What happened, as declared; case matters.
    pub name: String,
    /// The facts, in the shape of the declared schema.
    #[serde(default)]
    pub payload: Value,
}

/// An entry of the registry of event types: an event that may come, and what its payload looks like.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EventType {
    /// The name on the bus.
    pub name: String,
    /// Who publishes it: `core`, or the id of a plugin.
    pub owner: String,
    /// The JSON Schema of the payload.
    #[serde(default)]
    pub schema: Value,
}

/// What a plugin says to the log: no event, and not told to subscribers other than loggers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// How much it matters.
    #[serde(default)]
    pub severity: Severity,
    /// The part of the plugin that says it, such as a module.
    #[serde(default)]
    pub target: String,
    /// The message.
    #[serde(default)]
    pub message: String,
    /// The facts beside the message.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
    /// The spans it was said in, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<LogSpan>,
    /// How many milliseconds the innermost span took, for an entry that reports its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// A span of a plugin's log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogSpan {
    /// Its name.
    pub name: String,
    /// Its facts.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
}

/// The owner of the events that only core publishes.
pub const CORE_OWNER: &str = "core";

/// Publishes events, and says which there are.
pub trait EventPublisher: Send + Sync {
    /// Puts an event on the bus.
    ///
    /// Fails with `Validation/EventNameReserved`, `Validation/EventUndeclared` or `Validation/EventPayloadInvalid`.
    fn publish(&self, event: Event) -> Result<()>;

    /// Every event that may come: core's in byte order of their names, and then those that plugins declare in their
    /// manifests, by name and owner.
    ///
    /// Outside a session the plugin's own are the only ones that are not core's.
    fn list(&self) -> Result<Vec<EventType>> {
        Ok(core_event_types())
    }

    /// The least severity of log entries that the host takes; nothing if it takes none.
    ///
    /// It stays the same for as long as the plugin runs, so that a plugin need not ask again.
    fn log_level(&self) -> Result<Option<Severity>> {
        Ok(None)
    }

    /// Hands an entry to the loggers, with the plugin's id. One below [`log_level`](Self::log_level) is dropped.
    ///
    /// Fails with `ExtensionHost/EventRateExceeded` for a plugin that says too much.
    fn log(&self, entry: LogEntry) -> Result<()> {
        drop(entry);
        Ok(())
    }
}

/// An error beside the other facts of an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorSummary {
    /// The class.
    pub class: String,
    /// The code.
    pub code: String,
    /// The error for a person.
    pub message: String,
}

impl From<&Error> for ErrorSummary {
    fn from(error: &Error) -> Self {
        Self {
            class: error.class().to_owned(),
            code: error.code().to_owned(),
            message: error.message().to_owned(),
        }
    }
}

/// The sections of the reference, in its order.
const SECTIONS: &[&[CoreEventInfo]] = &[
    SESSION,
    EXTENSION,
    TURN,
    PROVIDER,
    MODEL,
    TOOL,
    INTERACTION,
    CONTEXT,
    STATE_MACHINE,
    CHILD,
    PROBLEM,
];

/// How many events core has.
const COUNT: usize = {
    let (mut count, mut section) = (0, 0);
    while section < SECTIONS.len() {
        count += SECTIONS[section].len();
        section += 1;
    }
    count
};

/// The names that only core publishes, in byte order.
pub const CORE_EVENTS: [&str; COUNT] = {
    let mut names = [""; COUNT];
    let mut place = 0;
    while place < COUNT {
        names[place] = IN_ORDER[place].name;
        place += 1;
    }
    names
};

/// All sections in one list, in byte order of the names.
const IN_ORDER: [CoreEventInfo; COUNT] = {
    let mut events = [SECTIONS[0][0]; COUNT];
    let (mut count, mut section) = (0, 0);
    while section < SECTIONS.len() {
        let mut next = 0;
        while next < SECTIONS[section].len() {
            // Each event moves to the left until the name before it is smaller.
            let event = SECTIONS[section][next];
            let mut place = count;
            while place > 0 && is_before(event.name, events[place - 1].name) {
                events[place] = events[place - 1];
                place -= 1;
            }
            events[place] = event;
            count += 1;
            next += 1;
        }
        section += 1;
    }
    events
};

/// Byte order, in a constant.
const fn is_before(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if left[at] != right[at] {
            return left[at] < right[at];
        }
        at += 1;
    }
    left.len() < right.len()
}

/// Every event that only core publishes, in the order of the reference.
///
/// ```
/// use stud_host_api::events::core_events;
///
/// let ended = core_events().find(|event| event.name == "SessionTurnEnd").unwrap();
/// assert_eq!(ended.section, "A turn");
/// ```
pub fn core_events() -> impl Iterator<Item = &'static CoreEventInfo> {
    SECTIONS.iter().copied().flatten()
}

/// The schemas of core's events by name, in one object. `cargo xtask codegen` writes them, so that a host can tell them
/// without the machinery that makes them.
const SCHEMAS: &str = include_str!("events/schemas.json");

/// Core's part of the registry of event types.
///
/// ```
/// use stud_host_api::events::core_event_types;
///
/// let types = core_event_types();
/// let ended = types.iter().find(|event| event.name == "SessionTurnEnd").unwrap();
/// assert_eq!(ended.owner, "core");
/// assert_eq!(ended.schema["properties"]["turnId"]["type"], "string");
/// ```
pub fn core_event_types() -> Vec<EventType> {
    // Tests hold the file against the declarations, so it is JSON and has every name.
    let mut schemas: Map<String, Value> = serde_json::from_str(SCHEMAS).unwrap_or_default();
    let entry = |name: &str| EventType {
        name: name.to_owned(),
        owner: CORE_OWNER.to_owned(),
        schema: schemas.remove(name).unwrap_or_default(),
    };
    CORE_EVENTS.into_iter().map(entry).collect()
}

/// How much an event matters to a log: what core declares for its own, and for a plugin's event what the name says.
///
/// ```
/// use stud_host_api::Severity;
/// use stud_host_api::events::severity;
///
/// assert_eq!(severity("ProviderTokensStreamed"), Severity::Trace);
/// assert_eq!(severity("IndexFailed"), Severity::Error);
/// assert_eq!(severity("IndexBuilt"), Severity::Info);
/// ```
pub fn severity(name: &str) -> Severity {
    match IN_ORDER.binary_search_by(|event| event.name.cmp(name)) {
        Ok(place) => IN_ORDER[place].severity,
        Err(_) if name.ends_with("Failed") => Severity::Error,
        Err(_) => Severity::Info,
    }
}

/// Whether only core may emit this name.
pub fn is_core_event(name: &str) -> bool {
    CORE_EVENTS.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests;
