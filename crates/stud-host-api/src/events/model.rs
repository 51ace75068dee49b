//! Which model answers, what it can do and its parameters.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::declare::core_events;

core_events! {
    MODEL = "The choice of a model and its parameters";

    /// A model was chosen that has, or may have, what the session needs.
    Info CapabilityNegotiated {
        /// The model.
        model_id: String,
        /// The provider.
        provider_id: String,
        /// What the session needs and is not certain.
        warnings: Vec<CapabilityWarning>,
    }

    /// A model lacks something the session needs or would use.
    Info CapabilityMismatch {
        /// Always `switch-into`.
        direction: String,
        /// What the model lacks.
        missing_capabilities: Vec<String>,
        /// Parameters that do not fit the model.
        params_affected: Vec<String>,
    }

    /// The new provider cannot read the reasoning of earlier turns.
    Info ReasoningProviderPortabilityWarning {
        /// The provider before.
        from: Option<String>,
        /// What that means, for a person.
        message: String,
        /// The model.
        model_id: String,
        /// The provider now.
        to: String,
    }

    /// A parameter was set for the rest of the session.
    Info ParamsChanged {
        /// What ties together everything that is told of one change.
        correlation_id: String,
        /// The parameter.
        param_path: String,
        /// Its value, without secrets.
        redacted_delta: Value,
        /// What set it.
        source_layer: String,
    }

    /// Two parameters contradict each other.
    Info ParamCrossFieldInvalid(ParamProblem)

    /// A parameter has a forbidden name.
    Info ParamForbiddenKey(ParamProblem)

    /// A parameter is reserved for the provider.
    Info ParamReserved(ParamProblem)

    /// The value of a parameter looks like a secret.
    Info ParamSecretValue(ParamProblem)

    /// The provider has no such parameter.
    Info ParamUnknown(ParamProblem)

    /// The model ignores a parameter.
    Info ParamUnsupportedOnActive(ParamProblem)

    /// A parameter is spelled as the backend spells it.
    Info ParamWireShape(ParamProblem)

    /// The value of a parameter is none the provider takes.
    Info ConfigSchemaViolation(ParamProblem)

    /// The backend is told to shorten conversations as well. Core's summary is the one that is kept.
    Info DoubleCompactionConfigured {
        /// The model.
        model_id: String,
        /// The parameter that tells the backend.
        param_path: String,
        /// The provider.
        provider_id: String,
        /// What set the parameter.
        source_layer: String,
    }
}

/// A capability that the session needs and the model may lack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapabilityWarning {
    /// The capability.
    pub name: String,
    /// Why it is not certain.
    pub reason: CapabilityDoubt,
}

/// Why a capability is not certain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CapabilityDoubt {
    /// It is found out when it is first used.
    #[default]
    ProbePending,
    /// The model lacks it, and the session continues without.
    PreferredUnmet,
}

/// What is wrong with a parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ParamProblem {
    /// The code of the error, which is also the name of the event.
    pub code: String,
    /// The error for a person, without the value.
    pub message: String,
    /// The parameter.
    pub param_path: String,
    /// Whether the parameters can be used all the same.
    pub severity: ParamSeverity,
    /// What set it.
    pub source_layer: String,
}

/// Whether parameters with a problem can be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ParamSeverity {
    /// They are used, and this one is ignored.
    Warning,
    /// They are refused.
    #[default]
    Error,
}
