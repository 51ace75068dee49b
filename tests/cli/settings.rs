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

#[test]
fn a_sink_configures_its_logger() {
    let world = World::new();
    let level = |settings: serde_json::Value| {
        world.write("home/settings.json", settings.to_string());
        let info = world
            .stud(&["plugin", "info", "file-logger", "--json"])
            .json();
        info["config"]["level"].clone()
    };
    let sinks = json!({"sinks": [{"extId": "file-logger", "config": {"level": "warn"}}]});
    assert_eq!(level(json!({"logging": sinks})), "warn");
    let own = json!({"file-logger": {"level": "error"}});
    assert_eq!(level(json!({"logging": sinks, "loggers": own})), "error");
}

#[test]
fn a_sink_that_is_no_logger_is_a_warning() {
    let world = World::new();
    let sinks = json!({"sinks": [{"extId": "file-loger", "config": {}}]});
    world.write("home/settings.json", json!({"logging": sinks}).to_string());
    let found = world.stud(&["doctor", "--json"]);
    assert_eq!(found.status, 0, "{found:#?}");
    let problems = found.json()["problems"].clone();
    assert_eq!(problems[0]["code"], "ExtensionNotFound");
    assert_eq!(problems[0]["fieldPath"], "/logging/sinks/0/extId");
    let answer = world.stud(&["--headless", "hello"]);
    assert_eq!(answer.stdout, "USER hello\n");
    assert!(
        answer
            .stderr
            .contains("warning[Validation/ExtensionNotFound]"),
        "{answer:#?}"
    );
}

#[test]
fn a_value_that_a_project_holds_itself_is_told_at_start() {
    let world = World::new();
    world.write(
        "project/.stud/settings.json",
        r#"{"env":{"TOKEN":"canary"}}"#,
    );
    trust(&world);
    let answer = world.stud(&["--headless", "hello"]);
    assert_eq!((answer.status, answer.stdout.as_str()), (0, "USER hello\n"));
    assert!(
        answer
            .stderr
            .contains("warning[Validation/SettingsLiteralEnvValue]"),
        "{answer:#?}"
    );
    assert!(!answer.stderr.contains("canary"));
    let problems = world.stud(&["doctor", "--json"]).json()["problems"].clone();
    assert_eq!(problems[0]["code"], "SettingsLiteralEnvValue");
}
