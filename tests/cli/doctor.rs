//! `stud doctor`: every value with its file and scope, every plugin, and what is wrong.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use stud_tests::World;

use crate::support::{code, entry, install, keys, trust};

fn doctor(world: &World, status: i32) -> Value {
    let answer = world.stud(&["doctor", "--json"]);
    assert_eq!(
        (answer.status, answer.stderr.as_str()),
        (status, ""),
        "{answer:#?}"
    );
    let found = answer.json();
    assert_eq!(
        keys(&found),
        [
            "core", "mcp", "ok", "plugins", "problems", "sessions", "settings", "trust"
        ]
    );
    assert_eq!(found["ok"], status == 0);
    found
}

fn setting<'a>(found: &'a Value, key: &str) -> &'a Value {
    let all = found["settings"].as_array().unwrap();
    let set = all.iter().find(|set| set["key"] == key);
    set.unwrap_or_else(|| panic!("no {key} in {all:#?}"))
}

fn problems(found: &Value) -> Vec<String> {
    let problems = found["problems"].as_array().unwrap();
    problems
        .iter()
        .map(|problem| {
            format!(
                "{} {}",
                problem["severity"].as_str().unwrap(),
                code(problem)
            )
        })
        .collect()
}

#[test]
fn a_new_home_is_well_and_says_what_holds() {
    let world = World::new();
    let found = doctor(&world, 0);
    assert_eq!(problems(&found), [""; 0]);
    assert_eq!(found["core"]["provider"], "echo");
    assert_eq!(found["core"]["sessionStore"], "filesystem-session-store");
    assert_eq!(found["trust"]["state"], "absent");
    assert_eq!(found["sessions"], json!({"kept": 0, "running": []}));
    assert_eq!(entry(&found, "bash")["status"], "active");
    assert_eq!(
        *setting(&found, "securityMode.mode"),
        json!({"key": "securityMode.mode", "value": "ask", "scope": "bundled", "file": null})
    );
    // Looking changes nothing.
    assert!(std::fs::read_dir(world.home()).unwrap().next().is_none());
    let text = world.stud(&["doctor"]);
    assert_eq!(text.status, 0);
    assert!(
        text.stdout.contains("`stud setup` sets up a real provider"),
        "{text:#?}"
    );
}

#[test]
fn every_value_knows_its_file_and_scope() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/good-tool/libgood_tool.so");
    world.write("home/tools/good-tool/config.json", r#"{"enabled":false}"#);
    let global = json!({
        "loop": {"maxContinuations": 7, "toolTimeoutMs": 5},
        "env": {"A": "canary", "B": "${HOME}"},
    });
    world.write("home/settings.json", global.to_string());
    let project = json!({"loop": {"maxContinuations": 8}});
    world.write("project/.stud/settings.json", project.to_string());
    trust(&world);
    let found = doctor(&world, 0);
    let at = |key: &str| {
        let set = setting(&found, key);
        (
            set["value"].clone(),
            set["scope"].clone(),
            set["file"].clone(),
        )
    };
    let of = |value: Value, scope: &str, file: &str| (value, json!(scope), json!(file));
    let (global, project) = (
        "<world>/home/settings.json",
        "<world>/project/.stud/settings.json",
    );
    assert_eq!(
        at("loop.maxContinuations"),
        of(json!(8), "project", project)
    );
    assert_eq!(at("loop.toolTimeoutMs"), of(json!(5), "global", global));
    assert_eq!(at("env.A"), of(json!("[REDACTED]"), "global", global));
    assert_eq!(at("env.B"), of(json!("${HOME}"), "global", global));
    assert_eq!(
        at("tools.good-tool"),
        of(
            json!({"enabled": false}),
            "global",
            "<world>/home/tools/good-tool/config.json"
        )
    );
    assert_eq!(found["trust"]["state"], "trusted");
    assert!(!found.to_string().contains("canary"));
}

#[test]
fn a_project_that_is_not_trusted_is_not_looked_into() {
    let world = World::new();
    world.write("project/.stud/settings.json", "{");
    let found = doctor(&world, 0);
    assert_eq!(problems(&found), ["warning Session/ProjectTrustRequired"]);
    assert_eq!(
        (&found["trust"]["state"], &found["trust"]["lookedInto"]),
        (&json!("untrusted"), &json!(false))
    );
    let text = world.stud(&["doctor"]).stdout;
    assert!(text.contains("nothing of it was looked at"), "{text}");
}

