//! What ends a request before its own end.

use std::io::{Read as _, Write as _};
use std::sync::mpsc::channel;
use std::time::Duration;

use stud_sdk::host::cancellation::Scope;
use stud_sdk::json;

use super::{Server, fetch, fetch_with, harness, name, response};

/// How far a server gets before it falls silent.
const SILENCES: [&str; 3] = [
    "",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
];

fn silent_after(bytes: &'static str) -> Server {
    Server::new(move |_, stream| {
        stream.write_all(bytes.as_bytes()).unwrap();
        // Until the other side has gone.
        let _ = stream.read(&mut [0]);
    })
}

#[test]
fn a_page_that_takes_too_long_is_given_up() {
    for bytes in SILENCES {
        let server = silent_after(bytes);
        let error = fetch(json!({"url": server.url("/"), "timeoutMs": 50})).unwrap_err();
        assert_eq!(name(&error), "ToolTransient/ExecutionTimeout", "{bytes:?}");
        assert_eq!(error.context()["timeoutMs"], 50);
    }
}

#[test]
fn the_time_of_the_config_counts_where_the_call_says_none() {
    let server = silent_after("");
    let config = json!({"defaultTimeoutMs": 50});
    let error = fetch_with(config, json!({"url": server.url("/")})).unwrap_err();
    assert_eq!(name(&error), "ToolTransient/ExecutionTimeout");
}

#[test]
fn a_page_that_comes_drop_by_drop_has_the_same_time() {
    let server = Server::new(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        while stream.write_all(b".").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let error = fetch(json!({"url": server.url("/"), "timeoutMs": 100})).unwrap_err();
    assert_eq!(name(&error), "ToolTransient/ExecutionTimeout");
}

/// The connection is closed at once, whatever it was waiting for.
#[test]
fn a_call_that_is_called_off_closes_its_connection() {
    for bytes in SILENCES {
        let (gone, closed) = channel();
        let server = Server::new(move |_, stream| {
            stream.write_all(bytes.as_bytes()).unwrap();
            let _ = stream.read(&mut [0]);
            gone.send(()).unwrap();
        });
        let harness = harness(json!({}));
        harness.start().unwrap();
        std::thread::scope(|scope| {
            let args = json!({"url": server.url("/"), "timeoutMs": 600_000});
            let call = scope.spawn(|| harness.tool("web-fetch", args));
            server.head();
            harness.host().cancel(Scope::Turn);
            let error = call.join().unwrap().unwrap_err();
            assert_eq!(name(&error), "Cancellation/ToolCancelled", "{bytes:?}");
        });
        closed.recv_timeout(Duration::from_secs(20)).unwrap();
    }
}

#[test]
fn nothing_begins_once_the_turn_is_called_off() {
    let server = Server::answering(response("200 OK", "", b""));
    let harness = harness(json!({}));
    harness.start().unwrap().host().cancel(Scope::Turn);
    let error = harness
        .tool("web-fetch", json!({"url": server.url("/")}))
        .unwrap_err();
    assert_eq!(name(&error), "Cancellation/TurnCancelled");
    assert_eq!(server.unseen(), 0);
}
