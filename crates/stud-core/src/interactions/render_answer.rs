//! An answer in words, for when the tool that would have read it is gone.

use serde_json::{Value, json};
use stud_contract_interaction::{Action, Answer, Payload, Response, UserResponse};

use super::{Outcome, Prompt};
use crate::ledger::Draft;

/// What a person said after the tool that asked was gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateAnswer {
    /// The number of its record.
    pub seq: u64,
    /// The interactor it came through.
    pub ext_id: String,
    /// The answer in words.
    pub text: String,
    /// The prompt.
    pub interaction_id: String,
}

/// What the person says.
pub(super) struct Words {
    ext_id: String,
    text: String,
    /// The same for programs, so that a UI can show the answer with its question.
    origin: Value,
}

impl Outcome {
    /// What the person says with this outcome. A no is said too: the model was told to wait.
    pub(super) fn in_words(&self, prompt: &Prompt) -> Option<Words> {
        let Self::Answered {
            ext_id, response, ..
        } = self
        else {
            return None;
        };
        let (tool, call, title) = match &prompt.request.payload {
            Payload::ToolInput(input) => {
                let title = input.prompt.as_ref().or(input.input_schema.title.as_ref());
                (&input.tool_name, &input.tool_call_id, title)
            }
            Payload::ToolApproval(approval) => (
                &approval.tool_name,
                &approval.tool_call_id,
                approval.prompt.as_ref(),
            ),
            _ => return None,
        };
        let answer = answer(prompt, response);
        let mut text = format!("A late answer for {tool}");
        if let Some(title) = title {
            text = format!("{text}: {title}");
        }
        for line in lines(&prompt.request.payload, &answer) {
            text.push('\n');
            text.push_str(&line);
        }
        let mut origin = json!(answer);
        origin["kind"] = "interaction_response".into();
        origin["interactionId"] = prompt.id().into();
        origin["toolCallId"] = call.as_str().into();
        origin["toolName"] = tool.as_str().into();
        Some(Words {
            ext_id: ext_id.clone(),
            text,
            origin,
        })
    }
}

impl Words {
    /// The record of an input like any other, and where it comes from.
    pub(super) fn draft(&self) -> Draft {
        Draft {
            kind: "user_input",
            ext_id: Some(self.ext_id.clone()),
            payload: json!({"text": self.text, "origin": self.origin}),
            ..Draft::default()
        }
    }

    pub(super) fn at(self, seq: u64, prompt: &Prompt) -> LateAnswer {
        LateAnswer {
            seq,
            ext_id: self.ext_id,
            text: self.text,
            interaction_id: prompt.id().to_owned(),
        }
    }
}

/// What the person did. To reject a prompt is the button that every prompt has.
fn answer(prompt: &Prompt, response: &Response) -> UserResponse {
    match response.check(&prompt.request) {
        Ok(Some(Answer::ToolInput(answer) | Answer::ToolApproval(answer))) => answer,
        _ => UserResponse {
            reason: response.reason.clone(),
            ..UserResponse::new(Action::Cancel)
        },
    }
}

fn lines(asked: &Payload, answer: &UserResponse) -> Vec<String> {
    let mut lines = match (asked, answer.action) {
        (Payload::ToolInput(asked), Action::Submit) => {
            let given = |id: &str| answer.input.as_ref().and_then(|input| input.get(id));
            let fields = asked.input_schema.all_fields();
            // What belongs to no field was not asked for.
            let filled = fields.filter_map(|field| {
                let value = given(&field.id)?;
                Some(format!("{}: {}", field.label, plain(value)))
            });
            filled.collect()
        }
        (_, action) => {
            let scope = answer.approval_scope.filter(|_| action == Action::Approve);
            let scope = scope.map_or_else(String::new, |scope| format!(" ({})", scope.as_str()));
            vec![format!("Action: {}{scope}", plain(&json!(action)))]
        }
    };
    lines.extend(answer.reason.iter().map(|why| format!("Reason: {why}")));
    lines
}

/// A value as a person would write it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            items.join(", ")
        }
        other => other.to_string(),
    }
}
