//! Inside the one crate that may: a `// SAFETY:` comment directly above each use.

use crate::problem::Problem;
use crate::source::{code_only, line_at, words};

/// Finds blocks and impls without their reason.
pub(super) fn check(path: &str, text: &str) -> Vec<Problem> {
    let code = code_only(text);
    let lines: Vec<&str> = text.lines().collect();
    let code_lines: Vec<&str> = code.lines().collect();
    words(&code)
        .filter(|(offset, word)| *word == "unsafe" && needs_reason(&code[offset + word.len()..]))
        .map(|(offset, _)| line_at(&code, offset))
        .filter(|line| !has_reason(&lines, &code_lines, line - 1))
        .map(|line| {
            Problem::new(
                path,
                line,
                "`unsafe` without a `// SAFETY:` comment directly above",
                "name the fact relied on and who guarantees it",
            )
        })
        .collect()
}

/// Blocks and impls make a promise; `unsafe fn` only asks its caller for one.
fn needs_reason(after: &str) -> bool {
    let after = after.trim_start();
    after.starts_with('{') || words(after).next() == Some((0, "impl"))
}

/// Whether the comment above the statement that holds line `at` gives the reason.
fn has_reason(lines: &[&str], code: &[&str], at: usize) -> bool {
    let mut at = at;
    while let Some(above) = at.checked_sub(1) {
        let comment = lines[above].trim_start();
        if comment.starts_with("//") {
            if comment.starts_with("// SAFETY:") {
                return true;
            }
        } else if !is_continued(code[above]) {
            return false;
        }
        at = above;
    }
    false
}

/// Whether the statement continues after this line, or the line is an attribute.
fn is_continued(line: &str) -> bool {
    let line = line.trim();
    let is_attribute = line.starts_with("#[") && line.ends_with(']');
    is_attribute || !(line.is_empty() || line.ends_with([';', '{', '}', ',', ']']))
}