#[test]
fn a_key_that_cannot_be_found_is_named_and_never_shown() {
    let mut world = World::new();
    world.set("SET_KEY", "canary-key");
    let provider = |kind: &str, name: &str| {
        let reference = json!({"kind": kind, "name": name});
        json!({"models": ["m"], "baseURL": "http://127.0.0.1:1/v1", "apiKeyRef": reference})
    };
    let settings = json!({
        "active": {"provider": "anthropic"},
        "providers": {
            "anthropic": provider("env", "UNSET_KEY"),
            "gemini": provider("keyring", "gemini:literal-api-key:1"),
            "openai-compatible": provider("env", "SET_KEY"),
        },
    });
    world.write("home/settings.json", settings.to_string());
    let found = doctor(&world, 1);
    assert_eq!(
        problems(&found),
        [
            "error Validation/EnvNameNotSet",
            "warning Validation/SecretMissing"
        ]
    );
    let missing = &found["problems"][0];
    assert_eq!(missing["extId"], "anthropic");
    assert_eq!(missing["fieldPath"], "/providers/anthropic/apiKeyRef");
    assert_eq!(missing["context"]["name"], "UNSET_KEY");
    assert_eq!(
        setting(&found, "providers.anthropic")["value"]["apiKeyRef"],
        json!({"kind": "env", "name": "UNSET_KEY"})
    );
    assert!(!found.to_string().contains("canary"));
}

#[test]
fn whatever_is_broken_is_a_problem_and_hides_no_other() {
    let world = World::new();
    world.write("home/settings.json", r#"{"tolls":{}}"#);
    let secrets = world.write("home/secrets.json", r#"{"entries":{"a":"canary"}}"#);
    std::fs::set_permissions(&secrets, std::fs::Permissions::from_mode(0o644)).unwrap();
    let found = doctor(&world, 1);
    assert_eq!(
        problems(&found),
        [
            "error Validation/SecretsFileExposed",
            "error Validation/UnknownTopLevelKey"
        ]
    );
    assert!(!found.to_string().contains("canary"));

    world.write("home/settings.json", r#"{"active":{"provider":"nobody"}}"#);
    std::fs::set_permissions(&secrets, std::fs::Permissions::from_mode(0o600)).unwrap();
    world.write("home/tools/libbroken.so", "no library");
    let found = doctor(&world, 1);
    let problems = problems(&found);
    assert!(
        problems.contains(&"error Validation/LibraryFormatUnknown".to_owned()),
        "{problems:?}"
    );
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(found["core"]["provider"], Value::Null);
}

#[test]
fn a_home_that_is_no_folder_is_a_problem() {
    let mut world = World::new();
    let file = world.write("file", "");
    world.set("STUD_HOME", file.to_str().unwrap());
    let found = doctor(&world, 1);
    assert_eq!(problems(&found)[0], "error ExtensionHost/StartupFailure");
}

#[test]
fn servers_are_told_with_their_trust_and_not_started() {
    let world = World::new();
    assert_eq!(doctor(&world, 0)["mcp"], json!([]));
    let started = world.path("started");
    let script = format!("touch {}", started.display());
    let run = json!({"command": "/bin/sh", "args": ["-c", script]});
    let servers = json!({
        "fresh": run,
        "far": {"type": "streamable-http", "url": "http://127.0.0.1:9/mcp?key=hidden"},
        "known": run,
        "moved": run,
    });
    world.write("home/mcp.json", json!({"mcpServers": servers}).to_string());
    let decided = |id: &str| json!({"serverId": id, "decision": "trusted", "grantedAt": 1});
    let mut moved = decided("moved");
    moved["fingerprint"] = "sha256:of-another-command".into();
    let list = json!([decided("known"), moved]);
    world.write("home/mcp-trust.json", list.to_string());

    let found = doctor(&world, 0);
    let told: Vec<(&str, &str, &str)> = found["mcp"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| {
            assert_eq!(server["scope"], "global");
            assert_eq!(server["file"], "<world>/home/mcp.json");
            assert!(server["next"].as_str().is_some_and(|next| !next.is_empty()));
            let text = |member: &str| server[member].as_str().unwrap();
            (text("serverId"), text("transport"), text("trust"))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("far", "streamable-http", "unknown"),
            ("fresh", "stdio", "unknown"),
            ("known", "stdio", "trusted"),
            ("moved", "stdio", "changed"),
        ]
    );
    assert_eq!(found["mcp"][0]["reach"], "http://127.0.0.1:9/mcp");
    let shown = world.stud(&["doctor"]);
    assert!(shown.stdout.contains("MCP servers"), "{}", shown.stdout);
    assert!(shown.stdout.contains("next: "), "{}", shown.stdout);
    assert!(!shown.stdout.contains("hidden"), "{}", shown.stdout);
    assert!(!started.exists(), "nothing is started");

    world.write("home/mcp-trust.json", "{");
    let found = doctor(&world, 1);
    assert_eq!(problems(&found), ["error Session/MCPTrustUnavailable"]);
    assert_eq!(found["mcp"][2]["trust"], "unavailable");
}
