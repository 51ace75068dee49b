//! Clients that send what no client should.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use stud_tests::World;

#[test]
fn cit_24_wrong_frames_are_refused_and_the_socket_stays_open() {
    let world = World::new();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    let mut refused = |text: &str| {
        client.send_text(text);
        client.error()
    };
    for (text, code) in [
        ("", "invalid_json"),
        ("{", "invalid_json"),
        ("{\"type\":\"ping\"}}", "invalid_json"),
        ("\u{0}", "invalid_json"),
        ("1", "invalid_client_message"),
        ("[]", "invalid_client_message"),
        ("{}", "invalid_client_message"),
        (r#"{"type":null}"#, "invalid_client_message"),
        (r#"{"type":"hello_ack"}"#, "invalid_client_message"),
        (r#"{"type":"subscribe"}"#, "invalid_client_message"),
        (
            r#"{"type":"subscribe","sessionId":""}"#,
            "invalid_session_id",
        ),
        (
            r#"{"type":"subscribe","sessionId":"none"}"#,
            "invalid_session_id",
        ),
        (
            r#"{"type":"unsubscribe","sessionId":"none"}"#,
            "invalid_session_id",
        ),
        (
            r#"{"type":"session_close","sessionId":"none"}"#,
            "invalid_session_id",
        ),
        (
            r#"{"type":"session_delete","sessionId":"none"}"#,
            "invalid_session_id",
        ),
        (
            r#"{"type":"session_create","sessionId":"none"}"#,
            "invalid_session_id",
        ),
        (
            r#"{"type":"session_create","sessionId":"../x"}"#,
            "invalid_session_id",
        ),
        (
            r#"{"type":"session_create","cwd":"relative"}"#,
            "invalid_client_message",
        ),
        (
            r#"{"type":"text_input","sessionId":"none","text":"x"}"#,
            "invalid_session_id",
        ),
    ] {
        assert_eq!(refused(text), code, "{text}");
    }
    let deep = format!("{}1{}", "[".repeat(64), "]".repeat(64));
    assert_eq!(refused(&deep), "invalid_client_message");
    let large = json!({"type": "text_input", "sessionId": session, "text": "x".repeat(2 << 20)});
    assert_eq!(refused(&large.to_string()), "frame_too_large");
    client.send_bytes(b"{\"type\":\"ping\"}");
    assert_eq!(client.error(), "invalid_client_message");
    let events = client.turn(&session, "still here");
    assert_eq!(events.last().unwrap()["event"]["type"], "turn_end");
}

#[test]
fn every_member_of_every_frame_may_be_of_any_type() {
    let world = World::new();
    let served = world.serve();
    let mut client = served.client();
    let session = client.session();
    let frames = [
        json!({"type": "set_interaction_mode", "enabled": true}),
        json!({"type": "session_create", "sessionId": session, "mode": "ask", "cwd": "/"}),
        json!({"type": "subscribe", "sessionId": session, "sinceSeq": 1, "tail": 1}),
        json!({"type": "text_input", "sessionId": session, "text": "x"}),
        json!({
            "type": "tool_interaction_response", "sessionId": session, "callId": "c", "interactionId": "i",
            "action": "submit", "approvalScope": "once", "input": {}, "reason": "r",
        }),
        json!({
            "type": "interaction_response", "sessionId": session, "interactionId": "i",
            "status": "accepted", "value": {}, "reason": "r",
        }),
        json!({"type": "control", "action": "cancel", "target": "output", "sessionId": session}),
        json!({"type": "sessions_list", "query": "x", "limit": 1}),
        json!({"type": "session_fork", "sessionId": session, "atRecord": 1}),
        json!({"type": "complete", "sessionId": session, "text": "/h", "cursor": 2}),
        json!({"type": "complete_file", "sessionId": session, "prefix": "x"}),
    ];
    let wrong = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!("\u{202e}"),
        json!([[]]),
        json!({"a": {}}),
    ];
    for frame in &frames {
        for member in frame.as_object().unwrap().keys() {
            for value in &wrong {
                let mut frame = frame.clone();
                frame[member] = value.clone();
                client.send(frame);
            }
        }
    }
    client.send(json!({"type": "ping"}));
    client.until(|frame: &Value| {
        assert_ne!(frame["code"], "internal_error", "{frame}");
        frame["type"] == "pong"
    });
}

#[test]
fn random_bytes_do_not_end_the_server() {
    let world = World::new();
    let served = world.serve();
    // A fixed sequence, so that a failure can be repeated.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    for _ in 0..50 {
        let mut stream = TcpStream::connect(("127.0.0.1", served.port())).unwrap();
        let bytes: Vec<u8> = (0..64).flat_map(|_| next()).collect();
        let _ = stream.write_all(&bytes);
    }
    // After the handshake, what is no frame ends that connection alone.
    let mut stream = TcpStream::connect(("127.0.0.1", served.port())).unwrap();
    let head = format!(
        "GET /ws?token={} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        served.token()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let bytes: Vec<u8> = (0..512).flat_map(|_| next()).collect();
    stream.write_all(&bytes).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let mut client = served.client();
    client.send(json!({"type": "ping"}));
    client.until_type("pong");
}

#[test]
fn silent_connections_leave_room_for_others() {
    let world = World::new();
    let served = world.serve();
    let silent: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", served.port())).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
            stream
        })
        .collect();
    let mut client = served.client();
    let session = client.session();
    assert_eq!(
        client.turn(&session, "x").last().unwrap()["event"]["type"],
        "turn_end"
    );
    drop(silent);
}
