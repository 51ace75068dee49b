//! Parameters of the provider: three layers, one bag, and nothing that is a secret.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::backend::Backend;
use crate::bench::{Bench, in_both_forms};

const SECRET: &str = "sk-0123456789abcdefghijklmnop";

fn with_defaults(bench: &Bench, backend: &Backend, defaults: Value) {
    bench.settings(&json!({
        "active": {"provider": "work"},
        "providers": {
            "work": {
                "protocol": "openai-compatible",
                "baseURL": backend.completions(),
                "models": ["a", {"id": "plain", "reasoning": "absent"}],
                "defaultParams": defaults,
            },
            "claude": {"protocol": "anthropic", "baseURL": backend.messages(), "models": ["opus"]},
        },
    }));
}

/// The files below a folder in which a text stands.
fn holders(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holders(&path, text));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes())
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_person_stands_over_the_launch_and_the_launch_over_the_settings() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        with_defaults(
            bench,
            &backend,
            json!({"temperature": 0.1, "topP": 0.2, "seed": 7}),
        );
        let ear = bench.ear();
        let mut talk = bench.talk(&["--param", "topP=0.5", "--param", "user=me"]);
        talk.say("/params topP=0.6 stopSequences=[\"x y\"]");
        talk.is_asked("topP = 0.6  (/params)");
        talk.is_asked("user = \"me\"  (launch)");
        talk.is_asked("temperature = 0.1  (defaultParams)");
        talk.say("hello");
        talk.hears("from a");
        assert_eq!(talk.end().0, 0);

        let sent = &backend.bodies()[0];
        let members =
            ["temperature", "top_p", "seed", "user", "stop"].map(|name| sent[name].clone());
        assert_eq!(json!(members), json!([0.1, 0.6, 7, "me", ["x y"]]));

        let changed = ear.heard("ParamsChanged");
        let paths: Vec<&Value> = changed.iter().map(|event| &event["paramPath"]).collect();
        assert_eq!(paths, ["topP", "stopSequences"]);
        assert_eq!(changed[0]["sourceLayer"], "/params");
        assert_eq!(changed[0]["redactedDelta"], 0.6);
        let id = changed[0]["correlationId"].as_str().unwrap();
        assert!(id.starts_with("params:"), "{id}");
        assert_eq!(changed[1]["correlationId"], id, "one call, one id");

        let records = bench.audited("Params");
        let of_layer = |layer: &str| {
            let records = records
                .iter()
                .filter(|record| record["payload"]["sourceLayer"] == layer);
            records.collect::<Vec<_>>()
        };
        let launched = of_layer("launch");
        let expected =
            json!({"paramPath": ["topP"], "sourceLayer": "launch", "redactedValue": 0.5});
        assert_eq!(launched[0]["payload"], expected);
        assert_eq!(launched.len(), 2);
        let launch_id = launched[0]["correlationId"].as_str().unwrap();
        assert!(launch_id.starts_with("launch:"), "{launch_id}");
        assert_eq!(launched[1]["correlationId"], launch_id);
        let by_command = of_layer("/params");
        assert_eq!(by_command.len(), 2);
        assert_eq!(
            (&by_command[0]["correlationId"], &by_command[0]["kind"]),
            (&json!(id), &json!("ParamsChanged"))
        );
    });
}

#[test]
fn all_are_set_or_none() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        with_defaults(bench, &backend, json!({}));
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("/params temperature=0.4 efort=high top_p=1 promptCacheKey=x");
        talk.is_asked("Nothing was changed");
        for code in ["ParamUnknown", "ParamWireShape", "ParamReserved"] {
            talk.is_asked(code);
        }
        talk.say("/params temperature=9");
        talk.is_asked("ConfigSchemaViolation");
        talk.say("hello");
        talk.hears("from a");
        assert_eq!(talk.end().0, 0);
        assert!(backend.bodies()[0].get("temperature").is_none());
        assert!(ear.heard("ParamsChanged").is_empty());
        assert_eq!(ear.heard("ParamUnknown")[0]["paramPath"], "efort");
        assert!(bench.audited("Params").is_empty());
    });
}

