//! Who may be reached.

use stud_sdk::json;
use stud_sdk::testing::{FakeHost, Harness};

use super::{Server, fetch, harness, name, response};

fn denying(host: &str) -> Harness {
    let host = FakeHost::new().denies_host(host.to_owned());
    Harness::new(crate::stud_plugin(), host)
}

#[test]
fn a_denied_host_is_not_connected_to() {
    let server = Server::answering(response("200 OK", "", b""));
    let url = server.url("/secret");
    let harness = denying("127.0.0.1");
    let asked = harness.approval_key("web-fetch", &json!({"url": url}));
    stud_observed::covers!(NETWORK_DENIED, asked.unwrap_err());
    let error = harness.tool("web-fetch", json!({"url": url})).unwrap_err();
    assert_eq!(name(&error), "ToolTerminal/NetworkDenied");
    assert_eq!(error.context()["host"], "127.0.0.1");
    assert_eq!(error.context()["port"], server.port);
    assert_eq!(error.context()["url"], url);
    assert_eq!(server.unseen(), 0);
}

#[test]
fn this_machine_is_reached_by_its_own_name() {
    let server = Server::answering(response("200 OK", "", b"page"));
    let url = server.url("/").replace("127.0.0.1", "localhost");
    let page = fetch(json!({"url": url})).unwrap();
    assert_eq!(page["body"], "page");
}

/// The name is looked up, and what it stands for is held to the policy as well.
#[test]
fn a_denied_address_is_not_reached_under_a_name() {
    let server = Server::answering(response("200 OK", "", b""));
    let url = server.url("/").replace("127.0.0.1", "localhost");
    let host = FakeHost::new()
        .denies_host("127.0.0.1".to_owned())
        .denies_host("::1".to_owned());
    let harness = Harness::new(crate::stud_plugin(), host);
    let error = harness.tool("web-fetch", json!({"url": url})).unwrap_err();
    assert_eq!(name(&error), "ToolTerminal/NetworkDenied");
    assert_eq!(error.context()["host"], "localhost");
    assert_eq!(server.unseen(), 0);
}

#[test]
fn the_key_is_the_host() {
    let harness = harness(json!({}));
    let key = |url: &str| {
        harness
            .approval_key("web-fetch", &json!({"url": url}))
            .unwrap()
    };
    assert_eq!(key("https://Example.com:8443/a"), "example.com");
    assert_eq!(key("not an address"), "not an address");
}
