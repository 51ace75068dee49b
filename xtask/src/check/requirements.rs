//! Requirements that have numbers are named by the tests that hold them.
//!
//! The numbers are in `tests/requirements.txt`. A test names its own at the beginning of its name: the family in lower
//! case, and one or more numbers.

use std::collections::BTreeMap;

use super::Repository;
use crate::problem::Problem;

/// Where the numbers are.
const LIST: &str = "tests/requirements.txt";

/// A requirement: its family and its number.
type Requirement = (String, u32);

/// What the list says.
#[derive(Debug, Default, PartialEq, Eq)]
struct List {
    /// Each with its line.
    required: BTreeMap<Requirement, usize>,
    /// Those that no test can hold, each with its line.
    excused: BTreeMap<Requirement, usize>,
    problems: Vec<Problem>,
}

/// Compares the list with the names of the tests. A number that is missing is a remark: it says what is left to do.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let Some(text) = repository.tree.text(LIST) else {
        return Vec::new();
    };
    let list = read(text);
    let mut named = BTreeMap::new();
    for (path, text) in repository.tree.rust() {
        for (line, requirement) in named_in(text) {
            named.entry(requirement).or_insert((path, line));
        }
    }
    let mut problems = list.problems;
    for (requirement, line) in &list.required {
        if !named.contains_key(requirement) && !list.excused.contains_key(requirement) {
            let message = format!("no test names {}", shown(requirement));
            let (family, number) = requirement;
            let fix = format!(
                "name the test that holds it `{}_{number}_…`",
                family.to_lowercase()
            );
            problems.push(Problem::new(LIST, *line, message, fix).into_note());
        }
    }
    for (requirement, line) in &list.excused {
        if named.contains_key(requirement) || !list.required.contains_key(requirement) {
            let message = format!("the excuse for {} is no longer needed", shown(requirement));
            problems.push(Problem::new(LIST, *line, message, "remove it"));
        }
    }
    problems
}

fn shown((family, number): &Requirement) -> String {
    format!("{family}-{number}")
}

fn read(text: &str) -> List {
    let mut list = List::default();
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let read = match line.strip_prefix("excused ") {
            Some(excuse) => excused(excuse).map(|requirement| {
                list.excused.insert(requirement, number);
            }),
            None => required(line).map(|requirements| {
                let requirements = requirements.into_iter();
                list.required
                    .extend(requirements.map(|requirement| (requirement, number)));
            }),
        };
        if read.is_none() {
            list.problems.push(Problem::new(
                LIST,
                number,
                "the line is no list and no excuse",
                "write `TCP: 1 2 3`, or `excused TCP-4: why`",
            ));
        }
    }
    list
}

fn required(line: &str) -> Option<Vec<Requirement>> {
    let (family, numbers) = line.split_once(':')?;
    let numbers = numbers.split_whitespace();
    let requirement = |number: &str| Some((family.to_owned(), number.parse().ok()?));
    numbers.map(requirement).collect()
}

fn excused(line: &str) -> Option<Requirement> {
    let (requirement, why) = line.split_once(':')?;
    let (family, number) = requirement.split_once('-')?;
    (!why.trim().is_empty()).then_some(())?;
    Some((family.to_owned(), number.parse().ok()?))
}

/// The requirements that functions of a file name, each with its line.
fn named_in(text: &str) -> Vec<(usize, Requirement)> {
    let mut named = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let name = line
            .strip_prefix("fn ")
            .or_else(|| line.strip_prefix("async fn "));
        let Some(name) = name else { continue };
        let mut parts = name.split('_');
        let family = match parts.next() {
            Some(family @ ("tcp" | "cit")) => family.to_uppercase(),
            _ => continue,
        };
        let numbers = parts.map_while(|part| part.parse().ok());
        named.extend(numbers.map(|number| (index + 1, (family.clone(), number))));
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Weight;
    use crate::tree::Tree;

    fn found(list: &str, test: &str) -> Vec<(Weight, String)> {
        let repository = Repository {
            tree: Tree::of(&[(LIST, list), ("tests/some.rs", test)]),
            ..Repository::default()
        };
        let found = check(&repository).into_iter();
        found.map(|found| (found.weight, found.message)).collect()
    }

    #[test]
    fn numbers_without_a_test_are_remarked_on() {
        let tests =
            "#[test]\nfn tcp_1_3_something_holds() {}\n    async fn cit_7_so_does_this() {}\n";
        let list = "# words\nTCP: 1 2 3\nCIT: 7 8\n";
        assert_eq!(
            found(list, tests),
            [
                (Weight::Note, "no test names CIT-8".to_owned()),
                (Weight::Note, "no test names TCP-2".to_owned()),
            ]
        );
    }

    #[test]
    fn excuses_are_for_what_no_test_names() {
        let list = "TCP: 1 2\nexcused TCP-1: cannot be tested\n";
        assert_eq!(found(list, "fn tcp_2_holds() {}"), []);
        let needless = found(list, "fn tcp_1_2_hold() {}");
        assert_eq!(
            needless,
            [(
                Weight::Problem,
                "the excuse for TCP-1 is no longer needed".to_owned()
            )]
        );
    }

    #[test]
    fn other_lines_are_problems() {
        for line in ["TCP 1", "TCP: one", "excused TCP-1", "excused TCP-1:"] {
            let found = found(&format!("TCP: 2\n{line}\n"), "fn tcp_2_holds() {}");
            assert_eq!(found.len(), 1, "{line}: {found:?}");
            assert_eq!(found[0].0, Weight::Problem);
        }
    }
}
