//! The plugins that stud carries are held to every rule here, as libraries: starting the program does not do it again.

use std::collections::BTreeSet;

use stud_tests::{World, carried};

use crate::support::{STAGES, list};

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

    // One of them has nothing to do before it is told which file to read.
    let file = serde_json::json!({"path": "AGENTS.md", "tokenBudget": 1});
    let settings = serde_json::json!({"contextProviders": {"system-prompt-file": file}});
    world.write("home/settings.json", settings.to_string());
    let mut passed = BTreeSet::new();
    for carried in carried() {
        let library = carried.library;
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
