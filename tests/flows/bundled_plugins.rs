//! What the program carries: all of it takes part, in the form that is tested, and does its work there.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Value, json};
use stud_tests::carried;

use crate::backend::Backend;
use crate::bench::{Form, Run, in_both_forms};

/// Those that are disabled by default.
const RESTING: [&str; 4] = [
    "guard-example",
    "observer-example",
    "transform-example",
    "system-prompt-file",
];

/// State machines are activated when they are attached to a session.
const UNATTACHED: [&str; 2] = ["plan-then-build", "review"];

#[test]
fn a_plugin_that_rests_takes_part_once_it_is_configured() {
    in_both_forms(|bench| {
        let states = || {
            let health = last(&bench.headless(&["--json"], "/health"));
            let extensions = health["payload"]["extensions"].as_array().unwrap().clone();
            let is_there = |extension: &&Value| extension["state"] == "loaded";
            let there = extensions.iter().filter(is_there);
            let there: BTreeSet<String> = there
                .map(|extension| extension["id"].as_str().unwrap().to_owned())
                .collect();
            RESTING.map(|id| there.contains(id))
        };
        assert_eq!(states(), [false; 4]);
        let file = json!({"path": "AGENTS.md", "tokenBudget": 100});
        bench.settings(&json!({
            "hooks": {
                "guard-example": {"enabled": true},
                "observer-example": {"slowToolThresholdMs": 9},
                "transform-example": {"enabled": false},
            },
            "contextProviders": {"system-prompt-file": file},
        }));
        assert_eq!(states(), [true, true, false, true]);
    });
}

#[test]
fn those_that_rest_are_in_the_catalog_where_they_are_wanted() {
    in_both_forms(|bench| {
        let call = r#"!tool catalog {"filterKind": "Hook"}"#;
        let listed = || {
            let result = bench.headless(&["--mode", "yolo"], call).result();
            result["result"]["entries"].as_array().unwrap().clone()
        };
        assert_eq!(listed(), Vec::<Value>::new());
        bench.settings(&json!({"tools": {"catalog": {"includeDisabled": true}}}));
        let listed = listed();
        let ids: Vec<_> = listed.iter().map(|entry| &entry["extId"]).collect();
        assert_eq!(
            ids,
            ["guard-example", "observer-example", "transform-example"]
        );
        assert!(listed.iter().all(|entry| entry["status"] == "disabled"));
        assert_eq!(listed[0]["scope"], bench.layer());
    });
}

#[test]
fn the_bundled_plugins_take_part_in_the_form_that_is_tested() {
    in_both_forms(|bench| {
        let list = bench.world.stud(&["plugin", "list", "--json"]).json();
        let plugins = list["plugins"].as_array().unwrap();
        let of_form = |form: &str| {
            let plugins = plugins.iter().filter(|plugin| plugin["form"] == form);
            let facts = plugins.map(|plugin| (plugin["extId"].clone(), plugin["status"].clone()));
            facts.collect::<Vec<_>>()
        };
        let (embedded, libraries) = (of_form("embedded"), of_form("library"));
        assert_eq!(embedded.len(), carried().len());
        let running = match bench.form {
            Form::Embedded => &embedded,
            Form::Libraries => {
                // Nothing is taken from the program itself.
                let shadowed = embedded.iter().all(|(_, is)| is == "shadowed");
                assert!(shadowed, "{embedded:#?}");
                &libraries
            }
        };
        assert_eq!(running.len(), embedded.len());
        for (id, is) in running {
            let status = if RESTING.iter().any(|resting| id == resting) {
                "disabled"
            } else if UNATTACHED.iter().any(|machine| id == machine) {
                "loaded"
            } else {
                "active"
            };
            assert_eq!(is, status, "{id}");
        }
        for plugin in plugins {
            assert_eq!(plugin["diagnostics"], json!([]), "{plugin:#}");
        }
    });
}

#[test]
fn the_same_plugins_take_part_in_a_session_in_both_forms() {
    let seen = RefCell::new(Vec::new());
    in_both_forms(|bench| {
        let health = last(&bench.headless(&["--json"], "/health"));
        let extensions = health["payload"]["extensions"].clone();
        for extension in extensions.as_array().unwrap() {
            let resting = RESTING.iter().any(|resting| extension["id"] == *resting);
            let state = if resting { "disabled" } else { "loaded" };
            assert_eq!(extension["state"], state, "{extension}");
        }
        seen.borrow_mut().push(extensions);
    });
    let seen = seen.into_inner();
    assert_eq!(seen[0], seen[1]);
    // The two screens are for terminals.
    assert_eq!(seen[0].as_array().unwrap().len(), carried().len() - 2);
}

