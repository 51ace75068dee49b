//! Crates depend only on the crates below them, and a few outside crates have one home.

use super::Repository;
use crate::problem::Problem;
use crate::workspace::Package;

/// What a package is, as far as dependencies go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Abi,
    Diagnostics,
    Meta,
    Interaction,
    HostApi,
    Contract,
    SdkMacros,
    /// What a plugin has to do; knows plugins only through a trait.
    Conformance,
    Sdk,
    /// The grammar of command lines, which core and the tool that runs them both judge by.
    Shell,
    /// Threads, locks and timers.
    Runtime,
    /// What is settled before the first plugin is looked for.
    Config,
    /// From a file to an active plugin.
    Plugins,
    /// Installs plugins.
    Install,
    /// Sessions and turns.
    Core,
    /// Reaches what core reaches only through a trait.
    Reach,
    /// Lets other processes take part in sessions.
    Door,
    Program,
    Plugin,
    /// What several bundled plugins share.
    Support,
    Fixture,
    /// Breaks rules on purpose, so it reaches below the SDK.
    HostileFixture,
    /// Tests and benchmarks look at everything.
    Observer,
    /// Repository tasks must build when nothing else does.
    Task,
}

use Layer::{
    Abi, Config, Conformance, Contract, Core, Diagnostics, Door, Fixture, HostApi, HostileFixture,
    Install, Interaction, Meta, Observer, Plugin, Plugins, Program, Reach, Runtime, Sdk, SdkMacros,
    Shell, Support, Task,
};

/// Which layers each layer may depend on; an `Observer` is not listed.
const ARROWS: &[(Layer, &[Layer])] = &[
    (Abi, &[]),
    (Diagnostics, &[]),
    (Meta, &[Abi, Diagnostics]),
    (Interaction, &[Abi, Diagnostics, Meta]),
    (HostApi, &[Abi, Diagnostics, Meta, Interaction]),
    (Contract, &[Abi, Diagnostics, Meta, Interaction, HostApi]),
    (SdkMacros, &[]),
    (Conformance, &[Diagnostics, Meta, Interaction]),
    (
        Sdk,
        &[
            Abi,
            Diagnostics,
            Meta,
            Interaction,
            HostApi,
            Contract,
            SdkMacros,
            Conformance,
        ],
    ),
    (Runtime, &[Abi]),
    (
        Config,
        &[Abi, Diagnostics, Meta, HostApi, Contract, Shell, Runtime],
    ),
    (
        Plugins,
        &[
            Abi,
            Diagnostics,
            Meta,
            Interaction,
            HostApi,
            Contract,
            Runtime,
            Config,
        ],
    ),
    (Install, &[Diagnostics, Meta, Config, Plugins]),
    (
        Core,
        &[
            Abi,
            Diagnostics,
            Meta,
            Interaction,
            HostApi,
            Contract,
            Shell,
            Runtime,
            Config,
            Plugins,
        ],
    ),
    (Reach, &[HostApi, Core]),
    (
        Door,
        &[
            Abi,
            Diagnostics,
            Meta,
            Interaction,
            HostApi,
            Contract,
            Runtime,
            Core,
            Reach,
            Door,
        ],
    ),
    (
        Program,
        &[
            Diagnostics,
            Meta,
            Interaction,
            HostApi,
            Contract,
            Install,
            Conformance,
            Sdk,
            Core,
            Reach,
            Door,
            Plugin,
        ],
    ),
    (Support, &[Sdk]),
    (Shell, &[]),
    (Plugin, &[Sdk, Support, Shell]),
    (Fixture, &[Sdk]),
    (HostileFixture, &[Sdk, Abi]),
    (Task, &[]),
];

/// Outside crates that only some layers may name, and why.
const HOMES: &[(&str, &[Layer], &str)] = &[
    (
        "abi_stable",
        &[Abi],
        "so that it can be replaced in one place",
    ),
    (
        "async-ffi",
        &[Abi],
        "so that it can be replaced in one place",
    ),
    ("libloading", &[Abi], "opening a library is unsafe"),
    (
        "object",
        &[Abi, Observer],
        "the boundary reads library files",
    ),
    (
        "rmcp",
        &[Reach, Fixture],
        "core has no runtime, and the protocol needs one",
    ),
];

