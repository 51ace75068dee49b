//! Prompts.

use stud_contract_interaction::{InteractionAnswered, InteractionCancelled, InteractionRaised};

use super::declare::core_events;

core_events! {
    INTERACTION = "Prompts";

    Info InteractionRaised;

    Info InteractionAnswered;

    Info InteractionCancelled;

    /// The tool that asked is gone, and the prompt can still be answered.
    Info InteractionDetached {
        /// The turn.
        correlation_id: String,
        /// The plugin that asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        ext_id: Option<String>,
        /// The prompt.
        interaction_id: String,
        /// What is asked for.
        kind: String,
    }

    /// A prompt needs an answer, and no interactor is active.
    Info HeadlessInteractionRequired {
        /// The turn.
        correlation_id: String,
        /// What to do about it.
        hint: String,
        /// Always `permission-required`.
        kind: String,
        /// What is asked for.
        request_kind: String,
    }
}
