//! Commands.

use std::collections::BTreeSet;

use crate::case::{Context, Verdict};
use crate::configs::validator;

pub(super) fn names(context: &Context) -> Verdict {
    let mut names = BTreeSet::new();
    for command in context.list("commands") {
        let name = command["name"].as_str().unwrap_or_default();
        let letters = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if name.is_empty() || !name.chars().all(letters) {
            return Verdict::fail(format!("`{name}` cannot be typed as a command"));
        }
        if !names.insert(name) {
            return Verdict::fail(format!("two commands are called `{name}`"));
        }
        if command["description"]
            .as_str()
            .unwrap_or_default()
            .trim()
            .is_empty()
        {
            return Verdict::fail(format!("`{name}` has no description"));
        }
        if let Err(why) = validator(&command["argsSchema"]) {
            return Verdict::fail(format!("`argsSchema` of `{name}` does not compile: {why}"));
        }
    }
    Verdict::of(!names.is_empty(), "there is no command")
}
