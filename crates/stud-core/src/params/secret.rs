//! Parameters that look like secrets.

use serde_json::Value;

use crate::redact::shape_of;

/// Whether a parameter of this name would carry a key.
pub(super) fn is_forbidden(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let known = [
        "apikey",
        "api_key",
        "authorization",
        "bearer",
        "x-api-key",
        "authorizationtoken",
    ];
    let is_header = || {
        let endings = ["-key", "-token", "-auth", "-secret"];
        let ending = endings.iter().find(|ending| name.ends_with(*ending));
        // Between the `x-` and the ending stands something.
        ending.is_some_and(|ending| name.starts_with("x-") && name.len() > 2 + ending.len())
    };
    known.contains(&name.as_str()) || is_header()
}

/// Whether a text has the shape of a secret.
pub(super) fn is_secret(text: &str) -> bool {
    let begins = |prefix: &str| {
        text.get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let is_key = ["sk-", "pk-"].iter().any(|prefix| {
        let rest = text.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.chars().count() >= 16)
    });
    begins("bearer ") || text.starts_with("eyJ") || text.starts_with("xoxb-") || is_key
}

/// A value as records and people may see it.
pub fn redacted(value: &Value) -> Value {
    match value {
        Value::Null => "<redacted:null>".into(),
        Value::String(text) if is_secret(text) || shape_of(text).is_some() => {
            "<redacted:string>".into()
        }
        Value::Array(items) => items.iter().map(redacted).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), redacted(value)))
            .collect(),
        plain => plain.clone(),
    }
}
