//! Addresses that send on to others.

use std::io::Write as _;

use stud_sdk::json;
use stud_sdk::testing::{FakeHost, Harness};

use super::{Server, fetch, name, response};

/// Sends `/5` on to `/4` and so on down to `/0`, which is a page.
fn countdown() -> Server {
    Server::new(|head, stream| {
        let path = head[0].split(' ').nth(1).unwrap_or_default();
        let left: u32 = path.trim_start_matches('/').parse().unwrap_or(0);
        let answer = match left.checked_sub(1) {
            Some(next) => response("302 Found", &format!("Location: {next}\r\n"), b"moved"),
            None => response("200 OK", "", b"arrived"),
        };
        stream.write_all(&answer).unwrap();
    })
}

fn sending_to(location: String) -> Server {
    Server::answering(response(
        "301 Moved",
        &format!("Location: {location}\r\n"),
        b"",
    ))
}

#[test]
fn five_redirects_are_followed_and_no_more() {
    let server = countdown();
    let page = fetch(json!({"url": server.url("/5")})).unwrap();
    assert_eq!(
        (&page["body"], &page["url"]),
        (&json!("arrived"), &json!(server.url("/0")))
    );
    assert_eq!(server.unseen(), 6);
    let error = fetch(json!({"url": server.url("/6")})).unwrap_err();
    assert_eq!(name(&error), "ToolTerminal/OutputMalformed");
    assert_eq!(server.unseen(), 6);
}

#[test]
fn the_method_and_the_headers_go_along() {
    let server = countdown();
    let args =
        json!({"url": server.url("/1"), "method": "HEAD", "headers": {"authorization": "x"}});
    assert_eq!(fetch(args).unwrap()["body"], "");
    for path in ["/1", "/0"] {
        let head = server.head();
        assert_eq!(head[0], format!("HEAD {path} HTTP/1.1"));
        assert!(
            head.iter().any(|line| line == "authorization: x"),
            "{head:?}"
        );
    }
}

#[test]
fn what_lets_one_in_is_not_for_another_server() {
    let other = Server::answering(response("200 OK", "", b"other"));
    let server = sending_to(other.url("/"));
    let args = json!({"url": server.url("/"), "headers": {"Authorization": "a", "Cookie": "b", "X-Mine": "c"}});
    assert_eq!(fetch(args).unwrap()["body"], "other");
    let head = other.head();
    assert!(head.iter().any(|line| line == "x-mine: c"), "{head:?}");
    assert!(
        !head
            .iter()
            .any(|line| line.starts_with("authorization:") || line.starts_with("cookie:")),
        "{head:?}"
    );
}

/// What was approved is the first host.
#[test]
fn a_redirect_to_another_host_is_refused_and_named() {
    let inside = Server::answering(response("200 OK", "", b"internal"));
    let target = inside.url("/meta").replace("127.0.0.1", "127.0.0.2");
    let server = sending_to(target.clone());
    let error = fetch(json!({"url": server.url("/")})).unwrap_err();
    assert_eq!(name(&error), "ToolTerminal/NetworkDenied");
    assert_eq!(error.context()["host"], "127.0.0.2");
    assert_eq!(error.context()["url"], target);
    assert_eq!(error.context()["from"], server.url("/"));
    assert!(error.message().contains("`127.0.0.2`"), "{error}");
    assert_eq!(inside.unseen(), 0);
}

#[test]
fn every_address_on_the_way_is_held_to_the_policy() {
    let other = Server::answering(response("200 OK", "", b"other"));
    let server = sending_to(other.url("/"));
    let host = FakeHost::new().denies_host(format!("127.0.0.1:{}", other.port));
    let harness = Harness::new(crate::stud_plugin(), host);
    let error = harness
        .tool("web-fetch", json!({"url": server.url("/")}))
        .unwrap_err();
    assert_eq!(name(&error), "ToolTerminal/NetworkDenied");
    assert_eq!(error.context()["port"], other.port);
    assert_eq!(other.unseen(), 0);
}

#[test]
fn a_redirect_that_leads_nowhere_is_an_error() {
    for location in ["file:///etc/passwd", "http://", "javascript:alert(1)"] {
        let server = sending_to(location.to_owned());
        let error = fetch(json!({"url": server.url("/")})).unwrap_err();
        assert_eq!(name(&error), "ToolTerminal/OutputMalformed", "{location}");
    }
    let server = Server::answering(response("302 Found", "", b"nowhere"));
    let page = fetch(json!({"url": server.url("/")})).unwrap();
    assert_eq!(
        (&page["status"], &page["body"]),
        (&json!(302), &json!("nowhere"))
    );
}
