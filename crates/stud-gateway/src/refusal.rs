//! Why a frame was refused, as its sender is told.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use stud_contract_meta::Error;
use stud_diagnostics::{Code, Diagnostic, codes};

/// The content of an `error` frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: String,
    pub(crate) details: Map<String, Value>,
}

impl Refusal {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code: Cow::Borrowed(code),
            message: message.into(),
            details: Map::new(),
        }
    }

    /// Adds a fact for programs.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Adds the `Class/Code` that the reference explains.
    pub(crate) fn typed(self, typed: &'static str) -> Self {
        self.with("typed", typed)
    }

    /// Adds a code of the registry.
    pub(crate) fn coded(self, code: &Code) -> Self {
        self.with("typed", code.to_string())
    }

    /// A frame that is JSON and not one of the frames that are known.
    pub(crate) fn invalid_frame(message: impl Into<String>) -> Self {
        Self::new("invalid_client_message", message).typed("Validation/InputInvalid")
    }

    /// A session that is not there, or that this connection does not take part in.
    pub(crate) fn invalid_session(session_id: &str, message: impl Into<String>) -> Self {
        Self::new("invalid_session_id", message)
            .typed("Validation/InputInvalid")
            .with("sessionId", session_id)
    }

    /// The frame that its sender gets.
    pub(crate) fn frame(&self, request_id: Option<&Value>) -> Value {
        let mut frame = json!({"type": "error", "code": self.code, "message": self.message});
        if !self.details.is_empty() {
            frame["details"] = Value::Object(self.details.clone());
        }
        if let Some(request_id) = request_id {
            frame["requestId"] = request_id.clone();
        }
        frame
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let mut details = Map::new();
        for (name, value) in error.context() {
            details.insert(name.clone(), value.clone());
        }
        let typed = format!("{}/{}", error.class(), error.code());
        details.insert("typed".to_owned(), typed.into());
        Self {
            code: wire_code(error.class(), error.code()),
            message: error.message().to_owned(),
            details,
        }
    }
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Self {
        let typed = diagnostic.code.to_string();
        let code = wire_code(diagnostic.class().as_str(), diagnostic.code.name);
        let mut details = Map::new();
        details.insert("typed".to_owned(), typed.into());
        if !diagnostic.help.is_empty() {
            details.insert("help".to_owned(), json!(diagnostic.help));
        }
        Self {
            code,
            message: diagnostic.message.clone(),
            details,
        }
    }
}

/// The word for a code on this wire.
pub(crate) fn wire_code(class: &str, code: &str) -> Cow<'static, str> {
    let word = match (class, code) {
        ("ToolTerminal", "RepromptLimit") => "interaction_reprompt_limit",
        ("ToolTerminal", "ToolExecutionFailed") => "tool_error",
        ("ToolTerminal", "ApprovalDenied") => "tool_denied",
        ("Cancellation", _) => "tool_aborted",
        ("Validation", "InteractionPayloadMismatch") => "invalid_interaction_input",
        _ => "",
    };
    if !word.is_empty() {
        return Cow::Borrowed(word);
    }
    let is_known = codes::ALL
        .iter()
        .any(|known| known.class.as_str() == class && known.name == code);
    if is_known {
        Cow::Owned(snake_case(code))
    } else {
        // A plugin's own code stays as it is.
        Cow::Owned(code.to_owned())
    }
}

fn snake_case(code: &str) -> String {
    let mut word = String::with_capacity(code.len() + 4);
    let mut before = None;
    let mut letters = code.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends_acronym = letters.peek().is_some_and(char::is_ascii_lowercase);
        let starts_word = match before {
            None => false,
            Some(before) if char::is_uppercase(before) => ends_acronym,
            Some(_) => true,
        };
        if letter.is_ascii_uppercase() && starts_word {
            word.push('_');
        }
        word.push(letter.to_ascii_lowercase());
        before = Some(letter);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_words() {
        for (code, word) in [
            ("InteractionNotFound", "interaction_not_found"),
            ("UIRoleHandlerMissing", "ui_role_handler_missing"),
            ("MCPTool", "mcp_tool"),
        ] {
            assert_eq!(snake_case(code), word);
        }
    }

    #[test]
    fn the_words_of_the_wire_are_used() {
        for (class, code, word) in [
            (
                "Session",
                "InteractionAlreadyAnswered",
                "interaction_already_answered",
            ),
            ("Session", "InteractionNotFound", "interaction_not_found"),
            (
                "ToolTerminal",
                "InteractionUnavailable",
                "interaction_unavailable",
            ),
            (
                "ToolTerminal",
                "RepromptLimit",
                "interaction_reprompt_limit",
            ),
            ("Cancellation", "TurnCancelled", "tool_aborted"),
            ("ToolTerminal", "ToolExecutionFailed", "tool_error"),
            ("ToolTerminal", "MyOwn", "MyOwn"),
        ] {
            assert_eq!(wire_code(class, code), word);
        }
    }
}