/// A call of every bundled tool, each with what its result must hold; `web-fetch` has flows of its own.
fn calls() -> Vec<(&'static str, Value, &'static str)> {
    let notes = "notes.txt";
    let edit = |from: &str, to: &str| json!({"path": notes, "oldString": from, "newString": to});
    vec![
        (
            "write",
            json!({"path": notes, "content": "one\ntwo\n"}),
            "notes.txt",
        ),
        ("edit", edit("two", "three"), "notes.txt"),
        (
            "multi-edit",
            json!({"edits": [edit("one", "1"), edit("three", "3")]}),
            "notes.txt",
        ),
        ("read", json!({"path": notes}), "1\\n3\\n"),
        ("list", json!({"path": "."}), "notes.txt"),
        ("glob", json!({"pattern": "*.txt"}), "notes.txt"),
        ("grep", json!({"pattern": "^3$"}), "notes.txt"),
        ("diff", json!({"oldText": "a\n", "newText": "b\n"}), "+b"),
        ("bash", json!({"command": "cat notes.txt"}), "1\\n3\\n"),
        (
            "catalog",
            json!({"filterKind": "Provider"}),
            "openai-compatible",
        ),
        ("ask-user", json!({"prompt": "Which color?"}), "blue"),
        ("delegate", json!({"prompt": "hello"}), "USER hello"),
        (
            "context-compaction",
            json!({"targetUtilizationPercent": 90}),
            "\"compactedSegments\":0",
        ),
    ]
}

#[test]
fn every_tool_does_its_work() {
    in_both_forms(|bench| {
        let answer = json!({"do": "accept", "value": {"text": "blue"}});
        let yes = json!({"do": "accept", "value": {"outcome": "approve"}});
        let prompts = json!({"Ask": answer, "approveSubagentEnvelope": yes});
        bench.ui("one", &json!({ "prompts": prompts }));
        let calls = calls();
        let sequence: Value = calls
            .iter()
            .map(|(tool, args, _)| json!([tool, args]))
            .collect();
        let run = bench.headless(&["--mode", "yolo"], &format!("!seq {sequence}"));
        run.answer();
        let results = bench.recorded("tool_result");
        assert_eq!(results.len(), calls.len());
        for ((tool, _, holds), result) in calls.iter().zip(&results) {
            assert_eq!(result["toolName"], *tool);
            let content = result["content"].as_str().unwrap();
            let told: Value = serde_json::from_str(content).unwrap();
            assert_eq!(told["ok"], true, "{tool}: {content}");
            assert!(content.contains(holds), "{tool}: {content}");
        }
        // One that is added must be called here too.
        let listed = last(&bench.headless(&["--json"], "/tools"));
        let listed = listed["payload"]["tools"].as_array().unwrap().iter();
        let listed: BTreeSet<&str> = listed.map(|tool| tool["name"].as_str().unwrap()).collect();
        let called = calls.iter().map(|(tool, ..)| *tool);
        assert_eq!(listed, called.chain(["web-fetch"]).collect());
    });
}

#[test]
fn every_provider_answers() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        let providers = carried().into_iter();
        let providers = providers.filter(|plugin| plugin.folder == "providers");
        for provider in providers.map(|plugin| plugin.package) {
            let base = match provider.as_str() {
                "openai-compatible" => backend.completions(),
                _ => backend.messages(),
            };
            let (entry, answer) = match provider.as_str() {
                "echo" => (json!({}), "USER hello"),
                _ => (json!({"baseURL": base, "models": ["m1"]}), "from m1"),
            };
            bench.settings(&json!({
                "active": {"provider": provider},
                "providers": {provider.as_str(): entry},
            }));
            assert_eq!(bench.headless(&[], "hello").answer(), answer, "{provider}");
        }
    });
}

/// The last line of a run as JSON lines.
fn last(run: &Run) -> Value {
    let last = run.stdout.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{run:#?}"))
}

#[test]
fn whether_a_plugin_is_the_pinned_one_is_on_record() {
    in_both_forms(|bench| {
        let place = "home/tools/fixture-tools";
        bench.place("fixture-tools", place, |_| {});
        let pinned = bench.world.stud(&["plugin", "pin", "fixture-tools"]);
        assert_eq!(pinned.status, 0, "{pinned:#?}");
        let verdict = |word: &str| json!({"extensionId": "fixture-tools", "verdict": word});
        let verdicts = || -> Vec<Value> {
            let records = bench.audited("Integrity").into_iter();
            records.map(|mut record| record["payload"].take()).collect()
        };
        bench.headless(&[], "hello").answer();
        assert_eq!(verdicts(), [verdict("ok")]);
        bench.place("fixture-tools", place, |manifest| {
            manifest["description"] = "another one".into();
        });
        bench.headless(&[], "hello").answer();
        assert_eq!(verdicts(), [verdict("mismatch")]);
        // A session that does not begin has no trail.
        let sessions = bench.sessions().len();
        bench.settings(&json!({"securityMode": {"allowlist": ["x(*)"]}}));
        assert_eq!(bench.headless(&[], "hello").status, 1);
        assert_eq!(bench.sessions().len(), sessions);
        let deeds = bench.deeds();
        let deed = deeds.iter().find(|deed| deed["type"] == "Integrity");
        assert_eq!(deed.unwrap()["payload"], verdict("mismatch"));
    });
}
