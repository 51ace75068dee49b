//! The session as a whole.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::declare::core_events;

core_events! {
    SESSION = "The session";

    /// A turn runs. It follows the `SessionTurnStart` of that turn.
    Info SessionActive {
        /// The state before.
        from: SessionState,
        /// The state now.
        to: SessionState,
        /// What caused the change.
        trigger: SessionTrigger,
    }

    /// The session has ended.
    Info SessionClosed {
        /// The state before.
        from: SessionState,
        /// The state now.
        to: SessionState,
        /// What caused the change: `Sigterm` if the process was asked to end, otherwise `Close`.
        trigger: SessionTrigger,
    }

    /// The session store has acknowledged a snapshot.
    Info SessionPersisted {
        /// The session.
        session_id: String,
        /// The session store.
        store_id: String,
    }

    /// The session was read back from its store.
    Info SessionResumed {
        /// The state before.
        from: SessionState,
        /// Extensions the session had and continues without.
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped_extensions: Option<Vec<SkippedExtension>>,
        /// Whether the state machine was restored; absent for a session that had none.
        #[serde(skip_serializing_if = "Option::is_none")]
        sm_restored: Option<bool>,
        /// The state now.
        to: SessionState,
        /// What caused the change.
        trigger: SessionTrigger,
    }

    /// A command asked for the end of the session.
    Info SessionExitRequested {
        /// Whether inputs that wait are dropped and the running turn is cancelled.
        forced: bool,
    }

    /// A snapshot is larger than recommended: before it is written, or after `SessionResumed`.
    Info ManifestSizeBudgetExceeded {
        /// The size of the snapshot.
        actual_bytes: u64,
        /// What to do about it.
        recommendation: String,
        /// When it was measured.
        site: BudgetSite,
        /// The recommended maximum.
        threshold_bytes: u64,
    }

    /// A parameter that was set in an earlier process of this session is not set in this one.
    Info RuntimeParamsNotResumed {
        /// What ties together everything that is told of the parameters of one start.
        correlation_id: String,
        /// The parameter.
        param_path: String,
        /// Its value, without secrets.
        redacted_value: Option<serde_json::Value>,
        /// What had set it.
        source_layer: Option<String>,
    }
}

/// The states of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SessionState {
    /// Open, and without a turn so far.
    #[default]
    Idle,
    /// A turn runs.
    Active,
    /// The last turn is stored.
    Persisted,
    /// Read back from the store, and without a turn since.
    Resumed,
    /// Ended.
    Closed,
}

impl SessionState {
    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "Idle",
            Self::Active => "Active",
            Self::Persisted => "Persisted",
            Self::Resumed => "Resumed",
            Self::Closed => "Closed",
        }
    }
}

impl fmt::Display for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What moves a session from one state to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SessionTrigger {
    /// The first turn of a new session.
    #[default]
    FirstTurn,
    /// A later turn.
    NextTurn,
    /// The session was read back.
    Resume,
    /// The session ended.
    Close,
    /// The process was asked to end.
    Sigterm,
}

/// An extension that a resumed session continues without.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SkippedExtension {
    /// The extension.
    pub ext_id: String,
    /// Why it is skipped.
    pub reason: String,
}

/// When the size of a snapshot was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BudgetSite {
    /// Before a snapshot is written.
    #[default]
    PreSave,
    /// After a snapshot was read.
    PreHydration,
}
