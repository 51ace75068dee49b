//! Dependencies, conflicts and cycles.

use serde_json::json;
use stud_tests::World;

use crate::{refusal, tool};

fn ids(started: &stud_core::startup::Started) -> Vec<String> {
    started
        .registry
        .iter()
        .map(|plugin| plugin.identity().ext_id.to_string())
        .collect()
}

fn needs(id: &str) -> serde_json::Value {
    json!([{ "kind": "Tool", "name": id }])
}

#[test]
fn dependencies_come_first_and_ties_go_by_id() {
    let world = World::new();
    tool(&world, "a", |manifest| manifest["dependsOn"] = needs("z"));
    tool(&world, "z", |_| {});
    tool(&world, "m", |manifest| {
        manifest["dependsOn"] = json!([{ "kind": "Tool", "capability": "paint" }]);
    });
    tool(&world, "p", |manifest| {
        manifest["provides"] = json!(["paint"]);
    });
    let started = world.core(vec![]).start();
    assert_eq!(ids(&started), ["p", "m", "z", "a"]);
    assert!(
        started
            .stop(&stud_core::limits::Limits::default())
            .is_empty()
    );
}

#[test]
fn a_cycle_refuses_all_its_members_and_nobody_else() {
    let world = World::new();
    tool(&world, "a", |manifest| manifest["dependsOn"] = needs("b"));
    tool(&world, "b", |manifest| manifest["dependsOn"] = needs("a"));
    tool(&world, "c", |manifest| manifest["dependsOn"] = needs("c"));
    tool(&world, "d", |_| {});
    let started = world.core(vec![]).start();
    assert_eq!(ids(&started), ["d"]);
    for id in ["a", "b", "c"] {
        assert_eq!(
            refusal(&started, id).as_deref(),
            Some("ExtensionHost/DependencyCycle"),
            "{id}"
        );
    }
}

#[test]
fn a_conflict_refuses_both_sides() {
    let world = World::new();
    tool(&world, "a", |manifest| {
        manifest["conflictsWith"] = needs("b");
    });
    tool(&world, "b", |_| {});
    tool(&world, "c", |manifest| {
        manifest["conflictsWith"] = needs("absent");
    });
    let started = world.core(vec![]).start();
    assert_eq!(ids(&started), ["c"]);
    for id in ["a", "b"] {
        assert_eq!(
            refusal(&started, id).as_deref(),
            Some("ExtensionHost/DependencyConflict"),
            "{id}"
        );
    }
}

#[test]
fn what_depends_on_something_refused_is_refused_too() {
    let world = World::new();
    tool(&world, "a", |manifest| manifest["dependsOn"] = needs("b"));
    tool(&world, "b", |manifest| {
        manifest["dependsOn"] = needs("absent");
    });
    tool(&world, "lonely", |manifest| {
        manifest["dependsOn"] = json!([{ "kind": "Tool", "capability": "own" }]);
        manifest["provides"] = json!(["own"]);
    });
    let started = world.core(vec![]).start();
    assert!(ids(&started).is_empty());
    for id in ["a", "b", "lonely"] {
        assert_eq!(
            refusal(&started, id).as_deref(),
            Some("ExtensionHost/DependencyMissing"),
            "{id}"
        );
    }
}

#[test]
fn a_dependency_that_fails_to_start_takes_its_dependents_with_it() {
    let world = World::new();
    crate::install(
        &world,
        "good-tool",
        "home/tools/broken/libtool.so",
        |manifest| {
            manifest["extId"] = "broken".into();
            manifest["tools"][0]["name"] = "broken".into();
            // The table has no such handler, which only shows once the library is open.
            manifest["handlers"] = json!(["execute", "deriveApprovalKey", "fly"]);
        },
    );
    tool(&world, "a", |manifest| {
        manifest["dependsOn"] = needs("broken");
    });
    tool(&world, "b", |_| {});
    let started = world.core(vec![]).start();
    assert_eq!(ids(&started), ["b"]);
    assert_eq!(
        refusal(&started, "broken").as_deref(),
        Some("Validation/TableManifestMismatch")
    );
    assert_eq!(
        refusal(&started, "a").as_deref(),
        Some("ExtensionHost/DependencyMissing")
    );
}
