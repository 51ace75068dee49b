//! State machines: sessions that go through stages.
//!
//! The stages are Markdown files, or JSON in the attribute or in a file; they stand in the manifest, and the struct decides
//! where to go.
//!
//! ```
//! use stud_sdk::prelude::*;
//! use stud_sdk::state_machine::{NextResult, StageContext};
//!
//! /// How far the machine is.
//! #[derive(Schema)]
//! struct Progress {
//!     /// The stage that runs.
//!     stage: String,
//! }
//!
//! /// Plans, and is done.
//! #[state_machine(
//!     stages = r#"[{
//!         "id": "plan",
//!         "name": "Plan",
//!         "body": "Make a plan.",
//!         "allowedTools": ["read"],
//!         "completionTool": "submit_plan",
//!         "completionSchema": {"type": "object"},
//!         "retryPolicy": {"maxAttempts": 2, "backoff": "none"},
//!         "turnCap": 10,
//!         "resolutionPolicy": "fail"
//!     }]"#,
//!     state_slot(version = "1.0.0", schema = Progress)
//! )]
//! struct PlanOnly;
//!
//! impl StateMachine for PlanOnly {
//!     async fn next(&self, _stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
//!         Ok(NextResult::end())
//!     }
//! }
//! ```

pub use stud_contract_state_machine::{
    AssertOutcome, Attempt, Execution, GateResult, Grant, GrantOutcome, NextResult, StageContext,
    StateMachine,
};
/// Makes a struct that implements [`StateMachine`] a state machine.
///
/// Besides [what every attribute takes](crate#arguments-every-attribute-takes), of which `state_slot` has to be there:
///
/// | Argument | Meaning | When left out |
/// |---|---|---|
/// | `stages = "stages"` | a folder of Markdown files, from the folder of `Cargo.toml`, one for each stage, in byte order of their names | one of the three has to be there |
/// | `stages = r#"[…]"#` | the stages as JSON | `stages_file` has to be there |
/// | `stages_file = "stages.json"` | the same in a file, from the folder of `Cargo.toml` | `stages` has to be there |
/// | `entry = "plan"` | where it begins | the first stage |
/// | `needs(tool_calling = "hard", context_window = 8000)` | what it needs of the model, each `hard`, `preferred` or `probed`; a window as the tokens that must fit | it works with any |
///
/// Stages that are no JSON, lack a member, share an id or have a turn cap below one do not compile.
/// A Markdown file has the members of its stage in YAML front matter, and its body after that:
///
/// ```text
/// ---
/// id: plan
/// name: Plan
/// allowedTools: [read, list]
/// completionTool: submit_plan
/// completionSchema: {type: object, required: [steps]}
/// retryPolicy: {maxAttempts: 2, backoff: none}
/// turnCap: 8
/// resolutionPolicy: retry-later
/// ---
/// Make a plan for {{ctx.input}}.
/// ```
///
/// What is wrong with one is said with the file, the line and the key.
///
/// ```
/// # use stud_sdk::prelude::*;
/// # use stud_sdk::state_machine::{NextResult, StageContext};
/// /// How far the machine is.
/// #[derive(Schema)]
/// struct Progress {
///     /// The stage that runs.
///     stage: String,
/// }
///
/// /// Plans, then builds.
/// #[state_machine(
///     entry = "plan",
///     stages_file = "tests/all/stages.json",
///     state_slot(version = "1.0.0", schema = Progress),
///     interactions("Confirm")
/// )]
/// struct PlanThenBuild;
///
/// impl StateMachine for PlanThenBuild {
///     async fn next(&self, stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
///         Ok(match stage {
///             "plan" => NextResult::to("build"),
///             _ => NextResult::end(),
///         })
///     }
/// }
/// ```
///
/// The other phases have defaults; a machine that fills the context and judges its attempts writes two of them:
///
/// ```
/// # use stud_sdk::prelude::*;
/// use stud_sdk::state_machine::{AssertOutcome, NextResult, StageContext};
///
/// # /// How far the machine is.
/// # #[derive(Schema)]
/// # struct Progress {
/// #     /// The stage that runs.
/// #     stage: String,
/// # }
/// #
/// /// Plans, then builds, and is hard to please.
/// #[state_machine(stages_file = "tests/all/stages.json", state_slot(version = "1.0.0", schema = Progress))]
/// struct Demanding;
///
/// impl StateMachine for Demanding {
///     async fn setup(&self, _stage: &str, mut context: StageContext, _cx: &Cx) -> Result<StageContext> {
///         context.set("attempt", context.attempts.len());
///         Ok(context)
///     }
///
///     async fn assess(&self, _stage: &str, context: &StageContext, _cx: &Cx) -> Result<AssertOutcome> {
///         let handed_over = context.attempt().and_then(|attempt| attempt.completion.as_ref());
///         Ok(if handed_over.is_some() { AssertOutcome::Ok } else { AssertOutcome::Retry })
///     }
///
///     async fn next(&self, stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
///         Ok(if stage == "plan" { NextResult::to("build") } else { NextResult::end() })
///     }
/// }
/// ```
pub use stud_sdk_macros::state_machine;

pub use crate::{Cx, CxExt, Error, ErrorExt, Result};
