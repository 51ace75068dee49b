//! What a page gives.

use std::io::Write as _;
use std::net::TcpListener;

use stud_sdk::json;

use super::{Server, fetch, fetch_with, harness, name, response};

#[test]
fn a_page_comes_with_its_status_and_headers() {
    let headers = "Content-Type: text/html\r\nX-Two: a\r\nx-two: b\r\n";
    let server = Server::answering(response("200 OK", headers, "<p>é</p>".as_bytes()));
    let url = server.url("/a?b=c");
    let page =
        fetch(json!({"url": url, "headers": {"X-Mine": "yes", "Accept": "text/html"}})).unwrap();
    assert_eq!(
        page,
        json!({
            "url": url,
            "status": 200,
            "headers": {"content-type": "text/html", "x-two": "a, b", "content-length": "9"},
            "body": "<p>é</p>",
            "truncated": false,
            "untrusted": true,
        })
    );
    let head = server.head();
    assert_eq!(head[0], "GET /a?b=c HTTP/1.1");
    for line in [
        "x-mine: yes",
        "accept: text/html",
        "accept-encoding: identity",
    ] {
        assert!(head.iter().any(|header| header == line), "{line}: {head:?}");
    }
    assert!(
        head.iter()
            .any(|header| header.starts_with("user-agent: stud/"))
    );
}

#[test]
fn a_status_of_failure_is_a_result() {
    for (line, status) in [
        ("404 Not Found", 404),
        ("500 Oh No", 500),
        ("304 Not Modified", 304),
    ] {
        let body: &[u8] = if status == 304 { b"" } else { b"sorry" };
        let server = Server::answering(response(line, "", body));
        let page = fetch(json!({"url": server.url("/")})).unwrap();
        assert_eq!(page["status"], status);
        assert_eq!(page["body"], String::from_utf8_lossy(body).as_ref());
    }
}

#[test]
fn head_has_no_body() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nX-A: b\r\n\r\n");
    let page = fetch(json!({"url": server.url("/"), "method": "HEAD"})).unwrap();
    assert_eq!(
        (&page["body"], &page["truncated"]),
        (&json!(""), &json!(false))
    );
    assert_eq!(page["headers"]["content-length"], "1000");
    assert_eq!(server.head()[0], "HEAD / HTTP/1.1");
}

#[test]
fn a_page_is_cut_at_its_limit_and_not_read_further() {
    let server = Server::answering(response("200 OK", "", &[b'x'; 11]));
    let page = |limit: usize| {
        fetch_with(json!({"maxBytes": limit}), json!({"url": server.url("/")})).unwrap()
    };
    let cut = page(10);
    assert_eq!(
        (&cut["body"], &cut["truncated"]),
        (&json!("xxxxxxxxxx"), &json!(true))
    );
    let whole = page(11);
    assert_eq!(
        (&whole["body"], &whole["truncated"]),
        (&json!("xxxxxxxxxxx"), &json!(false))
    );
}

#[test]
fn a_cut_leaves_no_half_character() {
    let server = Server::answering(response("200 OK", "", "aéé".as_bytes()));
    let page = fetch_with(json!({"maxBytes": 4}), json!({"url": server.url("/")})).unwrap();
    assert_eq!(page["body"], "aé");
}

/// It never ends, and is given up after the first megabyte.
#[test]
fn a_page_without_an_end_is_cut() {
    let server = Server::new(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        while stream.write_all(&vec![b'y'; 65_536]).is_ok() {}
    });
    let page = fetch(json!({"url": server.url("/"), "timeoutMs": 600_000})).unwrap();
    assert_eq!(page["body"].as_str().unwrap().len(), 1_048_576);
    assert_eq!(page["truncated"], true);
}

#[test]
fn a_page_in_chunks_is_put_together() {
    let bytes =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let server = Server::answering(bytes);
    assert_eq!(
        fetch(json!({"url": server.url("/")})).unwrap()["body"],
        "abcde"
    );
}

#[test]
fn what_is_no_text_is_replaced() {
    let server = Server::answering(response("200 OK", "", b"a\xFF\x00\x80b"));
    let page = fetch(json!({"url": server.url("/")})).unwrap();
    assert_eq!(page["body"], "a\u{FFFD}\0\u{FFFD}b");
}

