//! The typed error every stud surface speaks: a class, a code, a message, a context.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stud_abi::Fault;
use stud_diagnostics::Class;

/// A failure that a program can act on.
///
/// Match on [`Error::class`] and [`Error::code`], never on the message: the text may change in a patch release.
/// A code that this version does not know passes through unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Error {
    class: String,
    code: String,
    message: String,
    #[serde(default)]
    context: Map<String, Value>,
}

/// What host services and contract operations return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of one of the eight classes.
    pub fn new(class: Class, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            class: class.as_str().to_owned(),
            code: code.into(),
            message: message.into(),
            context: Map::new(),
        }
    }

    /// Adds one fact about this failure.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.context.insert(key.to_owned(), value.into());
        self
    }

    /// The class as written; one of the eight unless a newer peer sent another.
    pub fn class(&self) -> &str {
        &self.class
    }

    /// What happened, as a name.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// What happened, for a person.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The facts of this failure.
    pub fn context(&self) -> &Map<String, Value> {
        &self.context
    }

    /// Whether this is `Class/Code`.
    pub fn is(&self, class: Class, code: &str) -> bool {
        self.class == class.as_str() && self.code == code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}: {}", self.class, self.code, self.message)
    }
}

impl std::error::Error for Error {}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self {
            class: error.class,
            code: error.code,
            message: error.message,
            context: Value::Object(error.context).to_string(),
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let context = match serde_json::from_str(&fault.context) {
            Ok(Value::Object(map)) => map,
            // A peer that sends no object still has its say, under one key.
            _ if !fault.context.is_empty() => {
                Map::from_iter([("raw".to_owned(), Value::String(fault.context))])
            }
            _ => Map::new(),
        };
        Self {
            class: fault.class,
            code: fault.code,
            message: fault.message,
            context,
        }
    }
}
