//! Ids. All of them are UUIDs of version 7: unique anywhere, and in the order they were made.

use stud_diagnostics::{Diagnostic, codes, printable_within};

use crate::did_you_mean::nearest;

/// An id that nothing else has.
pub fn fresh() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// The session meant by an id or by the beginning of one, among `ids` in the order they were made.
///
/// `Session/SessionNotFound` if that is none, `Session/SessionAmbiguous` if it is several.
pub fn meant<'a>(word: &str, ids: &'a [String], among: Among) -> Result<&'a str, Diagnostic> {
    if let Some(exact) = ids.iter().find(|id| *id == word) {
        return Ok(exact);
    }
    let begin = |id: &&String| !word.is_empty() && id.starts_with(word);
    let fitting: Vec<&str> = ids.iter().filter(begin).map(String::as_str).collect();
    match fitting[..] {
        [one] => Ok(one),
        [] => Err(unknown(word, ids, among)),
        _ => Err(ambiguous(word, fitting)),
    }
}

/// Which sessions are looked through, in the words of a diagnostic.
#[derive(Debug, Clone, Copy)]
pub struct Among {
    /// Such as `session with an audit trail`.
    pub what: &'static str,
    /// The command that lists them.
    pub listed_by: &'static str,
}

/// As many candidates as a person wants to read.
const SHOWN: usize = 8;

fn ambiguous(word: &str, ids: Vec<&str>) -> Diagnostic {
    let shown = ids[..SHOWN.min(ids.len())].join("`, `");
    let more = match ids.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("`{}` begins the id of {} sessions", short(word), ids.len());
    Diagnostic::error(&codes::SESSION_AMBIGUOUS, message)
        .with("asked", word)
        .with("candidates", ids)
        .note(format!("they are `{shown}`{more}"))
        .help("give more of the id")
}

fn unknown(word: &str, ids: &[String], among: Among) -> Diagnostic {
    let Among { what, listed_by } = among;
    let message = format!("no {what} has an id that begins with `{}`", short(word));
    let diagnostic = Diagnostic::error(&codes::SESSION_NOT_FOUND, message).with("asked", word);
    match (
        nearest(word, ids.iter().map(String::as_str)),
        ids.iter().max(),
    ) {
        (Some(near), _) => diagnostic.help(format!("did you mean `{near}`?")),
        (None, Some(newest)) => diagnostic.help(format!(
            "the newest of {} is `{newest}`; `{listed_by}` lists them all",
            ids.len()
        )),
        (None, None) => diagnostic.help("there is none yet"),
    }
}

fn short(word: &str) -> String {
    printable_within(word, 64).into_owned()
}
