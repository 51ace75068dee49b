//! An interactor's reply.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stud_contract_meta::Result;

use crate::mismatch::mismatch;
use crate::{Answer, Payload, Request};

/// What one interactor made of a request.
///
/// Its `Debug` leaves the value out, since only the request knows whether it is a secret.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// The prompt, as in the request.
    pub interaction_id: String,
    /// The turn, as in the request.
    pub correlation_id: String,
    /// Whether someone answered.
    pub status: Status,
    /// What they answered, in the shape of the kind. Present exactly when the status is `accepted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Why not, for the other statuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whether someone answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Someone answered, and `value` is the answer.
    Accepted,
    /// Someone refused to answer. It means no.
    Rejected,
    /// This interactor stopped waiting.
    Timeout,
    /// This interactor closed the dialog without an answer.
    Dismissed,
}

impl Status {
    /// Whether this settles the prompt. The others leave it open for everyone else.
    pub const fn settles(self) -> bool {
        matches!(self, Self::Accepted | Self::Rejected)
    }
}

impl Response {
    /// An answer.
    pub fn accepted(request: &Request, answer: impl Into<Answer>) -> Self {
        Self {
            value: Some(answer.into().to_value()),
            ..Self::without_value(request, Status::Accepted)
        }
    }

    /// A no, for any kind.
    pub fn rejected(request: &Request, reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            ..Self::without_value(request, Status::Rejected)
        }
    }

    /// No answer in time.
    pub fn timeout(request: &Request) -> Self {
        Self::without_value(request, Status::Timeout)
    }

    /// No answer: the dialog was closed.
    pub fn dismissed(request: &Request) -> Self {
        Self::without_value(request, Status::Dismissed)
    }

    /// Reads an interactor's reply to `request` and checks it.
    ///
    /// Use it rather than plain deserialization, whose error quotes what it found and so may quote a secret.
    /// Fails like [`Response::check`].
    pub fn read(request: &Request, value: Value) -> Result<Self> {
        let response: Self = serde_json::from_value(value).map_err(|_| {
            let expected = "an object with `interactionId`, `correlationId`, a known `status` and what goes with it";
            mismatch(request.kind(), "response", expected)
        })?;
        response.check(request)?;
        Ok(response)
    }

    fn without_value(request: &Request, status: Status) -> Self {
        Self {
            interaction_id: request.interaction_id.clone(),
            correlation_id: request.correlation_id.clone(),
            status,
            value: None,
            reason: None,
        }
    }

    /// Whether this response fits the request: the same ids, and a value of the kind's shape if and only if it was
    /// accepted.
    ///
    /// Gives the answer in its type, or nothing for the other statuses.
    /// Fails with `Validation/InteractionPayloadMismatch`, whose context names `kind`, `field` and `expected`.
    pub fn check(&self, request: &Request) -> Result<Option<Answer>> {
        let kind = request.kind();
        if self.interaction_id != request.interaction_id {
            return Err(mismatch(kind, "interactionId", &request.interaction_id));
        }
        if self.correlation_id != request.correlation_id {
            return Err(mismatch(kind, "correlationId", &request.correlation_id));
        }
        self.answer(&request.payload)
    }

    /// [`Response::check`] for the asker, who knows the question and not the ids that core gave it.
    pub fn answer(&self, payload: &Payload) -> Result<Option<Answer>> {
        match (self.status, &self.value) {
            (Status::Accepted, Some(value)) => Answer::read(payload, value).map(Some),
            (Status::Accepted, None) => Err(mismatch(
                payload.kind(),
                "value",
                "present, since the status is `accepted`",
            )),
            (Status::Rejected | Status::Timeout | Status::Dismissed, Some(_)) => Err(mismatch(
                payload.kind(),
                "value",
                "absent, since the status is not `accepted`",
            )),
            (Status::Rejected | Status::Timeout | Status::Dismissed, None) => Ok(None),
        }
    }

    /// Whether the person said no: `rejected`, or `accepted` with an answer that denies.
    ///
    /// A `timeout` or a `dismissed` is not a no, and it is not a yes either; see [`Response::means_yes`].
    /// Fails like [`Response::check`].
    pub fn means_no(&self, request: &Request) -> Result<bool> {
        let answer = self.check(request)?;
        Ok(self.status == Status::Rejected || answer.is_some_and(|answer| answer.denies()))
    }

    /// Whether the person said yes: `accepted`, with an answer that does not deny.
    ///
    /// Ask this before acting. The absence of a no is not permission to continue.
    /// Fails like [`Response::check`].
    pub fn means_yes(&self, request: &Request) -> Result<bool> {
        Ok(self.check(request)?.is_some_and(|answer| !answer.denies()))
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("interaction_id", &self.interaction_id)
            .field("correlation_id", &self.correlation_id)
            .field("status", &self.status)
            .field("value", &self.value.as_ref().map(|_| format_args!("..")))
            .field("reason", &self.reason)
            .finish()
    }
}

#[cfg(test)]
mod tests;
