//! What goes wrong here, in codes that the model and core act on.

use std::time::Duration;

use reqwest::Url;
use stud_sdk::{Class, Error, ErrorExt as _};

/// The network policy does not let the host be reached.
const NETWORK_DENIED: &str = "NetworkDenied";

/// What came back, or did not, is no answer.
const OUTPUT_MALFORMED: &str = "OutputMalformed";

/// `ToolTerminal/InputInvalid` about one argument.
pub(crate) fn invalid(field_path: &str, why: impl Into<String>) -> Error {
    Error::invalid_input(why.into()).with("fieldPath", field_path)
}

/// `ToolTerminal/NetworkDenied`: no connection was made.
pub(crate) fn denied(url: &Url, why: impl Into<String>) -> Error {
    Error::new(Class::ToolTerminal, NETWORK_DENIED, why)
        .with("host", url.host_str().unwrap_or_default())
        .with("port", url.port_or_known_default())
        .with("url", shown(url))
}

/// `ToolTerminal/OutputMalformed`.
pub(crate) fn malformed(url: &Url, why: impl Into<String>) -> Error {
    Error::new(Class::ToolTerminal, OUTPUT_MALFORMED, why).with("url", shown(url))
}

/// `ToolTransient/ExecutionTimeout`.
pub(crate) fn timed_out(url: &Url, limit: Duration) -> Error {
    let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let message = format!("the answer was not there within {millis} ms");
    Error::transient("ExecutionTimeout", message)
        .with("timeoutMs", millis)
        .with("url", shown(url))
}

/// `Cancellation/TurnCancelled`: there was nothing to stop yet.
pub(crate) fn not_begun() -> Error {
    let message = "the turn was cancelled before the request";
    Error::new(Class::Cancellation, "TurnCancelled", message)
}

/// An address without its credentials.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for addresses that have no host, and so no password either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}
