//! Comments, documentation and messages name components, in the usual words of the field.
//!
//! The list is short on purpose: each word on it once hid which component was meant, or replaced a term that readers
//! search for. CONTRIBUTING.md has the writing guide with examples.

use super::Repository;
use crate::problem::Problem;
use crate::source::{code_only, is_test_file, line_at, test_items};
use crate::tree::{Tree, has_extension};

/// What is not written, and what to write instead.
const WORDS: &[(&str, &str)] = &[
    (
        "whoever",
        "name the component: the caller, the reader, the owner",
    ),
    (
        "somebody",
        "name it: the user, another process, an interactor",
    ),
    (
        "nobody",
        "say what is missing: no interactor, no subscriber, no reader",
    ),
    ("anybody", "name it: a plugin, a user, a subscriber"),
    ("everybody", "name them: all subscribers, every interactor"),
    ("called off", "write `cancelled`"),
    ("call off", "write `cancel`"),
    ("calls off", "write `cancels`"),
    ("calling off", "write `cancelling`"),
    (
        "let go of",
        "write what happens: dropped, released, returned",
    ),
    ("lets go of", "write what happens: drops, releases, returns"),
    ("makes anything of", "write `handles`"),
    ("goes on", "write `continues`, or `resumes` for a session"),
    ("go on", "write `continue`, or `resume` for a session"),
    ("mend", "write `correct` for a file, `repair` for a state"),
    ("heed", "write `honor`, or `ignore` for its absence"),
];

/// Files and folders that are not read, each with the reason.
const EXEMPT: &[(&str, &str)] = &[
    ("docs/decisions/", "decisions are kept as they were written"),
    (
        "xtask/src/check/language.rs",
        "the list above names what is not written",
    ),
    ("CONTRIBUTING.md", "the writing guide shows the words"),
    (
        "crates/stud-sdk/src/private/category.rs",
        "a description in it is part of manifests that are released",
    ),
    (
        "crates/stud-contracts/",
        "descriptions are locked with the schemas and change with the next version",
    ),
    (
        "crates/stud-host-api/src/session.rs",
        "the contract of session stores locks a description in it, and changes it with its next version",
    ),
    (
        "docs/reference/events.md",
        "it is generated, and quotes descriptions of the interaction contract",
    ),
];

/// Looks at comments in every Rust file, at literals outside tests, and at every page.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    check_with(&repository.tree)
}

fn check_with(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.files() {
        if EXEMPT.iter().any(|(exempt, _)| path.starts_with(exempt)) {
            continue;
        }
        if has_extension(path, "md") {
            problems.extend(found(path, text, |_| true));
        } else if has_extension(path, "rs") {
            problems.extend(in_rust(path, text));
        }
    }
    for (exempt, _) in EXEMPT {
        if !tree.files().any(|(path, _)| path.starts_with(exempt)) {
            problems.push(Problem::stale_exemption("language", exempt));
        }
    }
    problems
}

/// Names are code and are not looked at, and neither is what a test says.
fn in_rust(path: &str, text: &str) -> Vec<Problem> {
    let code = code_only(text);
    let tests = test_items(&code);
    let is_source = path.contains("/src/") && !path.starts_with("tests/") && !is_test_file(path);
    found(path, text, |offset| {
        let line = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let is_comment = text[line..].trim_start().starts_with("//");
        let is_literal = code.as_bytes()[offset] == b' ';
        is_comment
            || (is_literal && is_source && !tests.iter().any(|range| range.contains(&offset)))
    })
}

fn found(path: &str, text: &str, counts: impl Fn(usize) -> bool) -> Vec<Problem> {
    let lower = text.to_ascii_lowercase();
    let mut problems = Vec::new();
    for (word, instead) in WORDS {
        for (offset, _) in lower.match_indices(word) {
            let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let before = lower[..offset].chars().next_back();
            let after = lower[offset + word.len()..].chars().next();
            if before.is_some_and(is_letter) || after.is_some_and(is_letter) || !counts(offset) {
                continue;
            }
            problems.push(Problem::new(
                path,
                line_at(text, offset),
                format!("`{word}` does not say what is meant"),
                *instead,
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::{check_with, found, in_rust};
    use crate::tree::Tree;

    #[test]
    fn a_word_is_found_as_a_whole_word_alone() {
        let lines = |text: &str| found("a.md", text, |_| true).len();
        assert_eq!(
            lines("Whoever asks is told, and somebody's turn goes on."),
            3
        );
        assert_eq!(lines("A recommended amendment, heedless, on record."), 0);
    }

    #[test]
    fn comments_and_messages_count_and_names_and_tests_do_not() {
        let text = "\
// Nobody handles the event.
fn nobody() -> &'static str {
    \"nobody is there\"
}
#[cfg(test)]
mod tests {
    const NAME: &str = \"nobody\";
    // Whoever asks.
}
";
        let lines: Vec<String> = in_rust("crates/a/src/lib.rs", text)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(lines.len(), 3, "{lines:#?}");
        assert!(lines[0].starts_with("crates/a/src/lib.rs:8:"), "{lines:#?}");
        assert!(lines[1].starts_with("crates/a/src/lib.rs:1:"), "{lines:#?}");
        assert!(lines[2].starts_with("crates/a/src/lib.rs:3:"), "{lines:#?}");
    }

    #[test]
    fn an_exemption_without_a_file_is_a_problem() {
        let tree = Tree::of(&[("a.md", "Fine.")]);
        assert!(!check_with(&tree).is_empty());
    }
}
