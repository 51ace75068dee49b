//! Modules stand in reading order: one uses only what its parent lists above it, and gives no methods to types of others.

use super::Repository;
use crate::problem::Problem;
use crate::rust_crate::{Crate, Mention, Module, ModulePath};
use crate::tree::Tree;

/// The crates whose modules are listed in reading order.
const CRATES: &[&str] = &[
    "crates/stud-abi",
    "crates/stud-diagnostics",
    "crates/stud-host-api",
    "crates/stud-sdk-macros",
    "crates/stud-sdk",
    "crates/stud-runtime",
    "crates/stud-config",
    "crates/stud-plugins",
    "crates/stud-core",
    "crates/stud-shell",
    "crates/stud-mcp",
    "crates/stud-control",
    "crates/stud",
];

/// Modules that use a sibling listed after them, each pair with the reason.
const EXEMPT: &[(&str, &str, &str)] = &[
    (
        "assistant::authority",
        "assistant::tools",
        "a call that is refused ends with the same events as one that ran",
    ),
    (
        "mcp::server",
        "mcp::registration",
        "a server registers what it offers, and what is registered fetches from the server",
    ),
    (
        "mcp::tools",
        "mcp::server",
        "a server offers its tools, and a tool calls its server",
    ),
];

/// Looks at every mention of a sibling module, and at every `impl` block.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let mut used = Vec::new();
    let mut problems: Vec<Problem> = CRATES
        .iter()
        .flat_map(|dir| check_crate(&repository.tree, dir, EXEMPT, &mut used))
        .collect();
    for (user, later, _) in EXEMPT {
        if !used.contains(&(*user, *later)) {
            let entry = format!("{user} → {later}");
            problems.push(Problem::stale_exemption("order", &entry));
        }
    }
    problems
}

fn check_crate<'a>(
    tree: &Tree,
    dir: &str,
    exempt: &[(&'a str, &'a str, &str)],
    used: &mut Vec<(&'a str, &'a str)>,
) -> Vec<Problem> {
    let parsed = match Crate::read(tree, dir) {
        Ok(parsed) => parsed,
        Err((file, why)) => {
            let fix = "correct it, or take the crate off the list in xtask/src/check/order.rs";
            return vec![Problem::new(file, 1, why, fix)];
        }
    };
    let mut problems = undescribed(tree, &parsed);
    for (path, module) in parsed.modules() {
        let mut reported: Vec<(String, String)> = Vec::new();
        for mention in &module.mentions {
            let Some((earlier, later)) = forward(&parsed, path, mention) else {
                continue;
            };
            let pair = exempt
                .iter()
                .find(|(one, other, _)| *one == earlier && *other == later);
            if let Some((one, other, _)) = pair {
                used.push((one, other));
            } else if !reported.contains(&(earlier.clone(), later.clone())) {
                problems.push(Problem::new(
                    &module.file,
                    mention.line,
                    format!("`{earlier}` uses `{later}`, which is listed after it"),
                    format!("move what is used up, or list `{later}` before `{earlier}`"),
                ));
                reported.push((earlier, later));
            }
        }
        problems.extend(foreign_methods(&parsed, path, module));
    }
    problems
}

/// Modules at the root of a crate whose line does not say what is inside.
fn undescribed(tree: &Tree, parsed: &Crate) -> Vec<Problem> {
    let Some(root) = parsed.module(&[]) else {
        return Vec::new();
    };
    let text = tree.text(&root.file).unwrap_or_default();
    let bare = text.lines().enumerate().filter(|(_, line)| {
        let name = line.trim_start_matches("pub ").strip_prefix("mod ");
        let name = name.and_then(|name| name.strip_suffix(';'));
        name.is_some_and(|name| root.children.iter().any(|child| child == name))
    });
    let problems = bare.map(|(index, line)| {
        Problem::new(
            &root.file,
            index + 1,
            format!("`{line}` does not say what is inside"),
            "add `// What it is.` to the line",
        )
    });
    problems.collect()
}

