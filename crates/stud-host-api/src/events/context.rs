//! Putting a request together, and compaction.

use serde::{Deserialize, Serialize};

use super::declare::core_events;

core_events! {
    CONTEXT = "The request";

    /// A request is put together.
    Info AssemblyStarted {
        /// How many context providers are asked.
        provider_count: u64,
        /// The tokenizer; absent as long as a rough count is enough.
        tokenizer_id: Option<String>,
    }

    /// Context providers have answered.
    Info ProviderFragmentsResolved {
        /// How many fragments they gave.
        fragment_count: u64,
        /// How many context providers were asked.
        provider_count: u64,
    }

    /// Two fragments claim the same slot.
    Info ExclusiveSlotConflict {
        /// The slot.
        exclusive_slot: String,
        /// The plugin whose fragment is left out.
        loser_ext_id: String,
        /// The plugin whose fragment is used.
        winner_ext_id: String,
    }

    /// The fragments of a request are known.
    Info FragmentsResolved {
        /// The size of the request without fragments.
        base_tokens: u64,
        /// How many fragments there are.
        fragment_count: u64,
    }

    /// A fragment was shortened to its plugin's budget.
    Info FragmentTruncated {
        /// Its size after.
        after_tokens: u64,
        /// Its size before.
        before_tokens: u64,
        /// The plugin.
        owner_ext_id: String,
    }

    /// All fragments are within their budgets.
    Info BudgetEnforced {
        /// How many fragments there are.
        fragment_count: u64,
    }

    /// A context provider failed.
    Error ContextProviderFailed {
        /// The code of the error.
        code: String,
        /// Whether the settings let the turn continue without it.
        graceful: bool,
        /// The plugin.
        owner_ext_id: String,
    }

    /// A request is complete.
    Info AssemblyCompleted {
        /// Whether the conversation was summarized for it.
        compacted: bool,
        /// How many tokens the model takes.
        model_window_tokens: u64,
        /// How many tokens the request has.
        total_tokens: u64,
    }

    /// A request fills the model's window to the threshold of the settings for the first time.
    Info CompactionThresholdHit {
        /// How many tokens the model takes.
        model_window_tokens: u64,
        /// How full the window is, in percent.
        percent: f64,
        /// How many tokens the request has.
        total_tokens: u64,
    }

    /// It was decided whether to compact the conversation, and then by how much.
    Info CompactionInvoked {
        /// How many tokens the model takes; in the decision.
        #[serde(skip_serializing_if = "Option::is_none")]
        model_window_tokens: Option<u64>,
        /// What was decided.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<CompactionReason>,
        /// How many tokens the conversation should have; from the compaction itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        target_tokens: Option<u64>,
        /// How many tokens there are.
        total_tokens: u64,
    }

    /// The conversation is summarized.
    Info CompactionStarted {
        /// How many tokens the conversation should have.
        target_tokens: u64,
        /// How many tokens it has.
        total_tokens: u64,
    }

    /// The conversation is compacted, or was short enough.
    Info CompactionCompleted {
        /// How many tokens the conversation has now.
        compacted_tokens: u64,
        /// How many tokens it had.
        original_tokens: u64,
        /// How many pieces were summarized.
        segments_compacted: u64,
    }

    /// The earlier name of `CompactionCompleted`, published after it.
    Info CompactionPerformed(CompactionCompleted)

    /// The conversation could not be compacted.
    Error CompactionFailed {
        /// The class of the error.
        error_class: String,
        /// The code of the error.
        error_code: String,
        /// The error for a person.
        message: String,
    }

    /// The backend shortened the conversation in the same turn as core.
    Info CompactionDoubleRan {
        /// The model.
        model_id: String,
        /// The provider.
        provider_id: String,
    }

    /// Reasoning of earlier turns was left out of a summary.
    Info CompactionReasoningDowngraded {
        /// The model.
        model_id: String,
        /// The provider.
        provider_id: String,
    }
}

/// Whether a conversation is compacted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CompactionReason {
    /// The request is too long for the model's window.
    WindowExceeded,
    /// The request fits.
    #[default]
    NotNeeded,
}
