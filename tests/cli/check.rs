//! `stud plugin check`.

use serde_json::{Value, json};
use stud_tests::{World, fixture};

use crate::support::{STAGES, codes, install, install_changed, keys, opened};

/// The stages of a report, each with how it went.
fn stages(report: &Value) -> Vec<(&str, bool)> {
    let stages = report["stages"].as_array().unwrap();
    stages
        .iter()
        .map(|stage| {
            assert_eq!(keys(stage), ["ok", "stage"]);
            (
                stage["stage"].as_str().unwrap(),
                stage["ok"].as_bool().unwrap(),
            )
        })
        .collect()
}

/// What `stages` gives where `last` was refused and everything before it passed.
fn refused_at(last: &str) -> Vec<(&'static str, bool)> {
    let place = STAGES.iter().position(|stage| *stage == last).unwrap();
    STAGES[..=place]
        .iter()
        .map(|stage| (*stage, *stage != last))
        .collect()
}

#[test]
fn a_good_library_passes_every_stage_in_order() {
    let world = World::new();
    let library = fixture("good-tool");
    let library = library.to_str().unwrap();
    let answer = world.stud(&["plugin", "check", library, "--json"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    let report = answer.json();
    assert_eq!(
        keys(&report),
        [
            "diagnostics",
            "extId",
            "kind",
            "path",
            "stages",
            "status",
            "version"
        ]
    );
    assert_eq!(stages(&report), STAGES.map(|stage| (stage, true)));
    for (member, value) in [
        ("path", json!(library)),
        ("extId", json!("good-tool")),
        ("kind", json!("Tool")),
        ("version", json!("0.1.0")),
        ("status", json!("ok")),
        ("diagnostics", json!([])),
    ] {
        assert_eq!(report[member], value, "{member}");
    }
    let text = world.stud(&["plugin", "check", library]);
    assert_eq!(text.status, 0);
    assert!(
        text.stdout
            .ends_with("good-tool 0.1.0 is a Tool this stud can use\n"),
        "{}",
        text.stdout
    );
}

#[test]
fn without_load_nothing_is_opened() {
    let mut world = World::new();
    let marker = world.path("marker");
    world.set("STUD_HOSTILE_MARKER", marker.to_str().unwrap());
    let library = fixture("hostile");
    let library = library.to_str().unwrap();
    let answer = world.stud(&["plugin", "check", library, "--no-load", "--json"]);
    assert_eq!(answer.status, 0);
    let passed: Vec<_> = STAGES[..8].iter().map(|stage| (*stage, true)).collect();
    assert_eq!(stages(&answer.json()), passed);
    assert!(!marker.exists());
    assert_eq!(opened(&world), [""; 0]);

    assert_eq!(world.stud(&["plugin", "check", library]).status, 0);
    assert!(
        marker.exists(),
        "the marker would have shown that the library was opened"
    );
}

#[test]
fn no_stage_comes_after_the_first_failure() {
    let world = World::new();
    let check = |change: fn(&mut Value), stage: &str, code: &str| {
        let library = install_changed(&world, "good-tool", "library/libgood_tool.so", change);
        let answer = world.stud(&["plugin", "check", library.to_str().unwrap(), "--json"]);
        assert_eq!(answer.status, 1, "{answer:#?}");
        let report = answer.json();
        assert_eq!(report["status"], "refused");
        assert_eq!(stages(&report), refused_at(stage), "{report:#}");
        assert_eq!(codes(&report), [code]);
        assert_eq!(report["diagnostics"][0]["stage"], stage);
    };
    check(
        |m| m["panicStrategy"] = "abort".into(),
        "inspect",
        "Validation/PanicStrategyUnsupported",
    );
    check(
        |m| m["stateSlot"] = 7.into(),
        "shape",
        "Validation/ShapeInvalid",
    );
    check(
        |m| m["contractVersion"] = "2.0.0".into(),
        "contractVersion",
        "Validation/ContractVersionMismatch",
    );
    check(
        |m| m["requiredCoreVersion"] = ">=7".into(),
        "requiredCoreVersion",
        "Validation/RequiredCoreVersionMismatch",
    );
    check(
        |m| m["configSchema"]["type"] = "array".into(),
        "configSchema",
        "Validation/ConfigSchemaViolation",
    );
    check(
        |m| m["dependsOn"] = json!([{"kind": "Tool", "name": "absent"}]),
        "order",
        "ExtensionHost/DependencyMissing",
    );
}

#[test]
fn what_is_not_there_fails_to_be_discovered() {
    let world = World::new();
    let answer = world.stud(&["plugin", "check", "absent.so", "--json"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (1, ""));
    let report = answer.json();
    assert_eq!(keys(&report), ["diagnostics", "path", "stages", "status"]);
    assert_eq!(report["path"], "absent.so");
    assert_eq!(stages(&report), refused_at("discover"));
    assert_eq!(codes(&report), ["Validation/LibraryUnreadable"]);

    let text = world.stud(&["plugin", "check", "absent.so"]);
    assert_eq!((text.status, text.stderr.as_str()), (1, ""));
    assert!(
        text.stdout.starts_with("refused  discover\n"),
        "{}",
        text.stdout
    );
}

#[test]
fn a_switched_off_plugin_is_checked_all_the_same() {
    let world = World::new();
    let library = install(&world, "good-tool", "home/tools/libgood_tool.so");
    world.write(
        "home/settings.json",
        r#"{"tools":{"good-tool":{"enabled":false}}}"#,
    );
    let answer = world.stud(&["plugin", "check", library.to_str().unwrap(), "--json"]);
    assert_eq!((answer.status, &answer.json()["status"]), (0, &json!("ok")));
}

#[test]
fn an_installed_twin_is_no_obstacle() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/libgood_tool.so");
    let library = install(&world, "good-tool", "elsewhere/libgood_tool.so");
    assert_eq!(
        world
            .stud(&["plugin", "check", library.to_str().unwrap()])
            .status,
        0
    );
}

#[test]
fn a_warning_is_no_refusal() {
    let world = World::new();
    let library = install_changed(&world, "good-tool", "library/libgood_tool.so", |manifest| {
        manifest["fromTheFuture"] = 1.into();
    });
    let answer = world.stud(&["plugin", "check", library.to_str().unwrap(), "--json"]);
    let report = answer.json();
    assert_eq!((answer.status, &report["status"]), (0, &json!("ok")));
    assert_eq!(codes(&report), ["Validation/ManifestMemberUnknown"]);
    assert_eq!(report["diagnostics"][0]["severity"], "warning");
}
