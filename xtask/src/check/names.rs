//! One meaning for each type name of a crate, and module names in the words of the field.

use std::collections::BTreeMap;

use super::Repository;
use crate::problem::Problem;
use crate::rust_crate::{Crate, Module};
use crate::tree::Tree;

/// Names that stand for two types of one crate, each with the reason.
const TWICE: &[(&str, &str, &str)] = &[
    (
        "crates/stud-core",
        "OsKeyring",
        "one for the system, one for the model checker; a build has one of them",
    ),
    (
        "crates/stud-sdk",
        "Probe",
        "each proves at compile time which methods its own category has",
    ),
    (
        "crates/stud-sdk",
        "Without",
        "each proves at compile time which methods its own category has",
    ),
    (
        "crates/stud-sdk-macros",
        "Declaration",
        "the macros of tools and of commands each parse a declaration of their own",
    ),
    (
        "plugins/providers/openai-compatible",
        "Answer",
        "the chat API and the responses API are two protocols with the same words",
    ),
    (
        "plugins/providers/openai-compatible",
        "Delta",
        "the chat API and the responses API are two protocols with the same words",
    ),
    (
        "plugins/providers/openai-compatible",
        "Details",
        "the chat API and the responses API are two protocols with the same words",
    ),
    (
        "plugins/providers/openai-compatible",
        "Function",
        "the chat API has a function that is offered and a function that is called",
    ),
    (
        "plugins/providers/openai-compatible",
        "Settled",
        "the chat API and the responses API are two protocols with the same words",
    ),
    (
        "plugins/providers/openai-compatible",
        "Tally",
        "the chat API and the responses API are two protocols with the same words",
    ),
    (
        "plugins/providers/gemini",
        "Contents",
        "the content that is sent and the content that is received differ in the protocol",
    ),
    (
        "plugins/ui/default-tui",
        "Charset",
        "private to two modules of the screen that never meet",
    ),
    (
        "plugins/ui/default-tui",
        "Choice",
        "private to two modules of the screen that never meet",
    ),
    (
        "plugins/ui/default-tui",
        "Entry",
        "private to two modules of the screen that never meet",
    ),
    (
        "plugins/ui/default-tui",
        "Layout",
        "private to two modules of the screen that never meet",
    ),
    (
        "plugins/ui/default-tui",
        "State",
        "private to two modules of the screen that never meet",
    ),
    (
        "plugins/ui/default-tui",
        "Waiting",
        "private to two modules of the screen that never meet",
    ),
];

/// Words that do not tell a newcomer what a module holds, and what to say instead.
const HOUSE_WORDS: &[(&str, &str)] = &[
    ("aftermath", "crash_recovery"),
    ("around", "the port's own name"),
    ("attend", "participants"),
    ("books", "recorder"),
    ("called_off", "cancellation"),
    ("chronicle", "lifecycle_audit"),
    ("deeds", "privileged_ops"),
    ("desk", "request_state"),
    ("errands", "jobs"),
    ("gate", "fifo_lock"),
    ("ground", "environment"),
    ("kept", "message"),
    ("means", "deps"),
    ("nearest", "did_you_mean"),
    ("parlor", "harness"),
    ("past", "resume"),
    ("planted", "fault_injection"),
    ("safekeeping", "audit_sync"),
    ("seat", "interactor_slot"),
    ("shelf", "stored_sessions"),
    ("stock", "catalog"),
    ("track", "provenance"),
    ("words", "what the words are for"),
    ("work", "executor"),
];

/// Looks at every crate with code of the program: not at tests, fixtures and benchmarks.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let packages = repository.workspace.packages.iter();
    let dirs = packages.map(|package| package.dir.as_str());
    let dirs = dirs.filter(|dir| dir.starts_with("crates/") || dir.starts_with("plugins/"));
    check_crates(&repository.tree, dirs, TWICE)
}

