//! A small registry in order, and one thing wrong with it at a time.

use super::check_with;
use crate::registry::{REGISTRY, case_path, page_path};
use crate::tree::Tree;

const CODES: &str = "\
codes! {
    Session {
        Closed => CLOSED, since \"0.1.0\";
        NotFound => NOT_FOUND, since \"0.1.0\";
    }
}
";

const USES: &str = "fn f() { give(codes::CLOSED); give(codes::NOT_FOUND); }\n";

/// The small repository, with `changes` made: new text for a path, or none to remove it.
fn tree(changes: &[(&str, Option<&str>)]) -> Tree {
    let mut files = vec![
        (REGISTRY.to_owned(), CODES.to_owned()),
        (
            "crates/stud-core/src/session.rs".to_owned(),
            USES.to_owned(),
        ),
        (
            "docs/errors.md".to_owned(),
            "See Session/Closed.".to_owned(),
        ),
    ];
    for id in ["Session/Closed", "Session/NotFound"] {
        files.push((page_path(id), format!("About {id}.")));
        files.push((case_path(id), "good = true".to_owned()));
    }
    for (path, text) in changes {
        files.retain(|(file, _)| file != path);
        files.extend(text.map(|text| ((*path).to_owned(), text.to_owned())));
    }
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    Tree::of(&files)
}

fn found(changes: &[(&str, Option<&str>)]) -> Vec<String> {
    check_with(&tree(changes), &[], &[])
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[track_caller]
fn only_problem(changes: &[(&str, Option<&str>)], starts: &str) {
    let problems = found(changes);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(problems[0].starts_with(starts), "{problems:#?}");
}

#[test]
fn a_registry_in_order_passes() {
    assert_eq!(found(&[]), Vec::<String>::new());
}

#[test]
fn an_empty_registry_is_a_problem() {
    only_problem(
        &[(REGISTRY, None)],
        "crates/stud-diagnostics/src/codes.rs:1: no codes",
    );
}

#[test]
fn codes_out_of_order_are_a_problem() {
    let swapped = CODES
        .replace("Closed => CLOSED", "Zzz")
        .replace("NotFound => NOT_FOUND", "Closed => CLOSED")
        .replace("Zzz", "NotFound => NOT_FOUND");
    only_problem(
        &[(REGISTRY, Some(&swapped))],
        "crates/stud-diagnostics/src/codes.rs:4: `Closed` stands after `NotFound`",
    );
}

#[test]
fn a_missing_page_or_case_is_a_problem() {
    let at = "crates/stud-diagnostics/src/codes.rs:3: Session/Closed has no ";
    only_problem(
        &[(&page_path("Session/Closed"), None)],
        &format!("{at}page"),
    );
    only_problem(
        &[(&case_path("Session/Closed"), None)],
        &format!("{at}test case"),
    );
}

#[test]
fn a_test_that_observes_the_code_stands_for_its_case() {
    let case = case_path("Session/Closed");
    let test = "#[test]\nfn f() { covers!(CLOSED, error); }";
    let changes = [(&*case, None), ("tests/a.rs", Some(test))];
    assert_eq!(found(&changes), Vec::<String>::new());
}

#[test]
fn an_unfinished_page_is_a_problem() {
    let page = page_path("Session/Closed");
    only_problem(
        &[(&page, Some("It is closed.\n\nTODO: say why."))],
        &format!("{page}:3: the page of Session/Closed is not finished"),
    );
}

#[test]
fn a_page_or_case_without_a_code_is_a_problem() {
    for path in [page_path("Session/Gone"), case_path("Session/Gone")] {
        only_problem(
            &[(&path, Some("text"))],
            &format!("{path}:1: there is no code Session/Gone"),
        );
    }
}

#[test]
fn a_code_given_only_in_tests_is_a_problem() {
    let uses =
        "fn f() { give(codes::CLOSED); }\n#[cfg(test)]\nmod tests { use codes::NOT_FOUND; }\n";
    only_problem(
        &[
            ("crates/stud-core/src/session.rs", Some(uses)),
            ("crates/stud-core/tests/a.rs", Some("use codes::NOT_FOUND;")),
            (
                "crates/stud-diagnostics/src/explain.rs",
                Some("use codes::NOT_FOUND;"),
            ),
        ],
        "crates/stud-diagnostics/src/codes.rs:4: Session/NotFound is never given",
    );
}

#[test]
fn a_code_that_does_not_exist_is_a_problem_wherever_it_is_written() {
    let text = "fine\nSession/Closd\n";
    for path in ["docs/errors.md", "README.md", "plugins/tools/a/src/lib.rs"] {
        let at = format!("{path}:2: Session/Closd is not in the registry; did you mean");
        only_problem(&[(path, Some(text))], &at);
    }
}

#[test]
fn exemptions_excuse_and_must_be_needed() {
    let changes = [
        (
            "crates/stud-core/src/session.rs",
            Some("fn f() { codes::CLOSED; }"),
        ),
        ("tests/cli/explain.rs", Some("explain Session/Nope")),
    ];
    let given = [("Session/NotFound", "the store gives it")];
    let unknown = [("tests/cli/explain.rs", "Session/Nope")];
    let tree = tree(&changes);
    assert_eq!(check_with(&tree, &given, &unknown), []);

    let given = [
        given[0],
        ("Session/Closed", "long since given"),
        ("Session/Gone", "no such code"),
    ];
    let unknown = [unknown[0], ("README.md", "Session/Nope")];
    let problems = check_with(&tree, &given, &unknown);
    assert_eq!(problems.len(), 3, "{problems:#?}");
    for problem in problems {
        assert!(
            problem.message.contains("is no longer needed"),
            "{problem:?}"
        );
    }
}
