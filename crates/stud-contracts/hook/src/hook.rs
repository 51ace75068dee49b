//! The three traits, of which a hook implements one.

use std::future::Future;

use serde_json::Value;
use stud_contract_meta::Result;
use stud_host_api::Cx;

use crate::verdict::Verdict;

/// Lets pass, or does not.
///
/// Guards run first on a slot, one after another. The first no is final: no further guard, no transform and not the
/// stage itself runs, whatever a person, a mode or a state machine has approved. On a tool call the model is told the
/// reason as that call's result.
///
/// # Obligations
///
/// - **Decide on the payload.** The same payload and config give the same verdict.
/// - **Change nothing.** The payload is borrowed, and no event or effect may follow from a decision.
/// - **Be quick.** The turn waits. When `cx` is cancelled, return immediately with any verdict; it is ignored.
/// - **Fail closed.** An error is not a yes: it fails the stage.
///
/// # Example
///
/// ```
/// use serde_json::Value;
/// use stud_contract_hook::{Guard, Verdict};
/// use stud_contract_meta::Result;
/// use stud_host_api::Cx;
///
/// /// For `TOOL_CALL/pre`: nothing outside the project.
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
pub trait Guard: Send + Sync + 'static {
    /// Looks at what is about to pass and decides.
    fn guard(&self, payload: &Value, cx: &Cx) -> impl Future<Output = Result<Verdict>> + Send;
}

/// Puts something else in the place of what passes.
///
/// Transforms run after the guards, one after another, each on the result of the one before.
///
/// # Obligations
///
/// - **Keep the shape.** What is returned goes to the stage as if core had made it, and has the members it needs.
///   Members the hook does not know pass through unchanged.
/// - **Be repeatable.** The same payload and config give the same result; no clock, no chance.
/// - **Have no effects.** No event, no file, no request to anyone.
/// - **Add no context.** Telling the model more is what a context provider is for.
/// - **Be quick.** The turn waits.
///
/// # Example
///
/// ```
/// use serde_json::Value;
/// use stud_contract_hook::Transform;
/// use stud_contract_meta::Result;
/// use stud_host_api::Cx;
///
/// /// For `TOOL_CALL/post`: long results are cut.
/// struct Shorten;
///
/// impl Transform for Shorten {
///     async fn transform(&self, mut payload: Value, _cx: &Cx) -> Result<Value> {
///         if let Some(Value::String(text)) = payload.pointer_mut("/result/value") {
///             if let Some((end, _)) = text.char_indices().nth(10_000) {
///                 text.truncate(end);
///             }
///         }
///         Ok(payload)
///     }
/// }
/// ```
pub trait Transform: Send + Sync + 'static {
    /// Takes what passes and gives what passes instead.
    fn transform(&self, payload: Value, cx: &Cx) -> impl Future<Output = Result<Value>> + Send;
}

/// Looks at what passes.
///
/// Observers run last on a slot, all at the same time, on what the transforms made.
/// They also see what a guard has denied on a slot before a stage, so that a denial leaves a trace.
///
/// # Obligations
///
/// - **Steer nothing.** The turn neither waits for an observer's work to matter nor hears what it found.
/// - **Bear being left.** An observer may be detached from the turn; when `cx` is cancelled it ends.
///
/// An error is reported as an event and changes nothing else.
///
/// # Example
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use serde_json::Value;
/// use stud_contract_hook::Observer;
/// use stud_contract_meta::Result;
/// use stud_host_api::Cx;
///
/// /// For `TOOL_CALL/pre`: how many calls there were.
/// #[derive(Default)]
/// struct Count(AtomicU64);
///
/// impl Observer for Count {
///     async fn observe(&self, _payload: &Value, _cx: &Cx) -> Result<()> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         Ok(())
///     }
/// }
/// ```
pub trait Observer: Send + Sync + 'static {
    /// Sees what passed.
    fn observe(&self, payload: &Value, cx: &Cx) -> impl Future<Output = Result<()>> + Send;
}
