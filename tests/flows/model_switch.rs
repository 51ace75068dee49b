//! Hot model switch: another model or another provider answers, and what was said before stays.

use serde_json::{Value, json};
use stud_tests::eventually;

use crate::backend::Backend;
use crate::bench::{Bench, in_both_forms, place};

/// A person who picks this entry of every list.
fn picking(index: usize) -> Value {
    json!({"prompts": {"Select": {"do": "accept", "value": {"index": index}}}})
}

fn settings_of(bench: &Bench) -> Value {
    bench.settings_text().parse().unwrap()
}

fn two_models(bench: &Bench, backend: &Backend) {
    bench.settings(&json!({
        "tools": {"zulu": {}, "alpha": {}},
        "active": {"provider": "work"},
        "providers": {"work": {
            "protocol": "openai-compatible", "baseUrl": backend.completions(), "models": ["a", "b"],
        }},
    }));
}

#[test]
fn a_model_is_picked_from_the_list_of_its_entry() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        two_models(bench, &backend);
        let ui = bench.ui("one", &picking(1));
        let mut talk = bench.talk(&[]);
        talk.say("hello");
        talk.hears("from a");
        talk.say("/model");
        talk.is_asked("`b` of `work` answers from now on");
        talk.say("and now?");
        talk.hears("from b");
        assert_eq!(talk.end().0, 0);

        let [asked] = &ui.asked()[..] else {
            panic!("one question");
        };
        assert_eq!(asked["kind"], "Select");
        assert_eq!(asked["payload"]["options"], json!(["a", "b"]));
        let active = json!({"provider": "work", "model": "b"});
        assert_eq!(settings_of(bench)["active"], active);

        let [switched] = &bench.audited("ModelSwitch")[..] else {
            panic!("one switch");
        };
        let payload = json!({"from": "a", "to": "b", "providerId": "work"});
        assert_eq!(switched["payload"], payload);
        assert!(
            bench.audited("ProviderSwitch").is_empty(),
            "the protocol stayed"
        );
        let [negotiated] = &ui.heard("CapabilityNegotiated")[..] else {
            panic!("negotiated once");
        };
        assert_eq!(negotiated["modelId"], "b");

        // What was said to the first model is told to the second.
        assert_eq!(backend.models(), ["a", "b"]);
        let messages = &backend.bodies()[1]["messages"];
        let said = messages
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] != "system");
        let said: Vec<&Value> = said.map(|message| &message["content"]).collect();
        assert_eq!(
            said,
            [&json!("hello"), &json!("from a"), &json!("and now?")]
        );
    });
}

#[test]
fn the_next_start_begins_with_what_was_chosen() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        two_models(bench, &backend);
        let before = bench.settings_text();
        let mut talk = bench.talk(&[]);
        talk.say("/model b");
        talk.is_asked("`b` of `work`");
        assert_eq!(talk.end().0, 0);
        let expected = before.replace(
            r#""active":{"provider":"work"}"#,
            r#""active":{"provider":"work","model": "b"}"#,
        );
        assert_eq!(bench.settings_text(), expected, "nothing else changed");
        assert_eq!(
            bench.audited("ModelSwitch").len(),
            1,
            "a switch is remembered"
        );
        let mut talk = bench.talk(&[]);
        talk.say("hello");
        talk.hears("from b");
        assert_eq!(talk.end().0, 0);
    });
}

#[test]
fn a_name_that_is_not_there_changes_nothing() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        two_models(bench, &backend);
        let before = bench.settings_text();
        let mut talk = bench.talk(&[]);
        talk.say("/model zz");
        talk.is_asked("Validation/ModelNotInProvider");
        talk.say("/provider elsewhere");
        talk.is_asked("Validation/UnknownConfigKey");
        talk.say("hello");
        talk.hears("from a");
        assert_eq!(talk.end().0, 0);
        assert_eq!(bench.settings_text(), before);
        assert!(bench.audited("ModelSwitch").is_empty());
    });
}

