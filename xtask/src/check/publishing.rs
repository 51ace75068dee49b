//! What an author depends on can be published: metadata, a readme, licences, and versions on every dependency.

use super::Repository;
use crate::problem::Problem;
use crate::workspace::Package;

/// The crate an author depends on; everything below it is published with it.
const TOP: &str = "stud-sdk";

/// What the manifest of a published crate says.
const MEMBERS: [&str; 6] = [
    "description = ",
    "license.workspace = true",
    "readme.workspace = true",
    "rust-version.workspace = true",
    "edition.workspace = true",
    "authors.workspace = true",
];

/// The files beside its manifest.
const FILES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// The packages an author's build reaches.
pub(crate) fn published(packages: &[Package]) -> Vec<&Package> {
    let named = |name: &str| packages.iter().find(|package| package.name == name);
    let mut open: Vec<&Package> = named(TOP).into_iter().collect();
    let mut found: Vec<&Package> = Vec::new();
    while let Some(package) = open.pop() {
        if found.iter().any(|other| other.name == package.name) {
            continue;
        }
        open.extend(package.dependencies.iter().filter_map(|name| named(name)));
        found.push(package);
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// Looks at every published package.
pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let root = &repository.workspace.root;
    let mut problems = Vec::new();
    let whole = repository.tree.text("Cargo.toml").unwrap_or_default();
    for package in published(&repository.workspace.packages) {
        let manifest = format!("{}/Cargo.toml", package.dir);
        let text = repository.tree.text(&manifest).unwrap_or_default();
        let mut problem = |what: String, fix: &str| {
            problems.push(Problem::new(manifest.clone(), 1, what, fix));
        };
        for member in MEMBERS {
            if !text.lines().any(|line| line.starts_with(member)) {
                problem(
                    format!("`{member}` is missing"),
                    "authors see it in the registry",
                );
            }
        }
        if text.contains("publish = false") {
            problem(
                "it is not published".to_owned(),
                "`stud-sdk` cannot be built without it",
            );
        }
        for file in FILES {
            if !root.join(&package.dir).join(file).is_file() {
                problem(
                    format!("`{file}` is missing"),
                    "link it to the one of the repository; cargo packs what the link leads to",
                );
            }
        }
        let start = format!("{} = {{ path = ", package.name);
        let declared = whole.lines().find(|line| line.starts_with(&start));
        let version = format!("version = \"{}\"", package.version);
        if !declared.is_some_and(|line| line.contains(&version)) {
            problem(
                format!(
                    "the workspace does not name its version {}",
                    package.version
                ),
                "a package without a path is found by its version",
            );
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::{check, published};
    use crate::check::Repository;
    use crate::scratch::Scratch;
    use crate::tree::Tree;
    use crate::workspace::{Package, Workspace};

    const GOOD: &str = "[package]\nname = \"stud-sdk\"\ndescription = \"x\"\nlicense.workspace = true\nreadme.workspace = true\nrust-version.workspace = true\nedition.workspace = true\nauthors.workspace = true\n";

    fn package(name: &str, dependencies: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            dir: "sdk".to_owned(),
            dependencies: dependencies.iter().map(|name| (*name).to_owned()).collect(),
            ..Package::default()
        }
    }

    fn problems(manifest: &str, whole: &str, licence: &str) -> usize {
        let scratch = Scratch::with(&[
            ("Cargo.toml", whole),
            ("sdk/Cargo.toml", manifest),
            ("sdk/LICENSE-MIT", ""),
            (licence, ""),
        ]);
        let workspace = Workspace {
            root: scratch.path().to_owned(),
            packages: vec![package("stud-sdk", &[])],
            ..Workspace::default()
        };
        let tree = Tree::read(scratch.path()).unwrap();
        check(&Repository { workspace, tree }).len()
    }

    #[test]
    fn what_the_registry_lacks_is_named() {
        let whole = "stud-sdk = { path = \"sdk\", version = \"1.0.0\" }\n";
        assert_eq!(problems(GOOD, whole, "sdk/LICENSE-APACHE"), 0);
        assert_eq!(problems(GOOD, whole, "elsewhere"), 1);
        assert_eq!(
            problems(
                GOOD,
                "stud-sdk = { path = \"sdk\" }\n",
                "sdk/LICENSE-APACHE"
            ),
            1
        );
        let without = GOOD.replace("readme.workspace = true\n", "");
        assert_eq!(problems(&without, whole, "sdk/LICENSE-APACHE"), 1);
    }

    #[test]
    fn everything_below_the_sdk_is_published() {
        let packages = [
            package("stud", &["stud-sdk"]),
            package("stud-sdk", &["stud-abi", "serde"]),
            package("stud-abi", &[]),
        ];
        let names: Vec<&str> = published(&packages)
            .iter()
            .map(|package| package.name.as_str())
            .collect();
        assert_eq!(names, ["stud-abi", "stud-sdk"]);
    }
}
