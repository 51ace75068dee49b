//! State machines.

use super::declare::core_events;

core_events! {
    STATE_MACHINE = "State machines";

    /// A state machine was attached to the session.
    Info SMAttached {
        /// Whether the session was resumed.
        resumed: bool,
        /// Whether the state machine was given what it had stored.
        saw_slot: bool,
        /// The state machine.
        sm_id: String,
    }

    /// The state machine was detached from the session.
    Info SMDetached {
        /// The state machine.
        sm_id: String,
    }

    /// An attempt at a stage begins.
    Info StageExecutionSpanStart {
        /// The attempt, from 0.
        attempt: u32,
        /// The session that runs the state machine.
        session_id: String,
        /// The stage.
        stage_id: String,
    }
}
