//! `stud setup` over a pipe: one answer on each line, and nothing half-done.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};
use stud_tests::{Answer, World};

use crate::support::{code, keys};

fn setup(world: &World, more: &[&str], answers: &str) -> Answer {
    let mut command = world.command();
    command
        .arg("setup")
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Who has heard enough does not read the rest.
    let _ = child.stdin.take().unwrap().write_all(answers.as_bytes());
    let output = child.wait_with_output().unwrap();
    Answer {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn settings(world: &World) -> Value {
    let text = std::fs::read(world.home().join("settings.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn the_defaults_are_those_of_the_provider() {
    for (name, model, variable, address) in [
        (
            "anthropic",
            "claude-opus-4-7",
            "ANTHROPIC_API_KEY",
            "https://api.anthropic.com",
        ),
        (
            "gemini",
            "gemini-2.0-flash",
            "GEMINI_API_KEY",
            "https://generativelanguage.googleapis.com/v1beta",
        ),
        (
            "openai-compatible",
            "gpt-4o",
            "OPENAI_API_KEY",
            "https://api.openai.com/v1",
        ),
    ] {
        let world = World::new();
        let answer = setup(&world, &["--json"], &format!("{name}\n\n\n\n\n\n"));
        assert_eq!(answer.status, 0, "{answer:#?}");
        let done = answer.json();
        assert_eq!(
            keys(&done),
            ["authPath", "model", "protocol", "providerId", "settings"]
        );
        assert_eq!(done["authPath"], "env-api-key");
        let wanted = json!({
            "active": {"provider": name},
            "providers": {name: {
                "protocol": name,
                "apiKeyRef": {"kind": "env", "name": variable},
                "models": [model],
                "baseURL": address,
            }},
        });
        assert_eq!(settings(&world), wanted);
        let mode = world.path("home/settings.json").metadata().unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
        assert!(!world.path("home/secrets.json").exists());
        // The plugin itself takes what was written.
        let info = world.stud(&["plugin", "info", name, "--json"]).json();
        assert_eq!(info["status"], "active", "{info:#}");
        assert_eq!(info["config"]["models"], json!([model]));
    }
}

#[test]
fn what_was_set_before_stays() {
    let world = World::new();
    let before = json!({"tools": {"bash": {"enabled": false}}, "active": {"model": "old"}});
    world.write("home/settings.json", before.to_string());
    let answer = setup(
        &world,
        &[],
        "openai-compatible\nnone\nlocal\nllama\nhttp://127.0.0.1:8080/v1\n",
    );
    assert_eq!(answer.status, 0, "{answer:#?}");
    let after = settings(&world);
    assert_eq!(after["tools"], before["tools"]);
    assert_eq!(
        after["active"],
        json!({"provider": "local", "model": "llama"})
    );
    assert!(after["providers"]["local"].get("apiKeyRef").is_none());
}

#[test]
fn an_answer_that_cannot_be_is_refused_with_its_code() {
    let world = World::new();
    let taken = json!({"providers": {"anthropic": {"models": ["m"]}}});
    world.write("home/settings.json", taken.to_string());
    for (answers, expected, status) in [
        ("llama\n", "Validation/InteractionPayloadMismatch", 1),
        ("4\n", "Validation/InteractionPayloadMismatch", 1),
        (
            "anthropic\nnone\n",
            "Validation/InteractionPayloadMismatch",
            1,
        ),
        (
            "anthropic\n1\nanthropic\n",
            "Validation/DuplicateConfigKey",
            1,
        ),
        ("anthropic\n1\n\n", "Validation/ArgumentMissing", 1),
        ("gemini\n1\n  \n", "Validation/ArgumentMissing", 1),
        (
            "gemini\n1\nNot An Id\n",
            "Validation/ConfigSchemaViolation",
            1,
        ),
        (
            "gemini\n1\n\nsk-canary-1234\n",
            "Validation/ConfigSchemaViolation",
            1,
        ),
        ("gemini\n2\n\n\n", "Validation/ArgumentMissing", 1),
        (
            "gemini\n1\n\n\n\nexample.org\n",
            "Validation/ConfigSchemaViolation",
            1,
        ),
        ("", "Cancellation/TurnCancelled", 130),
        (
            "gemini\n2\n\nsecret-canary\n",
            "Cancellation/TurnCancelled",
            130,
        ),
    ] {
        let answer = setup(&world, &["--json"], answers);
        assert_eq!(
            (answer.status, answer.stdout.as_str()),
            (status, ""),
            "{answer:#?}"
        );
        let last = answer.stderr.lines().last().unwrap();
        let diagnostic: Value = serde_json::from_str(last).unwrap();
        assert_eq!(code(&diagnostic), expected, "{answers:?}");
        if expected == "Validation/DuplicateConfigKey" {
            stud_observed::covers!(DUPLICATE_CONFIG_KEY, diagnostic);
        }
        assert!(!answer.stderr.contains("canary"), "{answer:#?}");
        assert_eq!(settings(&world), taken, "nothing is written");
        assert!(!world.path("home/secrets.json").exists());
        assert!(!world.path("home/audit.jsonl").exists());
    }
}

#[test]
fn a_key_that_nothing_refers_to_does_not_stay() {
    let world = World::new();
    // What cannot be put on record is not done.
    std::fs::create_dir(world.home().join("audit.jsonl")).unwrap();
    let answer = setup(&world, &["--json"], "gemini\n2\n\nsecret-canary\n\n\n");
    assert_eq!(answer.status, 1, "{answer:#?}");
    let last = answer.stderr.lines().last().unwrap();
    let diagnostic: Value = serde_json::from_str(last).unwrap();
    assert_eq!(code(&diagnostic), "Session/AuditTrailUnavailable");
    let secrets = std::fs::read_to_string(world.home().join("secrets.json")).unwrap();
    assert!(!secrets.contains("canary"), "{secrets}");
    assert!(!world.path("home/settings.json").exists());
}
