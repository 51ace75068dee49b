//! The plugins that stud carries are held to every rule here, as libraries: starting the program does not do it again.

use std::collections::BTreeSet;
use std::path::Path;

use stud_tests::{World, fixture, workspace_root};

use crate::support::{STAGES, list};

/// The packages of bundled plugins, by the folder of their category.
fn packages() -> Vec<String> {
    let plugins = workspace_root().join("plugins");
    let mut names = Vec::new();
    for category in folders(&plugins) {
        if category.ends_with("support") {
            continue;
        }
        for package in folders(&category) {
            let manifest = std::fs::read_to_string(package.join("Cargo.toml")).unwrap();
            let manifest: toml::Table = manifest.parse().unwrap();
            names.push(manifest["package"]["name"].as_str().unwrap().to_owned());
        }
    }
    names
}

fn folders(place: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(place).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_dir()).collect()
}

#[test]
fn every_bundled_plugin_passes_every_stage_as_a_library() {
    let world = World::new();
    let listed = list(&world);
    let embedded = listed["plugins"].as_array().unwrap().iter();
    let embedded: BTreeSet<String> = embedded
        .filter(|plugin| plugin["form"] == "embedded")
        .map(|plugin| plugin["extId"].as_str().unwrap().to_owned())
        .collect();
    assert!(embedded.contains("echo"), "{embedded:?}");

    let mut passed = BTreeSet::new();
    for package in packages() {
        let library = fixture(&package);
        let answer = world.stud(&["plugin", "check", library.to_str().unwrap(), "--json"]);
        let report = answer.json();
        let stages = report["stages"].as_array().unwrap();
        let all = stages.len() == STAGES.len() && stages.iter().all(|stage| stage["ok"] == true);
        if all && report["diagnostics"] == serde_json::json!([]) {
            passed.insert(report["extId"].as_str().unwrap().to_owned());
        }
    }
    let failed: Vec<_> = embedded.difference(&passed).collect();
    assert!(failed.is_empty(), "{failed:?} of those stud carries");
}
