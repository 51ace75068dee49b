//! What a good server comes to.

use std::collections::BTreeMap;

use serde_json::json;
use stud_core::executor::block_on;
use stud_core::mcp::ResourceBinding;
use stud_host_api::metrics::{McpStatus, Source};
use stud_host_api::prompt::PromptFilter;
use stud_host_api::resource::ResourceFilter;
use stud_tests::{eventually, mcp_server};

use crate::bench::{Bench, Http};

#[test]
fn both_eras_of_the_protocol_work_over_pipes() {
    for era in ["legacy", "modern", "both"] {
        let bench = Bench::of(&["--era", era]);
        assert_eq!(bench.say(era), era);
        let info = bench.info("s");
        assert_eq!(
            (info.status, &*info.transport),
            (McpStatus::Connected, "stdio")
        );
        assert_eq!(
            (info.tool_count, info.prompt_count, info.resource_count),
            (10, 2, 3)
        );
    }
}

#[test]
fn both_eras_of_the_protocol_work_over_http() {
    for era in ["legacy", "modern", "both"] {
        let server = Http::start(&["--era", era], "127.0.0.1:0");
        let bench = Bench::with(&json!({"s": {"url": server.url}}), &json!({}));
        assert_eq!(bench.say(era), era);
        assert_eq!(bench.info("s").transport, "streamable-http");
    }
}

#[test]
fn the_tools_of_a_server_are_there_for_the_first_turn() {
    let bench = Bench::of(&[]);
    // The turn waits for the server, so that a model is told of its tools.
    bench.live.say("hello").answered();
    let picture = bench.live.session().metrics().snapshot();
    let tools = picture.tools.items.iter();
    let remote: Vec<_> = tools.filter(|tool| tool.source == Source::Mcp).collect();
    assert_eq!(remote.len(), 10);
    let say = remote
        .iter()
        .find(|tool| tool.name == "mcp__s__say")
        .unwrap();
    assert_eq!(say.approval_key.as_deref(), Some("mcp:s:say"));
    assert_eq!(
        (picture.mcp.connected_count, picture.mcp.configured_count),
        (1, 1)
    );
}

#[test]
fn prompts_and_resources_are_in_the_registries() {
    let bench = Bench::of(&[]);
    bench.waits_for("s", McpStatus::Connected);
    let session = bench.live.session();
    let prompts = session.prompt_registry();
    let listed = prompts.list("any", &PromptFilter::default());
    let ids: Vec<&str> = listed.iter().map(|prompt| &*prompt.id).collect();
    assert_eq!(ids, ["mcp:s:hello", "mcp:s:review"]);
    assert!(listed.iter().all(|prompt| prompt.untrusted));
    let hello = block_on(prompts.read("any", "mcp:s:hello")).unwrap();
    assert_eq!(hello.body, "hello from the server");
    let missing = block_on(prompts.read("any", "mcp:s:no_such")).unwrap_err();
    assert_eq!(missing.code(), "PromptMissing");

    let resources = session.resource_registry();
    assert_eq!(resources.list("any", &ResourceFilter::default()).len(), 3);
    let short = block_on(resources.read("any", "mcp:s:memo://short")).unwrap();
    assert_eq!(
        (short.bytes, short.untrusted),
        (b"a short memo".to_vec(), true)
    );
    let names: Vec<String> = session
        .list_commands()
        .into_iter()
        .map(|c| c.name)
        .collect();
    assert!(names.contains(&"mcp__s__hello".to_owned()), "{names:?}");
}

#[test]
fn a_bound_resource_is_cut_at_its_limit() {
    let bench = Bench::of(&[]);
    let mcp = bench.live.session().mcp();
    let bind = |uri: &str, most: u64| {
        let binding = json!({"serverId": "s", "uri": uri, "maxBytes": most});
        block_on(mcp.bind(ResourceBinding::read(&binding).unwrap()))
    };
    let bound = bind("memo://long", 7).unwrap();
    assert_eq!((&*bound.content, bound.truncated), (&b"long lo"[..], true));
    let bound = bind("memo://short", 12).unwrap();
    assert_eq!((bound.truncated, &*bound.mime_type), (false, "text/plain"));
}