/// The two sibling modules, if a mention leads from one to another that is listed after it.
fn forward(parsed: &Crate, here: &ModulePath, mention: &Mention) -> Option<(String, String)> {
    let there = &mention.path;
    let shared = here
        .iter()
        .zip(there)
        .take_while(|(one, other)| one == other)
        .count();
    let (mine, other) = (here.get(shared)?, there.get(shared)?);
    let siblings = &parsed.module(&here[..shared])?.children;
    let place = |name: &String| siblings.iter().position(|sibling| sibling == name);
    (place(other)? > place(mine)?).then(|| {
        let named = |last: &String| {
            [&here[..shared], std::slice::from_ref(last)]
                .concat()
                .join("::")
        };
        (named(mine), named(other))
    })
}

/// Methods of a type stand in the top-level module that defines it, or below that.
fn foreign_methods(parsed: &Crate, here: &ModulePath, module: &Module) -> Vec<Problem> {
    let mut problems = Vec::new();
    for mention in &module.inherent {
        let Some(name) = mention.path.last() else {
            continue;
        };
        let Some(home) = defined_in(parsed, here, module, mention) else {
            continue;
        };
        if home.first() != here.first() {
            let home = home.join("::");
            problems.push(Problem::new(
                &module.file,
                mention.line,
                format!("methods of `{name}` outside `{home}`, which defines it"),
                "make them functions or a trait of this module, or move them there",
            ));
        }
    }
    problems
}

/// The module that defines the type of an `impl` block, if it is one of this crate.
fn defined_in(
    parsed: &Crate,
    here: &ModulePath,
    module: &Module,
    mention: &Mention,
) -> Option<ModulePath> {
    let (first, rest) = mention.path.split_first()?;
    if rest.is_empty() && module.types.iter().any(|own| own.name == *first) {
        return Some(here.clone());
    }
    let mut path = match module.imports.get(first) {
        Some(path) => [path.as_slice(), rest].concat(),
        None if first == "crate" => rest.to_vec(),
        None => return None,
    };
    let name = path.pop()?;
    // A path may go through a re-export, which stands in a parent of the module that defines the type.
    let below = parsed
        .modules()
        .filter(|(there, _)| there.starts_with(&path));
    let mut defining = below.filter(|(_, module)| module.types.iter().any(|own| own.name == name));
    defining.next().map(|(there, _)| there.clone())
}

#[cfg(test)]
mod tests {
    use super::check_crate;
    use crate::tree::Tree;

