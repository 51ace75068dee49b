//! The trait a state machine implements.

use std::future::Future;

use stud_contract_meta::Result;
use stud_host_api::Cx;

use crate::context::StageContext;
use crate::outcome::{AssertOutcome, GateResult, NextResult};

/// Drives a session through stages.
///
/// One plugin has one machine; the methods are told which of its stages is meant. Only [`next`](StateMachine::next)
/// has to be written.
///
/// # Obligations
///
/// - **Keep progress in the state slot.** A machine is attached after its slot was delivered, and resumes where the
///   slot says. What is in fields of `self` is gone after a restart. No secrets in it.
/// - **Leave approval to others.** A stage's tools narrow what the model may use. No method can grant a call: a call
///   outside the list is put to the person by core.
/// - **Write in `setup` alone.** The other phases see the context and cannot change it, which their types say.
/// - **Ask at the edges.** A question to the person may be raised in any of these methods, and not while the model
///   acts: there it is `ExtensionHost/NotReady`.
/// - **Stop when told**, like every call: watch `cx`.
///
/// An error in any phase ends the stage with that error; a context or outcome is not made up for it.
///
/// # Example
///
/// ```
/// use stud_contract_meta::Result;
/// use stud_contract_state_machine::{AssertOutcome, NextResult, StageContext, StateMachine};
/// use stud_host_api::Cx;
///
/// /// Plans, then builds, and plans again when the build was not what was wanted.
/// struct PlanAndBuild;
///
/// impl StateMachine for PlanAndBuild {
///     async fn setup(&self, stage: &str, mut context: StageContext, _cx: &Cx) -> Result<StageContext> {
///         if stage == "build" {
///             let plan = context.upstream.first().cloned().unwrap_or_default();
///             context.set("plan", plan);
///         }
///         Ok(context)
///     }
///
///     async fn next(&self, stage: &str, context: &StageContext, _cx: &Cx) -> Result<NextResult> {
///         let outcome = context.attempt().and_then(|attempt| attempt.outcome);
///         Ok(match (stage, outcome) {
///             ("plan", Some(AssertOutcome::Ok)) => NextResult::to("build"),
///             ("build", Some(AssertOutcome::Skip)) => NextResult::to("plan"),
///             _ => NextResult::end(),
///         })
///     }
/// }
/// ```
pub trait StateMachine: Send + Sync + 'static {
    /// Prepares for a session: called once, after the state slot can be read and before any stage.
    ///
    /// By default there is nothing to prepare. An error keeps the machine from being attached.
    fn attach(&self, cx: &Cx) -> impl Future<Output = Result<()>> + Send {
        let _ = cx;
        async { Ok(()) }
    }

    /// Fills the context, before the body of the stage is put together from it.
    ///
    /// By default the context stays as it is.
    /// Core takes over the machine's own values; what it keeps itself (`attempts`, `upstream`, `siblings`) stays.
    fn setup(
        &self,
        stage: &str,
        context: StageContext,
        cx: &Cx,
    ) -> impl Future<Output = Result<StageContext>> + Send {
        let _ = (stage, cx);
        async move { Ok(context) }
    }

    /// Decides whether the stage begins. By default it does.
    ///
    /// What becomes of a stage that does not is up to its `resolutionPolicy`.
    fn check_gate(
        &self,
        stage: &str,
        context: &StageContext,
        cx: &Cx,
    ) -> impl Future<Output = Result<GateResult>> + Send {
        let _ = (stage, context, cx);
        async { Ok(GateResult::Proceed) }
    }

    /// Judges the attempt that has just ended, `context.attempt()`: the phase `assert`.
    ///
    /// By default an attempt that reached the turn cap is tried again, and any other is good.
    fn assess(
        &self,
        stage: &str,
        context: &StageContext,
        cx: &Cx,
    ) -> impl Future<Output = Result<AssertOutcome>> + Send {
        let _ = (stage, cx);
        let cap_hit = context.attempt().is_some_and(|attempt| attempt.cap_hit);
        async move {
            Ok(if cap_hit {
                AssertOutcome::Retry
            } else {
                AssertOutcome::Ok
            })
        }
    }

    /// Tidies up after the stage and writes the state slot. By default it does nothing.
    ///
    /// The outcome is in `context.attempt()`.
    fn exit(
        &self,
        stage: &str,
        context: &StageContext,
        cx: &Cx,
    ) -> impl Future<Output = Result<()>> + Send {
        let _ = (stage, context, cx);
        async { Ok(()) }
    }

    /// Decides where to go from here.
    ///
    /// The stages named are declared ones. A `join` is run after all parallel stages have succeeded, and is not one
    /// of them; what they handed over is in its `context.siblings`.
    fn next(
        &self,
        stage: &str,
        context: &StageContext,
        cx: &Cx,
    ) -> impl Future<Output = Result<NextResult>> + Send;
}
