//! The module list in `lib.rs` is in reading order: a module uses only what stands above it.

use super::Repository;
use crate::problem::Problem;
use crate::source::{code_only, is_test_file, line_at, without_tests, words};
use crate::tree::Tree;

/// The crates whose modules are listed in reading order.
const CRATES: &[&str] = &[
    "crates/stud-abi",
    "crates/stud-diagnostics",
    "crates/stud-host-api",
    "crates/stud-sdk",
    "crates/stud-core",
];

/// Looks at every mention of a module of the same crate.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    CRATES
        .iter()
        .flat_map(|dir| check_crate(&repository.tree, dir))
        .collect()
}

fn check_crate(tree: &Tree, dir: &str) -> Vec<Problem> {
    let src = format!("{dir}/src/");
    let lib = format!("{src}lib.rs");
    let Some(text) = tree.text(&lib) else {
        return vec![Problem::new(
            lib,
            1,
            "the list of modules is missing",
            "put it back, or take the crate off the list in xtask/src/check/order.rs",
        )];
    };
    let modules = modules(&code_only(text));
    let place = |name: &str| modules.iter().position(|module| module == name);

    let mut problems = Vec::new();
    for (path, text) in tree.rust() {
        let Some(inner) = path.strip_prefix(&src) else {
            continue;
        };
        let names: Vec<&str> = inner.trim_end_matches(".rs").split('/').collect();
        let Some(here) = place(names[0]) else {
            continue;
        };
        if is_test_file(path) {
            continue;
        }
        let code = without_tests(&code_only(text));
        for (offset, name) in mentions(&code, names.len()) {
            if place(name).is_some_and(|there| there > here) {
                let module = names[0];
                problems.push(Problem::new(
                    path,
                    line_at(&code, offset),
                    format!("`{module}` uses `{name}`, which {lib} lists after it"),
                    format!("move what is used up, or list `{name}` before `{module}`"),
                ));
            }
        }
    }
    problems
}

/// The modules `lib.rs` declares, in its order; those of tests do not count.
fn modules(code: &str) -> Vec<String> {
    let code = without_tests(code);
    let mut depth = 0_usize;
    let mut modules = Vec::new();
    let mut last = 0;
    let mut after_mod = false;
    for (offset, word) in words(&code) {
        for byte in code[last..offset].bytes() {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        last = offset;
        if after_mod && depth == 0 {
            modules.push(word.to_owned());
        }
        after_mod = word == "mod";
    }
    modules
}

/// The names mentioned right below the crate root: `crate::name`, the heads
/// of `crate::{…}`, and as many `super::` as lead there from `depth` modules down.
fn mentions(code: &str, depth: usize) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut supers = 0;
    for (offset, word) in words(code) {
        let rest = code[offset + word.len()..].trim_start();
        let Some(path) = rest.strip_prefix("::") else {
            supers = 0;
            continue;
        };
        supers = if word == "super" { supers + 1 } else { 0 };
        if word == "crate" || supers == depth {
            let start = code.len() - path.len();
            found.extend(heads(path).into_iter().map(|(at, name)| (start + at, name)));
        }
    }
    found
}

/// The first names of a path, or of each path in a `{…}` group.
fn heads(path: &str) -> Vec<(usize, &str)> {
    let start = path.len() - path.trim_start().len();
    if !path[start..].starts_with('{') {
        return words(path).next().into_iter().collect();
    }
    let mut heads = Vec::new();
    let mut depth = 0_usize;
    let mut expects_head = true;
    for (offset, letter) in path.char_indices().skip(start) {
        match letter {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => expects_head = true,
            _ if depth == 1 && expects_head && !letter.is_whitespace() => {
                expects_head = false;
                let head = words(&path[offset..]).next();
                heads.extend(head.map(|(at, name)| (offset + at, name)));
            }
            _ => {}
        }
    }
    heads
}

#[cfg(test)]
mod tests {
    use super::{check_crate, mentions, modules};
    use crate::tree::Tree;

    const LIB: &str = "mod platform;\npub mod load;\n#[cfg(test)]\nmod support;\nmod startup;\n\
        pub mod inline { mod deeper; }\n";

    fn found(path: &str, text: &str) -> Vec<String> {
        let lib = "crates/a/src/lib.rs";
        check_crate(&Tree::of(&[(lib, LIB), (path, text)]), "crates/a")
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn the_list_is_read_in_order() {
        assert_eq!(modules(LIB), ["platform", "load", "startup", "inline"]);
    }

    #[test]
    fn every_form_of_mention_is_seen() {
        let code =
            "use crate::{a::{x, y}, b}; $crate::c::d(); super::e::f(); super::super::g(); crate::H";
        let names = |depth| -> Vec<_> {
            mentions(code, depth)
                .into_iter()
                .map(|(_, name)| name)
                .collect()
        };
        assert_eq!(names(1), ["a", "b", "c", "e", "super", "H"]);
        assert_eq!(names(2), ["a", "b", "c", "g", "H"]);
    }

    #[test]
    fn looking_up_passes() {
        let text = "use crate::platform::Clock;\nuse crate::Item;\n// crate::startup\nfn f() { crate::load::g(\"crate::startup\"); }\n";
        assert_eq!(found("crates/a/src/load.rs", text), Vec::<String>::new());
    }

    #[test]
    fn looking_down_is_a_problem() {
        let problems = found(
            "crates/a/src/load.rs",
            "use crate::{\n    platform,\n    startup::start,\n};\n",
        );
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(
            problems[0].starts_with("crates/a/src/load.rs:3: `load` uses `startup`"),
            "{problems:#?}"
        );
    }

    #[test]
    fn a_submodule_stands_where_its_parent_does() {
        let down = found("crates/a/src/load/cache.rs", "use super::super::startup;");
        assert_eq!(down.len(), 1, "{down:#?}");
        let own = found("crates/a/src/load/cache.rs", "use super::startup;");
        assert_eq!(own, Vec::<String>::new());
    }

    #[test]
    fn tests_may_look_anywhere() {
        let text = "#[cfg(test)]\nmod tests { use crate::startup; }\n";
        assert_eq!(found("crates/a/src/load.rs", text), Vec::<String>::new());
        let text = "use crate::startup;";
        assert_eq!(
            found("crates/a/src/load/tests.rs", text),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_crate_without_a_list_is_a_problem() {
        let problems = check_crate(&Tree::of(&[]), "crates/a");
        assert_eq!(problems.len(), 1);
    }
}