/// All that a contract may bring into an author's build besides stud crates.
const CONTRACT_DEPENDENCIES: &[&str] =
    &["serde", "serde_json", "schemars", "semver", "data-encoding"];

/// Looks at every direct dependency of every package.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let packages = &repository.workspace.packages;
    let mut problems = Vec::new();
    for package in packages {
        let Some(layer) = layer(package) else {
            problems.push(Problem::new(
                manifest(package),
                1,
                format!("`{}` has no place in the dependency table", package.name),
                "give it a layer in xtask/src/check/arrows.rs",
            ));
            continue;
        };
        for dependency in &package.dependencies {
            let inside = packages.iter().find(|other| other.name == *dependency);
            let fault = match inside {
                Some(other) => inside_fault(layer, other),
                None => outside_fault(layer, dependency),
            };
            if let Some(fix) = fault {
                problems.push(Problem::new(
                    manifest(package),
                    line_of(repository, package, dependency),
                    format!("`{}` must not depend on `{dependency}`", package.name),
                    fix,
                ));
            }
        }
    }
    problems
}

fn layer(package: &Package) -> Option<Layer> {
    let by_name = match package.name.as_str() {
        "stud-abi" => Some(Abi),
        "stud-diagnostics" => Some(Diagnostics),
        "stud-contract-meta" => Some(Meta),
        "stud-contract-interaction" => Some(Interaction),
        "stud-host-api" => Some(HostApi),
        "stud-sdk-macros" => Some(SdkMacros),
        "stud-conformance" => Some(Conformance),
        "stud-sdk" => Some(Sdk),
        "stud-shell" => Some(Shell),
        "stud-runtime" => Some(Runtime),
        "stud-config" => Some(Config),
        "stud-plugins" => Some(Plugins),
        "stud-install" => Some(Install),
        "stud-core" => Some(Core),
        "stud-mcp" => Some(Reach),
        "stud-control" | "stud-gateway" => Some(Door),
        "stud" => Some(Program),
        "stud-benches" | "declarations" => Some(Observer),
        "xtask" => Some(Task),
        name => name.starts_with("stud-contract-").then_some(Contract),
    };
    by_name.or_else(|| {
        let dir = package.dir.as_str();
        if matches!(
            dir,
            "tests/fixtures/hostile" | "tests/fixtures/unruly-provider" | "benches/plugin-raw"
        ) {
            Some(HostileFixture)
        } else if dir.starts_with("tests/fixtures/") || dir.starts_with("benches/plugin-") {
            Some(Fixture)
        } else if dir.starts_with("plugins/support/") {
            Some(Support)
        } else if dir.starts_with("plugins/") {
            Some(Plugin)
        } else {
            (dir == "tests" || dir.starts_with("tests/")).then_some(Observer)
        }
    })
}

fn inside_fault(from: Layer, to: &Package) -> Option<String> {
    if from == Observer {
        return None;
    }
    let (_, allowed) = ARROWS.iter().find(|(layer, _)| *layer == from)?;
    let fine = layer(to).is_some_and(|to| allowed.contains(&to));
    (!fine).then(|| {
        format!("a {from:?} crate may depend on {allowed:?} only; move the code down or drop it")
    })
}

fn outside_fault(from: Layer, dependency: &str) -> Option<String> {
    if let Some((_, homes, why)) = HOMES.iter().find(|(name, ..)| *name == dependency)
        && !homes.contains(&from)
    {
        return Some(format!("only {homes:?} may, {why}"));
    }
    let is_contract = matches!(from, Meta | Interaction | HostApi | Contract);
    (is_contract && !CONTRACT_DEPENDENCIES.contains(&dependency)).then(|| {
        format!(
            "contracts use only stud crates and {}",
            CONTRACT_DEPENDENCIES.join(", ")
        )
    })
}

fn manifest(package: &Package) -> String {
    format!("{}/Cargo.toml", package.dir)
}

/// The line that names the dependency; 1 when it is renamed or in a table of its own.
fn line_of(repository: &Repository, package: &Package, dependency: &str) -> usize {
    repository
        .tree
        .text(&manifest(package))
        .and_then(|text| {
            text.lines().position(|line| {
                line.strip_prefix(dependency)
                    .is_some_and(|rest| rest.starts_with([' ', '.', '=']))
            })
        })
        .map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests;
