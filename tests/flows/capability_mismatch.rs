//! Capability mismatch: a model that lacks what the session needs is not switched to.

use serde_json::{Value, json};

use crate::backend::Backend;
use crate::bench::{Bench, in_both_forms};

/// Puts a hook into the world that needs something of the model.
fn needy(bench: &Bench, need: Value) {
    bench.hook("script-observer", "needy", "SEND_REQUEST/pre", json!({}));
    bench.place("script-observer", "home/hooks/needy", |manifest| {
        manifest["extId"] = "needy".into();
        manifest["discoveryRules"]["manifestKey"] = "needy".into();
        manifest["registration"]["slot"] = "SEND_REQUEST/pre".into();
        manifest["modelNeeds"] = json!([need]);
    });
}

fn tools(level: &str) -> Value {
    json!({"name": "toolCalling", "level": level})
}

fn a_mute_model(bench: &Bench, backend: &Backend) {
    bench.settings(&json!({
        "active": {"provider": "work"},
        "providers": {"work": {
            "protocol": "openai-compatible",
            "baseURL": backend.completions(),
            "models": ["a", {"id": "mute", "toolCalling": "absent", "contextWindow": 4000}, "b"],
        }},
    }));
}

/// A person who picks these entries of lists, one after the other.
fn picking(indexes: &[usize]) -> Value {
    let picks: Vec<Value> = indexes
        .iter()
        .map(|index| json!({"do": "accept", "value": {"index": index}}))
        .collect();
    json!({"prompts": {"Select": picks}})
}

#[test]
fn a_model_that_lacks_what_is_needed_is_refused_and_another_offered() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        a_mute_model(bench, &backend);
        needy(bench, tools("hard"));
        // The first time the person gives up, the second time they take `b`.
        let ui = bench.ui("one", &picking(&[2, 1]));
        let before = bench.settings_text();
        let mut talk = bench.talk(&[]);
        talk.say("/model mute");
        talk.is_asked("Nothing was changed");
        assert_eq!(bench.settings_text(), before);
        talk.say("still you?");
        talk.hears("from a");

        let asked = &ui.asked()[0]["payload"];
        assert!(
            asked["prompt"].as_str().unwrap().contains("`toolCalling`"),
            "{asked}"
        );
        assert_eq!(asked["options"], json!(["a", "b", "abort"]));
        let mismatch = json!({
            "missingCapabilities": ["toolCalling"], "paramsAffected": [], "direction": "switch-into",
        });
        assert_eq!(ui.heard("CapabilityMismatch"), [mismatch]);

        ui.sees_turns(1);
        talk.say("/model mute");
        talk.is_asked("`b` of `work`");
        talk.say("and now?");
        talk.hears("from b");
        assert_eq!(talk.end().0, 0);

        let rejected = bench.audited("ModelSwitchRejected");
        assert_eq!(rejected.len(), 2);
        let payload = &rejected[0]["payload"];
        assert_eq!(
            (&payload["from"], &payload["to"]),
            (&json!("a"), &json!("mute"))
        );
        assert_eq!(payload["reason"]["code"], "MissingCapability");
        assert!(
            payload["reason"]["message"]
                .as_str()
                .unwrap()
                .contains("toolCalling")
        );
        assert!(
            bench.audited("ProviderSwitchRejected").is_empty(),
            "the protocol would stay"
        );
    });
}

#[test]
fn a_provider_that_lacks_it_is_refused_as_a_whole() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        a_mute_model(bench, &backend);
        needy(bench, tools("hard"));
        bench.place(
            "script-provider",
            "home/providers/script-provider",
            |manifest| {
                manifest["capabilities"]["toolCalling"] = "absent".into();
            },
        );
        let ui = bench.ui(
            "one",
            &json!({"prompts": {"Select": {"do": "reject", "reason": "no"}}}),
        );
        let mut talk = bench.talk(&[]);
        talk.say("/provider script-provider");
        talk.is_asked("Nothing was changed");
        talk.say("still you?");
        talk.hears("from a");
        assert_eq!(talk.end().0, 0);
        let [rejected] = &bench.audited("ProviderSwitchRejected")[..] else {
            panic!("one provider was rejected");
        };
        let payload = &rejected["payload"];
        assert_eq!(
            (&payload["from"], &payload["to"]),
            (&json!("work"), &json!("script-provider"))
        );
        assert_eq!(payload["reason"]["code"], "MissingCapability");
        assert_eq!(bench.audited("ModelSwitchRejected").len(), 1);
        assert_eq!(
            ui.heard("CapabilityMismatch")[0]["missingCapabilities"],
            json!(["toolCalling"])
        );
    });
}

#[test]
fn what_is_only_preferred_is_a_warning() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        a_mute_model(bench, &backend);
        needy(bench, tools("preferred"));
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("/model mute");
        talk.is_asked("It lacks `toolCalling`");
        assert_eq!(talk.end().0, 0);
        let negotiated = ear.heard("CapabilityNegotiated").pop().unwrap();
        let warning = json!({"name": "toolCalling", "reason": "preferred-unmet"});
        assert_eq!(negotiated["warnings"], json!([warning]));
        assert_eq!(bench.audited("ModelSwitch").len(), 1);
    });
}

#[test]
fn a_window_has_to_be_large_enough() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        a_mute_model(bench, &backend);
        let window =
            |minimum: u32| json!({"name": "contextWindow", "level": "hard", "minimum": minimum});
        needy(bench, window(4001));
        let ui = bench.ui("one", &picking(&[2]));
        let mut talk = bench.talk(&[]);
        talk.say("/model mute");
        talk.is_asked("Nothing was changed");
        assert_eq!(talk.end().0, 0);
        assert_eq!(
            ui.heard("CapabilityMismatch")[0]["missingCapabilities"],
            json!(["contextWindow"])
        );
        needy(bench, window(4000));
        let mut talk = bench.talk(&[]);
        talk.say("/model mute");
        talk.is_asked("`mute` of `work`");
        assert_eq!(talk.end().0, 0);
    });
}

#[test]
fn a_session_does_not_begin_with_a_model_that_will_not_do() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        a_mute_model(bench, &backend);
        needy(bench, tools("hard"));
        let mut settings: Value = bench.settings_text().parse().unwrap();
        settings["active"]["model"] = "mute".into();
        bench.settings(&settings);
        let run = bench.headless(&[], "hello");
        assert_eq!(run.status, 1, "{run:#?}");
        assert!(
            run.stderr.contains("ProviderCapability/MissingCapability"),
            "{run:#?}"
        );
        assert!(backend.models().is_empty());
        // No session was started that could be resumed, and the reason is recorded.
        let session = bench.sessions().pop().unwrap();
        let folder = bench.world.home().join("sessions").join(session);
        let kept = std::fs::read_dir(folder).unwrap();
        let kept: Vec<_> = kept.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(kept, ["audit"]);
        let rejected = bench.audited("ModelSwitchRejected");
        assert_eq!(
            rejected[0]["payload"]["reason"]["code"],
            "MissingCapability"
        );
        assert_eq!(bench.headless(&["--continue"], "hello").status, 1);
    });
}
