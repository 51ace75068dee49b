//! At least one case for each code: a plugin, a setting or a command line that must be refused with it.
//!
//! The example of a code's page is its first case: its manifests, files and command line are laid out and run, and what
//! it shows must be printed. `tests/errors/<Class>/<Code>/case.toml` adds what the page does not say: the fixture, what
//! else is prepared, and what the diagnostic must hold. More cases of one code are `case-<name>.toml` beside it.
//!
//! `expected.txt`, or `expected-<name>.txt`, is the whole text; `UPDATE=1` writes it, and the output of the page.
//! A code that no command line brings about has no folder here; a test observes it with `stud_observed::covers!`.
#![forbid(unsafe_code)]

mod case;
mod prepare;
mod verify;
mod page;
mod run;
mod together;
mod unopened;

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Trial};
use stud_tests::workspace_root;

fn main() {
    let arguments = Arguments::from_args();
    let root = workspace_root().join("tests/errors");
    let cases = cases(&root);
    let mut trials = Vec::new();
    for case in cases.clone() {
        let name = case.strip_prefix(&root).unwrap_or(&case).with_extension("");
        trials.push(Trial::test(name.display().to_string(), move || {
            run::run(&case).map_err(Into::into)
        }));
    }
    for (name, test) in together::tests() {
        trials.push(Trial::test(name, move || test().map_err(Into::into)));
    }
    trials.push(Trial::test("nothing-refused-is-opened", move || {
        unopened::check(&cases).map_err(Into::into)
    }));
    trials.push(Trial::test("nothing-unwanted-is-opened", || {
        unopened::unwanted().map_err(Into::into)
    }));
    libtest_mimic::run(&arguments, trials).exit();
}

/// The files that are cases, in order.
fn cases(root: &Path) -> Vec<PathBuf> {
    let classes = entries(root).into_iter();
    let codes = classes.flat_map(|class| entries(&class));
    codes
        .flat_map(|code| entries(&code))
        .filter(|path| is_case(path))
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn is_case(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix("case")
        .and_then(|rest| rest.strip_suffix(".toml"))
        .is_some_and(|variant| variant.is_empty() || variant.starts_with('-'))
}