#[test]
fn an_empty_resource_is_missing() {
    let bench = Bench::of(&[]);
    let mcp = bench.live.session().mcp();
    for uri in ["memo://empty", "memo://no-such"] {
        let binding = json!({"serverId": "s", "uri": uri, "maxBytes": 9});
        let error = block_on(mcp.bind(ResourceBinding::read(&binding).unwrap())).unwrap_err();
        assert_eq!(error.code(), "ResourceMissing");
        let error = serde_json::to_value(&error).unwrap();
        stud_observed::covers!(MCP_RESOURCE_EMPTY, error);
    }
}

#[test]
fn a_server_that_is_not_there_is_refused() {
    let bench = Bench::of(&[]);
    let mcp = bench.live.session().mcp();
    let consumed = block_on(mcp.consume("t", "hello", BTreeMap::new()));
    stud_observed::covers!(MCP_SERVER_NOT_REGISTERED, consumed.unwrap_err());
    let forgotten = block_on(mcp.forget("t"));
    assert_eq!(forgotten.unwrap_err().code(), "MCPServerNotRegistered");
}

#[test]
fn what_is_forgotten_is_asked_about_again() {
    let bench = Bench::of(&[]);
    bench.waits_for("s", McpStatus::Connected);
    let session = bench.live.session();
    assert!(
        !block_on(session.mcp().forget("s")).unwrap(),
        "nothing was kept"
    );
    let health = session.mcp().health();
    assert_eq!((health[0].trusted, health[0].healthy), (false, false));
    assert_eq!(bench.info("s").tool_count, 0);
    // The next use decides it again; here every server is trusted in advance.
    assert_eq!(bench.say("back"), "back");
}

#[test]
fn a_turn_that_is_called_off_calls_the_call_off() {
    let world_state = tempfile::NamedTempFile::new().unwrap();
    let noted = |what: &str| {
        let text = std::fs::read_to_string(world_state.path()).unwrap();
        text.contains(what).then_some(())
    };
    let server = json!({"command": mcp_server(), "env": {"MCP_STATE": world_state.path()}});
    let bench = Bench::with(&json!({"s": server}), &json!({}));
    let talking = bench.live.say("!tool mcp__s__wait {}");
    eventually("the call", || noted("waiting"));
    bench.live.session().cancel_turn();
    eventually("the end of the call", || noted("cancelled"));
    talking.answered();
    assert_eq!(bench.say("still here"), "still here");
}

#[test]
fn a_server_that_grows_is_looked_at_again() {
    for args in [&["--era", "legacy"][..], &["--era", "modern"][..]] {
        let bench = Bench::of(args);
        bench.call("grow", &json!({}));
        eventually("the new tool", || {
            (bench.info("s").tool_count == 11).then_some(())
        });
        assert_eq!(bench.call("late", &json!({}))["ok"], true);
    }
}

#[test]
fn a_server_over_http_that_restarts_is_found_again() {
    let server = Http::start(&[], "127.0.0.1:0");
    let bench = Bench::with(&json!({"s": {"url": server.url}}), &json!({}));
    assert_eq!(bench.say("one"), "one");
    let address = server.address().to_owned();
    drop(server);
    let _server = Http::start(&[], &address);
    // The first call may meet the connection that is gone.
    eventually("the server", || (bench.say("two") == "two").then_some(()));
}

#[test]
fn a_server_gets_what_it_is_given_and_nothing_else() {
    let server = json!({"command": mcp_server(), "env": {"GIVEN": "a-value-of-its-own"}});
    let bench = Bench::with(&json!({"s": server}), &json!({}));
    let set = |name: &str| {
        let result = bench.call("env", &json!({"text": name}));
        result["result"]["content"][0]["text"] == format!("{name} is set")
    };
    assert!(set("GIVEN") && set("PATH"));
    // Cargo sets this one for every test.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !set("CARGO_MANIFEST_DIR"));
    // What it is given is in no record.
    bench.live.say("I say a-value-of-its-own").answered();
    let conversation = serde_json::to_string(&bench.live.session().conversation()).unwrap();
    let records = bench.world.path("home");
    assert!(
        !holds(&records.join("sessions"), "a-value-of-its-own"),
        "{conversation}"
    );
}

fn holds(folder: &std::path::Path, text: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return std::fs::read_to_string(folder).is_ok_and(|content| content.contains(text));
    };
    entries.flatten().any(|entry| holds(&entry.path(), text))
}
