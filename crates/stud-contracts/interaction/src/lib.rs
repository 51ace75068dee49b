//! The Interaction Protocol: how stud asks a person for a decision.
//!
//! stud has two rails between its parts.
//! *Events* say what happened and carry no authority.
//! *Interactions* ask for what core needs before it can continue: core sends a [`Request`], waits, and acts on one
//! [`Response`].
//! Code that derives a decision from the timing of events confuses the two.
//!
//! # Who takes part
//!
//! - **Core** originates every request, its own and those it raises for a plugin.
//! - **Interactors** are UI plugins with the role `interactor`; any number may be active.
//!   Each gets the same request at the same time, and the first `accepted` or `rejected` response wins.
//! - **Subscribers** learn only *that* a prompt was raised ([`InteractionRaised`]), that it was settled
//!   ([`InteractionAnswered`]) or cancelled ([`InteractionCancelled`]). The payload goes to interactors alone.
//!
//! # Who may ask what
//!
//! | Kind | Asks for | Answer | Raised for | Since |
//! |---|---|---|---|---|
//! | [`Ask`] | free text | [`AskAnswer`] | `Tool`, `StateMachine` | 1.0 |
//! | [`Approve`] | one gated tool call | [`ApproveAnswer`] | core alone | 1.0 |
//! | [`Select`] | one of a list | [`SelectAnswer`] | `Command`, `StateMachine` | 1.0 |
//! | [`Auth.DeviceCode`](AuthDeviceCode) | a login finished elsewhere | [`AuthAnswer`] | `Provider` | 1.0 |
//! | [`Auth.Password`](AuthPassword) | a secret | [`AuthAnswer`] | `Provider` | 1.0 |
//! | [`Confirm`] | yes or no | [`ConfirmAnswer`] | `Command`, `StateMachine` | 1.0 |
//! | [`grantStageTool`](GrantStageTool) | one call outside a stage's envelope | [`GrantAnswer`] | core alone | 1.0 |
//! | [`approveSubagentEnvelope`](ApproveSubagentEnvelope) | the tools of one child session | [`EnvelopeAnswer`] | core alone | 1.1 |
//! | [`ToolInput`] | a form a running tool needs filled in | [`UserResponse`] | `Tool` | 1.2 |
//! | [`ToolApproval`] | permission for a running tool to continue | [`UserResponse`] | `Tool` | 1.2 |
//!
//! A state machine may ask at stage boundaries only.
//! `Hook`, `ContextProvider`, `Logger`, `SessionStore` and `UI` plugins may raise nothing.
//! [`InteractionKind::may_be_raised_by`] is this table as code; a kind that a category does not own is refused with
//! `Validation/InteractionKindForbidden`.
//!
//! # Rules
//!
//! 1. A prompt is known by its `interactionId`. The `correlationId` is the turn's: it threads records together, and two
//!    prompts of one turn share it.
//! 2. [`Status`] says whether someone answered; `value` says what. A no may come as `rejected` without a value or as
//!    `accepted` with a denying one, and [`Response::means_no`] knows both.
//! 3. `timeout` and `dismissed` mean "no answer from me". They never win, and a prompt is never approved by silence.
//! 4. A response of the wrong shape is returned to its sender as `Validation/InteractionPayloadMismatch`; the prompt
//!    stays open for everyone. [`Response::check`] decides.
//! 5. A response after the winner gets the `InteractionAlreadyAnswered` error of class `Session`. For an interactor that
//!    is a normal end of the race: close the dialog and return.
//! 6. An interactor sees its next prompt after the previous one was answered or cancelled there.
//! 7. When `subagentId` is set the dialog must name the subagent, so that the person knows who asks.
//! 8. Core sets no time limit of its own. Only [`ToolInput`] and [`ToolApproval`] carry one.
//! 9. What answers an `Auth.*` prompt is a [`Secret`]. It goes to the asker alone: not to the bus, the
//!    audit trail, the transcript or a log.
//!
//! # Reading and growing
//!
//! Every name on the wire is camelCase, every time RFC 3339 in UTC with milliseconds, every id a `UUIDv7` as text.
//! Readers ignore members they do not know.
//! A minor version may add kinds and optional fields, so build the structs with `..Default::default()`; taking a kind
//! away needs a major one.
//! Core offers a kind only to interactors built for a protocol that has it ([`InteractionKind::since`]).
//!
//! # Example
//!
//! ```
//! use stud_contract_interaction::{Answer, Payload, Request, Response, Select, SelectAnswer};
//!
//! let request = Request::new(
//!     "0190b5a0-0000-7000-8000-000000000001",
//!     "0190b5a0-0000-7000-8000-000000000002",
//!     "2026-01-01T00:00:00.000Z",
//!     Select { prompt: "Which branch?".into(), options: vec!["main".into(), "next".into()] },
//! );
//!
//! let response = Response::accepted(&request, SelectAnswer { index: 1 });
//! assert_eq!(response.check(&request)?, Some(Answer::Select(SelectAnswer { index: 1 })));
//!
//! let beyond_the_list = Response::accepted(&request, SelectAnswer { index: 2 });
//! assert_eq!(beyond_the_list.check(&request).unwrap_err().code(), "InteractionPayloadMismatch");
//! # Ok::<(), stud_contract_meta::Error>(())
//! ```
#![forbid(unsafe_code)]

mod kind;
mod mismatch;
mod form;
mod tool_prompt;
mod payload;
mod request;
mod secret;
mod answer;
mod response;
mod event;
#[cfg(test)]
mod fixture;
#[cfg(feature = "schema")]
mod schema;

pub use answer::{
    Action, Answer, ApproveAnswer, AskAnswer, AuthAnswer, ConfirmAnswer, Decision, EnvelopeAnswer,
    EnvelopeOutcome, GrantAnswer, GrantOutcome, SelectAnswer, UserResponse,
};
pub use event::{InteractionAnswered, InteractionCancelled, InteractionRaised};
pub use form::{Choice, Field, FieldType, Form, FormType, Section};
pub use kind::InteractionKind;
pub use payload::{
    Approve, ApproveSubagentEnvelope, Ask, AuthDeviceCode, AuthPassword, Confirm, GrantStageTool,
    ModelRef, Payload, ScopeOffer, Select,
};
pub use request::Request;
pub use response::{Response, Status};
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use secret::Secret;
pub use tool_prompt::{
    ApprovalScope, CompletedView, DEFAULT_TIMEOUT_MS, Presentation, Timeout, ToolApproval,
    ToolInput,
};

/// The version of the protocol this crate describes.
pub const PROTOCOL_VERSION: &str = "1.3.0";
