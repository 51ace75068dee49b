//! Context providers: what the model should know.
//!
//! ```
//! use stud_sdk::context_provider::{ContextFragment, FragmentKind};
//! use stud_sdk::prelude::*;
//!
//! /// Rules of the house.
//! #[context_provider]
//! struct HouseRules;
//!
//! impl ContextProvider for HouseRules {
//!     async fn provide(&self, _cx: &Cx) -> Result<Vec<ContextFragment>> {
//!         Ok(vec![ContextFragment {
//!             kind: FragmentKind::SystemMessage,
//!             content: "Be brief.".into(),
//!             token_budget: 20,
//!             ..ContextFragment::default()
//!         }])
//!     }
//! }
//! ```

pub use stud_contract_context_provider::{ContextFragment, ContextProvider, FragmentKind};
/// Makes a struct that implements [`ContextProvider`] a context provider.
///
/// Besides [what every attribute takes](crate#arguments-every-attribute-takes):
///
/// | Argument | Meaning | When left out |
/// |---|---|---|
/// | `needs(tool_calling = "hard", context_window = 8000)` | what it needs of the model, each `hard`, `preferred` or `probed`; a window as the tokens that must fit | it works with any |
///
/// ```
/// use stud_sdk::context_provider::ContextFragment;
/// use stud_sdk::prelude::*;
///
/// /// What to say.
/// #[derive(Config)]
/// struct Say {
///     /// The text.
///     text: String,
/// }
///
/// /// Says what it is configured to.
/// #[context_provider(config = Say, init = Saying::new)]
/// struct Saying(String);
///
/// impl Saying {
///     fn new(_host: Host, say: Say) -> Self {
///         Self(say.text)
///     }
/// }
///
/// impl ContextProvider for Saying {
///     async fn provide(&self, _cx: &Cx) -> Result<Vec<ContextFragment>> {
///         let content = self.0.clone();
///         Ok(vec![ContextFragment { content, token_budget: 100, ..ContextFragment::default() }])
///     }
/// }
/// ```
pub use stud_sdk_macros::context_provider;

pub use crate::{Cx, CxExt, Error, ErrorExt, Result};
