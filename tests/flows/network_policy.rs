//! The network policy: which hosts `web-fetch` may reach, by settings and by command.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::bench::{Bench, in_both_forms};

/// A server on this machine that counts who connects.
struct Server {
    url: String,
    port: u16,
    connections: Arc<AtomicUsize>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let head = BufReader::new(&stream).lines().map_while(Result::ok);
                head.take_while(|line| !line.is_empty()).for_each(drop);
                // The client may close the connection early.
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage");
            }
        });
        Self {
            url: format!("http://127.0.0.1:{port}/"),
            port,
            connections,
        }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    fn call(&self) -> String {
        format!("!tool web-fetch {}", json!({"url": self.url}))
    }
}

fn fetch(bench: &Bench, server: &Server) -> Value {
    bench.headless(&["--mode", "yolo"], &server.call()).result()
}

fn assert_denied(result: &Value, server: &Server) {
    let error = &result["error"];
    assert_eq!(result["ok"], false, "{result:#}");
    assert_eq!(
        (&error["class"], &error["code"]),
        (&json!("ToolTerminal"), &json!("NetworkDenied"))
    );
    assert_eq!(
        (
            &error["context"]["host"],
            &error["context"]["port"],
            &error["context"]["url"]
        ),
        (&json!("127.0.0.1"), &json!(server.port), &json!(server.url))
    );
    assert_eq!(server.connections(), 0);
}

#[test]
fn settings_say_which_hosts_may_be_reached() {
    in_both_forms(|bench| {
        let server = Server::start();
        bench.settings(&json!({"network": {"deny": ["127.0.0.1"], "allow": ["127.0.0.1"]}}));
        assert_denied(&fetch(bench, &server), &server);
        bench.settings(&json!({"network": {"allow": ["example.com"]}}));
        assert_denied(&fetch(bench, &server), &server);
        bench.settings(&json!({"network": {"deny": [{"host": "127.0.0.1", "ports": [1]}]}}));
        assert_eq!(fetch(bench, &server)["result"]["body"], "page");
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn a_project_adds_to_what_the_person_denies() {
    in_both_forms(|bench| {
        let server = Server::start();
        bench.settings(&json!({"network": {"allow": ["127.0.0.1"]}}));
        let project = json!({"network": {"deny": ["127.0.0.1"]}});
        bench
            .world
            .write("project/.stud/settings.json", project.to_string());
        bench.trust();
        assert_denied(&fetch(bench, &server), &server);
    });
}

#[test]
fn a_command_changes_the_policy_for_good_and_at_once() {
    in_both_forms(|bench| {
        let server = Server::start();
        bench.settings(&json!({"env": {"KEPT": "1"}}));
        let mut talk = bench.talk(&["--mode", "yolo"]);
        talk.say("/network-policy deny 127.0.0.1");
        talk.is_asked("Deny tools to reach 127.0.0.1?");
        talk.say("y");
        talk.is_asked("127.0.0.1 is denied from now on.");
        talk.say(&server.call());
        talk.hears("NetworkDenied");
        assert_eq!(server.connections(), 0);
        talk.say("/network-policy show");
        talk.is_asked("Denied: 127.0.0.1");
        talk.say("/network-policy allow 127.0.0.1");
        talk.is_asked("no other can be reached then");
        talk.say("y");
        talk.is_asked("127.0.0.1 is allowed from now on.");
        talk.say(&server.call());
        talk.hears(r#""status":200"#);
        talk.say("/network-policy deny a.org");
        talk.is_asked("Deny tools to reach a.org?");
        talk.say("n");
        talk.is_asked("failed with Cancellation/TurnCancelled");
        talk.end();

        let settings = std::fs::read(bench.world.home().join("settings.json")).unwrap();
        let settings: Value = serde_json::from_slice(&settings).unwrap();
        assert_eq!(
            settings,
            json!({"env": {"KEPT": "1"}, "network": {"allow": ["127.0.0.1"], "deny": []}})
        );
        let changes = bench.audited("NetworkPolicyChange").into_iter();
        let changes: Vec<Value> = changes.map(|mut record| record["payload"].take()).collect();
        assert_eq!(
            changes,
            [
                json!({"action": "deny", "host": "127.0.0.1"}),
                json!({"action": "allow", "host": "127.0.0.1"}),
            ]
        );
    });
}
