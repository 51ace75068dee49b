//! What went wrong and stopped nothing, and how long work took.

use serde::{Deserialize, Serialize};

use super::declare::core_events;

core_events! {
    PROBLEM = "What went wrong and stopped nothing";

    /// An error that stopped nothing.
    Warn SuppressedError {
        /// When it happened.
        at: String,
        /// The error as JSON text, with `class`, `code`, `message` and `context`.
        cause: String,
        /// What the plugin failed to take: an event, or an audit record or a diagnostic for a logger.
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<String>,
        /// The plugin that failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        ext_id: Option<String>,
        /// What failed, for a person.
        reason: String,
        /// Always `SuppressedError`.
        #[serde(rename = "type")]
        kind: String,
    }

    /// A subscriber does not keep up with events.
    Warn SubscriberLagged {
        /// How many events it has not handled.
        behind: u64,
        /// The subscriber.
        ext_id: String,
        /// Whether it does not return from an event at all.
        stuck: bool,
    }

    /// A subscriber was too far behind and missed events.
    Warn EventsSkipped {
        /// How many events it missed.
        count: u64,
        /// The subscriber.
        ext_id: String,
        /// The first event it missed.
        from_seq: u64,
        /// The last event it missed.
        to_seq: u64,
    }

    /// A piece of core's own work begins: `provider-request` or `compaction`.
    Debug SpanStart {
        /// Which work.
        name: String,
        /// When it began.
        started_at: String,
    }

    /// A piece of core's own work has ended. A span ends once.
    Debug SpanEnd {
        /// When it ended.
        ended_at: String,
        /// Which work.
        name: String,
        /// Whether it succeeded.
        outcome: SpanOutcome,
        /// When it began.
        started_at: String,
    }
}

/// Whether a piece of work succeeded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SpanOutcome {
    /// It succeeded.
    #[default]
    Ok,
    /// It failed, or was given up.
    Error,
}
