//! Files that can be found by their name and read in one sitting.

use super::Repository;
use crate::problem::Problem;
use crate::source::{code_only, is_test_file, line_at, test_items, words};

/// Names that say nothing about what is inside.
const VAGUE: &[&str] = &["utils", "util", "common", "helpers", "misc", "manager"];

/// A file longer than this is a question.
const LONG: usize = 400;

/// A file longer than this is too long.
const TOO_LONG: usize = 600;

/// Files that may be too long, each with the reason.
const LONG_ON_PURPOSE: &[(&str, &str)] = &[];

/// Looks at the name and the length of every Rust file.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    check_with(repository, LONG_ON_PURPOSE)
}

fn check_with(repository: &Repository, long_on_purpose: &[(&str, &str)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut excused = Vec::new();
    for (path, text) in repository.tree.rust() {
        problems.extend(name_problem(path));
        let code = code_only(text);
        problems.extend(inline_name_problems(path, &code));
        let length = length(path, text, &code);
        if length <= LONG {
            continue;
        }
        if length > TOO_LONG && long_on_purpose.iter().any(|(file, _)| *file == path) {
            excused.push(path);
            continue;
        }
        let problem = Problem::new(
            path,
            1,
            format!("{length} lines without tests; {LONG} is a question, {TOO_LONG} the limit"),
            "split it where a reader would stop",
        );
        problems.push(if length > TOO_LONG {
            problem
        } else {
            problem.into_note()
        });
    }
    for (file, _) in long_on_purpose {
        if !excused.contains(file) {
            problems.push(Problem::stale_exemption("modules", file));
        }
    }
    problems
}

fn name_problem(path: &str) -> Option<Problem> {
    if path == "mod.rs" || path.ends_with("/mod.rs") {
        let folder = path.trim_end_matches("/mod.rs");
        return Some(Problem::new(
            path,
            1,
            "a file named mod.rs says nothing in a list of open files",
            format!("rename it to {folder}.rs"),
        ));
    }
    let vague = path
        .trim_end_matches(".rs")
        .split('/')
        .find(|part| VAGUE.contains(part))?;
    Some(vague_name(path, 1, vague))
}

fn inline_name_problems(path: &str, code: &str) -> Vec<Problem> {
    let mut after_mod = false;
    let mut problems = Vec::new();
    for (offset, word) in words(code) {
        if after_mod && VAGUE.contains(&word) {
            problems.push(vague_name(path, line_at(code, offset), word));
        }
        after_mod = word == "mod";
    }
    problems
}

fn vague_name(path: &str, line: usize, name: &str) -> Problem {
    Problem::new(
        path,
        line,
        format!("`{name}` does not say what is inside"),
        "name it after what it does",
    )
}

/// Lines that are not tests.
fn length(path: &str, text: &str, code: &str) -> usize {
    if is_test_file(path) {
        return 0;
    }
    let tests: usize = test_items(code)
        .into_iter()
        .map(|item| text[item].lines().count())
        .sum();
    text.lines().count() - tests
}

#[cfg(test)]
mod tests {
    use super::{check_with, length};
    use crate::check::Repository;
    use crate::problem::{Problem, Weight};
    use crate::source::code_only;
    use crate::tree::Tree;

    fn found(path: &str, text: &str) -> Vec<Problem> {
        let repository = Repository {
            tree: Tree::of(&[(path, text)]),
            ..Repository::default()
        };
        check_with(&repository, &[])
    }

    #[test]
    fn a_short_file_with_a_good_name_passes() {
        assert_eq!(found("crates/a/src/load.rs", "fn load() {}\n"), []);
    }

    #[test]
    fn mod_rs_is_a_problem() {
        let problems = found("crates/a/src/load/mod.rs", "");
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].fix, "rename it to crates/a/src/load.rs");
    }

    #[test]
    fn a_vague_name_is_a_problem_as_file_folder_and_module() {
        assert_eq!(found("crates/a/src/utils.rs", "").len(), 1);
        assert_eq!(found("tests/common/fixture.rs", "").len(), 1);
        let problems = found("crates/a/src/lib.rs", "mod load;\nmod helpers {}\n");
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].line, 2);
    }

    #[test]
    fn length_is_a_note_first_and_then_a_problem() {
        let weight = |lines: usize| {
            found("a/src/b.rs", &"// line\n".repeat(lines))
                .first()
                .map(|problem| problem.weight)
        };
        assert_eq!(weight(400), None);
        assert_eq!(weight(401), Some(Weight::Note));
        assert_eq!(weight(600), Some(Weight::Note));
        assert_eq!(weight(601), Some(Weight::Problem));
    }

    #[test]
    fn tests_do_not_count() {
        let tests = format!(
            "#[cfg(test)]\nmod tests {{\n{}}}\n",
            "\n// b\na();\n".repeat(700)
        );
        let text = format!("fn a() {{}}\n{tests}");
        assert_eq!(length("a/src/b.rs", &text, &code_only(&text)), 1);
        assert_eq!(found("a/tests/b.rs", &"a();\n".repeat(700)), []);
    }

    #[test]
    fn an_exemption_excuses_and_must_be_needed() {
        let long = "a();\n".repeat(601);
        let repository = Repository {
            tree: Tree::of(&[("a.rs", &long), ("b.rs", "")]),
            ..Repository::default()
        };
        let problems = check_with(&repository, &[("a.rs", "a table"), ("b.rs", "once long")]);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(problems[0].message.contains("`b.rs` is no longer needed"));
    }
}
