//! A session for scripts: one input, one answer, and an exit status.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use stud_tests::{World, eventually};

use crate::support::{code, failure, keys, without_surface};

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

#[test]
fn the_words_on_the_command_line_are_the_input() {
    let world = World::new();
    let answer = world.stud(&["--headless", "hello", "world"]);
    assert_eq!(
        (answer.status, answer.stdout.as_str()),
        (0, "USER hello world\n"),
        "{answer:#?}"
    );
}

#[test]
fn without_words_standard_input_is() {
    let world = World::new();
    let mut command = world.command();
    command
        .arg("--headless")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all("  Grüße\n".as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "USER Grüße\n");
}

#[test]
fn json_is_the_session_then_its_events_then_the_result() {
    let world = World::new();
    let answer = world.stud(&["--headless", "--json", "hello"]);
    assert_eq!(answer.status, 0, "{answer:#?}");
    let lines = lines(&answer.stdout);
    let (first, last) = (&lines[0], &lines[lines.len() - 1]);
    assert_eq!(
        keys(first),
        ["mode", "model", "provider", "sessionId", "type"]
    );
    assert_eq!(
        (
            &first["type"],
            &first["mode"],
            &first["provider"],
            &first["model"]
        ),
        (
            &json!("session"),
            &json!("ask"),
            &json!("echo"),
            &json!("echo-1")
        )
    );
    let events = &lines[1..lines.len() - 1];
    assert!(events.iter().all(|event| event["type"] == "event"));
    let seqs: Vec<_> = events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert!(seqs.is_sorted_by(|one, next| one < next), "{seqs:?}");
    assert_eq!(events[0]["name"], "SessionTurnStart");
    assert_eq!(
        (&last["type"], &last["status"], &last["text"]),
        (&json!("result"), &json!("completed"), &json!("USER hello"))
    );
    assert!(last["usage"]["outputTokens"].is_u64());
}

#[test]
fn a_turn_that_fails_says_so_in_the_result_and_the_status() {
    let world = World::new();
    let answer = world.stud(&["--headless", "--json", "!fail Unauthorized"]);
    assert_eq!(answer.status, 1, "{answer:#?}");
    let last = lines(&answer.stdout).pop().unwrap();
    assert_eq!(
        (&last["type"], &last["status"]),
        (&json!("result"), &json!("failed"))
    );
    assert_eq!(
        (&last["error"]["class"], &last["error"]["code"]),
        (&json!("ProviderTransient"), &json!("Unauthorized"))
    );
    let told: Value = serde_json::from_str(answer.stderr.trim()).unwrap();
    assert_eq!(code(&told), "ProviderTransient/Unauthorized");
}

#[test]
fn flags_are_refused_with_their_own_codes() {
    for (arguments, expected) in [
        (&["--mode", "careful"][..], "InvalidMode"),
        (&["--mode", "--yolo"], "ArgumentMissing"),
        (&["--sm"], "ArgumentMissing"),
        (&["--sm", "--yolo"], "ArgumentMissing"),
        (&["--param"], "ArgumentMissing"),
        (&["-x"], "UnknownFlag"),
        (&["--api-key"], "UnsupportedFlag"),
        (&["--api-key=sk-canary"], "UnsupportedFlag"),
        (&["--api-key", "sk-canary"], "UnsupportedFlag"),
        (&["--param", "temperature"], "InvalidParam"),
        (&["--param", "=1"], "InvalidParam"),
        (&["--mode", "-x"], "InvalidMode"),
        (&["--param", "-x"], "InvalidParam"),
        (&["--param", "--x=1"], "ArgumentMissing"),
        (&["--mode", "careful", "--no-such"], "InvalidMode"),
        (&["--mode=careful", "--no-such=1"], "InvalidMode"),
        (&["--no-such", "--mode", "careful"], "UnknownFlag"),
        (&["--mode", "ask", "--mode", "careful"], "InvalidMode"),
        (&["--mode", "careful", "--mode", "ask"], "InvalidMode"),
        (&["--mode"], "ArgumentMissing"),
        (&["--project-root", "."], "UnknownFlag"),
    ] {
        let answer = World::new().stud(arguments);
        assert_eq!(answer.status, 2, "{answer:#?}");
        let surface: Value = serde_json::from_str(answer.stderr.lines().last().unwrap()).unwrap();
        assert_eq!(surface["error"]["code"], expected, "{arguments:?}");
        let flag = surface["error"]["context"]["flag"].as_str().unwrap();
        assert!(arguments[0].starts_with(flag), "{flag}");
        assert!(!answer.stderr.contains("canary"), "a key is not repeated");
    }
}

#[test]
fn of_flags_that_are_repeated_the_last_counts() {
    let world = World::new();
    let modes = ["--mode", "yolo", "--headless", "--mode", "ask"];
    let answer = world.stud(&[&modes[..], &["--headless", "--json", "hello"]].concat());
    assert_eq!(answer.status, 0, "{answer:#?}");
    assert_eq!(lines(&answer.stdout)[0]["mode"], "ask");
}

