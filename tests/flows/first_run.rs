//! First run: a home with nothing in it, a person at a terminal, and a model at the other end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::bench::{Bench, in_both_forms};

const KEY: &str = "canary-5f0c9b1e";

/// Answers one request as a model would; gives its head and its body.
fn model(listener: TcpListener) -> JoinHandle<(String, Value)> {
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let is_length = name.eq_ignore_ascii_case("content-length");
            is_length.then(|| value.trim().parse::<usize>().unwrap())
        });
        let mut body = vec![0; length.unwrap()];
        reader.read_exact(&mut body).unwrap();
        let piece = json!({"choices": [{"index": 0, "delta": {"content": "hello from afar"}}]});
        let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
             data: {piece}\n\ndata: {last}\n\ndata: [DONE]\n\n"
        );
        stream.write_all(answer.as_bytes()).unwrap();
        (head, serde_json::from_slice(&body).unwrap())
    })
}

fn mode_of(bench: &Bench, file: &str) -> u32 {
    let found = bench.world.home().join(file).metadata().unwrap();
    found.permissions().mode() & 0o777
}

fn kinds(bench: &Bench) -> Vec<String> {
    let deeds = bench.deeds().into_iter();
    deeds
        .map(|deed| deed["type"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_person_sets_a_provider_up_and_is_answered_by_it() {
    in_both_forms(|bench| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let model = model(listener);

        let terminal = bench.terminal(&[]);
        terminal.answers("What would you like?", "setup\n");
        terminal.answers("Which provider?", "3\n");
        terminal.answers("How does it come by its key?", "literal-api-key\n");
        terminal.answers("What to call it in the settings [openai-compatible]", "\n");
        terminal.sees("The key");
        stud_tests::eventually("a terminal that hides keys", || {
            (!terminal.shows_keys()).then_some(())
        });
        terminal.types(&format!("{KEY}\n"));
        terminal.answers("Which model [gpt-4o]", "far-1\n");
        terminal.answers(
            "At which address [https://api.openai.com/v1]",
            &format!("{address}\n"),
        );
        terminal.sees("openai-compatible far-1 answers, mode ask");
        assert!(terminal.shows_keys(), "the terminal is as it was before");
        terminal.answers("> ", "hello\n");
        terminal.sees("hello from afar");
        terminal.types("\u{4}");
        let (status, screen) = terminal.end();
        assert_eq!(status, 0);
        assert!(!screen.contains(KEY), "{screen}");

        let (head, body) = model.join().unwrap();
        assert!(head.contains(&format!("Bearer {KEY}")), "{head}");
        assert_eq!(body["model"], "far-1");
        let system = body["messages"][0]["content"].as_str().unwrap();
        assert!(system.starts_with("You are a coding assistant"), "{system}");

        let settings = std::fs::read_to_string(bench.world.path("home/settings.json")).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        assert_eq!(settings["active"], json!({"provider": "openai-compatible"}));
        let entry = &settings["providers"]["openai-compatible"];
        let name = entry["apiKeyRef"]["name"].as_str().unwrap();
        assert!(
            name.starts_with("openai-compatible:literal-api-key:"),
            "{name}"
        );
        assert_eq!(
            *entry,
            json!({
                "protocol": "openai-compatible",
                "apiKeyRef": {"kind": "keyring", "name": name},
                "models": ["far-1"],
                "baseURL": address,
            })
        );
        assert_eq!(mode_of(bench, "secrets.json"), 0o600);
        assert_eq!(mode_of(bench, "audit.jsonl"), 0o600);
        assert_eq!(
            kinds(bench),
            [
                "SystemPromptScaffolded",
                "ProviderRegistered",
                "ExtensionSetRevised"
            ]
        );
        let deeds = bench.deeds();
        assert_eq!(
            deeds[1]["payload"],
            json!({
                "providerId": "openai-compatible",
                "protocol": "openai-compatible",
                "authPath": "literal-api-key",
            })
        );
        assert_eq!(deeds[2]["payload"]["scope"], "global");
        bench.nowhere_but("secrets.json", KEY);
    });
}

#[test]
fn a_second_start_asks_nothing() {
    in_both_forms(|bench| {
        bench.settings(&json!({"active": {"provider": "echo"}}));
        std::fs::write(bench.world.home().join("system.md"), "Be kind.\n").unwrap();
        let terminal = bench.terminal(&[]);
        terminal.answers("> ", "hello\n");
        terminal.sees("USER hello");
        terminal.types("\u{4}");
        let (status, screen) = terminal.end();
        assert_eq!(status, 0);
        assert!(!screen.contains("What would you like?"), "{screen}");
        let prompt = std::fs::read_to_string(bench.world.home().join("system.md")).unwrap();
        assert_eq!(prompt, "Be kind.\n", "what is there is not overwritten");
        assert!(bench.deeds().is_empty());
    });
}

#[test]
fn a_person_may_go_on_with_the_stand_in() {
    in_both_forms(|bench| {
        let terminal = bench.terminal(&[]);
        terminal.answers("Which [echo]", "\n");
        terminal.sees("`stud setup` sets up a real provider");
        terminal.answers("> ", "hello\n");
        terminal.sees("USER hello");
        terminal.types("\u{4}");
        assert_eq!(terminal.end().0, 0);
        assert!(!bench.world.path("home/settings.json").exists());
    });
}

#[test]
fn whoever_calls_a_question_off_has_changed_nothing() {
    in_both_forms(|bench| {
        let questions = [
            ("What would you like?", "1\n"),
            ("Which provider?", "1\n"),
            ("How does it come by its key?", "2\n"),
            ("What to call it", "\n"),
            ("The key", "secret-key\n"),
            ("Which model", "\n"),
            ("At which address", ""),
        ];
        for last in 0..questions.len() {
            let terminal = bench.terminal(&[]);
            for (question, keys) in &questions[..last] {
                terminal.answers(question, keys);
            }
            terminal.sees(questions[last].0);
            if questions[last].0 == "The key" {
                stud_tests::eventually("a terminal that hides keys", || {
                    (!terminal.shows_keys()).then_some(())
                });
                terminal.types("half a key\u{3}");
            } else {
                terminal.types("\u{4}");
            }
            let (status, screen) = terminal.end();
            assert_eq!(status, 130, "{screen}");
            assert!(screen.contains("Cancellation/TurnCancelled"), "{screen}");
            assert!(!bench.world.path("home/settings.json").exists());
            assert!(!bench.world.path("home/secrets.json").exists());
        }
        assert_eq!(kinds(bench), ["SystemPromptScaffolded"]);
        assert!(bench.sessions().is_empty());
    });
}

#[test]
fn without_a_terminal_the_stand_in_answers_and_nobody_is_asked() {
    in_both_forms(|bench| {
        assert_eq!(bench.headless(&[], "hello").answer(), "USER hello");
        assert_eq!(kinds(bench), ["SystemPromptScaffolded"]);
        let prompt = std::fs::read_to_string(bench.world.home().join("system.md")).unwrap();
        assert!(prompt.starts_with("You are a coding assistant"), "{prompt}");
        // What was chosen and cannot be had is an error, not a stand-in.
        bench.settings(&json!({"active": {"provider": "nobody"}}));
        let run = bench.headless(&[], "hello");
        assert_eq!((run.status, &*run.stdout), (1, ""));
        let last = run.stderr.lines().find(|line| line.contains("\"surface\""));
        let surface: Value = serde_json::from_str(last.unwrap()).unwrap();
        assert_eq!(surface["surface"], "stderr.startup-error");
        assert_eq!(surface["error"]["class"], "Validation");
    });
}

#[test]
fn settings_that_cannot_be_read_are_left_alone() {
    in_both_forms(|bench| {
        bench.world.write("home/settings.json", "{");
        let run = bench.headless(&[], "hello");
        assert_eq!(run.status, 1);
        assert!(
            run.stderr.contains("Validation/SettingsShapeInvalid"),
            "{run:#?}"
        );
        let kept = std::fs::read(bench.world.path("home/settings.json")).unwrap();
        assert_eq!(kept, b"{");
        assert!(!bench.world.path("home/system.md").exists());
    });
}

#[test]
fn the_header_names_the_model_of_the_stand_in_too() {
    in_both_forms(|bench| {
        bench.settings(&json!({"active": {"provider": "echo"}}));
        let terminal = bench.terminal(&["--mode", "yolo"]);
        terminal.sees("echo echo-1 answers, mode yolo");
        terminal.answers("> ", "\u{4}");
        assert_eq!(terminal.end().0, 0);
    });
}

#[test]
fn without_a_screen_nothing_begins_that_could_not_end() {
    in_both_forms(|bench| {
        for line_ui in [json!({"enabled": false}), json!({"colour": "x"})] {
            bench.settings(&json!({"ui": {"line-ui": line_ui}}));
            let (status, stdout, stderr) = bench.talk(&[]).end();
            assert_eq!((status, &*stdout), (1, ""), "{stderr}");
            let surface: Value = serde_json::from_str(stderr.lines().last().unwrap()).unwrap();
            assert_eq!(surface["surface"], "default-tui.startup-error");
            assert_eq!(surface["error"]["code"], "StartupFailure");
            assert!(stderr.contains("`ui.line-ui`"), "{stderr}");
            assert!(stderr.contains("--headless"), "{stderr}");
            // What is said on the command line is answered, and then it is over.
            let (status, stdout, stderr) = bench.talk(&["hello"]).end();
            assert_eq!((status, &*stdout), (0, "USER hello\n"), "{stderr}");
        }
    });
}

#[test]
fn a_model_that_the_stand_in_does_not_have_is_named() {
    in_both_forms(|bench| {
        bench.settings(&json!({"active": {"model": "nope"}}));
        let run = bench.headless(&[], "hello");
        assert_eq!(run.status, 1);
        assert!(
            run.stderr.contains("Validation/ModelNotInProvider"),
            "{run:#?}"
        );
    });
}
