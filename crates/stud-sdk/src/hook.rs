//! Hooks: what happens before and after the stages of a turn.
//!
//! A hook is a struct that implements exactly one of [`Guard`], [`Transform`] and [`Observer`], on a slot that takes it:
//!
//! | Slot | transform | guard | observer | modes besides `per-stage` |
//! |---|---|---|---|---|
//! | `RECEIVE_INPUT/pre` | yes | yes | yes | |
//! | `RECEIVE_INPUT/post` | yes | no | yes | |
//! | `COMPOSE_REQUEST/pre` | yes | yes | yes | |
//! | `COMPOSE_REQUEST/post` | yes | no | yes | |
//! | `SEND_REQUEST/pre` | rare | yes | yes | |
//! | `SEND_REQUEST/post` | no | no | yes | |
//! | `STREAM_RESPONSE/pre` | rare | yes | yes | `per-token` |
//! | `STREAM_RESPONSE/post` | no | no | yes | `per-token` |
//! | `TOOL_CALL/pre` | yes | yes | yes | `per-call` |
//! | `TOOL_CALL/post` | yes | no | yes | `per-call` |
//! | `RENDER/pre` | yes | no | yes | |
//! | `RENDER/post` | no | no | yes | |
//!
//! Anything else does not compile.
//!
//! ```
//! use stud_sdk::prelude::*;
//!
//! /// Long results are cut.
//! #[hook(slot = "TOOL_CALL/post")]
//! struct Shorten;
//!
//! impl Transform for Shorten {
//!     async fn transform(&self, mut payload: Value, _cx: &Cx) -> Result<Value> {
//!         if let Some(Value::String(text)) = payload.pointer_mut("/result/value") {
//!             if let Some((end, _)) = text.char_indices().nth(10_000) {
//!                 text.truncate(end);
//!             }
//!         }
//!         Ok(payload)
//!     }
//! }
//! ```

pub use stud_contract_hook::{
    Attachment, FiringMode, Guard, Observer, Slot, SubKind, Transform, Verdict, attachment, permits,
};
/// Makes a struct a hook. The sub-kind follows from the trait it implements.
///
/// Besides [what every attribute takes](crate#arguments-every-attribute-takes):
///
/// | Argument | Meaning | When left out |
/// |---|---|---|
/// | `slot = "TOOL_CALL/pre"` | where it sits | does not compile |
/// | `firing_mode = "per-call"` | how often it fires | `per-stage` |
/// | `needs(tool_calling = "hard", context_window = 8000)` | what it needs of the model, each `hard`, `preferred` or `probed`; a window as the tokens that must fit | it works with any |
///
/// ```
/// use stud_sdk::prelude::*;
///
/// /// Nothing outside the project is touched.
/// #[hook(slot = "TOOL_CALL/pre", firing_mode = "per-call")]
/// struct InsideOnly;
///
/// impl Guard for InsideOnly {
///     async fn guard(&self, payload: &Value, _cx: &Cx) -> Result<Verdict> {
///         let path = payload.pointer("/args/path").and_then(Value::as_str);
///         Ok(match path {
///             Some(path) if path.starts_with('/') => Verdict::deny(format!("{path} is outside the project")),
///             _ => Verdict::Allow,
///         })
///     }
/// }
/// ```
///
/// One that only looks:
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use stud_sdk::prelude::*;
///
/// /// Counts the pieces of answers.
/// #[hook(slot = "STREAM_RESPONSE/post", firing_mode = "per-token")]
/// #[derive(Default)]
/// struct PieceCount(AtomicU64);
///
/// impl Observer for PieceCount {
///     async fn observe(&self, _payload: &Value, _cx: &Cx) -> Result<()> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         Ok(())
///     }
/// }
/// ```
pub use stud_sdk_macros::hook;

pub use crate::{Cx, CxExt, Error, ErrorExt, Result, Value};
