//! Reload mid-turn: each plugin at the moment that it declared, and no other plugin.

use serde_json::{Value, json};

use crate::bench::{Bench, in_both_forms};

/// Three observers of the end of a turn, with the three behaviors, and one that is not reloaded.
fn observers(bench: &Bench) {
    for (id, behavior) in [
        ("at-boundary", "in-turn"),
        ("at-end", "between-turns"),
        ("at-no-time", "never"),
        ("bystander", "in-turn"),
    ] {
        bench.hook_with(
            "script-observer",
            id,
            "RENDER/post",
            json!({"phases": true}),
            |manifest| {
                manifest["reloadBehavior"] = behavior.into();
            },
        );
    }
}

/// What one of them did, in order: its phases, and `saw` for the end of a turn.
fn life(bench: &Bench, id: &str) -> Vec<String> {
    let lines = bench.hooked().into_iter();
    lines
        .filter(|line| line["hook"] == id)
        .map(|line| line["phase"].as_str().unwrap_or("saw").to_owned())
        .collect()
}

fn on_record(audit: &[Value], class: &str) -> Vec<Value> {
    let records = audit.iter().filter(|record| record["class"] == class);
    records
        .map(|record| record["payload"]["extId"].clone())
        .collect()
}

#[test]
fn each_plugin_is_reloaded_at_its_own_moment() {
    in_both_forms(|bench| {
        observers(bench);
        let mut talk = bench.talk(&[]);
        // The lines come while the stream of the answer runs, and its end is the next boundary.
        talk.say("!slow 5000");
        talk.hears(".");
        talk.say("/reload at-no-time");
        talk.is_asked("`at-no-time` is never reloaded");
        talk.say("/reload at-end");
        talk.is_asked("`at-end` is reloaded when the turn is over.");
        talk.say("/reload at-boundary");
        talk.is_asked("`at-boundary` is reloaded.");
        talk.say("again");
        talk.hears("USER again");
        let (status, _, _) = talk.end();
        assert_eq!(status, 0);

        let (up, down) = (["init", "activate"], ["deactivate", "dispose"]);
        let lived = |parts: &[&[&'static str]]| parts.concat();
        assert_eq!(
            life(bench, "at-boundary"),
            lived(&[&up, &down, &up, &["saw", "saw"], &down])
        );
        assert_eq!(
            life(bench, "at-end"),
            lived(&[&up, &["saw"], &down, &up, &["saw"], &down])
        );
        for id in ["at-no-time", "bystander"] {
            assert_eq!(
                life(bench, id),
                lived(&[&up, &["saw", "saw"], &down]),
                "{id}"
            );
        }
        let audit = bench.audit();
        let mut reloaded = on_record(&audit, "ExtensionReloaded");
        reloaded.sort_by_key(ToString::to_string);
        assert_eq!(reloaded, ["at-boundary", "at-end"]);
        assert_eq!(on_record(&audit, "ExtensionReloadRefused"), ["at-no-time"]);
    });
}

#[test]
fn a_plugin_takes_up_its_new_settings() {
    in_both_forms(|bench| {
        let mut talk = bench.talk(&[]);
        talk.say("/help");
        talk.is_asked("[help]");
        bench.settings(&json!({"commands": {"help": {"alias": ["wtf"]}}}));
        talk.say("/reload help");
        talk.is_asked("`help` is reloaded.");
        talk.say("/commands");
        talk.is_asked("also /wtf");
        talk.say("/reload");
        talk.is_asked("Left as they are: ");
        // A session in which nothing was said leaves nothing behind.
        talk.say("hello");
        talk.hears("USER hello");
        talk.end();
        let audit = bench.audit();
        let set = audit
            .iter()
            .find(|record| record["class"] == "ExtensionsReloaded");
        let set = &set.unwrap()["payload"];
        assert!(
            set["loaded"].as_array().unwrap().contains(&"echo".into()),
            "{set:#}"
        );
        assert_eq!(set["disabled"], json!([]));
        assert!(set["revisionId"].is_string());
    });
}

#[test]
fn a_build_that_does_not_come_up_is_switched_off_and_the_session_goes_on() {
    in_both_forms(|bench| {
        observers(bench);
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("hello");
        ear.sees_turns(1);
        let before = std::fs::read(bench.world.path("home/hooks/at-end/config.json")).unwrap();
        // A log in a folder that is not there cannot be written.
        let nowhere = bench.world.path("nowhere/hooks.log");
        let config = json!({"name": "at-end", "log": nowhere, "phases": true});
        bench
            .world
            .write("home/hooks/at-end/config.json", config.to_string());
        talk.say("/reload at-end");
        talk.is_asked("/reload did not run: ExtensionHost/LifecycleFailure");
        talk.say("again");
        talk.hears("USER again");
        let off = ["init", "activate", "saw", "deactivate", "dispose"];
        assert_eq!(life(bench, "at-end"), off);
        talk.say("/health");
        talk.is_asked("LifecycleFailure");
        bench.world.write("home/hooks/at-end/config.json", before);
        talk.say("/reload at-end");
        talk.is_asked("at-end");
        talk.say("once more");
        talk.hears("USER once more");
        let (status, _, _) = talk.end();
        assert_eq!(status, 0);
        let back = ["init", "activate", "saw"];
        assert_eq!(life(bench, "at-end")[..8], [&off[..], &back].concat());
    });
}
