//! Tells subscribers what happened.
//!
//! Events are a picture of what goes on, with no authority: nobody may take a decision because one came or did not.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stud_contract_meta::Result;

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

/// Publishes events.
pub trait EventPublisher: Send + Sync {
    /// Puts an event on the bus.
    ///
    /// Fails with `Validation/EventNameReserved`, `Validation/EventUndeclared` or `Validation/EventPayloadInvalid`.
    fn publish(&self, event: Event) -> Result<()>;
}

/// The names that only core emits, in byte order.
pub const CORE_EVENTS: [&str; 84] = [
    "AssemblyCompleted",
    "AssemblyStarted",
    "BudgetEnforced",
    "CacheHit",
    "CacheMarkerIgnored",
    "CacheMiss",
    "CapabilityMismatch",
    "CapabilityNegotiated",
    "CommandDispatched",
    "CommandResulted",
    "CompactionCompleted",
    "CompactionDoubleRan",
    "CompactionFailed",
    "CompactionInvoked",
    "CompactionPerformed",
    "CompactionReasoningDowngraded",
    "CompactionStarted",
    "CompactionThresholdHit",
    "ContextProviderFailed",
    "Deprecation",
    "DoubleCompactionConfigured",
    "EnvResolved",
    "EventsSkipped",
    "ExclusiveSlotConflict",
    "FragmentTruncated",
    "FragmentsResolved",
    "GuardDeny",
    "HeadlessInteractionRequired",
    "HookFired",
    "HookGuardDenied",
    "HookObserverFailed",
    "InteractionAnswered",
    "InteractionCancelled",
    "InteractionDetached",
    "InteractionRaised",
    "LifecyclePhaseEnd",
    "LifecyclePhaseStart",
    "ManifestSizeBudgetExceeded",
    "OrderingRewrite",
    "ParamCrossFieldInvalid",
    "ParamForbiddenKey",
    "ParamReserved",
    "ParamSecretValue",
    "ParamUnknown",
    "ParamUnsupportedOnActive",
    "ParamWireShape",
    "ParamsChanged",
    "ProviderFragmentsResolved",
    "ProviderReasoningStreamed",
    "ProviderRequestCompleted",
    "ProviderRequestFailed",
    "ProviderRequestStarted",
    "ProviderTokensStreamed",
    "ReasoningProviderPortabilityWarning",
    "RuntimeParamsNotResumed",
    "SMAttached",
    "SessionActive",
    "SessionClosed",
    "SessionExitRequested",
    "SessionPersisted",
    "SessionResumed",
    "SessionTurnEnd",
    "SessionTurnStart",
    "SpanEnd",
    "SpanStart",
    "StageExecutionSpanStart",
    "StagePostFired",
    "StagePreFired",
    "SubagentAborted",
    "SubagentCompleted",
    "SubagentEnvelopeApproved",
    "SubagentEnvelopeDenied",
    "SubagentEscalated",
    "SubagentHalted",
    "SubagentSpawned",
    "SubscriberLagged",
    "SuppressedError",
    "TokenEmitted",
    "ToolInvocationCancelled",
    "ToolInvocationFailed",
    "ToolInvocationProposed",
    "ToolInvocationStarted",
    "ToolInvocationSucceeded",
    "TurnRendered",
];

/// Whether only core may emit this name.
pub fn is_core_event(name: &str) -> bool {
    CORE_EVENTS.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use stud_contract_interaction::{InteractionAnswered, InteractionCancelled, InteractionRaised};

    #[test]
    fn names_are_in_byte_order_and_unique() {
        assert!(CORE_EVENTS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn core_names_are_known_and_others_are_not() {
        for name in [
            InteractionRaised::NAME,
            InteractionAnswered::NAME,
            InteractionCancelled::NAME,
            "SessionTurnStart",
            "SuppressedError",
            "SMAttached",
        ] {
            assert!(is_core_event(name), "{name}");
        }
        for name in ["sessionTurnStart", "SessionTurnStart2", "MyEvent", ""] {
            assert!(!is_core_event(name), "{name}");
        }
    }

    #[test]
    fn an_event_round_trips() {
        let json = json!({"name": "IndexBuilt", "payload": {"files": 3}});
        let event: Event = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(event).unwrap(), json);
    }
}
