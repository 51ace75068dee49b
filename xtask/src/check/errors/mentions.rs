//! Wherever a `Class/Code` is written, it must exist.

use std::collections::BTreeSet;

use crate::problem::Problem;
use crate::registry::{CLASSES, is_name};
use crate::source::line_at;
use crate::suggest;
use crate::tree::{Tree, has_extension};

/// Looks through sources and pages for codes that are not in the registry.
pub(super) fn check(
    tree: &Tree,
    ids: &BTreeSet<String>,
    unknown_on_purpose: &[(&str, &str)],
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut excused = BTreeSet::new();
    for (path, text) in tree.files().filter(|(path, _)| is_read(path)) {
        for (offset, id) in mentions(text) {
            if ids.contains(id) {
                continue;
            }
            if unknown_on_purpose.contains(&(path, id)) {
                excused.insert((path, id));
                continue;
            }
            let hint = suggest::hint(id, ids.iter().map(String::as_str));
            problems.push(Problem::new(
                path,
                line_at(text, offset),
                format!("{id} is not in the registry{hint}"),
                "correct it, or add it with `cargo xtask new error`",
            ));
        }
    }
    for (path, id) in unknown_on_purpose {
        if !excused.contains(&(*path, *id)) {
            problems.push(Problem::stale_exemption(
                "errors",
                &format!("{id} in {path}"),
            ));
        }
    }
    problems
}

/// Sources and pages people read; the tasks themselves make codes up in their tests.
fn is_read(path: &str) -> bool {
    let is_text = has_extension(path, "rs") || has_extension(path, "md");
    is_text && !path.starts_with("xtask/")
}

/// Every class name followed by `/` and a name.
fn mentions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    CLASSES.into_iter().flat_map(move |class| {
        text.match_indices(class).filter_map(move |(start, _)| {
            let after = text[start + class.len()..].strip_prefix('/')?;
            let len = after
                .find(|letter: char| !letter.is_ascii_alphanumeric())
                .unwrap_or(after.len());
            let name = &after[..len];
            let begins = !text[..start].ends_with(|letter: char| letter.is_ascii_alphanumeric());
            // `ToolTransient/ToolTerminal` is two classes, not a code.
            let is_code = begins && is_name(name) && !CLASSES.contains(&name);
            is_code.then(|| (start, &text[start..start + class.len() + 1 + len]))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    fn ids(text: &str) -> Vec<&str> {
        mentions(text).map(|(_, id)| id).collect()
    }

    #[test]
    fn codes_are_found_in_prose_code_and_paths() {
        assert_eq!(
            ids("`Session/NotReady`, pages/Session/NotReady.md, \"Session/NotReady\""),
            ["Session/NotReady"; 3]
        );
    }

    #[test]
    fn placeholders_and_other_slashes_are_not_codes() {
        for text in [
            "Class/Code",
            "Subagent/Failed",
            "Session/<Code>",
            "Session/…",
            "session/NotReady",
            "ToolTransient/ToolTerminal",
            "MySession/NotReady",
            "Session/mod",
        ] {
            assert_eq!(ids(text), Vec::<&str>::new(), "{text}");
        }
    }
}
