//! `unsafe` lives in `stud-abi`, and each use there says why it is sound.

mod comments;

use std::collections::BTreeSet;

use super::Repository;
use crate::problem::Problem;
use crate::source::{code_only, line_at, words};

/// The one crate that may contain `unsafe`.
const HOME: &str = "crates/stud-abi/";

/// Crates whose macros write `#[unsafe(no_mangle)]` into a plugin. The
/// attribute exports a symbol; no unsafe operation comes with it.
const EXPORTING_MACROS: &[&str] = &["crates/stud-sdk/", "crates/stud-sdk-macros/"];

const FORBID: &str = "#![forbid(unsafe_code)]";

/// Looks at every crate root and every `unsafe`.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for root in crate_roots(repository) {
        problems.extend(root_problem(repository, &root));
    }
    for (path, text) in repository.tree.rust() {
        if path.starts_with(HOME) {
            problems.extend(comments::check(path, text));
        } else {
            problems.extend(stray_unsafe(path, text));
        }
    }
    problems
}

/// The root files of all packages, members of the workspace or not.
fn crate_roots(repository: &Repository) -> BTreeSet<String> {
    let members = repository
        .workspace
        .packages
        .iter()
        .flat_map(|package| &package.targets)
        .map(|target| target.path.clone());
    let others = repository
        .tree
        .files()
        .filter_map(|(path, _)| path.strip_suffix("Cargo.toml"))
        .flat_map(|dir| [format!("{dir}src/lib.rs"), format!("{dir}src/main.rs")]);
    members
        .chain(others)
        .filter(|root| repository.tree.has(root))
        .collect()
}

fn root_problem(repository: &Repository, root: &str) -> Option<Problem> {
    let code = code_only(repository.tree.text(root)?);
    let forbids = code.lines().any(|line| line.trim() == FORBID);
    if !root.starts_with(HOME) {
        return (!forbids).then(|| {
            Problem::new(
                root,
                1,
                "this crate root does not forbid unsafe code",
                format!("add `{FORBID}` below its first comment"),
            )
        });
    }
    // Its build script needs no `unsafe`; the library is what the exemption is for.
    let is_library = root.ends_with("src/lib.rs");
    (forbids && is_library).then(|| Problem::stale_exemption("unsafe_code", HOME))
}

fn stray_unsafe(path: &str, text: &str) -> Vec<Problem> {
    let code = code_only(text);
    let exports = EXPORTING_MACROS.iter().any(|dir| path.starts_with(dir));
    words(&code)
        .filter(|(_, word)| *word == "unsafe")
        .filter(|(offset, _)| !(exports && is_attribute(&code, *offset)))
        .map(|(offset, _)| {
            Problem::new(
                path,
                line_at(&code, offset),
                format!("`unsafe` outside {HOME}"),
                "put a safe function for it in stud-abi",
            )
        })
        .collect()
}

/// Whether the word at `offset` opens `#[unsafe(…)]`.
fn is_attribute(code: &str, offset: usize) -> bool {
    let before = code[..offset].trim_end();
    let after = code[offset + "unsafe".len()..].trim_start();
    before.ends_with('[') && after.starts_with('(')
}

#[cfg(test)]
mod tests;
