//! The state-machine contract: a session that goes through stages.
//!
//! A machine is a list of stages. In each, core runs the message loop with a prompt, a set of tools and a limit that
//! the stage declares; the machine decides before whether to begin, after what it was worth, and where to go.
//!
//! # Manifest members
//!
//! Besides what every manifest has, a state-machine plugin declares:
//!
//! | Member | Type | Rule |
//! |---|---|---|
//! | `stages` | list of [`Stage`] | at least one, ids unique; else `Validation/StageDefinitionInvalid` |
//! | `entryStage` | string | the id of one of them; else `Validation/StageDefinitionInvalid` |
//!
//! | Member of a stage | Type | Rule |
//! |---|---|---|
//! | `id` | string | kebab-case |
//! | `name` | string | for people |
//! | `body` | string | what the model is told; `{{ctx.name}}` stands for a value of the context |
//! | `allowedTools` | list of tool names | can only take away from the session's tools |
//! | `completionTool` | tool name | the call of it ends the attempt |
//! | `completionSchema` | JSON Schema | the form of that call; else `Validation/StageCompletionSchemaInvalid` |
//! | `retryPolicy` | [`RetryPolicy`] | how often, and with what [`Backoff`] |
//! | `turnCap` | integer | at least 1; else `Validation/StageTurnCapTooLow` |
//! | `resolutionPolicy` | `retry-later`, `skip`, `fail` | what a shut gate means |
//! | `context` | list of names, optional | what the body may refer to; else `Validation/StageCtxUnresolved` |
//!
//! `stateSlot` must not be `null`.
//!
//! # The seven phases of a stage
//!
//! | Phase | Whose | The context | What happens |
//! |---|---|---|---|
//! | setup | [`setup`](StateMachine::setup) | written | it is filled |
//! | init | core | read | the body is put together from it: [`render`] |
//! | check gate | [`check_gate`](StateMachine::check_gate) | read | [`GateResult`] |
//! | act | core | out of reach | the message loop runs, at most `turnCap` answers |
//! | assert | [`assess`](StateMachine::assess) | read | [`AssertOutcome`] |
//! | exit | [`exit`](StateMachine::exit) | read | what has to be kept is written to the state slot |
//! | next | [`next`](StateMachine::next) | read | [`NextResult`] |
//!
//! Reaching the cap is a normal end: `capHit` says so, and the machine judges. A retry goes back to init with a new
//! entry in `attempts`, and with nothing granted; setup runs once for each run of a stage.
//! What `setup` returns in `attempts`, `upstream` or `siblings` is what it was given, or nothing; anything else, and
//! anything that `exit` returns, is `Validation/ContextMutationForbidden`.
//! A completion of the wrong form goes back to the model as the result of its call.
//!
//! # Handlers
//!
//! | Handler | Subject | Payload | Reply |
//! |---|---|---|---|
//! | `phase` | `attach` | [`PhaseInput`] without a stage | `null`; since 1.1 |
//! | `phase` | `setup` | [`PhaseInput`] | [`StageContext`] |
//! | `phase` | `checkGate` | [`PhaseInput`] | [`GateResult`] |
//! | `phase` | `assert` | [`PhaseInput`] | [`AssertOutcome`] |
//! | `phase` | `exit` | [`PhaseInput`] | `null` |
//! | `phase` | `next` | [`PhaseInput`] | [`NextResult`] |
//!
//! The author implements [`StateMachine`]; [`run_phase`] serves the handler with it.
//!
//! # Errors
//!
//! | Code | When |
//! |---|---|
//! | `Validation/StageDefinitionInvalid` | no stages, a duplicate id, or an entry stage that does not exist |
//! | `Validation/StageTurnCapTooLow` | a turn cap below one |
//! | `Validation/StageCtxUnresolved` | a body refers to a name its stage does not declare |
//! | `Validation/StageCompletionSchemaInvalid` | a completion schema is no JSON Schema |
//! | `Validation/ContextMutationForbidden` | a phase changed what is not its own to change |
//! | `Validation/StageJoinDangling` | a join that is not a declared stage, or is one of those it joins |
//! | `ExtensionHost/InvalidParallelPlan` | fewer than two parallel stages, or one of them twice |
//! | `ExtensionHost/ParallelSiblingFailure` | one of several parallel stages failed, and the others were stopped |
//! | `ExtensionHost/JoinPreconditionViolated` | a join after parallel stages of which one was left out |
//! | `ExtensionHost/NotImplemented` | a phase this version does not have |
//! | `ExtensionHost/NotReady` | a question raised while the model acts |
//! | `ExtensionHost/LifecycleFailure` | a phase failed without a type; the context names it |
//!
//! # Cardinality, state, reload
//!
//! Any number loaded; one attached to a session.
//! The state slot is required: it holds the stage, the attempts and the machine's own data.
//! `reloadBehavior` is `between-turns`.
//! An attached machine makes tool calls a hard requirement of the model, since stages end with one.
//!
//! # Config
//!
//! Every machine's `configSchema` accepts `enabled` (boolean, true when left out), `entry` (string, the stage to begin
//! with) and `autoAttach` (boolean: attach when a session starts and no other machine was chosen; at most one may).
//! Everything else is the plugin's own.
//!
//! # Interactions
//!
//! A machine may raise `Ask`, `Select` and `Confirm` between stages if its manifest declares them.
//!
//! # Versions
//!
//! This is version 1.1.0; the changelog is `CHANGELOG.md` beside this crate's manifest.
#![forbid(unsafe_code)]

mod policy;
mod manifest;
mod outcome;
mod context;
mod template;
mod state_machine;
mod phase;
#[cfg(feature = "schema")]
mod schema;

pub use context::{Attempt, Grant, StageContext};
pub use manifest::{Stage, StateMachineMembers};
pub use outcome::{AssertOutcome, Execution, GateResult, NextResult};
pub use phase::{PhaseInput, StagePhase, run_phase};
pub use policy::{Backoff, ResolutionPolicy, RetryPolicy};
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use state_machine::StateMachine;
pub use stud_contract_interaction::GrantOutcome;
pub use template::{ctx_references, render};

use stud_contract_meta::{Kind, SemVer};

/// The version of the contract this crate describes.
pub const CONTRACT_VERSION: SemVer = SemVer::new(1, 1, 0);

/// The category.
pub const KIND: Kind = Kind::StateMachine;

/// The manifest members of this category.
pub const MEMBERS: &[&str] = &["stages", "entryStage"];

/// The functions of this category's table.
pub const HANDLERS: &[&str] = &["phase"];

#[cfg(test)]
mod tests {
    use super::*;
    use stud_contract_meta::{COMMON_MEMBERS, META_FIELDS};

    #[test]
    fn crate_constant_and_changelog_agree_on_the_version() {
        let version = CONTRACT_VERSION.to_string();
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
        let newest = include_str!("../CHANGELOG.md")
            .lines()
            .find_map(|line| line.strip_prefix("## "));
        assert_eq!(newest, Some(&*version));
    }

    #[test]
    fn no_member_is_one_that_every_manifest_has() {
        for member in MEMBERS {
            assert!(!META_FIELDS.contains(member), "{member}");
            assert!(!COMMON_MEMBERS.contains(member), "{member}");
        }
    }
}