#[test]
fn a_secret_is_no_parameter_and_is_found_nowhere() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        with_defaults(bench, &backend, json!({}));
        let mut talk = bench.talk(&[]);
        talk.say(&format!("/params user={SECRET}"));
        talk.is_asked("ParamSecretValue");
        talk.say("hello");
        talk.hears("from a");
        let (status, out, err) = talk.end();
        assert_eq!(status, 0);
        assert!(!out.contains(SECRET) && !err.contains(SECRET), "{err}");
        let run = bench.headless(&["--param", &format!("user={SECRET}")], "hello");
        assert_eq!(run.status, 1, "{run:#?}");
        assert!(
            run.stderr.contains("Validation/ParamSecretValue"),
            "{run:#?}"
        );
        assert!(!run.stderr.contains(SECRET), "{run:#?}");
        assert_eq!(holders(&bench.world.home(), SECRET), Vec::<PathBuf>::new());
    });
}

#[test]
fn an_override_that_the_other_provider_does_not_know_stops_the_switch() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        with_defaults(bench, &backend, json!({"textVerbosity": "low"}));
        let before = bench.settings_text();
        let mut talk = bench.talk(&["--param", "reasoningEffort=low"]);
        talk.say("/provider claude");
        talk.is_asked("Validation/ParamUnknown");
        assert_eq!(bench.settings_text(), before);
        talk.say("hello");
        talk.hears("from a");
        assert_eq!(talk.end().0, 0);
        // What only the settings of the first say is no obstacle.
        let mut talk = bench.talk(&["--param", "temperature=0.3"]);
        talk.say("/provider claude");
        talk.is_asked("`opus` of `claude`");
        talk.say("hello");
        talk.hears("from opus");
        assert_eq!(talk.end().0, 0);
        let sent = backend.bodies().pop().unwrap();
        assert_eq!(sent["temperature"], 0.3);
        assert!(sent.get("text").is_none());
    });
}

#[test]
fn what_a_model_does_not_heed_is_told_and_stops_nothing() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        with_defaults(bench, &backend, json!({"reasoningEffort": "low"}));
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("/model plain");
        talk.is_asked("ignores `reasoningEffort`");
        assert_eq!(talk.end().0, 0);
        let mismatch = json!({
            "missingCapabilities": [], "paramsAffected": ["reasoningEffort"], "direction": "switch-into",
        });
        assert_eq!(ear.heard("CapabilityMismatch"), [mismatch]);
        let told = &ear.heard("ParamUnsupportedOnActive")[0];
        assert_eq!(told["paramPath"], "reasoningEffort");
        let mut problem = told.clone();
        problem["class"] = json!("Validation");
        stud_observed::covers!(PARAM_UNSUPPORTED_ON_ACTIVE, problem);
        assert!(ear.heard("CapabilityNegotiated").is_empty());
        assert_eq!(bench.audited("ModelSwitch").len(), 1);
    });
}

/// Says one more thing in the session, in a process of its own.
fn go_on(bench: &Bench, text: &str) {
    let mut talk = bench.talk(&["--continue"]);
    talk.say(text);
    talk.hears("from a");
    assert_eq!(talk.end().0, 0);
}

