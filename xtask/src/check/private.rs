//! Nothing in the repository tells whose machine it was written on.

use super::Repository;
use crate::problem::Problem;
use crate::source::line_at;
use crate::tree::{Tree, has_extension};

/// The beginnings of paths that exist on one machine only.
const MACHINE_PATHS: &[&str] = &["/work/", "/root/", "/home/", "/Users/", "C:\\Users\\"];

/// Folders outside the repository, seen from inside it.
const OUTSIDE: &[&str] = &["../shared"];

/// What comes before the address of a crate registry.
const REGISTRY_SCHEMES: &[&str] = &["registry+", "sparse+"];

/// The one public registry.
const PUBLIC_REGISTRIES: &[&str] = &[
    "https://github.com/rust-lang/crates.io-index",
    "https://index.crates.io/",
];

/// Settings that send cargo to a registry or mirror of one's own.
const REGISTRY_SETTINGS: &[&str] = &["[source.", "[registries", "[registry", "replace-with"];

/// Files that may say such things, each with the reason.
const EXEMPT: &[(&str, &str)] = &[(
    "xtask/src/check/private.rs",
    "the lists above name what must not be named",
)];

/// Looks through every text file.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    check_with(&repository.tree, EXEMPT)
}

fn check_with(tree: &Tree, exempt: &[(&str, &str)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.files() {
        let is_exempt = exempt.iter().any(|(file, _)| *file == path);
        let found = file_problems(path, text);
        match (found.is_empty(), is_exempt) {
            (false, false) => problems.extend(found),
            (true, true) => problems.push(Problem::stale_exemption("private", path)),
            (true, false) | (false, true) => {}
        }
    }
    for (file, _) in exempt {
        if !tree.has(file) {
            problems.push(Problem::stale_exemption("private", file));
        }
    }
    problems
}

fn file_problems(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for marker in MACHINE_PATHS {
        for (offset, _) in text.match_indices(marker) {
            if starts_path(text, offset) {
                problems.push(Problem::new(
                    path,
                    line_at(text, offset),
                    format!("`{marker}` is a path of one machine"),
                    "write it relative to the repository, or to `~`",
                ));
            }
        }
    }
    for marker in OUTSIDE {
        for (offset, _) in text.match_indices(marker) {
            problems.push(Problem::new(
                path,
                line_at(text, offset),
                format!("`{marker}` is outside the repository"),
                "say it here instead of pointing there",
            ));
        }
    }
    problems.extend(registry_problems(path, text));
    problems
}

/// Whether a path begins here, and not in the middle of a longer one.
fn starts_path(text: &str, offset: usize) -> bool {
    !text[..offset].ends_with(|letter: char| letter.is_alphanumeric() || "_-.~*}>".contains(letter))
}

fn registry_problems(path: &str, text: &str) -> Vec<Problem> {
    let mut lines = Vec::new();
    for scheme in REGISTRY_SCHEMES {
        for (offset, _) in text.match_indices(scheme) {
            let address = &text[offset + scheme.len()..];
            let is_public = PUBLIC_REGISTRIES
                .iter()
                .any(|public| address.starts_with(public));
            if address.starts_with("http") && !is_public {
                lines.push(line_at(text, offset));
            }
        }
    }
    if has_extension(path, "toml") {
        lines.extend(text.lines().enumerate().filter_map(|(index, line)| {
            let is_setting = REGISTRY_SETTINGS
                .iter()
                .any(|setting| line.trim_start().starts_with(setting));
            is_setting.then_some(index + 1)
        }));
    }
    lines
        .into_iter()
        .map(|line| {
            Problem::new(
                path,
                line,
                "a crate registry other than crates.io",
                "keep it in the cargo settings of your own machine",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{MACHINE_PATHS, OUTSIDE, REGISTRY_SETTINGS, check_with};
    use crate::tree::Tree;

    fn found(path: &str, text: &str) -> Vec<String> {
        check_with(&Tree::of(&[(path, text)]), &[])
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn ordinary_text_passes() {
        let text = "tests/work/here, ~/work/there, https://host.example/home/page, src/../shade\n\
            source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
        assert_eq!(found("Cargo.lock", text), Vec::<String>::new());
    }

    #[test]
    fn a_path_of_a_machine_is_a_problem() {
        for marker in MACHINE_PATHS {
            let problems = found("docs/a.md", &format!("one\nsee {marker}somebody/x\n"));
            assert_eq!(problems.len(), 1, "{marker}: {problems:#?}");
            assert!(problems[0].starts_with("docs/a.md:2: "), "{problems:#?}");
        }
    }

    #[test]
    fn a_folder_outside_is_a_problem() {
        for marker in OUTSIDE {
            assert_eq!(found("a.rs", &format!("include!(\"{marker}/x\")")).len(), 1);
        }
    }

    #[test]
    fn another_registry_is_a_problem() {
        let lock = "source = \"sparse+https://crates.example/index/\"\n";
        assert_eq!(found("Cargo.lock", lock).len(), 1);
        for setting in REGISTRY_SETTINGS {
            assert_eq!(
                found(".cargo/config.toml", &format!("{setting} x")).len(),
                1
            );
        }
    }

    #[test]
    fn an_exemption_excuses_and_must_be_needed() {
        let bad = format!("{}x", MACHINE_PATHS[0]);
        let tree = Tree::of(&[("a.rs", &bad), ("b.rs", "")]);
        assert_eq!(check_with(&tree, &[("a.rs", "why")]), []);
        let problems = check_with(&tree, &[("a.rs", "why"), ("b.rs", "?"), ("c.rs", "?")]);
        assert_eq!(problems.len(), 2, "{problems:#?}");
    }
}
