//! Every `Class/Code` has a page, a test case and a use, and none is written that does not exist.

mod mentions;

use std::collections::BTreeSet;

use super::Repository;
use crate::observed;
use crate::problem::Problem;
use crate::registry::{self, Code, REGISTRY, case_path, page_path};
use crate::source::{code_only, is_test_file, without_tests, words};
use crate::tree::Tree;

/// Codes that no code of ours gives, each with what will give it.
const NOT_GIVEN: &[(&str, &str)] = &[];

/// Files that write a code that does not exist, because that is what they test.
const UNKNOWN_ON_PURPOSE: &[(&str, &str)] = &[];

/// Looks at the registry and at everything that follows from it.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    check_with(&repository.tree, NOT_GIVEN, UNKNOWN_ON_PURPOSE)
}

fn check_with(
    tree: &Tree,
    not_given: &[(&str, &str)],
    unknown_on_purpose: &[(&str, &str)],
) -> Vec<Problem> {
    let codes = registry::read(tree);
    if codes.is_empty() {
        return vec![Problem::new(
            REGISTRY,
            1,
            "no codes found",
            "write entries as `Name => CONSTANT, since \"0.1.0\";` inside `Class { … }`",
        )];
    }
    let ids: BTreeSet<String> = codes.iter().map(Code::id).collect();
    let mut problems = alphabetical(&codes);
    problems.extend(pages_and_cases(tree, &codes));
    problems.extend(orphans(tree, &ids));
    problems.extend(given(tree, &codes, not_given));
    problems.extend(mentions::check(tree, &ids, unknown_on_purpose));
    problems
}

fn alphabetical(codes: &[Code]) -> Vec<Problem> {
    codes
        .windows(2)
        .filter(|pair| pair[0].class == pair[1].class && pair[0].name >= pair[1].name)
        .map(|pair| {
            Problem::new(
                REGISTRY,
                pair[1].line,
                format!("`{}` stands after `{}`", pair[1].name, pair[0].name),
                "keep each class in alphabetical order, without repeats",
            )
        })
        .collect()
}

fn pages_and_cases(tree: &Tree, codes: &[Code]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for code in codes {
        let id = code.id();
        for (what, path) in [("page", page_path(&id)), ("test case", case_path(&id))] {
            let Some(text) = tree.text(&path) else {
                let is_case = what == "test case";
                if is_case && observed::is_claimed(tree, code) {
                    continue;
                }
                let otherwise = if is_case {
                    format!(
                        ", or observe it in a test with `covers!({}, …)`",
                        code.constant
                    )
                } else {
                    String::new()
                };
                problems.push(Problem::new(
                    REGISTRY,
                    code.line,
                    format!("{id} has no {what}"),
                    format!("write {path}; `cargo xtask new error` lays both out{otherwise}"),
                ));
                continue;
            };
            // The templates of `cargo xtask new error` are full of them.
            if let Some(line) = text.lines().position(|line| line.contains("TODO")) {
                problems.push(Problem::new(
                    path,
                    line + 1,
                    format!("the {what} of {id} is not finished"),
                    "replace what says TODO",
                ));
            }
        }
    }
    problems
}

/// Pages and test cases without a code.
fn orphans(tree: &Tree, ids: &BTreeSet<String>) -> Vec<Problem> {
    let (page, case) = (page_path("?"), case_path("?"));
    tree.files()
        .filter_map(|(path, _)| Some((path, id_in(path, &page).or_else(|| id_in(path, &case))?)))
        .filter(|(_, id)| !ids.contains(*id))
        .map(|(path, id)| {
            Problem::new(
                path,
                1,
                format!("there is no code {id}"),
                "add it to the registry, or remove this file",
            )
        })
        .collect()
}

/// What stands in `path` where the pattern has its `?`.
fn id_in<'a>(path: &'a str, pattern: &str) -> Option<&'a str> {
    let (before, after) = pattern.split_once('?')?;
    path.strip_prefix(before)?.strip_suffix(after)
}

/// Codes whose constant no source outside the registry names.
fn given(tree: &Tree, codes: &[Code], not_given: &[(&str, &str)]) -> Vec<Problem> {
    let mut used = BTreeSet::new();
    for (path, text) in tree.rust() {
        let ours = path.starts_with("crates/") || path.starts_with("plugins/");
        let is_source = ours && path.contains("/src/") && !is_test_file(path);
        if is_source && !path.starts_with("crates/stud-diagnostics/") {
            let code = without_tests(&code_only(text));
            used.extend(words(&code).map(|(_, word)| word.to_owned()));
        }
    }
    let mut problems = Vec::new();
    for code in codes {
        let exempt = not_given.iter().any(|(id, _)| *id == code.id());
        match (used.contains(&code.constant), exempt) {
            (false, false) => problems.push(Problem::new(
                REGISTRY,
                code.line,
                format!(
                    "{} is never given: no source names `{}`",
                    code.id(),
                    code.constant
                ),
                "give it where the failure happens, or name it in xtask/src/check/errors.rs",
            )),
            (true, true) => problems.push(Problem::stale_exemption("errors", &code.id())),
            (true, false) | (false, true) => {}
        }
    }
    for (id, _) in not_given {
        if !codes.iter().any(|code| code.id() == *id) {
            problems.push(Problem::stale_exemption("errors", id));
        }
    }
    problems
}

#[cfg(test)]
mod tests;
