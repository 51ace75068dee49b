//! What settings do to plugins.

use serde_json::json;
use stud_tests::World;

use crate::support::{are, codes, entry, install, list, opened, standing, trust};

const PLACE: &str = "home/tools/good-tool/libgood_tool.so";

#[test]
fn a_disabled_plugin_is_listed_and_never_opened() {
    for text in [
        r#"{"tools":{"good-tool":{"enabled":false}}}"#,
        r#"{"tools":{"good-tool":{"disable":true}}}"#,
    ] {
        let world = World::new();
        install(&world, "good-tool", PLACE);
        world.write("home/settings.json", text);
        let list = list(&world);
        let entry = entry(&list, "good-tool");
        assert_eq!(
            (&entry["status"], &entry["generation"]),
            (&"disabled".into(), &0.into()),
            "{text}"
        );
        assert_eq!(codes(entry), [""; 0], "{text}");
        assert_eq!(opened(&world), [""; 0]);
    }
}

#[test]
fn no_code_of_a_disabled_plugin_runs() {
    let mut world = World::new();
    install(&world, "hostile", "home/ui/hostile/libhostile.so");
    world.write("home/ui/hostile/config.json", r#"{"enabled":false}"#);
    let marker = world.path("marker");
    world.set("STUD_HOSTILE_MARKER", marker.to_str().unwrap());
    assert_eq!(entry(&list(&world), "hostile")["status"], "disabled");
    assert!(!marker.exists());
}

#[test]
fn a_disabled_override_does_not_uncover_what_it_hides() {
    let world = World::new();
    install(&world, "good-tool", PLACE);
    install(&world, "good-tool", "project/.stud/tools/libgood_tool.so");
    world.write(
        "project/.stud/settings.json",
        r#"{"tools":{"good-tool":{"enabled":false}}}"#,
    );
    trust(&world);
    assert_eq!(
        standing(&list(&world), "good-tool"),
        are(&[("global", "shadowed"), ("project", "disabled")])
    );
    assert_eq!(opened(&world), [""; 0]);
}

#[test]
fn settings_beat_the_config_beside_the_library() {
    let world = World::new();
    install(&world, "good-hook", "home/hooks/good-hook/libgood_hook.so");
    let config = || {
        world
            .stud(&["plugin", "info", "good-hook", "--json"])
            .json()["config"]
            .clone()
    };
    assert_eq!(config(), json!({"enabled": true}));

    world.write(
        "home/hooks/good-hook/config.json",
        r#"{"enabled":false,"tools":["a"]}"#,
    );
    assert_eq!(config(), json!({"enabled": false, "tools": ["a"]}));

    world.write(
        "home/settings.json",
        r#"{"hooks":{"good-hook":{"tools":["b"]}}}"#,
    );
    assert_eq!(config(), json!({"enabled": true, "tools": ["b"]}));
    assert_eq!(entry(&list(&world), "good-hook")["status"], "active");

    world.write(
        "project/.stud/settings.json",
        r#"{"hooks":{"good-hook":{"tools":["c"]}}}"#,
    );
    assert_eq!(config()["tools"], json!(["b"]));
    trust(&world);
    assert_eq!(config()["tools"], json!(["c"]));
}

#[test]
fn a_config_that_does_not_fit_refuses_its_plugin_alone() {
    let world = World::new();
    install(&world, "good-hook", "home/hooks/good-hook/libgood_hook.so");
    install(&world, "good-tool", PLACE);
    world.write(
        "home/settings.json",
        r#"{"hooks":{"good-hook":{"tools":"rm"}}}"#,
    );
    let list = list(&world);
    let refused = entry(&list, "good-hook");
    assert_eq!(refused["status"], "disabled");
    assert_eq!(codes(refused), ["Validation/ConfigSchemaViolation"]);
    assert_eq!(refused["diagnostics"][0]["fieldPath"], "/tools");
    assert_eq!(entry(&list, "good-tool")["status"], "active");
}

#[test]
fn the_chosen_session_store_is_active() {
    let world = World::new();
    install(
        &world,
        "good-session-store",
        "home/session-stores/libgood_session_store.so",
    );
    assert_eq!(
        entry(&list(&world), "good-session-store")["status"],
        "loaded"
    );
    world.write(
        "home/settings.json",
        r#"{"active":{"sessionStore":"good-session-store"}}"#,
    );
    assert_eq!(
        entry(&list(&world), "good-session-store")["status"],
        "active"
    );
}
