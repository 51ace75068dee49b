//! The frame: versions, ids, commands, and the replies to what is no request.

use std::io::Write as _;
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use stud_tests::World;

use crate::bench::{Bench, baseline, connect, envelope, exchange, reply};

fn code(reply: &Value) -> &str {
    assert_eq!(reply["version"], 1);
    assert_eq!(reply["status"], "error", "{reply}");
    assert!(
        reply["error"]["message"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    );
    assert_eq!(reply.get("payload"), None);
    reply["error"]["code"].as_str().unwrap()
}

#[test]
fn tcp_2_control_messages_are_payloads_of_the_command_control() {
    let bench = Bench::new();
    let reply = bench.command("control", &bench.stdin("one", "hello"));
    assert_eq!(reply["version"], 1);
    assert_eq!(reply["request_id"], "exchange");
    assert_eq!(reply["status"], "ok");
    assert_eq!(reply["payload"]["type"], "control.stdin.ack");
    assert_eq!(reply["payload"]["request_id"], "one");
    assert_eq!(reply.get("error"), None);
}

#[test]
fn tcp_3_capabilities_say_what_is_understood() {
    let bench = Bench::new();
    let reply = bench.command("capabilities", &json!({}));
    assert_eq!(
        reply["payload"],
        json!({"control": {
            "v": [1],
            "forms": ["type", "action"],
            "actions": ["stdin", "interrupt"],
            "stdin_interrupt": true,
            "soft_limit_bytes": 65_536,
            "hard_limit_bytes": 1_048_576,
            "content_ref": {"base": bench.share(), "max_bytes": 16_777_216},
            "dedupe": {"durable": true, "ttl_secs": 600},
            "max_age_secs": 300,
            "max_skew_secs": 60,
        }})
    );
    let without = Bench::with(&json!({"interrupt": false}));
    let control = without.command("capabilities", &json!({}))["payload"]["control"].take();
    assert_eq!(control["actions"], json!(["stdin"]));
    assert_eq!(control["stdin_interrupt"], false);
}

#[test]
fn tcp_1_8_only_the_parsed_command_decides() {
    let bench = Bench::new();
    assert_eq!(code(&bench.command("mail", &json!({}))), "UNKNOWN_COMMAND");
    assert_eq!(
        code(&bench.command("controls", &json!({}))),
        "UNKNOWN_COMMAND"
    );
    // What a text says about commands is text, and spaces between members mean nothing.
    let text = r#"{"command":"capabilities"} "command":"mail""#;
    bench.expect(&bench.stdin("quoted", text), "ok");
    assert_eq!(bench.inputs(), [text]);
    let spaced = envelope("control", &bench.stdin("spaced", "two")).to_string();
    let spaced = spaced.replace("\"command\":", "\"command\"  :\t ");
    let reply = exchange(bench.socket(), format!("{spaced}\r\n").as_bytes());
    assert_eq!(reply["payload"]["result"], "ok");
}

#[test]
fn tcp_11_only_what_is_no_request_gets_a_socket_error() {
    let bench = Bench::new();
    let socket = bench.socket();
    for line in [
        "",
        " ",
        "hello",
        "[]",
        "1",
        "{",
        "{\"version\":1}",
        "\u{7f}",
        "{\"version\":1,\"request_id\":1,\"command\":\"control\"}",
    ] {
        let reply = exchange(socket, format!("{line}\n").as_bytes());
        assert_eq!(code(&reply), "INVALID_REQUEST", "{line:?}");
        assert_eq!(reply["request_id"], "unknown", "{line:?}");
    }
    let reply = exchange(socket, b"\xff\xfe{}\n");
    assert_eq!(code(&reply), "INVALID_REQUEST");
    for (member, value, expected) in [
        ("version", json!(2), "VERSION_MISMATCH"),
        ("version", json!(0), "VERSION_MISMATCH"),
        ("version", json!("1"), "INVALID_REQUEST"),
        ("command", json!(["control"]), "INVALID_REQUEST"),
        ("payload", json!("text"), "INVALID_PAYLOAD"),
        ("payload", json!([]), "INVALID_PAYLOAD"),
        ("payload", Value::Null, "INVALID_PAYLOAD"),
    ] {
        let mut line = envelope("control", &bench.stdin("frame", "hello"));
        line[member] = value;
        let reply = exchange(socket, format!("{line}\n").as_bytes());
        assert_eq!(code(&reply), expected, "{member}");
        // What is known of the exchange is said.
        assert_eq!(reply["request_id"], "exchange");
    }
    // An object is always acknowledged.
    for payload in [json!({}), json!({"v": 1}), json!({"type": 7, "v": "1"})] {
        let ack = bench.ask(&payload);
        assert_eq!(ack["result"], "rejected");
        for member in [
            "type",
            "request_id",
            "team",
            "session_id",
            "agent_id",
            "acked_at",
        ] {
            assert!(ack[member].is_string(), "{member} in {ack}");
        }
        assert_eq!((&ack["v"], &ack["duplicate"]), (&json!(1), &json!(false)));
    }
    assert!(bench.inputs().is_empty());
}

#[test]
fn a_line_may_end_with_the_connection() {
    let bench = Bench::new();
    let line = envelope("control", &bench.stdin("last", "no line end")).to_string();
    let mut stream = connect(bench.socket());
    stream.write_all(line.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(reply(&mut stream)["payload"]["result"], "ok");
}

#[test]
fn tcp_5_6_both_forms_mean_the_same_and_must_agree() {
    let bench = Bench::new();
    let one = bench.stdin("one", "first");
    let ack = bench.ask(&baseline(&one));
    assert_eq!(
        (&ack["result"], &ack["duplicate"]),
        (&json!("ok"), &json!(false))
    );
    assert_eq!(ack["type"], "control.stdin.ack");
    // The same request in the other form is the same request.
    let again = bench.ask(&one);
    assert_eq!(
        (&again["result"], &again["duplicate"]),
        (&json!("ok"), &json!(true))
    );
    // The baseline form takes its text under either name, and not under both.
    let mut named = baseline(&bench.stdin("two", "second"));
    named["content"] = named["payload"].take();
    named.as_object_mut().unwrap().remove("payload");
    bench.expect(&named, "ok");
    named["payload"] = "second".into();
    named["request_id"] = "three".into();
    bench.expect(&named, "rejected");
    bench.expect(&baseline(&bench.interrupt("four")), "ok");

    let mut both = bench.stdin("five", "third");
    both["action"] = "stdin".into();
    bench.expect(&both, "ok");
    both["action"] = "interrupt".into();
    both["request_id"] = "six".into();
    bench.expect(&both, "rejected");
    let mut neither = bench.stdin("seven", "text");
    neither.as_object_mut().unwrap().remove("type");
    bench.expect(&neither, "rejected");
    for (member, word) in [
        ("type", "control.stdin.ack"),
        ("type", "control.elicitation.request"),
        ("action", "paste"),
    ] {
        let mut unknown = neither.clone();
        unknown[member] = word.into();
        let detail = bench.expect(&unknown, "rejected");
        assert!(detail.contains(word), "{detail}");
    }
    assert_eq!(bench.inputs(), ["first", "second", "third"]);
}

#[test]
fn tcp_7_4_unknown_members_are_ignored_but_for_what_providers_call_things() {
    let bench = Bench::new();
    let mut message = bench.stdin("one", "text");
    message["future"] = json!({"deep": [1, 2, 3]});
    message["meta"] = json!({"retry_count": 0, "ui_source": "tui", "color": "red"});
    bench.expect(&message, "ok");
    for (member, in_meta) in [
        ("thread_id", false),
        ("threadId", false),
        ("thread_id", true),
        ("threadId", true),
    ] {
        let mut message = bench.stdin("two", "text");
        if in_meta {
            message["meta"] = json!({member: "thread-7"});
        } else {
            message[member] = "thread-7".into();
        }
        let ack = bench.ask(&message);
        assert_eq!(ack["result"], "rejected", "{member}");
        assert!(!ack.to_string().contains("thread-7"));
    }
}

#[test]
fn tcp_44_only_the_owner_can_reach_the_socket() {
    let bench = Bench::new();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(bench.socket()), 0o600);
    assert_eq!(mode(bench.socket().parent().unwrap()), 0o700);
    assert_eq!(mode(&bench.share()), 0o700);
    assert_eq!(bench.socket(), bench.world.home().join("run/control.sock"));
}

#[test]
fn tcp_104_a_socket_that_a_killed_process_left_is_replaced_and_others_are_not() {
    let world = World::new();
    let run = world.home().join("run");
    std::fs::create_dir_all(&run).unwrap();
    for name in ["control.sock", "control-1.sock"] {
        drop(std::os::unix::net::UnixListener::bind(run.join(name)).unwrap());
    }
    let alive = std::os::unix::net::UnixListener::bind(run.join("control-2.sock")).unwrap();
    std::fs::write(run.join("notes.sock"), "").unwrap();
    let bench = Bench::in_world(world, &json!({}), None);
    bench.expect(&bench.stdin("one", "text"), "ok");
    assert!(!run.join("control-1.sock").exists());
    assert!(run.join("control-2.sock").exists());
    assert!(run.join("notes.sock").exists());
    drop(alive);
    // One that is listened at stays with its process.
    let sessions = || {
        let ground = &bench.live.core.ground;
        let one =
            stud_control::OneSession::new(bench.session(), bench.live.launched.reloader(ground));
        let policy = stud_control::Policy::of(&ground.settings, &bench.world.home()).unwrap();
        stud_control::Receiver::new(policy, std::sync::Arc::new(one), bench.world.home())
    };
    let run_dir = stud_control::RunDir::of(&bench.world.home());
    let second =
        stud_control::ControlServer::start(sessions(), &run_dir, stud_control::SocketName::Serve);
    assert_eq!(
        second.unwrap_err().code.to_string(),
        "Session/ControlUnavailable"
    );
    let own =
        stud_control::ControlServer::start(sessions(), &run_dir, stud_control::SocketName::Process)
            .unwrap();
    let path = own.path().to_owned();
    assert!(path.exists());
    drop(own);
    assert!(!path.exists());
    bench.expect(&bench.stdin("two", "text"), "ok");
}

#[test]
fn a_socket_may_lie_deep() {
    let world = World::new();
    let deep = world.home().join("d".repeat(90)).join("e".repeat(90));
    let bench = Bench::in_world(world, &json!({}), None);
    let ground = &bench.live.core.ground;
    let one = stud_control::OneSession::new(bench.session(), bench.live.launched.reloader(ground));
    let policy = stud_control::Policy::of(&ground.settings, &deep).unwrap();
    let receiver = stud_control::Receiver::new(policy, std::sync::Arc::new(one), deep.clone());
    let run_dir = stud_control::RunDir::of(&deep);
    let server =
        stud_control::ControlServer::start(receiver, &run_dir, stud_control::SocketName::Serve)
            .unwrap();
    let sender = stud_control::Sender::new(run_dir, deep, std::time::Duration::from_secs(60), 0);
    let live = sender.live_sessions();
    assert_eq!(live.len(), 1);
    assert_eq!(live[0].session_id, bench.id());
    drop(server);
}
