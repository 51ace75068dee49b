//! The errors a provider of a real model gives.

use stud_sdk::{Class, Error};

/// A class and a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// What core should do about it.
    pub class: Class,
    /// What happened.
    pub name: &'static str,
}

impl Code {
    const fn transient(name: &'static str) -> Self {
        let class = Class::ProviderTransient;
        Self { class, name }
    }

    const fn capability(name: &'static str) -> Self {
        let class = Class::ProviderCapability;
        Self { class, name }
    }

    /// The error, in these words.
    pub fn error(self, message: impl Into<String>) -> Error {
        Error::new(self.class, self.name, message)
    }
}

/// The backend did not accept the key.
pub const UNAUTHORIZED: Code = Code::transient("Unauthorized");
/// Nothing serves models at this address, or not this one.
pub const ENDPOINT_NOT_FOUND: Code = Code::transient("EndpointNotFound");
/// The backend wants to be asked less often.
pub const RATE_LIMITED: Code = Code::transient("RateLimited");
/// The backend failed.
pub const PROVIDER_5XX: Code = Code::transient("Provider5xx");
/// There was no connection, it broke, or nothing came over it for too long.
pub const NETWORK_TIMEOUT: Code = Code::transient("NetworkTimeout");
/// The backend aborted an answer for an unknown reason.
pub const STREAM_ERROR: Code = Code::transient("StreamError");

/// The request does not fit into what the model can read at once.
pub const CONTEXT_WINDOW_TOO_SMALL: Code = Code::capability("ContextWindowTooSmall");
/// The backend does not stream.
pub const MISSING_STREAMING: Code = Code::capability("MissingStreaming");
/// The model cannot call tools.
pub const MISSING_TOOL_CALLING: Code = Code::capability("MissingToolCalling");
/// The answer is not in the form the backend promised.
pub const PROVIDER_OUTPUT_MALFORMED: Code = Code::capability("OutputMalformed");
/// The backend refuses the request as it is.
pub const REQUEST_REJECTED: Code = Code::capability("RequestRejected");

/// `Validation/ConfigSchemaViolation`: a member of the config that its schema cannot refuse.
pub fn violation(field_path: &str, why: impl Into<String>) -> Error {
    Error::new(Class::Validation, "ConfigSchemaViolation", why).with("fieldPath", field_path)
}
