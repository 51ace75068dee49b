//! What a text asks for.

use std::time::Duration;

use stud_sdk::{Class, Value};

/// What to do, once read.
#[derive(Debug, PartialEq)]
pub(crate) enum Script {
    /// Propose these calls together.
    Calls(Vec<Call>),
    /// Propose these calls one after the other.
    Sequence(Vec<Call>),
    /// Continue for this long.
    Slow(Duration),
    /// Say this many pieces at once.
    Flood(u64),
    /// Think this first.
    Think(String),
    /// Ask for a password for this purpose.
    Auth(String),
    /// Fail like this.
    Fail(Class, String),
    /// Say what was said.
    Say,
}

/// One tool call.
#[derive(Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) args: Value,
}

/// The codes that belong to the class `ProviderCapability` when no class is given.
const CAPABILITY_CODES: [&str; 6] = [
    "ContextWindowTooSmall",
    "MissingCapability",
    "MissingInteractor",
    "MissingStreaming",
    "MissingToolCalling",
    "OutputMalformed",
];

impl Script {
    /// Reads a text; one that fits nothing is to be said.
    pub(crate) fn read(text: &str) -> Self {
        directive(text).unwrap_or(Self::Say)
    }
}

fn directive(text: &str) -> Option<Script> {
    let (word, rest) = text.split_once(char::is_whitespace)?;
    let trimmed = rest.trim();
    if trimmed.is_empty() {
        return None;
    }
    Some(match word {
        "!tool" => Script::Calls(vec![call(trimmed)?]),
        "!par" => Script::Calls(calls(trimmed)?),
        "!seq" => Script::Sequence(calls(trimmed)?),
        "!slow" => Script::Slow(Duration::from_millis(trimmed.parse().ok()?)),
        "!flood" => Script::Flood(trimmed.parse().ok()?),
        "!think" => Script::Think(rest.to_owned()),
        "!auth" => Script::Auth(trimmed.to_owned()),
        "!fail" => failure(trimmed)?,
        _ => return None,
    })
}

/// `NAME JSON`.
fn call(text: &str) -> Option<Call> {
    let (name, args) = text.split_once(char::is_whitespace)?;
    Some(Call {
        name: name.to_owned(),
        args: args.parse().ok()?,
    })
}

/// `[[NAME, JSON], …]`, at least one.
fn calls(text: &str) -> Option<Vec<Call>> {
    let list: Value = text.parse().ok()?;
    let calls: Vec<Call> = list.as_array()?.iter().map(pair).collect::<Option<_>>()?;
    (!calls.is_empty()).then_some(calls)
}

fn pair(pair: &Value) -> Option<Call> {
    let [name, args] = pair.as_array()?.as_slice() else {
        return None;
    };
    let name = name.as_str().filter(|name| !name.is_empty())?;
    Some(Call {
        name: name.to_owned(),
        args: args.clone(),
    })
}

/// `CODE`, or the class and the code with `/` between them.
fn failure(text: &str) -> Option<Script> {
    let (class, code) = match text.split_once('/') {
        Some((class, code)) => (named(class)?, code),
        None if CAPABILITY_CODES.contains(&text) => (Class::ProviderCapability, text),
        None => (Class::ProviderTransient, text),
    };
    let is_name = !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_name.then(|| Script::Fail(class, code.to_owned()))
}

/// The two classes a provider fails with.
fn named(class: &str) -> Option<Class> {
    [Class::ProviderTransient, Class::ProviderCapability]
        .into_iter()
        .find(|known| known.as_str() == class)
}

#[cfg(test)]
mod tests;
