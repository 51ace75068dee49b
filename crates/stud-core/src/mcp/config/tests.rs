use super::*;
use crate::platform::Places;
use serde_json::json;

fn read(global: &Value, settings: &Value) -> Configured {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("mcp.json"), global.to_string()).unwrap();
    std::fs::write(home.join("settings.json"), settings.to_string()).unwrap();
    let places = Places {
        global_root: home,
        project_root: folder.path().join("project/.stud"),
    };
    configured(&Environment::survey(places, Vec::new()).unwrap())
}

fn reason(entry: &Value) -> String {
    let configured = read(&json!({"mcpServers": {"s": entry}}), &json!({}));
    assert!(configured.servers.is_empty(), "{entry}");
    let problem = &configured.problems[0];
    assert_eq!(problem.code, &codes::MCP_SERVER_CONFIG_INVALID);
    problem.context["reason"].as_str().unwrap().to_owned()
}

#[test]
fn both_shapes_are_read_and_the_file_beats_the_settings() {
    let file = json!({"mcpServers": {"b": {"command": "two"}, "c": {"type": "http", "url": "http://[::1]:1/mcp"}}});
    let settings = json!({"mcp": {"servers": [
        {"id": "a", "transport": "stdio", "command": "one", "args": ["x"], "scope": "bundled"},
        {"id": "b", "transport": "stdio", "command": "hidden"},
    ]}});
    let configured = read(&file, &settings);
    assert!(configured.problems.is_empty(), "{:?}", configured.problems);
    let ids: Vec<&str> = configured.servers.keys().map(String::as_str).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    // A server does not say by itself how far it is trusted.
    assert_eq!(configured.servers["a"].scope, Scope::Global);
    let Transport::Stdio { command, .. } = &configured.servers["b"].transport else {
        panic!("b is a process");
    };
    assert_eq!(command, "two");
    assert_eq!(
        configured.servers["c"].transport.as_str(),
        "streamable-http"
    );
}

#[test]
fn what_cannot_work_says_what_is_wrong() {
    for (entry, expected) in [
        (json!({}), "command"),
        (json!({"command": " "}), "command"),
        (json!({"command": "x", "args": [1]}), "command"),
        (json!({"command": "x", "env": {"A": 1}}), "command"),
        (json!({"url": "ftp://x"}), "url"),
        (json!({"url": "http://"}), "url"),
        (json!({"url": "https://me:secret@host/mcp"}), "url"),
        (json!({"url": "http://a b/"}), "url"),
        (json!({"type": "streamable-http"}), "url"),
        (json!({"type": "sse", "url": "http://x/sse"}), "transport"),
        (json!({"type": "carrier-pigeon"}), "transport"),
        (json!(7), "file"),
        (json!({"command": "x", "timeout": 5}), "member"),
    ] {
        assert_eq!(reason(&entry), expected, "{entry}");
    }
}

#[test]
fn an_unknown_member_is_named_with_the_one_that_was_meant() {
    let file = json!({
        "mcpserver": {},
        "mcpServers": {"a": {"command": "x", "arg": ["y"]}, "b": {"command": "x"}},
    });
    let configured = read(&file, &json!({}));
    assert!(configured.servers.keys().eq(["b"]));
    let said: Vec<(&str, &str)> = configured
        .problems
        .iter()
        .map(|problem| (problem.field_path.as_deref().unwrap(), &*problem.message))
        .collect();
    assert_eq!(
        said,
        [
            (
                "/mcpserver",
                "`mcp.json` has the unknown member `mcpserver`; `mcpServers` was probably meant"
            ),
            (
                "/mcpServers/a/arg",
                "the MCP server `a` has the unknown member `arg`; `args` was probably meant"
            ),
        ]
    );
}

#[test]
fn an_id_is_a_plain_word() {
    for id in ["", "a b", "a:b", "-a", "a/b", "é", &"x".repeat(65)] {
        let configured = read(&json!({"mcpServers": {id: {"command": "x"}}}), &json!({}));
        assert!(configured.servers.is_empty(), "{id}");
        assert_eq!(configured.problems[0].context["reason"], "id", "{id}");
    }
}

#[test]
fn a_server_can_be_switched_off() {
    let file = json!({"mcpServers": {"a": {"command": "x", "disabled": true}, "b": {"command": "x", "enabled": false}}});
    let settings = json!({"mcp": {"servers": {"a": {"command": "y"}}}});
    assert!(read(&file, &settings).servers.is_empty());
}

#[test]
fn one_bad_file_or_entry_leaves_the_others() {
    let settings = json!({"mcp": {"servers": {"a": {"command": "x"}}}});
    let configured = read(&json!("no object"), &settings);
    assert_eq!(
        (configured.servers.len(), configured.problems.len()),
        (1, 1)
    );
    let file = json!({"servers": 7, "mcpServers": {"b": {"command": "x"}}});
    let configured = read(&file, &settings);
    assert_eq!(
        (configured.servers.len(), configured.problems.len()),
        (2, 1)
    );
}

#[test]
fn a_project_that_is_not_trusted_has_no_servers() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project/.stud");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(
        root.join("mcp.json"),
        r#"{"mcpServers": {"a": {"command": "x"}}}"#,
    )
    .unwrap();
    let places = Places {
        global_root: folder.path().join("home"),
        project_root: root,
    };
    let ground = Environment::survey(places, Vec::new()).unwrap();
    assert!(!ground.trusted());
    assert!(configured(&ground).servers.is_empty());
}
