//! Attaching: which machine a session has, from where, and what is refused.

use serde_json::{Value, json};

use crate::bench::{Bench, in_both_forms};
use crate::machine::{Machine, done, stage, to};

fn machine(bench: &Bench, id: &str) -> Machine {
    let stages = [
        stage("first", &done("one"), &[]),
        stage("second", &done("two"), &[]),
    ];
    Machine::of(
        bench,
        id,
        &stages,
        &json!({"next": {"first": to("second")}}),
    )
}

#[test]
fn an_unknown_machine_names_the_known_ones() {
    in_both_forms(|bench| {
        machine(bench, "ralph");
        let run = bench.headless(&["--sm", "ralf"], "go");
        assert_eq!(run.status, 1);
        assert!(
            run.stderr.contains("Validation/ExtensionNotFound"),
            "{run:#?}"
        );
        assert!(run.stderr.contains("did you mean `ralph`?"), "{run:#?}");
    });
}

#[test]
fn a_workflow_begins_without_an_input() {
    in_both_forms(|bench| {
        let ralph = machine(bench, "ralph");
        assert_eq!(bench.headless(&["--sm", "ralph"], "").answer(), "two");
        assert_eq!(
            ralph.called("setup", "first")[0]["context"].get("input"),
            None
        );
    });
}

#[test]
fn the_settings_attach_a_machine_and_the_next_input_begins_its_workflow() {
    in_both_forms(|bench| {
        let ralph = machine(bench, "ralph");
        bench.settings(&json!({"active": {"attachedSM": "ralph"}}));
        assert_eq!(bench.headless(&[], "go").answer(), "two");
        assert_eq!(ralph.called("setup", "first")[0]["context"]["input"], "go");
        assert_eq!(
            bench.headless(&["--continue"], "done?").answer(),
            "USER done?"
        );
    });
}

#[test]
fn a_machine_attaches_itself_and_two_do_not() {
    in_both_forms(|bench| {
        let stages = [stage("only", &done("one"), &[])];
        let auto = json!({"autoAttach": true});
        Machine::with_config(bench, "alpha", &stages, &json!({}), &auto);
        assert_eq!(bench.headless(&[], "go").answer(), "one");
        Machine::with_config(bench, "beta", &stages, &json!({}), &auto);
        let run = bench.headless(&[], "go");
        assert_eq!(run.status, 1);
        stud_observed::covers!(SM_ALREADY_ATTACHED, run.stderr);
    });
}

#[test]
fn a_config_chooses_where_the_workflow_begins() {
    in_both_forms(|bench| {
        let stages = [
            stage("first", &done("one"), &[]),
            stage("second", &done("two"), &[]),
        ];
        let second = json!({"entry": "second"});
        let ralph = Machine::with_config(bench, "ralph", &stages, &json!({}), &second);
        assert_eq!(bench.headless(&["--sm", "ralph"], "go").answer(), "two");
        assert!(ralph.called("setup", "first").is_empty());
        let nowhere = json!({"entry": "nowhere"});
        Machine::with_config(bench, "ralph", &stages, &json!({}), &nowhere);
        let run = bench.headless(&["--sm", "ralph"], "go");
        assert!(
            run.stderr.contains("Validation/StageDefinitionInvalid"),
            "{run:#?}"
        );
    });
}

#[test]
fn a_command_attaches_shows_and_detaches() {
    in_both_forms(|bench| {
        machine(bench, "ralph");
        machine(bench, "other");
        let ui = bench.ear();
        let mut talk = bench.talk(&[]);
        talk.say("/sm");
        talk.is_asked("No state machine is attached. `/sm attach ID` attaches one of: other, plan-then-build, ralph, review");
        talk.say("/sm attach ralph");
        talk.is_asked("`ralph` is attached.");
        talk.say("/sm attach other");
        talk.is_asked("Validation/SMAlreadyAttached");
        talk.say("/sm attach ralph");
        talk.is_asked("`ralph` is attached.");
        talk.say("go");
        ui.sees_turns(2);
        talk.say("/sm status");
        talk.is_asked("ralph: its workflow is done.");
        talk.say("/sm detach");
        talk.is_asked("`ralph` is detached.");
        talk.say("hello");
        talk.hears("USER hello");
        talk.end();
        assert_eq!(ui.heard("SMAttached").len(), 1);
        assert_eq!(ui.heard("SMDetached"), [json!({"smId": "ralph"})]);
    });
}

#[test]
fn a_resumed_session_has_its_machine_and_no_other() {
    in_both_forms(|bench| {
        let stages = [stage("only", &done("one"), &[])];
        Machine::of(bench, "ralph", &stages, &json!({"slot": "ralph"}));
        machine(bench, "other");
        bench.headless(&["--sm", "ralph"], "go").answer();
        let session = bench.sessions().pop().unwrap();
        let path = bench
            .world
            .home()
            .join("sessions")
            .join(session)
            .join("manifest.json");
        let manifest: Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(
            manifest["smState"],
            json!({"smExtId": "ralph", "stateSlotRef": "ralph"})
        );
        let ui = bench.ear();
        assert_eq!(
            bench.headless(&["--continue"], "more").answer(),
            "USER more"
        );
        assert_eq!(
            ui.heard("SMAttached"),
            [json!({"resumed": true, "sawSlot": true, "smId": "ralph"})]
        );
        let run = bench.headless(&["--continue", "--sm", "other"], "more");
        assert!(
            run.stderr.contains("Validation/SMAlreadyAttached"),
            "{run:#?}"
        );
        assert_eq!(
            bench
                .headless(&["--continue", "--sm", "ralph"], "again")
                .answer(),
            "USER again"
        );
    });
}
