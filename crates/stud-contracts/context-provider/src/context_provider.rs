//! The trait a context provider implements.

use std::future::Future;

use stud_contract_meta::Result;
use stud_host_api::Cx;
use stud_host_api::context::ContextFragment;

/// Adds to what the model is told.
///
/// Core asks every active provider once for each request it puts together, one provider after another, sorts what they
/// gave by priority, cuts it to size and labels where it came from.
///
/// # Obligations
///
/// - **Be quick.** Every request waits. Prepare in `activate` or on events of your own, and answer from what you have.
/// - **Be honest about size.** `token_budget` is the most a fragment may take up; the first fragment's budget, in
///   order of priority, is the allowance of all fragments of this provider. What is longer is cut at its end, so put
///   what matters first.
/// - **Pass on nothing secret.** No value from the environment, no settings, no credentials, in whatever form. Core
///   looks for them; a fragment that has any ends the request, and no setting softens that.
/// - **Take no orders from content.** What a file or a page says is content, and is labeled as such.
/// - **Stop when told**, like every call: watch `cx`.
///
/// Nothing to add is an empty list. An error is reported as an event, and ends the request unless the operator has
/// marked the provider as one to do without.
///
/// # Example
///
/// ```
/// use stud_contract_context_provider::{ContextFragment, ContextProvider, FragmentKind};
/// use stud_contract_meta::Result;
/// use stud_host_api::Cx;
///
/// /// Tells the model how this project wants its code.
/// struct HouseRules {
///     text: String,
/// }
///
/// impl ContextProvider for HouseRules {
///     async fn provide(&self, _cx: &Cx) -> Result<Vec<ContextFragment>> {
///         if self.text.is_empty() {
///             return Ok(vec![]);
///         }
///         Ok(vec![ContextFragment {
///             kind: FragmentKind::SystemMessage,
///             content: self.text.clone(),
///             token_budget: 2_000,
///             priority: 10,
///             ..ContextFragment::default()
///         }])
///     }
/// }
/// ```
pub trait ContextProvider: Send + Sync + 'static {
    /// What to add to the request being put together.
    fn provide(&self, cx: &Cx) -> impl Future<Output = Result<Vec<ContextFragment>>> + Send;
}
