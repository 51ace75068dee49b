//! Providers: the way to a model.
//!
//! ```
//! use stud_sdk::prelude::*;
//! use stud_sdk::provider::{FinishReason, Request, Sink};
//!
//! /// Says what it was told.
//! #[provider(protocol = "parrot", tool_calling = "absent", context_window = 4096)]
//! struct Parrot;
//!
//! impl Provider for Parrot {
//!     async fn request(&self, request: Request, out: Sink, cx: &Cx) -> Result<FinishReason> {
//!         let said = request.messages.last().map(|message| message.content.text()).unwrap_or_default();
//!         for word in said.split_inclusive(' ') {
//!             if cx.is_cancelled() {
//!                 return Ok(FinishReason::Other);
//!             }
//!             out.text(word).await;
//!         }
//!         Ok(FinishReason::Stop)
//!     }
//! }
//! ```

pub use stud_contract_provider::{
    Content, FinishReason, Message, Part, Provider, Request, Role, Sink, StreamEvent, ToolSpec,
    Usage, Verbatim,
};
/// Makes a struct that implements [`Provider`] a provider.
///
/// Besides [what every attribute takes](crate#arguments-every-attribute-takes):
///
/// | Argument | Meaning | When left out |
/// |---|---|---|
/// | `protocol = "…"` | the API it speaks; an entry of the settings may ask for it by this name | does not compile |
/// | `streaming = "hard"` | how sure it is that answers come piece by piece | `hard` |
/// | `tool_calling`, `structured_output`, `multimodal`, `reasoning`, `prompt_caching` | how sure it is of the others | `probed` |
/// | `context_window = 128000` | how much fits into a request and its answer | `"probed"` |
/// | `models(model("id", tool_calling = "hard", …), …)` | what is known of single models | nothing |
/// | `params(reserved("…"), unheeded("…"), needs(reasoning("…")), below("one < another"))` | what holds for parameters besides the schema of `defaultParams`: names it sets itself, names it has no use for, names that need a capability, numbers that must be below others | nothing |
///
/// A claim is `hard`, `preferred`, `probed` or `absent`.
///
/// ```
/// use stud_sdk::prelude::*;
/// use stud_sdk::provider::{FinishReason, Request, Sink};
///
/// /// Has nothing to say.
/// #[provider(protocol = "none", models(model("small", tool_calling = "hard", context_window = 8192)))]
/// struct Silent;
///
/// impl Provider for Silent {
///     async fn request(&self, _request: Request, _out: Sink, _cx: &Cx) -> Result<FinishReason> {
///         Err(Error::new(Class::ProviderTransient, "Unreachable", "the backend cannot be reached"))
///     }
/// }
/// ```
///
/// One that thinks, proposes a call and says what that cost:
///
/// ```
/// use stud_sdk::prelude::*;
/// use stud_sdk::provider::{FinishReason, Request, Sink, Usage};
///
/// /// Reads the same file whatever it is asked.
/// #[provider(protocol = "none", tool_calling = "hard", reasoning = "hard")]
/// struct OneTrack;
///
/// impl Provider for OneTrack {
///     async fn request(&self, _request: Request, out: Sink, _cx: &Cx) -> Result<FinishReason> {
///         out.thinking("The file will know.").await;
///         out.tool_call("call-1", "read", json!({"path": "README.md"})).await;
///         out.usage(Usage { input_tokens: 12, output_tokens: 7, ..Usage::default() }).await;
///         Ok(FinishReason::ToolCalls)
///     }
/// }
/// ```
pub use stud_sdk_macros::provider;

pub use crate::{Cx, CxExt, Error, ErrorExt, Result};