#[test]
fn parameters_of_the_last_process_are_not_resumed_and_that_is_told() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        with_defaults(bench, &backend, json!({"seed": 7}));
        let mut talk = bench.talk(&["--param", "topP=0.5"]);
        talk.say("/params temperature=0.4");
        talk.is_asked("temperature = 0.4");
        talk.say("hello");
        talk.hears("from a");
        assert_eq!(talk.end().0, 0);

        let ear = bench.ear();
        go_on(bench, "again");
        let sent = backend.bodies().pop().unwrap();
        assert_eq!(sent["seed"], 7);
        assert!(sent.get("temperature").is_none() && sent.get("top_p").is_none());
        let forgotten = ear.heard("RuntimeParamsNotResumed");
        let paths: Vec<&Value> = forgotten.iter().map(|event| &event["paramPath"]).collect();
        assert_eq!(paths, ["temperature", "topP"]);
        let audited = || {
            let mut records = bench.audited("Params");
            records.retain(|record| record["kind"] == "RuntimeParamsNotResumed");
            records
        };
        let expected =
            json!({"paramPath": ["temperature"], "sourceLayer": "/params", "redactedValue": 0.4});
        assert_eq!(audited()[0]["payload"], expected);
        assert_eq!(audited().len(), 2);

        // They are forgotten once.
        go_on(bench, "once more");
        assert_eq!(audited().len(), 2);
    });
}

#[test]
fn a_backend_that_compacts_by_itself_beside_core_is_told() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        with_defaults(bench, &backend, json!({}));
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("/provider claude");
        talk.is_asked("opus");
        talk.say(r#"/params contextManagement={"edits":[{"type":"clear_tool_uses"}]}"#);
        talk.is_asked("contextManagement");
        talk.end();
        let told = json!({
            "providerId": "claude",
            "modelId": "opus",
            "paramPath": "contextManagement",
            "sourceLayer": "/params",
        });
        assert_eq!(ear.heard("DoubleCompactionConfigured"), [told]);
    });
}

/// A model that writes down what it is asked, and a context provider that does what its script says.
fn scripted(bench: &Bench) {
    bench.install("script-provider", "providers");
    bench.install("script-context-provider", "context-providers");
    let [asked, adds] = ["asked", "adds"].map(|file| bench.world.path(file));
    bench.settings(&json!({
        "active": {"provider": "script-provider", "model": "script-1"},
        "providers": {"script-provider": {"log": asked}},
        "contextProviders": {"script-context-provider": {"script": adds}},
    }));
}

fn asked(bench: &Bench) -> Vec<Value> {
    let text = std::fs::read_to_string(bench.world.path("asked")).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[test]
fn a_limit_and_a_temperature_stand_by_themselves_too() {
    in_both_forms(|bench| {
        scripted(bench);
        bench.headless(&[], "hello").answer();
        let set = ["--param", "temperature=1", "--param", "maxOutputTokens=77"];
        bench.headless(&set, "hello").answer();
        let [plain, limited] = &asked(bench)[..] else {
            panic!("two requests");
        };
        assert_eq!(plain["maxTokens"], Value::Null);
        assert_eq!(plain["temperature"], Value::Null);
        assert_eq!(limited["maxTokens"], 77);
        assert_eq!(limited["temperature"], 1.0);
        let params = json!({"temperature": 1, "maxOutputTokens": 77});
        assert_eq!(limited["params"], params);
    });
}

#[test]
fn a_system_prompt_that_others_speak_through_is_not_left_out() {
    in_both_forms(|bench| {
        scripted(bench);
        let remove = ["--param", "systemMessageMode=remove"];
        let adds = |kind: &str| {
            let added =
                json!({"kind": kind, "content": "Be brief.", "tokenBudget": 10, "priority": 0});
            bench
                .world
                .write("adds", json!({"return": [added]}).to_string());
        };
        adds("prompt-fragment");
        bench.headless(&remove, "hello").answer();
        adds("system-message");
        bench.headless(&[], "hello").answer();
        assert_eq!(asked(bench).len(), 2);

        let run = bench.headless(&remove, "hello");
        assert_eq!(run.status, 1, "{run:#?}");
        stud_observed::covers!(SYSTEM_MODE_REMOVE_LOAD_BEARING, run.stderr);
        assert!(run.stderr.contains("script-context-provider"));
        assert_eq!(asked(bench).len(), 2, "nothing was sent");
    });
}
