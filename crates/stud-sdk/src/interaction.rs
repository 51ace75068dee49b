//! Asking a person, and answering for one: the Interaction Protocol.
//!
//! A tool, command, provider or state machine asks through [`Host`](crate::Host); a UI that is an
//! [`Interactor`](crate::ui::Interactor) answers, by what it returns or, to hear whether the answer won, through
//! `cx.host().interaction().respond(…)`.
//!
//! ```
//! use stud_sdk::interaction::{Answer, Ask, Payload};
//! use stud_sdk::prelude::*;
//!
//! /// Greets by name.
//! #[tool(interactions("Ask"))]
//! async fn greet_by_name(cx: &Cx) -> Result<String> {
//!     let question = Payload::from(Ask { prompt: "Your name?".into(), ..Ask::default() });
//!     let response = cx.host().interaction().request(question.clone()).await?;
//!     Ok(match response.answer(&question)? {
//!         Some(Answer::Ask(answer)) => format!("Hello {}", answer.text),
//!         _ => "Hello, unknown user".to_owned(),
//!     })
//! }
//! ```

pub use stud_contract_interaction::{
    Action, Answer, ApprovalScope, Approve, ApproveAnswer, ApproveSubagentEnvelope, Ask, AskAnswer,
    AuthAnswer, AuthDeviceCode, AuthPassword, Choice, CompletedView, Confirm, ConfirmAnswer,
    Decision, EnvelopeAnswer, EnvelopeOutcome, Field, FieldType, Form, FormType, GrantAnswer,
    GrantOutcome, GrantStageTool, InteractionAnswered, InteractionCancelled, InteractionKind,
    InteractionRaised, ModelRef, PROTOCOL_VERSION, Payload, Presentation, Request, Response,
    ScopeOffer, Secret, Section, Select, SelectAnswer, Status, Timeout, ToolApproval, ToolInput,
    UserResponse,
};
