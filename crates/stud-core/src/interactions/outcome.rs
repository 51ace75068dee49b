//! What a prompt is settled with, and who learns what of it.

use serde_json::{Map, Value, json};
use stud_contract_interaction::{
    Answer, AuthAnswer, InteractionAnswered, InteractionCancelled, InteractionKind,
    InteractionRaised, Payload, Response, Status,
};
use stud_contract_meta::{Error, Result};
use stud_contract_session_store::Durability;
use stud_diagnostics::codes;
use stud_host_api::events::{HeadlessInteractionRequired, InteractionDetached};

use super::Prompt;
use crate::cancellation::{CancelReason, Scope, called_off};
use crate::events::PendingDelivery;
use crate::fault_injection::{Fault, planted};
use crate::ledger::{Draft, closed};
use crate::platform;
use crate::sync::Promise;

/// How a prompt ended.
#[derive(Debug)]
pub enum Outcome {
    /// An interactor won.
    Answered {
        /// The plugin behind it.
        ext_id: String,
        /// Which of the screens behind the plugin it came from, if it has several.
        client_id: Option<String>,
        /// `accepted` or `rejected`, in the shape of the kind.
        response: Response,
        /// The interactor, if it waits to hear that it won.
        #[doc(hidden)]
        done: Option<Promise<Result<()>>>,
    },
    /// The asker no longer wants to know.
    Cancelled,
    /// It timed out.
    TimedOut,
    /// The session ended.
    Closed,
    /// Core answered by rule, because no interactor is attached or the user decided in advance.
    Automatic {
        /// The answer.
        response: Response,
        /// What the audit trail calls it.
        decision: &'static str,
        /// Why, where the decision does not say it.
        reason: Option<&'static str>,
    },
    /// No interactor is attached, and no rule applies.
    Halted {
        /// What to do about it.
        hint: &'static str,
    },
    /// No interactor is attached, and the tool gets an error.
    Unavailable,
}

impl Outcome {
    /// An answer has an effect, so it has to be on the disk first.
    pub(super) fn durability(&self) -> Durability {
        match self {
            Self::Answered { .. } if !planted(Fault::AnswerUnsafe) => Durability::Synced,
            _ => Durability::Written,
        }
    }

    /// A typed secret must not be recorded anywhere, whatever the asker does with it.
    pub(super) fn hide_secret(&self, prompt: &Prompt) {
        let Self::Answered { response, .. } = self else {
            return;
        };
        let secret = response
            .value
            .as_ref()
            .and_then(|value| value["secret"].as_str());
        if let Some(secret) = secret
            && prompt.request.kind().is_secret()
        {
            prompt.asker.books.redactor.learn_text(secret);
        }
    }

    /// What the transcript says, for a prompt whose request it holds.
    pub(super) fn records(&self, prompt: &Prompt, raised: bool) -> Vec<Draft> {
        if !raised {
            return Vec::new();
        }
        let mut payload = json!({
            "interactionId": prompt.id(),
            "requestKind": prompt.request.kind().as_str(),
            "outcome": self.word(),
        });
        if let Self::Answered {
            ext_id,
            client_id,
            response,
            ..
        } = self
        {
            payload["extId"] = ext_id.as_str().into();
            payload["answeredBy"] = json!({"extId": ext_id});
            if let Some(client_id) = client_id {
                payload["answeredBy"]["clientId"] = client_id.as_str().into();
            }
            payload["status"] = json!(response.status);
            if let Some(reason) = &response.reason {
                payload["reason"] = reason.as_str().into();
            }
            match &response.value {
                Some(_) if prompt.request.kind().is_secret() => payload["redacted"] = true.into(),
                Some(value) => payload["value"] = value.clone(),
                None => {}
            }
        }
        vec![Draft {
            kind: "interaction_response",
            payload,
            ..draft(prompt)
        }]
    }

