//! Small workspaces with one wrong arrow each.

use super::check;
use crate::check::Repository;
use crate::tree::Tree;
use crate::workspace::{Package, Workspace};

fn package(name: &str, dir: &str, dependencies: &[&str]) -> Package {
    Package {
        name: name.to_owned(),
        dir: dir.to_owned(),
        dependencies: dependencies.iter().map(|&name| name.to_owned()).collect(),
        ..Package::default()
    }
}

fn found(packages: Vec<Package>) -> Vec<String> {
    let repository = Repository {
        workspace: Workspace {
            packages,
            ..Workspace::default()
        },
        tree: Tree::of(&[(
            "crates/stud-core/Cargo.toml",
            "[package]\nname = \"stud-core\"\n\n[dependencies]\nstud-sdk.workspace = true\n",
        )]),
    };
    check(&repository).iter().map(ToString::to_string).collect()
}

fn everything_in_place() -> Vec<Package> {
    vec![
        package(
            "stud-abi",
            "crates/stud-abi",
            &["abi_stable", "libloading", "object"],
        ),
        package("stud-diagnostics", "crates/stud-diagnostics", &["serde"]),
        package(
            "stud-contract-meta",
            "crates/stud-contracts/meta",
            &["stud-abi", "schemars"],
        ),
        package(
            "stud-contract-tool",
            "crates/stud-contracts/tool",
            &["stud-host-api", "serde_json"],
        ),
        package(
            "stud-host-api",
            "crates/stud-host-api",
            &["stud-contract-meta"],
        ),
        package("stud-sdk-macros", "crates/stud-sdk-macros", &["syn"]),
        package(
            "stud-sdk",
            "crates/stud-sdk",
            &["stud-sdk-macros", "stud-contract-tool"],
        ),
        package("read-file", "plugins/tools/read-file", &["stud-sdk"]),
        package(
            "hostile",
            "tests/fixtures/hostile",
            &["stud-sdk", "stud-abi"],
        ),
        package("stud-tests", "tests", &["stud-abi", "stud-core", "object"]),
        package("xtask", "xtask", &["serde_json"]),
    ]
}

#[track_caller]
fn only_fault(extra: Package, dependency: &str) -> String {
    let name = extra.name.clone();
    let mut packages = everything_in_place();
    packages.retain(|package| package.name != name);
    packages.push(extra);
    let problems = found(packages);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    let expected = format!("`{name}` must not depend on `{dependency}`");
    assert!(problems[0].contains(&expected), "{problems:#?}");
    problems[0].clone()
}

#[test]
fn arrows_that_point_down_pass() {
    assert_eq!(found(everything_in_place()), Vec::<String>::new());
}

#[test]
fn core_may_not_see_the_sdk() {
    let problem = only_fault(
        package("stud-core", "crates/stud-core", &["stud-abi", "stud-sdk"]),
        "stud-sdk",
    );
    assert!(
        problem.starts_with("crates/stud-core/Cargo.toml:5: "),
        "{problem}"
    );
}

#[test]
fn contracts_may_not_see_each_other() {
    only_fault(
        package(
            "stud-contract-ui",
            "crates/stud-contracts/ui",
            &["stud-contract-tool"],
        ),
        "stud-contract-tool",
    );
}

#[test]
fn a_contract_brings_no_other_crate() {
    only_fault(
        package("stud-contract-ui", "crates/stud-contracts/ui", &["tokio"]),
        "tokio",
    );
}

#[test]
fn a_plugin_sees_only_the_sdk() {
    only_fault(
        package("shell", "plugins/tools/shell", &["stud-sdk", "stud-abi"]),
        "stud-abi",
    );
}

#[test]
fn an_ordinary_fixture_sees_only_the_sdk() {
    only_fault(
        package("good", "tests/fixtures/good", &["stud-abi"]),
        "stud-abi",
    );
}

#[test]
fn the_boundary_crates_have_one_home() {
    only_fault(
        package("stud-core", "crates/stud-core", &["libloading"]),
        "libloading",
    );
    only_fault(
        package("stud-tests", "tests", &["abi_stable"]),
        "abi_stable",
    );
}

#[test]
fn the_program_does_not_see_the_boundary() {
    only_fault(package("stud", "crates/stud", &["stud-abi"]), "stud-abi");
}

#[test]
fn a_crate_without_a_layer_is_a_problem() {
    let problems = found(vec![package("stud-extra", "crates/stud-extra", &[])]);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("has no place"), "{problems:#?}");
}