    const LIB: &str = "mod platform; // A\npub mod load; // B\n#[cfg(test)]\nmod support;\nmod startup; // C\n\
        pub mod inline { mod deeper {} }\n";

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let stubs = ["platform", "load", "support", "startup"];
        let stubs = stubs.map(|name| format!("crates/a/src/{name}.rs"));
        let mut all: Vec<(&str, &str)> = vec![("crates/a/src/lib.rs", LIB)];
        for stub in &stubs {
            if files.iter().all(|(path, _)| path != stub) {
                all.push((stub, ""));
            }
        }
        all.extend_from_slice(files);
        check_crate(&Tree::of(&all), "crates/a", &[], &mut Vec::new())
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn looking_up_passes() {
        let text = "use crate::platform::Clock;\nuse crate::Item;\n// crate::startup\n\
            fn f() { crate::platform::g(\"crate::startup\"); }\n";
        assert_eq!(
            found(&[("crates/a/src/load.rs", text)]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn every_form_of_looking_down_is_seen() {
        for text in [
            "use crate::{\n    platform,\n    startup::start,\n};",
            "use super::startup::start;",
            "fn f() { crate::startup::g(); }",
            "fn f() { println!(\"{}\", crate::startup::g()); }",
            "macro_rules! m { () => { $crate::startup::g() } }",
            "fn f(at: &dyn crate::startup::Watch<crate::Item>) {}",
        ] {
            let problems = found(&[("crates/a/src/load.rs", text)]);
            assert_eq!(problems.len(), 1, "{text}: {problems:#?}");
            let says = "`load` uses `startup`, which is listed after it";
            assert!(problems[0].contains(says), "{problems:#?}");
        }
    }

    #[test]
    fn a_submodule_stands_where_its_parent_does() {
        let down = found(&[
            ("crates/a/src/load.rs", "mod cache; mod startup;"),
            ("crates/a/src/load/cache.rs", "use super::super::startup;"),
            ("crates/a/src/load/startup.rs", "use super::cache;"),
        ]);
        assert_eq!(down.len(), 1, "{down:#?}");
        assert!(
            down[0].starts_with("crates/a/src/load/cache.rs:1:"),
            "{down:#?}"
        );
    }

    #[test]
    fn siblings_below_a_module_have_an_order_too() {
        let problems = found(&[
            ("crates/a/src/load.rs", "mod cache;\nmod pin;"),
            ("crates/a/src/load/cache.rs", "use super::pin::Pin;"),
            ("crates/a/src/load/pin.rs", "use super::cache::Cache;"),
        ]);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        let says = "`load::cache` uses `load::pin`, which is listed after it";
        assert!(problems[0].contains(says), "{problems:#?}");
    }

    #[test]
    fn methods_stand_with_their_type() {
        let home = ("crates/a/src/platform.rs", "pub struct Clock;");
        let away = |text| found(&[home, ("crates/a/src/load.rs", text)]);
        for text in [
            "use crate::platform::Clock;\nimpl Clock { fn f() {} }",
            "impl crate::platform::Clock { fn f() {} }",
        ] {
            let problems = away(text);
            assert_eq!(problems.len(), 1, "{text}: {problems:#?}");
            assert!(problems[0].contains("methods of `Clock` outside `platform`"));
        }
        let of_a_trait = "use crate::platform::Clock;\ntrait T {}\nimpl T for Clock {}";
        assert_eq!(away(of_a_trait), Vec::<String>::new());
        let below = found(&[
            ("crates/a/src/platform.rs", "mod ticks; pub struct Clock;"),
            (
                "crates/a/src/platform/ticks.rs",
                "use super::Clock; impl Clock {}",
            ),
        ]);
        assert_eq!(below, Vec::<String>::new());
    }

    #[test]
    fn tests_may_look_anywhere() {
        let text = "#[cfg(test)]\nmod tests { use crate::startup; }\n\
            struct A; impl A { #[cfg(test)] fn f() { crate::startup::g() } }";
        assert_eq!(
            found(&[("crates/a/src/load.rs", text)]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_exempt_pair_is_noted_as_used() {
        let files = [
            ("crates/a/src/lib.rs", "mod load; mod startup;"),
            ("crates/a/src/load.rs", "use crate::startup;"),
            ("crates/a/src/startup.rs", ""),
        ];
        let mut used = Vec::new();
        let exempt = [("load", "startup", "a reason")];
        let problems = check_crate(&Tree::of(&files), "crates/a", &exempt, &mut used);
        assert!(problems.is_empty(), "{problems:#?}");
        assert_eq!(used, [("load", "startup")]);
    }

    #[test]
    fn every_module_of_the_root_is_described() {
        let files = [
            (
                "crates/a/src/lib.rs",
                "mod load;\npub mod startup; // Starts.\n",
            ),
            ("crates/a/src/load.rs", ""),
            ("crates/a/src/startup.rs", ""),
        ];
        let problems = check_crate(&Tree::of(&files), "crates/a", &[], &mut Vec::new());
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert_eq!(problems[0].line, 1);
    }

    #[test]
    fn a_crate_that_cannot_be_read_is_a_problem() {
        assert_eq!(
            check_crate(&Tree::of(&[]), "crates/a", &[], &mut Vec::new()).len(),
            1
        );
        assert_eq!(found(&[("crates/a/src/load.rs", "fn (")]).len(), 1);
    }
}