fn check_crates<'a>(
    tree: &Tree,
    dirs: impl Iterator<Item = &'a str>,
    twice: &[(&str, &str, &str)],
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut used = Vec::new();
    for dir in dirs {
        let parsed = match Crate::read(tree, dir) {
            Ok(parsed) => parsed,
            Err((file, why)) => {
                problems.push(Problem::new(file, 1, why, "correct it"));
                continue;
            }
        };
        for (name, places) in repeated(&parsed) {
            let exempt = twice
                .iter()
                .position(|(crate_dir, exempt, _)| *crate_dir == dir && *exempt == name);
            match exempt {
                Some(place) => used.push(place),
                None => problems.push(meaning_twice(name, &places)),
            }
        }
        problems.extend(house_words(&parsed));
    }
    for (place, (dir, name, _)) in twice.iter().enumerate() {
        if !used.contains(&place) {
            let entry = format!("{name} in {dir}");
            problems.push(Problem::stale_exemption("names", &entry));
        }
    }
    problems
}

/// The names that stand for types in more than one module.
fn repeated(parsed: &Crate) -> BTreeMap<&str, Vec<(&Module, usize)>> {
    let mut places: BTreeMap<&str, Vec<(&Module, usize)>> = BTreeMap::new();
    for (_, module) in parsed.modules() {
        for named in &module.types {
            let known = places.entry(&named.name).or_default();
            // A type under two conditions of one module is one type.
            if known.iter().all(|(other, _)| other.file != module.file) {
                known.push((module, named.line));
            }
        }
    }
    places.retain(|_, places| places.len() > 1);
    places
}

fn meaning_twice(name: &str, places: &[(&Module, usize)]) -> Problem {
    let (first, _) = places[0];
    let (module, line) = places[1];
    Problem::new(
        &module.file,
        line,
        format!("`{name}` is also a type in {}", first.file),
        "give one of them a name that says which it is",
    )
}

fn house_words(parsed: &Crate) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, module) in parsed.modules() {
        let Some(name) = path.last() else { continue };
        if let Some((_, better)) = HOUSE_WORDS.iter().find(|(word, _)| word == name) {
            problems.push(Problem::new(
                &module.file,
                1,
                format!("`{name}` does not say what the module holds"),
                format!("name it for that, as in `{better}`"),
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::check_crates;
    use crate::tree::Tree;

    fn found(files: &[(&str, &str)], twice: &[(&str, &str, &str)]) -> Vec<String> {
        let mut all = vec![("a/src/lib.rs", "mod load; mod start;")];
        all.extend_from_slice(files);
        let problems = check_crates(&Tree::of(&all), ["a"].into_iter(), twice);
        problems.iter().map(ToString::to_string).collect()
    }

    const LOAD: (&str, &str) = ("a/src/load.rs", "struct State;");

    #[test]
    fn a_name_has_one_meaning_in_a_crate() {
        let problems = found(&[LOAD, ("a/src/start.rs", "\nenum State {}")], &[]);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(problems[0].starts_with("a/src/start.rs:2: `State` is also a type in"));
    }

    #[test]
    fn associated_types_types_of_tests_and_conditions_are_no_second_meaning() {
        for text in [
            "trait T { type State; }",
            "impl Iterator for A { type State = B; }",
            "#[cfg(test)] mod tests { struct State; }",
            "fn f() { State }",
        ] {
            let problems = found(&[LOAD, ("a/src/start.rs", text)], &[]);
            assert!(problems.is_empty(), "{text}: {problems:#?}");
        }
        let twice = "#[cfg(unix)] struct State; #[cfg(not(unix))] struct State;";
        let problems = found(&[("a/src/load.rs", twice), ("a/src/start.rs", "")], &[]);
        assert!(problems.is_empty(), "{problems:#?}");
    }

    #[test]
    fn an_exemption_excuses_and_must_be_needed() {
        let exempt = [("a", "State", "a reason")];
        let files = [LOAD, ("a/src/start.rs", "struct State;")];
        assert!(found(&files, &exempt).is_empty());
        let problems = found(&[LOAD, ("a/src/start.rs", "")], &exempt);
        assert_eq!(problems.len(), 1, "{problems:#?}");
    }

    #[test]
    fn a_house_word_is_no_name_of_a_module() {
        let files = [("a/src/load.rs", "mod books;"), ("a/src/load/books.rs", "")];
        let problems = found(&[files[0], files[1], ("a/src/start.rs", "")], &[]);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(
            problems[0].contains("`books` does not say"),
            "{problems:#?}"
        );
    }
}