#[test]
fn entries_of_one_protocol_are_told_apart() {
    in_both_forms(|bench| {
        let (here, there) = (Backend::start(), Backend::start());
        let entry = |backend: &Backend, models: &[&str]| json!({"protocol": "openai-compatible", "baseURL": backend.completions(), "models": models});
        bench.settings(&json!({
            "active": {"provider": "here"},
            "providers": {"here": entry(&here, &["a", "b"]), "there": entry(&there, &["z", "b"])},
        }));
        let mut talk = bench.talk(&[]);
        talk.say("/provider there");
        talk.is_asked("`z` of `there`");
        talk.say("one");
        talk.hears("from z");
        talk.say("/model b");
        talk.is_asked("`b` of `there`");
        // A name that both have is kept.
        talk.say("/provider here");
        talk.is_asked("`b` of `here`");
        talk.say("two");
        talk.hears("from b");
        assert_eq!(talk.end().0, 0);
        assert_eq!(
            (there.models(), here.models()),
            (vec!["z".to_owned()], vec!["b".to_owned()])
        );
        assert!(bench.audited("ProviderSwitch").is_empty());
        assert_eq!(bench.audited("ModelSwitch").len(), 3);
    });
}

#[test]
fn leaving_a_protocol_is_on_record_and_warned_of() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        bench.settings(&json!({
            "active": {"provider": "claude"},
            "providers": {
                "claude": {"protocol": "anthropic", "baseURL": backend.messages(), "models": ["opus"]},
                "openai-compatible": {"baseUrl": backend.completions(), "model": "mock"},
            },
        }));
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("hello");
        talk.hears("from opus");
        talk.say("/provider openai-compatible");
        talk.is_asked("`mock` of `openai-compatible`");
        talk.say("and you?");
        talk.hears("from mock");
        assert_eq!(talk.end().0, 0);

        let classes: Vec<String> = bench
            .audit()
            .iter()
            .map(|record| record["class"].as_str().unwrap().to_owned())
            .collect();
        assert!(place(&classes, "ProviderSwitch") < place(&classes, "ModelSwitch"));
        let providers = json!({"from": "claude", "to": "openai-compatible"});
        assert_eq!(bench.audited("ProviderSwitch")[0]["payload"], providers);
        let [warning] = &ear.heard("ReasoningProviderPortabilityWarning")[..] else {
            panic!("one warning");
        };
        assert_eq!(warning["from"], "claude");
        assert_eq!(warning["to"], "openai-compatible");
        assert_eq!(warning["modelId"], "mock");
        assert!(warning["message"].is_string());
    });
}

#[test]
fn nothing_is_switched_while_a_turn_runs() {
    in_both_forms(|bench| {
        bench.settings(&json!({"providers": {"echo": {"models": ["echo-1", "echo-2"]}}}));
        let before = bench.settings_text();
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("!slow 600000");
        eventually("a turn", || ear.heard("SessionTurnStart").pop());
        for command in ["/model echo-2", "/provider echo"] {
            talk.say(command);
            let name = command.split(' ').next().unwrap();
            talk.is_asked(&format!("{name} is blocked"));
        }
        assert_eq!(bench.settings_text(), before);
        // Parameters go with the next request, whichever turn it belongs to.
        talk.say("/params a=1");
        talk.is_asked("a = 1  (/params)");
        // The turn is not waited for.
    });
}

