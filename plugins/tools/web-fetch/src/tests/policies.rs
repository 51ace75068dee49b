//! Who may be reached.

use stud_sdk::json;

use super::{Server, fetch_with, harness, name, response};

#[test]
fn a_denied_host_is_not_connected_to() {
    let server = Server::answering(response("200 OK", "", b""));
    let url = server.url("/secret");
    for config in [
        json!({"denyHosts": [{"host": "127.0.0.1"}]}),
        json!({"allowHosts": [{"host": "example.com"}]}),
        json!({"allowHosts": [{"host": "127.0.0.1", "ports": [1]}]}),
        json!({"allowHosts": [{"host": "127.0.0.1"}], "denyHosts": [{"host": "127.0.0.1", "ports": [server.port]}]}),
    ] {
        let error = fetch_with(config.clone(), json!({"url": url})).unwrap_err();
        assert_eq!(name(&error), "ToolTerminal/NetworkDenied", "{config}");
        assert_eq!(error.context()["host"], "127.0.0.1");
        assert_eq!(error.context()["port"], server.port);
        assert_eq!(error.context()["url"], url);
        let asked = harness(config).approval_key("web-fetch", &json!({"url": url}));
        assert_eq!(name(&asked.unwrap_err()), "ToolTerminal/NetworkDenied");
    }
    assert_eq!(server.unseen(), 0);
}

#[test]
fn an_allowed_host_is_reached() {
    let server = Server::answering(response("200 OK", "", b"page"));
    let config = json!({"allowHosts": [{"host": "127.0.0.1", "ports": [server.port]}]});
    let page = fetch_with(config, json!({"url": server.url("/")})).unwrap();
    assert_eq!(page["body"], "page");
}

#[test]
fn this_machine_is_reached_by_its_own_name() {
    let server = Server::answering(response("200 OK", "", b"page"));
    let url = server.url("/").replace("127.0.0.1", "localhost");
    let page = fetch_with(json!({}), json!({"url": url})).unwrap();
    assert_eq!(page["body"], "page");
}

/// The name is looked up, and what it stands for is held to the policy as well.
#[test]
fn a_denied_address_is_not_reached_under_a_name() {
    let server = Server::answering(response("200 OK", "", b""));
    let url = server.url("/").replace("127.0.0.1", "localhost");
    let config = json!({"denyHosts": [{"host": "127.0.0.1"}, {"host": "::1"}]});
    let error = fetch_with(config, json!({"url": url})).unwrap_err();
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