/// No compression was requested, so a compressed response is taken as it is.
#[test]
fn a_compressed_page_is_not_unpacked() {
    let gzip = b"\x1F\x8B\x08\x00\x00\x00\x00\x00\x00\x03";
    let server = Server::answering(response("200 OK", "Content-Encoding: gzip\r\n", gzip));
    let page =
        fetch(json!({"url": server.url("/"), "headers": {"accept-encoding": "gzip"}})).unwrap();
    assert_eq!(page["headers"]["content-encoding"], "gzip");
    assert!(
        page["body"]
            .as_str()
            .unwrap()
            .starts_with("\u{1F}\u{FFFD}\u{8}")
    );
    let head = server.head();
    assert!(
        head.iter().any(|line| line == "accept-encoding: identity"),
        "{head:?}"
    );
}

#[test]
fn no_answer_is_an_error() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let refused = fetch(json!({"url": format!("http://{free}/")})).unwrap_err();
    stud_observed::covers!(OUTPUT_MALFORMED, refused);
    assert!(refused.message().contains("refused"), "{refused}");
    for bytes in [
        "",
        "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
    ] {
        let server = Server::answering(bytes);
        let error = fetch(json!({"url": server.url("/")})).unwrap_err();
        assert_eq!(name(&error), "ToolTerminal/OutputMalformed", "{bytes}");
        assert_eq!(error.context()["url"], server.url("/"));
    }
    let plain = Server::answering(response("200 OK", "", b"plain"));
    let secure = plain.url("/").replace("http:", "https:");
    let error = fetch(json!({"url": secure})).unwrap_err();
    assert_eq!(name(&error), "ToolTerminal/OutputMalformed");
}

#[test]
fn what_cannot_be_sent_is_refused_before_it_is() {
    let server = Server::answering(response("200 OK", "", b""));
    for (headers, place) in [
        (json!({"a b": "c"}), "/headers/a b"),
        (json!({"a/b": "c"}), "/headers/a~1b"),
        (json!({"a": "b\nc"}), "/headers/a"),
        (json!({"Host": "other.example"}), "/headers/Host"),
        (
            json!({"transfer-encoding": "chunked"}),
            "/headers/transfer-encoding",
        ),
    ] {
        let error = fetch(json!({"url": server.url("/"), "headers": headers})).unwrap_err();
        assert_eq!(name(&error), "ToolTerminal/InputInvalid", "{headers}");
        assert_eq!(error.context()["fieldPath"], place);
    }
    for args in [
        json!({"url": "ftp://127.0.0.1/"}),
        json!({"url": "nowhere"}),
        json!({"url": server.url("/"), "method": "POST"}),
        json!({"url": server.url("/"), "more": 1}),
        json!({}),
    ] {
        assert_eq!(
            name(&fetch(args.clone()).unwrap_err()),
            "ToolTerminal/InputInvalid",
            "{args}"
        );
    }
    assert_eq!(server.unseen(), 0);
}

#[test]
fn who_is_let_in_is_not_repeated() {
    let server = Server::answering(response("200 OK", "", b"in"));
    let url = server.url("/").replace("127", "me:secret@127");
    let page = fetch(json!({"url": url})).unwrap();
    assert_eq!(page["url"], server.url("/"));
    let head = server.head();
    assert!(
        head.iter()
            .any(|line| line.starts_with("authorization: basic ")),
        "{head:?}"
    );
}

#[test]
fn many_pages_at_once() {
    let server = Server::answering(response("200 OK", "", b"page"));
    let args = json!({"url": server.url("/")});
    let harness = harness(json!({}));
    harness.start().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let page = harness.tool("web-fetch", args.clone()).unwrap();
                assert_eq!(page.value()["body"], "page");
            });
        }
    });
}

#[test]
fn the_manifest_says_what_the_tool_takes() {
    let harness = harness(json!({}));
    let manifest = harness.manifest();
    let tool = &manifest["tools"][0];
    assert_eq!(
        (&tool["name"], &tool["gated"]),
        (&json!("web-fetch"), &json!(true))
    );
    let input = &tool["inputSchema"];
    assert_eq!(input["additionalProperties"], false);
    assert_eq!(input["required"], json!(["url"]));
    assert_eq!(
        input["properties"]["method"]["enum"],
        json!(["GET", "HEAD"])
    );
    assert_eq!(input["properties"]["timeoutMs"]["minimum"], 1);
    let output = &tool["outputSchema"];
    assert_eq!(
        output["required"],
        json!(["url", "status", "headers", "body", "truncated", "untrusted"])
    );
    let status = &output["properties"]["status"];
    assert_eq!(
        (&status["minimum"], &status["maximum"]),
        (&json!(100), &json!(599))
    );
    let options = &manifest["configSchema"]["properties"];
    assert_eq!(options["maxBytes"]["default"], 1_048_576);
    assert_eq!(options["defaultTimeoutMs"]["default"], 30_000);
}
