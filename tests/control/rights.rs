//! Who may send what, and what a sender without rights can find out.

use serde_json::{Value, json};

use crate::bench::{Bench, changed};

fn from(message: &Value, sender: &str) -> Value {
    changed(message, "sender", &json!(sender))
}

#[test]
fn tcp_40_41_senders_are_members_of_the_team() {
    let bench = Bench::new();
    let message = bench.stdin("one", "text");
    for stranger in [
        "eve",
        "ADA",
        "ada ",
        "ada@other",
        "eve@crew",
        "@crew",
        "owner",
    ] {
        bench.expect(&from(&message, stranger), "rejected");
    }
    bench.expect(&changed(&message, "team", &json!("other")), "rejected");
    let mut foreign = from(&message, "ada@other");
    foreign["team"] = "other".into();
    bench.expect(&foreign, "rejected");
    bench.expect(&from(&message, "ada@crew"), "ok");
    bench.expect(&from(&bench.stdin("two", "text"), "ben"), "ok");
    assert_eq!(bench.inputs(), ["text", "text"]);
}

#[test]
fn tcp_40_without_a_roster_only_the_owner_may_send() {
    let bench = Bench::with(&json!({"members": []}));
    bench.expect(&bench.stdin("one", "text"), "rejected");
    bench.expect(&from(&bench.stdin("one", "text"), "owner"), "rejected");
}

#[test]
fn tcp_42_a_sender_without_rights_finds_out_nothing() {
    let bench = Bench::new();
    let known = bench.stdin("one", "text");
    let unknown = changed(
        &known,
        "session_id",
        &json!("0197a8c2-5d1e-7c3a-9b60-3f1f0d6f2a11"),
    );
    let told = |message: &Value, sender: &str| bench.ask(&from(message, sender));
    let (of_known, of_unknown) = (told(&known, "eve"), told(&unknown, "eve"));
    assert_eq!(of_known["result"], "rejected");
    assert_eq!(
        (&of_known["result"], &of_known["detail"]),
        (&of_unknown["result"], &of_unknown["detail"])
    );
    // A member is told.
    let ack = bench.ask(&unknown);
    assert_eq!(ack["result"], "not_found");
    bench.expect(
        &changed(&known, "agent_id", &json!("codex:abc123")),
        "not_found",
    );
    let mut neither = unknown.clone();
    neither["agent_id"] = "codex:abc123".into();
    bench.expect(&neither, "not_found");
}

#[test]
fn tcp_42_a_session_of_another_team_is_no_target() {
    let bench = Bench::with(&json!({"team": null, "members": ["ada"]}));
    // Without a name for all, a session belongs to the team of its project's folder.
    let mut message = bench.stdin("one", "text");
    bench.expect(&message, "rejected");
    message["team"] = "project".into();
    bench.expect(&message, "ok");
    let mut stored = message.clone();
    stored["request_id"] = "two".into();
    stored["sender"] = "ada@crew".into();
    bench.expect(&stored, "rejected");
}

#[test]
fn tcp_45_101_roles_and_lists_decide_over_actions() {
    let bench = Bench::with(&json!({
        "members": ["ada", "ben", "cyd", "dan", "eli"],
        "roles": {"ben": "writer", "cyd": "observer", "ada": "operator"},
        "deny": ["dan:interrupt"],
        "allow": ["ada", "ben", "cyd", "dan"],
    }));
    let stdin = bench.stdin("one", "text");
    let cutting_in = changed(&stdin, "interrupt", &json!(true));
    let interrupt = bench.interrupt("two");
    for (sender, results) in [
        ("cyd", ["rejected", "rejected", "rejected"]),
        ("eli", ["rejected", "rejected", "rejected"]),
        ("ben", ["ok", "rejected", "rejected"]),
        ("dan", ["ok", "rejected", "rejected"]),
        ("ada", ["ok", "ok", "ok"]),
    ] {
        for (message, result) in [&stdin, &cutting_in, &interrupt].into_iter().zip(results) {
            bench.expect(&from(message, sender), result);
        }
    }
}

#[test]
fn tcp_46_denials_are_on_record_and_the_sender_is_told_why() {
    let bench = Bench::new();
    let ack = bench.ask(&from(&bench.stdin("denied", "hidden text"), "eve"));
    let records = bench.global_trail();
    let of_kind = |kind: &str| {
        records
            .iter()
            .find(|record| record["type"] == kind)
            .unwrap()
    };
    let answered = &of_kind("ControlAck")["payload"];
    assert_eq!(answered["detail"], ack["detail"]);
    for (member, value) in [
        ("request_id", "denied"),
        ("team", "crew"),
        ("agent_id", "main"),
        ("session_id", bench.id()),
        ("sender", "eve"),
        ("result", "rejected"),
    ] {
        assert_eq!(answered[member], value, "{member}");
        assert_eq!(
            of_kind("ControlRequest")["payload"][member],
            value,
            "{member}"
        );
    }
    assert!(!json!(records).to_string().contains("hidden text"));
}

#[test]
fn what_a_project_says_about_its_senders_is_not_read() {
    let world = stud_tests::World::new();
    let settings = json!({"control": {"team": "crew", "members": ["eve"]}});
    world.write("project/.stud/settings.json", settings.to_string());
    assert_eq!(world.stud(&["trust"]).status, 0);
    let bench = Bench::in_world(world, &json!({}), None);
    bench.expect(&from(&bench.stdin("one", "text"), "eve"), "rejected");
    bench.expect(&bench.stdin("one", "text"), "ok");
}