    /// What the audit trail says.
    pub(super) fn audit(&self, prompt: &Prompt) {
        let request = &prompt.request;
        let mut payload = Map::from_iter([
            ("interactionId".to_owned(), prompt.id().into()),
            ("requestKind".to_owned(), request.kind().as_str().into()),
            ("outcome".to_owned(), self.word().into()),
            ("raisedAt".to_owned(), request.issued_at.as_str().into()),
            (
                "settledAt".to_owned(),
                platform::rfc3339(platform::now()).into(),
            ),
        ]);
        let mut put = |key: &str, value: Value| payload.insert(key.to_owned(), value);
        if let Some(asker) = &prompt.asker.ext_id {
            put("askedBy", asker.as_str().into());
        }
        let call = request.payload.tool_call_id();
        if let Some(call) = call.or(prompt.asker.tool_call_id.as_deref()) {
            put("toolCallId", call.into());
        }
        match self {
            Self::Answered { ext_id, .. } => {
                put("extId", ext_id.as_str().into());
                put("answeredBy", json!({"extId": ext_id}));
            }
            Self::Automatic {
                decision, reason, ..
            } => {
                put("decision", (*decision).into());
                if let Some(reason) = reason {
                    put("reason", (*reason).into());
                }
            }
            Self::Halted { hint } => {
                put("decision", "halt".into());
                put("reason", (*hint).into());
            }
            _ => {}
        }
        let by_rule = matches!(self, Self::Automatic { .. } | Self::Halted { .. });
        match &request.payload {
            Payload::Approve(approve) if by_rule => {
                put("source", "mode-gate".into());
                put("toolId", approve.tool_id.as_str().into());
                put("approvalKey", approve.approval_key.as_str().into());
                // Only a call in a stage has these.
                for of_stage in ["stageExecutionId", "attempt", "proposalId", "argsDigest"] {
                    put(of_stage, Value::Null);
                }
            }
            Payload::GrantStageTool(grant) if by_rule => {
                put("toolId", grant.tool.as_str().into());
                put("stageExecutionId", grant.stage_execution_id.as_str().into());
                put("attempt", grant.attempt.into());
                put("proposalId", grant.proposal_id.as_str().into());
                put("argsDigest", grant.args_digest.as_str().into());
            }
            _ => {}
        }
        let class = match request.kind() {
            InteractionKind::Approve | InteractionKind::GrantStageTool if by_rule => "Approval",
            _ => "Interaction",
        };
        let books = &prompt.asker.books;
        books.audit(
            class,
            Some(self.name()),
            &request.correlation_id,
            payload.into(),
        );
    }

    /// What subscribers hear.
    pub(super) fn publish(&self, prompt: &Prompt, raised: bool) -> PendingDelivery {
        let (books, request) = (&prompt.asker.books, &prompt.request);
        let correlation_id = &request.correlation_id;
        if let Self::Halted { hint } = self {
            let required = HeadlessInteractionRequired {
                correlation_id: correlation_id.clone(),
                hint: (*hint).to_owned(),
                kind: "permission-required".to_owned(),
                request_kind: request.kind().as_str().to_owned(),
            };
            books.publish(correlation_id, &required);
        }
        if !raised {
            return PendingDelivery::default();
        }
        let Self::Answered {
            ext_id, response, ..
        } = self
        else {
            return publish_cancelled(prompt);
        };
        let answered = match response.check(request) {
            Ok(Some(answer)) => InteractionAnswered::accepted(request, &answer, ext_id),
            _ => InteractionAnswered::rejected(request, ext_id),
        };
        books.place(correlation_id, &answered)
    }

