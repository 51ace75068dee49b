//! From the `value` of an accepted response to a typed answer.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use stud_contract_meta::Result;

use super::{
    Action, Answer, ApproveAnswer, AskAnswer, AuthAnswer, ConfirmAnswer, EnvelopeAnswer,
    GrantAnswer, SelectAnswer, UserResponse,
};
use crate::mismatch::mismatch;
use crate::{ApprovalScope, InteractionKind, Payload, Secret};

impl Answer {
    /// Reads the `value` of an accepted response to `payload`.
    pub(crate) fn read(payload: &Payload, value: &Value) -> Result<Self> {
        let kind = payload.kind();
        let Some(object) = value.as_object() else {
            return Err(mismatch(kind, "value", "an object"));
        };
        let members = Members { kind, object };
        Ok(match payload {
            Payload::Ask(_) => Self::Ask(AskAnswer {
                text: members.required("text", "a string")?,
            }),
            Payload::Approve(approve) => Self::Approve(ApproveAnswer {
                decision: members.required("decision", "`approve` or `deny`")?,
                allow_once: members.optional("allowOnce", "a boolean")?,
                scope: members.scope("scope", approve.offered())?,
            }),
            Payload::Select(select) => {
                let expected = format!("an index below {}", select.options.len());
                let index: usize = members.required("index", &expected)?;
                if index >= select.options.len() {
                    return Err(mismatch(kind, "index", &expected));
                }
                Self::Select(SelectAnswer { index })
            }
            Payload::AuthDeviceCode(_) => Self::AuthDeviceCode(members.auth()?),
            Payload::AuthPassword(_) => Self::AuthPassword(members.auth()?),
            Payload::Confirm(_) => Self::Confirm(ConfirmAnswer {
                confirmed: members.required("confirmed", "a boolean")?,
            }),
            Payload::GrantStageTool(_) => Self::GrantStageTool(GrantAnswer {
                outcome: members.required("outcome", "`approve`, `deny` or `defer`")?,
                note: members.optional("note", "a string")?,
            }),
            Payload::ApproveSubagentEnvelope(_) => Self::ApproveSubagentEnvelope(EnvelopeAnswer {
                outcome: members.required("outcome", "`approve` or `deny`")?,
                note: members.optional("note", "a string")?,
            }),
            Payload::ToolInput(input) => {
                let mut response = members.user_response(
                    &[Action::Submit, Action::Cancel],
                    "`submit` or `cancel`",
                    &[],
                )?;
                // A client may send more than it was asked for; the tool gets the fields of its form.
                if let Some(values) = &mut response.input {
                    values.retain(|id, _| {
                        input.input_schema.all_fields().any(|field| field.id == *id)
                    });
                }
                Self::ToolInput(response)
            }
            Payload::ToolApproval(approval) => Self::ToolApproval(members.user_response(
                &[Action::Approve, Action::Deny, Action::Cancel],
                "`approve`, `deny` or `cancel`",
                approval.offered(),
            )?),
        })
    }
}

/// The members of an answer, read one at a time so that an error can name the one at fault.
struct Members<'a> {
    kind: InteractionKind,
    object: &'a Map<String, Value>,
}

impl Members<'_> {
    fn required<T: DeserializeOwned>(&self, field: &str, expected: &str) -> Result<T> {
        self.optional(field, expected)?
            .ok_or_else(|| mismatch(self.kind, field, expected))
    }

    fn optional<T: DeserializeOwned>(&self, field: &str, expected: &str) -> Result<Option<T>> {
        match self.object.get(field) {
            None | Some(Value::Null) => Ok(None),
            // The error of serde quotes what it found, which may be a secret, so it is dropped.
            Some(value) => T::deserialize(value)
                .map(Some)
                .map_err(|_| mismatch(self.kind, field, expected)),
        }
    }

    fn scope(&self, field: &str, offered: &[ApprovalScope]) -> Result<Option<ApprovalScope>> {
        let words: Vec<_> = offered.iter().map(|scope| scope.as_str()).collect();
        let expected = format!("one of the scopes offered: {}", words.join(", "));
        match self.optional(field, &expected)? {
            Some(scope) if !offered.contains(&scope) => Err(mismatch(self.kind, field, &expected)),
            scope => Ok(scope),
        }
    }

    fn auth(&self) -> Result<AuthAnswer> {
        let secret = self.optional::<Secret>("secret", "a string")?;
        match (secret, self.optional("completed", "true")?) {
            (Some(secret), None) => Ok(AuthAnswer::Secret(secret)),
            (None, Some(true)) => Ok(AuthAnswer::Completed),
            (None, Some(false)) => Err(mismatch(self.kind, "completed", "true")),
            (None, None) | (Some(_), Some(_)) => Err(mismatch(
                self.kind,
                "value",
                "either {secret} or {completed: true}",
            )),
        }
    }

    fn user_response(
        &self,
        fitting: &[Action],
        expected: &str,
        offered: &[ApprovalScope],
    ) -> Result<UserResponse> {
        let action: Action = self.required("action", expected)?;
        if !fitting.contains(&action) {
            return Err(mismatch(self.kind, "action", expected));
        }
        Ok(UserResponse {
            action,
            // A scope says how far a yes reaches, so it means nothing beside any other action.
            approval_scope: match action {
                Action::Approve => self.scope("approvalScope", offered)?,
                Action::Deny | Action::Submit | Action::Cancel => None,
            },
            input: self.optional("input", "an object of values by field id")?,
            reason: self.optional("reason", "a string")?,
        })
    }
}