#[test]
fn a_prompt_is_no_mistyped_verb() {
    for prompt in [
        "explain this file",
        "audit this code",
        "set up tests",
        "trust me",
        "!doctor",
        "docotr",
    ] {
        let answer = World::new().stud(&["--headless", prompt]);
        assert_eq!(answer.stdout, format!("USER {prompt}\n"), "{answer:#?}");
    }
    for command in ["/trust", "/sessions"] {
        let answer = World::new().stud(&["--headless", command]);
        assert_eq!(answer.status, 0, "{answer:#?}");
    }
}

#[test]
fn a_provider_that_is_configured_answers_without_being_chosen() {
    let world = World::new();
    let talks = |providers: &Value| {
        let settings = json!({"providers": providers});
        world.write("home/settings.json", settings.to_string());
        let answer = world.stud(&["--headless", "--json", "hello"]);
        let first = lines(&answer.stdout).into_iter().next();
        let doctor = world.stud(&["doctor", "--json"]).json();
        let told = doctor["core"]["provider"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let seen = world.stud(&["doctor"]).stdout;
        let first = first.unwrap_or_else(|| panic!("{answer:#?}"));
        assert_eq!(first["provider"], told.as_str());
        (told, seen.contains("the first of 2 that are set up"))
    };
    let (echo, off) = (json!({"protocol": "echo"}), json!({"enabled": false}));
    assert_eq!(talks(&json!({})), ("echo".to_owned(), false));
    assert_eq!(talks(&json!({"echo": {}})), ("echo".to_owned(), false));
    assert_eq!(talks(&json!({"gemini": off})), ("echo".to_owned(), false));
    assert_eq!(talks(&json!({"work": echo})), ("work".to_owned(), false));
    let several = json!({"work": echo, "home": echo, "gemini": off});
    assert_eq!(talks(&several), ("home".to_owned(), true));
}

#[test]
fn what_is_wrong_with_the_config_of_a_provider_is_said() {
    for (id, config) in [
        ("anthropic", json!({"models": []})),
        ("openai-compatible", json!({"models": ["m"]})),
        ("work", json!({"protocol": "anthropic", "models": []})),
        (
            "work",
            json!({"protocol": "openai-compatible", "models": ["m"]}),
        ),
    ] {
        let world = World::new();
        let settings = json!({"providers": {id: config}, "active": {"provider": id}});
        world.write("home/settings.json", settings.to_string());
        let answer = world.stud(&["--headless", "hello"]);
        assert_eq!(answer.status, 1, "{answer:#?}");
        let surface: Value = serde_json::from_str(answer.stderr.lines().last().unwrap()).unwrap();
        let error = &surface["error"];
        assert_eq!(
            (&error["code"], &error["context"]["extId"]),
            (&json!("ConfigSchemaViolation"), &json!(id)),
            "{config}"
        );
    }
}

#[test]
fn a_model_that_the_provider_does_not_have_is_refused() {
    let world = World::new();
    let settings = json!({"active": {"provider": "echo", "model": "echo-2"}});
    world.write("home/settings.json", settings.to_string());
    let answer = world.stud(&["--headless", "--json", "hello"]);
    assert_eq!((answer.status, answer.stdout.as_str()), (1, ""));
    let answer = without_surface(answer, "stderr.startup-error");
    stud_observed::covers!(MODEL_NOT_IN_PROVIDER, failure(&answer));
}

#[test]
fn a_project_that_nobody_decided_about_needs_somebody_to_ask() {
    let world = World::new();
    std::fs::create_dir_all(world.project().join(".stud")).unwrap();
    let answer = world.stud(&["--headless", "--json", "hello"]);
    assert_eq!((answer.status, answer.stdout.as_str()), (1, ""));
    let answer = without_surface(answer, "stderr.startup-error");
    stud_observed::covers!(HEADLESS_TRUST_REQUIRED, failure(&answer));
    for way_in in ["--yolo", "--safe-mode"] {
        let answer = world.stud(&["--headless", way_in, "hello"]);
        assert_eq!(answer.stdout, "USER hello\n", "{answer:#?}");
    }
    assert!(!world.path("home/trust.json").exists(), "nothing is kept");
}

#[test]
fn a_call_that_needs_a_person_halts() {
    let world = World::new();
    crate::support::install(&world, "good-tool", "home/tools/libgood_tool.so");
    let call = r#"!tool line_count {"path": "/dev/null"}"#;
    let answer = world.stud(&["--headless", "--json", call]);
    assert_eq!(answer.status, 3, "{answer:#?}");
    let last = lines(&answer.stdout).pop().unwrap();
    assert_eq!(last["status"], "halted");
    let surface = answer
        .stderr
        .lines()
        .find(|line| line.contains("headless.interaction-required"))
        .unwrap();
    let surface: Value = serde_json::from_str(surface).unwrap();
    assert_eq!(surface["error"]["code"], "HeadlessInteractionRequired");
    let answer = world.stud(&["--headless", "--yolo", call]);
    assert_eq!(answer.status, 0, "{answer:#?}");
    assert!(
        answer.stdout.starts_with(r#"RESULT {"ok":true"#),
        "{answer:#?}"
    );
}

/// Reads until an event of this name comes.
fn wait_for(out: &mut impl BufRead, event: &str) {
    let mut line = String::new();
    while !line.contains(event) {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "it ended early");
    }
}

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([signal, &pid]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_signal_calls_the_turn_off_and_the_session_is_kept() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let world = World::new();
        let mut command = world.command();
        command
            .args(["--headless", "--json", "!slow 600000"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        wait_for(&mut out, "ProviderTokensStreamed");
        send(signal, &child);
        if signal != "-INT" {
            // The first lets the turn finish, which this test does not wait for.
            send(signal, &child);
        }
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let last: Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
        assert_eq!(
            (&last["type"], &last["status"]),
            (&json!("result"), &json!("cancelled")),
            "{signal}"
        );
        let next = world.stud(&["--headless", "--continue", "hello"]);
        assert_eq!(next.stdout, "USER hello\n", "{next:#?}");
    }
}

/// Nothing is set, and a turn that would take ten minutes is cancelled by a single signal.
#[test]
fn a_request_to_end_does_not_wait_for_a_long_turn() {
    let world = World::new();
    let mut command = world.command();
    command
        .args(["-p", "--json", "!slow 600000"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    wait_for(&mut out, "ProviderTokensStreamed");
    send("-TERM", &child);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_request_to_end_lets_the_turn_come_to_its_end() {
    let world = World::new();
    let patient = json!({"commands": {"save-and-close": {"drainTimeoutMs": 60_000}}});
    world.write("home/settings.json", patient.to_string());
    let mut command = world.command();
    command
        .args(["--headless", "--json", "!slow 1500"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    wait_for(&mut out, "ProviderTokensStreamed");
    send("-TERM", &child);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let lines = lines(&rest);
    let last = &lines[lines.len() - 1];
    assert_eq!(last["status"], "completed", "{last}");
    assert!(last["text"].as_str().unwrap().ends_with("USER !slow 1500"));
    let closed = lines.iter().find(|line| line["name"] == "SessionClosed");
    assert_eq!(closed.unwrap()["payload"]["trigger"], "Sigterm");
}

#[test]
fn a_request_to_end_begins_no_other_turn_and_loses_nothing() {
    let world = World::new();
    let impatient = json!({"commands": {"save-and-close": {"drainTimeoutMs": 100}}});
    world.write("home/settings.json", impatient.to_string());
    let mut command = world.command();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"second\n!slow 600000\nthird\n").unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    wait_for(&mut out, "USER second");
    let mut dot = [0];
    out.read_exact(&mut dot).unwrap();
    let acknowledged = || {
        let sessions = std::fs::read_dir(world.path("home/sessions")).unwrap();
        let session = sessions.map(|entry| entry.unwrap().path()).next().unwrap();
        let journal = std::fs::read_to_string(session.join("journal.log")).unwrap();
        journal.contains(r#"{"text":"third"}"#).then_some(())
    };
    eventually("the last input on the disk", acknowledged);
    send("-TERM", &child);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!rest.contains("third"), "{rest}");
    let next = world.stud(&["--headless", "--continue", "--json", "fourth"]);
    let rendered = lines(&next.stdout)
        .into_iter()
        .filter(|line| line["name"] == "TurnRendered");
    let texts: Vec<Value> = rendered
        .map(|line| line["payload"]["text"].clone())
        .collect();
    assert_eq!(texts, ["USER third", "USER fourth"]);
}

#[test]
fn a_report_that_does_not_arrive_is_a_failure() {
    let world = World::new();
    let full = std::fs::File::options().write(true).open("/dev/full");
    let mut command = world.command();
    command
        .args(["--headless", "--json", "hello"])
        .stdin(Stdio::null())
        .stdout(full.unwrap())
        .stderr(Stdio::piped());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("could not be written"), "{said}");
}

#[test]
fn strict_refuses_to_start_where_a_plugin_was_refused() {
    let world = World::new();
    world.write("home/tools/libnothing.so", "no library");
    let answer = world.stud(&["--headless", "hello"]);
    assert_eq!(answer.status, 0, "{answer:#?}");
    let answer = world.stud(&["--headless", "--strict", "hello"]);
    assert_eq!(
        (answer.status, answer.stdout.as_str()),
        (1, ""),
        "{answer:#?}"
    );
    world.write("home/settings.json", r#"{"validation":{"strict":true}}"#);
    assert_eq!(world.stud(&["--headless", "hello"]).status, 1);
    let bare = world.stud(&["--headless", "--safe-mode", "hello"]);
    assert_eq!(bare.status, 0, "{bare:#?}");
}
