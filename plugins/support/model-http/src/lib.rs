//! What the providers of real models share.
//!
//! A provider says what to [`Post`] and how its backend speaks, as a [`Dialect`]; [`Endpoint::ask`] does the rest: it
//! finds the key, sends the request, takes the stream of events apart, hands the pieces on and closes the connection
//! when the turn is cancelled.
//!
//! Nothing is set up before the first request. Then one thread with one runtime serves all providers of a library, and
//! connections are kept for the next request. Roots of trust are read for the first `https` address and not before.
#![forbid(unsafe_code)]

mod code;
mod external_text;
mod key;
mod failure;
mod retry_after;
mod backend_error;
mod sse;
mod call_id;
mod calls;
mod answer_parts;
mod params;
mod models;
mod data_url;
mod opaque_state;
mod http_runtime;
mod endpoint;
mod exchange;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use answer_parts::{Piece, Pieces};
pub use call_id::CallIds;
pub use calls::{Calls, ToolCall};
pub use code::{
    CONTEXT_WINDOW_TOO_SMALL, Code, ENDPOINT_NOT_FOUND, MISSING_STREAMING, MISSING_TOOL_CALLING,
    NETWORK_TIMEOUT, PROVIDER_5XX, PROVIDER_OUTPUT_MALFORMED, RATE_LIMITED, REQUEST_REJECTED,
    STREAM_ERROR, UNAUTHORIZED, violation,
};
pub use data_url::DataUrl;
pub use endpoint::{Endpoint, base_url};
pub use exchange::{Auth, Dialect, MAX_RESPONSE_BYTES, Post, Progress};
pub use failure::Failure;
pub use key::{Key, KeyKind, KeyReference};
pub use models::{ModelEntry, Models, Roster};
pub use opaque_state::Recollection;
pub use params::{Bag, snake_case};
pub use sse::{Event, MAX_FRAME_BYTES};

#[cfg(test)]
mod tests;
