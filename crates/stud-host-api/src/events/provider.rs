//! Requests to the model.

use super::declare::core_events;

core_events! {
    PROVIDER = "The model";

    /// A request is sent.
    Info ProviderRequestStarted {
        /// The number of the request in its turn, from 0.
        iteration: u32,
        /// The model.
        model_id: String,
        /// The provider.
        provider_id: String,
    }

    /// A piece of the answer arrived.
    Trace ProviderTokensStreamed {
        /// How many tokens of the answer have arrived.
        cumulative_output_tokens: u64,
        /// The text of the piece.
        delta: String,
    }

    /// A piece of the model's reasoning arrived.
    Trace ProviderReasoningStreamed {
        /// The text of the piece.
        delta: String,
    }

    /// Superseded by `ProviderTokensStreamed`, and no longer published.
    Trace TokenEmitted {
        /// The text of the piece.
        delta: String,
    }

    /// A request was answered to its end.
    Info ProviderRequestCompleted {
        /// The text of the answer.
        assistant_text: String,
        /// How long it took.
        duration_ms: u64,
        /// Why the model stopped: `stop`, `tool-calls`, `length`, `content-filter`, `error` or `other`.
        finish_reason: Option<String>,
        /// The model.
        model_id: String,
        /// How many tokens the answer has.
        output_tokens: u64,
        /// The provider.
        provider_id: String,
    }

    /// A request failed or was cancelled.
    Error ProviderRequestFailed {
        /// How long it took.
        duration_ms: u64,
        /// The class of the error; `Cancellation` if the request was cancelled.
        error_class: String,
        /// The code of the error.
        error_code: String,
        /// The error for a person.
        message: String,
        /// The model.
        model_id: String,
        /// The provider.
        provider_id: String,
    }

    /// The provider reused a part of an earlier request.
    Info CacheHit {
        /// How many tokens were reused.
        cached_input_tokens: u64,
        /// The model.
        model_id: String,
        /// The provider.
        provider_id: String,
    }

    /// The provider could have reused a part of an earlier request, and reused none.
    Info CacheMiss {
        /// The model.
        model_id: String,
        /// The provider.
        provider_id: String,
    }

    /// The provider ignored a cache marker.
    Info CacheMarkerIgnored {
        /// The model.
        model_id: String,
        /// The provider.
        provider_id: String,
        /// Why.
        reason: String,
    }
}
