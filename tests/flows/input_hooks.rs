//! Hooks on the input: what they change or refuse is what every later request has, or does not have.

use serde_json::{Value, json};

use crate::bench::{Bench, in_both_forms};

/// What the model is sent in the next turn, once the guard is removed.
fn history_after(bench: &Bench, arguments: &[&str]) -> Vec<Value> {
    std::fs::remove_dir_all(bench.world.path("home/hooks")).unwrap();
    bench.hook("script-observer", "later", "SEND_REQUEST/pre", json!({}));
    assert_eq!(bench.headless(arguments, "again").answer(), "USER again");
    let mut request = bench.seen_by("later").pop().unwrap();
    let messages = request["messages"].as_array_mut().unwrap();
    messages
        .iter_mut()
        .map(|message| message["content"].take())
        .collect()
}

/// Leaves only the journal of the session, as a crash before the first snapshot does.
fn forget_the_snapshot(bench: &Bench) -> String {
    let session = bench.sessions().pop().unwrap();
    let folder = bench.world.home().join("sessions").join(&session);
    std::fs::remove_file(folder.join("manifest.json")).unwrap();
    std::fs::remove_dir_all(folder.join("state")).unwrap();
    session
}

#[test]
fn what_a_transform_makes_of_the_input_is_what_was_said() {
    in_both_forms(|bench| {
        let config = json!({"at": "/content", "put": "my name is [hidden]"});
        bench.hook("script-transform", "hide", "RECEIVE_INPUT/pre", config);
        let answer = bench.headless(&[], "my name is Ada");
        assert_eq!(answer.answer(), "USER my name is [hidden]");
        let history = history_after(bench, &["--continue"]);
        assert_eq!(
            history,
            ["my name is [hidden]", "USER my name is [hidden]", "again"]
        );
    });
}

#[test]
fn what_a_transform_made_of_the_input_survives_without_a_snapshot() {
    in_both_forms(|bench| {
        let config = json!({"at": "/content", "put": "my name is [hidden]"});
        bench.hook("script-transform", "hide", "RECEIVE_INPUT/post", config);
        bench.headless(&[], "my name is Ada").answer();
        let session = forget_the_snapshot(bench);
        let history = history_after(bench, &["--resume", &session]);
        assert_eq!(history[0], "my name is [hidden]");
    });
}

#[test]
fn what_a_guard_refuses_is_never_sent() {
    in_both_forms(|bench| {
        let config = json!({"deny": "password", "reason": "no passwords here"});
        bench.hook("script-guard", "door", "RECEIVE_INPUT/pre", config);
        let ear = bench.ear();
        let run = bench.headless(&[], "my password is hunter2");
        assert_eq!(run.status, 1);
        stud_observed::covers!(FORBIDDEN, run.stderr);
        assert!(run.stderr.contains("no passwords here"), "{run:#?}");
        assert!(ear.heard("ProviderRequestStarted").is_empty());
        assert_eq!(ear.heard("SessionTurnEnd").len(), 1);
        assert_eq!(
            ear.stages(),
            ["pre RECEIVE_INPUT", "post RECEIVE_INPUT"],
            "no further stage runs"
        );
        assert_eq!(bench.audited("GuardDeny").len(), 1);
        assert_eq!(history_after(bench, &["--continue"]), ["again"]);
    });
}

#[test]
fn what_a_guard_refused_stays_out_without_a_snapshot() {
    in_both_forms(|bench| {
        let config = json!({"deny": "password"});
        bench.hook("script-guard", "door", "RECEIVE_INPUT/pre", config);
        assert_eq!(bench.headless(&[], "my password is hunter2").status, 1);
        let session = forget_the_snapshot(bench);
        assert_eq!(history_after(bench, &["--resume", &session]), ["again"]);
    });
}

#[test]
fn an_input_of_which_nothing_is_left_is_refused() {
    in_both_forms(|bench| {
        let config = json!({"at": "/content", "put": "  "});
        bench.hook("script-transform", "hide", "RECEIVE_INPUT/pre", config);
        let run = bench.headless(&[], "my name is Ada");
        assert_eq!(run.status, 1);
        assert!(
            run.stderr.contains("error[Validation/InputInvalid]"),
            "{run:#?}"
        );
        assert_eq!(history_after(bench, &["--continue"]), ["again"]);
    });
}

#[test]
fn a_request_that_a_guard_refuses_is_not_sent() {
    in_both_forms(|bench| {
        for slot in ["COMPOSE_REQUEST/pre", "SEND_REQUEST/pre"] {
            let config = json!({"deny": "hello", "reason": "not sent"});
            bench.hook("script-guard", "door", slot, config);
            let ear = bench.ear();
            let run = bench.headless(&[], "hello");
            assert_eq!(run.status, 1);
            assert!(run.stderr.contains("error[Validation/Forbidden]"), "{slot}");
            assert!(ear.heard("ProviderRequestStarted").is_empty());
        }
    });
}
