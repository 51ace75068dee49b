//! What a request says, and how far it has come.

use stud_sdk::Value;
use stud_sdk::provider::{Content, Message, Part, Request, Role};

/// The text to go by, and what has come back since it was said.
#[derive(Debug, PartialEq)]
pub(crate) struct Cue<'a> {
    pub(crate) text: String,
    /// Tool results, oldest first.
    pub(crate) results: Vec<&'a str>,
}

impl<'a> Cue<'a> {
    /// Finds the last user message, or else the last line of what the session says.
    pub(crate) fn find(request: &'a Request) -> Self {
        let messages = &request.messages;
        let last = |role| messages.iter().rposition(|message| message.role == role);
        let (text, since) = if let Some(index) = last(Role::User) {
            (messages[index].content.text(), index + 1)
        } else if let Some(index) = last(Role::System) {
            (last_line(&messages[index].content.text()), index + 1)
        } else {
            (last_line(request.system.as_deref().unwrap_or_default()), 0)
        };
        let results = messages[since..].iter().flat_map(results).collect();
        Self { text, results }
    }
}

fn last_line(text: &str) -> String {
    text.trim_end()
        .lines()
        .next_back()
        .unwrap_or_default()
        .to_owned()
}

/// The results in one message.
fn results(message: &Message) -> Vec<&str> {
    match &message.content {
        _ if message.role != Role::Tool => Vec::new(),
        Content::Text(text) => vec![text],
        Content::Parts(parts) => parts.iter().filter_map(result).collect(),
    }
}

fn result(part: &Part) -> Option<&str> {
    match part {
        Part::ToolResult { content, .. } => Some(content),
        _ => None,
    }
}

/// JSON without the space between its tokens, its members in the order they came; any other text as it is.
pub(crate) fn compact(text: &str) -> String {
    if text.parse::<Value>().is_err() {
        return text.to_owned();
    }
    let (mut quoted, mut escaped) = (false, false);
    text.chars()
        .filter(|&letter| {
            let keep = quoted || !letter.is_ascii_whitespace();
            if letter == '"' && !escaped {
                quoted = !quoted;
            }
            escaped = letter == '\\' && !escaped;
            keep
        })
        .collect()
}

/// The words of a request: what it costs to send.
pub(crate) fn size(request: &Request) -> u64 {
    let said = request
        .messages
        .iter()
        .map(|message| words(&message.content.text()));
    said.sum::<u64>() + words(request.system.as_deref().unwrap_or_default())
}

/// How many words a text has.
pub(crate) fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

#[cfg(test)]
mod tests;