    /// What the asker gets.
    pub(super) fn for_asker(&self, prompt: &Prompt) -> Result<Response> {
        let request = &prompt.request;
        match self {
            Self::Answered { response, .. } | Self::Automatic { response, .. } => {
                Ok(response.clone())
            }
            Self::TimedOut => Ok(Response::timeout(request)),
            Self::Cancelled => {
                let message = "the prompt was cancelled before it was answered";
                let error = called_off(Scope::Turn, CancelReason::Parent, message);
                Err(error.with("interactionId", prompt.id()))
            }
            Self::Closed => Err(closed().with("interactionId", prompt.id())),
            Self::Halted { hint } => {
                let code = &codes::HEADLESS_INTERACTION_REQUIRED;
                let message = format!(
                    "`{}` needs an answer, and no interactive UI is attached: {hint}",
                    request.kind()
                );
                Err(Error::new(code.class, code.name, message)
                    .with("requestId", prompt.id())
                    .with("requestKind", request.kind().as_str())
                    .with("correlationId", request.correlation_id.as_str())
                    .with("prompt", &*request.prompt()))
            }
            Self::Unavailable => {
                let code = &codes::INTERACTION_UNAVAILABLE;
                let message = match request.kind() {
                    InteractionKind::ToolInput => {
                        "no interactive UI is there; ask for the input in the conversation instead"
                    }
                    _ => "no interactive UI is there that could approve",
                };
                Err(Error::new(code.class, code.name, message)
                    .with("interactionId", prompt.id())
                    .with("requestKind", request.kind().as_str()))
            }
        }
    }

    /// Tells the winner that its answer took effect, or why it did not.
    pub(super) fn told(self, failure: Option<Error>) {
        if let Self::Answered {
            done: Some(done), ..
        } = self
        {
            done.keep(failure.map_or(Ok(()), Err));
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Answered { response, .. } if response.status == Status::Accepted => "accepted",
            Self::Answered { .. } => "rejected",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timeout",
            Self::Closed => "closed",
            Self::Automatic { .. } => "automatic",
            Self::Halted { .. } => "halted",
            Self::Unavailable => "unavailable",
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Answered { .. } => "InteractionAnswered",
            Self::Cancelled | Self::Closed => "InteractionCancelled",
            Self::TimedOut => "InteractionTimedOut",
            Self::Automatic { .. } => "InteractionAutoAnswered",
            Self::Halted { .. } => "InteractionHalted",
            Self::Unavailable => "InteractionUnavailable",
        }
    }
}

pub(super) fn draft(prompt: &Prompt) -> Draft {
    Draft {
        kind: "interaction_request",
        correlation_id: Some(prompt.request.correlation_id.clone()),
        ext_id: prompt.asker.ext_id.clone(),
        payload: Value::Null,
    }
}

/// A typed secret is redacted from now on, so that its receiver cannot record it by mistake.
pub(super) fn learn(prompt: &Prompt, answer: &Answer) {
    let (Answer::AuthPassword(AuthAnswer::Secret(secret))
    | Answer::AuthDeviceCode(AuthAnswer::Secret(secret))) = answer
    else {
        return;
    };
    prompt.asker.books.redactor.learn_text(secret.expose());
}

/// The record of a prompt. It is for readers of the transcript, and cannot be answered.
pub(super) fn request_record(prompt: &Prompt) -> Draft {
    Draft {
        payload: serde_json::to_value(&prompt.request).unwrap_or_default(),
        ..draft(prompt)
    }
}

/// Subscribers learn that something is asked, and not what.
pub(super) fn publish_raised(prompt: &Prompt) -> PendingDelivery {
    let raised = InteractionRaised::new(&prompt.request, prompt.asker.ext_id.clone());
    let correlation_id = &prompt.request.correlation_id;
    let books = &prompt.asker.books;
    books.place(correlation_id, &raised)
}

pub(super) fn publish_cancelled(prompt: &Prompt) -> PendingDelivery {
    let cancelled = InteractionCancelled::new(&prompt.request);
    let correlation_id = &prompt.request.correlation_id;
    let books = &prompt.asker.books;
    books.place(correlation_id, &cancelled)
}

/// Subscribers learn that a prompt can still be answered though its tool is gone.
pub(super) fn publish_detached(prompt: &Prompt) {
    let detached = InteractionDetached {
        correlation_id: prompt.request.correlation_id.clone(),
        ext_id: prompt.asker.ext_id.clone(),
        interaction_id: prompt.id().to_owned(),
        kind: prompt.request.kind().as_str().to_owned(),
    };
    let books = &prompt.asker.books;
    books.publish(&detached.correlation_id, &detached);
}