#[test]
fn a_command_that_is_typed_when_the_answer_appears_waits_for_the_end_of_the_turn() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        two_models(bench, &backend);
        // The answer is on the screen, and the turn is still to be closed.
        let linger = json!({"misbehave": "linger"});
        bench.hook("script-transform", "slow", "RENDER/pre", linger);
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("hello");
        talk.hears("from a");
        talk.say("/model b");
        talk.is_asked("`b` of `work` answers from now on");
        talk.say("and now?");
        talk.hears("from b");
        talk.say("/model a");
        talk.is_asked("`a` of `work` answers from now on");
        let (status, _, notes) = talk.end();
        assert_eq!(status, 0);
        assert!(!notes.contains("is blocked"), "{notes}");
        let names: Vec<String> = ear
            .events()
            .iter()
            .map(|event| event["heard"].as_str().unwrap().to_owned())
            .filter(|name| name.starts_with("SessionTurn") || name.starts_with("Command"))
            .collect();
        let each = [
            "SessionTurnStart",
            "SessionTurnEnd",
            "CommandDispatched",
            "CommandResulted",
        ];
        assert_eq!(names, [each, each].concat());
    });
}

#[test]
fn a_choice_that_cannot_be_written_down_is_not_made() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        two_models(bench, &backend);
        let mut talk = bench.talk(&[]);
        talk.say("hello");
        talk.hears("from a");
        // A change of settings locks this file, and a folder cannot be locked.
        let lock = bench.world.home().join("settings.lock");
        std::fs::create_dir(&lock).unwrap();
        talk.say("/model b");
        talk.is_asked("the settings could not be changed");
        std::fs::remove_dir(&lock).unwrap();
        bench.world.write("home/settings.json", "{ half");
        talk.say("/model b");
        talk.is_asked("Validation/SettingsShapeInvalid");
        assert_eq!(
            bench.settings_text(),
            "{ half",
            "what cannot be read is not touched"
        );
        talk.say("still there?");
        eventually("the second request", || {
            (backend.models().len() == 2).then_some(())
        });
        assert_eq!(backend.models(), ["a", "a"]);
        assert_eq!(talk.end().0, 0);
        assert!(bench.audited("ModelSwitch").is_empty());
    });
}

#[test]
fn an_entry_that_came_later_is_brought_up_when_it_is_wanted() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        two_models(bench, &backend);
        let mut talk = bench.talk(&[]);
        talk.say("hello");
        talk.hears("from a");
        let mut settings = settings_of(bench);
        settings["providers"]["late"] = json!({
            "protocol": "openai-compatible", "baseURL": backend.completions(), "models": ["new"],
        });
        settings["providers"]["broken"] =
            json!({"protocol": "openai-compatible", "baseURL": "nowhere"});
        bench.settings(&settings);
        talk.say("/provider broken");
        talk.is_asked("Validation/ConfigSchemaViolation");
        talk.say("/provider late");
        talk.is_asked("`new` of `late`");
        talk.say("and you?");
        talk.hears("from new");
        assert_eq!(talk.end().0, 0);
    });
}

#[test]
fn an_entry_that_nobody_serves_is_named_when_it_is_chosen() {
    in_both_forms(|bench| {
        let entry = json!({"protocol": "telepathy", "models": ["m"]});
        bench.settings(&json!({"active": {"provider": "odd"}, "providers": {"odd": entry}}));
        let run = bench.headless(&[], "hello");
        assert_eq!(run.status, 1, "{run:#?}");
        assert!(
            run.stderr.contains("Validation/UnknownProtocol"),
            "{run:#?}"
        );
        bench.settings(&json!({"active": {"provider": "nobody"}}));
        let run = bench.headless(&[], "hello");
        assert_eq!(run.status, 1, "{run:#?}");
        assert!(
            run.stderr.contains("Validation/UnknownConfigKey"),
            "{run:#?}"
        );
    });
}

#[test]
fn the_original_form_of_a_config_just_works() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        bench.settings(&json!({
            "active": {"provider": "openai-compatible"},
            "providers": {"openai-compatible": {
                "apiKeyRef": {"kind": "env", "name": "MOCK_KEY"},
                "baseUrl": backend.completions(),
                "model": "mock",
            }},
        }));
        let run = bench.headless_with(&[("MOCK_KEY", "a-key-of-some-length")], "hello");
        assert_eq!(run.answer(), "from mock");
    });
}
