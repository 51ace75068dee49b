//! A turn and its stages.

use super::ErrorSummary;
use super::declare::core_events;

core_events! {
    TURN = "A turn";

    /// A turn begins. It is the first event of the turn.
    Info SessionTurnStart {
        /// The attempt at the stage, for a turn of a state machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// The prompt whose late answer began the turn.
        #[serde(skip_serializing_if = "Option::is_none")]
        caused_by: Option<String>,
        /// The record of the input that began the turn.
        #[serde(skip_serializing_if = "Option::is_none")]
        input_seq: Option<u64>,
        /// The session, for a turn of a state machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// The stage, for a turn of a state machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        stage_id: Option<String>,
        /// The turn.
        turn_id: String,
    }

    /// A turn has ended, however it ended. It is the last event of the turn.
    Info SessionTurnEnd {
        /// The attempt at the stage, for a turn of a state machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// Whether the limit on requests of one turn was reached.
        cap_hit: bool,
        /// Why the turn failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<ErrorSummary>,
        /// How the next stages run, for a turn of a state machine: `sequential` or `parallel`.
        #[serde(skip_serializing_if = "Option::is_none")]
        execution: Option<String>,
        /// The turn that spans parallel stages, for a turn of a state machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_compound_turn_id: Option<String>,
        /// The session, for a turn of a state machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// The stage, for a turn of a state machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        stage_id: Option<String>,
        /// The turn.
        turn_id: String,
    }

    /// A stage of a turn, or a phase of a state machine's stage, begins.
    Debug StagePreFired {
        /// The attempt at the state machine's stage.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// The turn that spans parallel stages.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_compound_turn_id: Option<String>,
        /// The phase of the state machine's stage.
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
        /// The session that runs the state machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// The stage of the turn: `RECEIVE_INPUT`, `COMPOSE_REQUEST`, `SEND_REQUEST`, `STREAM_RESPONSE`, `TOOL_CALL` or
        /// `RENDER`.
        #[serde(skip_serializing_if = "Option::is_none")]
        stage: Option<String>,
        /// The state machine's stage.
        #[serde(skip_serializing_if = "Option::is_none")]
        stage_id: Option<String>,
    }

    /// A stage of a turn, or a phase of a state machine's stage, has ended.
    Debug StagePostFired {
        /// The attempt at the state machine's stage.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// `true` if it failed; otherwise absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<bool>,
        /// The turn that spans parallel stages.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_compound_turn_id: Option<String>,
        /// The phase of the state machine's stage.
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
        /// The session that runs the state machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// The stage of the turn.
        #[serde(skip_serializing_if = "Option::is_none")]
        stage: Option<String>,
        /// The state machine's stage.
        #[serde(skip_serializing_if = "Option::is_none")]
        stage_id: Option<String>,
    }

    /// The answer as it was recorded, once for each turn that has one.
    Info TurnRendered {
        /// The number of the answer's record, as text.
        monotonic_ts: String,
        /// The answer.
        text: String,
        /// The turn.
        turn_id: String,
    }
}
