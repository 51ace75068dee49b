//! MCP servers: who trusts them, what their tools, prompts and resources come to, and what happens when one is gone.

use std::path::PathBuf;

use serde_json::{Value, json};
use stud_tests::{eventually, mcp_server};

use crate::bench::{Bench, Ui, approve, in_both_forms};

const SAY: &str = r#"!tool mcp__s__say {"text": "hi"}"#;

/// A server `s` that tells what happens to it.
fn server(bench: &Bench, more: &Value) -> Value {
    let mut server = json!({
        "command": mcp_server(),
        "env": {"MCP_STATE": state(bench), "MCP_FAULT": ""},
    });
    for (key, value) in more.as_object().unwrap() {
        server[key] = value.clone();
    }
    server
}

fn state(bench: &Bench) -> PathBuf {
    bench.world.path("mcp.state")
}

fn noted(bench: &Bench, what: &str) -> usize {
    let text = std::fs::read_to_string(state(bench)).unwrap_or_default();
    text.lines().filter(|line| line.starts_with(what)).count()
}

fn configure(bench: &Bench, servers: Value) {
    let file = json!({"mcpServers": servers}).to_string();
    bench.world.write("home/mcp.json", file);
}

fn with_fault(bench: &Bench, fault: &str) {
    let env = json!({"MCP_STATE": state(bench), "MCP_FAULT": fault});
    configure(bench, json!({"s": server(bench, &json!({"env": env}))}));
}

/// Trusts `s` by editing the file by hand.
fn trusted(bench: &Bench) {
    configure(bench, json!({"s": server(bench, &json!({}))}));
    let entry = json!([{"serverId": "s", "decision": "trusted", "grantedAt": 1}]);
    bench.world.write("home/mcp-trust.json", entry.to_string());
}

fn list(bench: &Bench) -> Value {
    let text = std::fs::read_to_string(bench.world.path("home/mcp-trust.json"));
    serde_json::from_str(&text.unwrap_or_else(|_| "null".to_owned())).unwrap()
}

fn person(bench: &Bench, trusts: bool) -> Ui {
    let confirm = json!({"do": "accept", "value": {"confirmed": trusts}});
    let script = json!({"prompts": {"Confirm": confirm, "Approve": approve(&json!({}))}});
    bench.ui("person", &script)
}

fn kinds(records: &[Value]) -> Vec<&str> {
    let kinds = records.iter().map(|record| record["kind"].as_str());
    kinds.map(Option::unwrap_or_default).collect()
}

fn decisions(bench: &Bench) -> Vec<String> {
    let records = bench.audited("TrustDecision").into_iter();
    records
        .map(|record| record["payload"]["decision"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn nothing_is_started_before_somebody_trusts_it() {
    in_both_forms(|bench| {
        configure(bench, json!({"s": server(bench, &json!({}))}));
        let run = bench.headless(&[], "hello");
        assert_eq!(run.answer(), "USER hello");
        stud_observed::covers!(MCP_UNTRUSTED, run.stderr);
        let result = bench.headless(&[], SAY).result();
        assert_eq!(result["error"]["class"], "Session");
        assert_eq!(result["error"]["code"], "MCPUntrusted");
        assert_eq!(result["error"]["context"]["serverId"], "s");
        assert_eq!(noted(bench, "started"), 0);
        assert!(bench.audited("MCP").is_empty());
        assert!(
            decisions(bench)
                .iter()
                .all(|decision| decision == "unknown")
        );
        assert_eq!(list(bench), Value::Null);
    });
}

#[test]
fn a_remote_tool_is_asked_about_like_any_and_its_result_is_marked() {
    in_both_forms(|bench| {
        configure(
            bench,
            json!({"s": server(bench, &json!({"args": ["--era", "legacy"]}))}),
        );
        let person = person(bench, true);
        let result = bench.headless(&[], SAY).result();
        assert_eq!(result["ok"], true, "{result:#}");
        let told = &result["result"];
        assert_eq!(told["content"], json!([{"type": "text", "text": "hi"}]));
        assert_eq!(told["untrusted"], true);

        let asked = person.asked();
        let kinds_asked: Vec<&Value> = asked.iter().map(|request| &request["kind"]).collect();
        assert_eq!(kinds_asked, ["Confirm", "Approve"]);
        let question = asked[0]["payload"]["prompt"].as_str().unwrap();
        for word in ["`s`", "mcp-server --era legacy", "MCP_STATE", "mcp.json"] {
            assert!(question.contains(word), "{word}: {question}");
        }
        assert_eq!(asked[1]["payload"]["approvalKey"], "mcp:s:say");
        assert_eq!(asked[1]["payload"]["toolId"], "mcp__s__say");
        assert_eq!(decisions(bench).last().unwrap(), "trusted");
        let records = bench.audited("MCP");
        assert_eq!(
            kinds(&records),
            ["MCPServerConnected", "MCPServerDisconnected"]
        );

        let entry = &list(bench)[0];
        assert_eq!(
            (&entry["serverId"], &entry["decision"]),
            (&json!("s"), &json!("trusted"))
        );
        assert!(entry["grantedAt"].is_u64());
        assert!(
            entry["fingerprint"]
                .as_str()
                .unwrap()
                .starts_with("sha256:")
        );
        assert!(entry["tools"]["say"].is_string());

        // The decision holds; the call is asked about again.
        bench.headless(&[], SAY).result();
        let asked = person.asked();
        assert_eq!((asked.len(), &asked[2]["kind"]), (3, &json!("Approve")));
    });
}

#[test]
fn a_no_keeps_the_server_away_for_the_session() {
    in_both_forms(|bench| {
        configure(bench, json!({"s": server(bench, &json!({}))}));
        let person = person(bench, false);
        let calls = json!([["mcp__s__say", {"text": "a"}], ["mcp__s__say", {"text": "b"}]]);
        let result = bench.headless(&[], &format!("!seq {calls}")).result();
        assert_eq!(result["error"]["code"], "MCPUntrusted");
        assert_eq!(person.asked().len(), 1, "nobody is asked twice");
        assert_eq!(decisions(bench).last().unwrap(), "untrusted");
        assert_eq!((noted(bench, "started"), list(bench)), (0, Value::Null));
    });
}

#[test]
fn yolo_trusts_once_and_says_so() {
    in_both_forms(|bench| {
        configure(bench, json!({"s": server(bench, &json!({}))}));
        let result = bench.headless(&["--yolo"], SAY).result();
        assert_eq!(result["ok"], true, "{result:#}");
        let records = bench.audited("TrustDecision");
        let last = &records.last().unwrap()["payload"];
        assert_eq!(
            (&last["decision"], &last["scope"]),
            (&json!("trusted"), &json!("session"))
        );
        assert_eq!(list(bench), Value::Null);
    });
}

#[test]
fn another_command_or_another_description_is_asked_about_again() {
    in_both_forms(|bench| {
        with_fault(bench, "");
        let person = person(bench, true);
        bench.headless(&[], SAY).result();
        // What a variable holds is not what the server was trusted for; what its tools say is.
        with_fault(bench, "described");
        bench.headless(&[], SAY).result();
        configure(
            bench,
            json!({"s": server(bench, &json!({"args": ["--era", "both"]}))}),
        );
        bench.headless(&[], SAY).result();
        let mut asked = person.asked();
        asked.retain(|request| request["kind"] == "Confirm");
        let said: Vec<&str> = asked
            .iter()
            .map(|request| request["payload"]["prompt"].as_str().unwrap())
            .collect();
        assert!(
            said[1].contains("`say` is described in another way"),
            "{said:#?}"
        );
        assert!(
            said[2].contains("started or reached in another way"),
            "{said:#?}"
        );

        // No interactor is attached to approve a change, so none of it is used.
        std::fs::remove_dir_all(bench.world.path("home/ui/person")).unwrap();
        with_fault(bench, "described");
        let result = bench.headless(&[], SAY).result();
        assert_eq!(result["error"]["code"], "MCPUntrusted");
    });
}

/// The key of a remote tool is the same for every call, so it is known before a call what would be asked.
#[test]
fn a_remote_tool_that_was_approved_is_listed_as_such() {
    in_both_forms(|bench| {
        trusted(bench);
        let mut talk = bench.talk(&[]);
        talk.say(SAY);
        talk.is_asked("Allow the tool mcp__s__say?");
        talk.say("s");
        talk.hears("RESULT");
        talk.say("/tools");
        let (status, stdout, stderr) = talk.end();
        assert_eq!(status, 0, "{stderr}");
        let shown = format!("{stdout}{stderr}");
        let gate = |name: &str| {
            let mut lines = shown.lines();
            let line = lines.find(|line| line.trim_start().starts_with(name));
            line.unwrap_or_else(|| panic!("{shown}")).to_owned()
        };
        assert!(gate("mcp__s__say ").contains("runs unasked"), "{shown}");
        assert!(gate("mcp__s__fail ").contains("asks first"), "{shown}");

        let listed = json!({"mode": "allowlist", "allowlist": ["mcp:s:fail"]});
        bench.settings(&json!({"securityMode": listed}));
        let mut talk = bench.talk(&[]);
        talk.say("!tool mcp__s__fail {}");
        talk.hears("RESULT");
        talk.say("/tools");
        let (_, stdout, stderr) = talk.end();
        let shown = format!("{stdout}{stderr}");
        let mut lines = shown.lines();
        let line = lines.find(|line| line.trim_start().starts_with("mcp__s__fail "));
        assert!(line.unwrap().contains("runs unasked"), "{shown}");
    });
}

#[test]
fn a_tool_that_fails_says_so() {
    in_both_forms(|bench| {
        trusted(bench);
        let run = |call: &str| bench.headless(&["--mode", "yolo"], call).result();
        let failed = &run("!tool mcp__s__fail {}")["error"];
        stud_observed::covers!(MCP_TOOL_FAILED, failed);
        assert_eq!(failed["context"]["serverId"], "s");
        assert_eq!(failed["context"]["toolName"], "fail");
        assert!(failed["message"].as_str().unwrap().contains("it is broken"));
        assert_eq!(
            run("!tool mcp__s__refuse {}")["error"]["code"],
            "MCPToolFailed"
        );
        assert_eq!(
            run(r#"!tool mcp__s__say {"text": 1}"#)["error"]["code"],
            "InputInvalid"
        );
        assert_eq!(
            run("!tool mcp__s__no_such {}")["error"]["code"],
            "InputInvalid"
        );
        assert_eq!(run("!tool mcp__t__say {}")["error"]["code"], "InputInvalid");
    });
}

#[test]
fn a_guard_has_the_last_word_on_a_remote_tool() {
    in_both_forms(|bench| {
        trusted(bench);
        let deny = json!({"deny": "mcp__s__say", "code": "Forbidden", "reason": "not this one"});
        bench.hook("script-guard", "warden", "TOOL_CALL/pre", deny);
        let result = bench.headless(&["--mode", "yolo"], SAY).result();
        assert_eq!(result["error"]["code"], "ApprovalDenied", "{result:#}");
        assert_eq!(bench.seen_by("warden")[0]["toolName"], "mcp__s__say");
    });
}

#[test]
fn a_prompt_is_said_as_untrusted_text() {
    in_both_forms(|bench| {
        trusted(bench);
        let mut talk = bench.talk(&[]);
        // The first turn waits for the server, and then its commands are there.
        talk.say("hello");
        talk.hears("USER hello");
        talk.say("/mcp__s__review src/my file.rs");
        talk.hears("USER The prompt `review` of the MCP server `s`");
        talk.hears("review src/my file.rs");
        let (status, ..) = talk.end();
        assert_eq!(status, 0);
        let input = &bench.recorded("user_input")[1];
        assert_eq!(input["origin"]["taint"], "untrusted");
        assert_eq!(input["origin"]["serverId"], "s");
        assert!(input["text"].as_str().unwrap().contains("untrusted text"));
        let records = bench.audited("MCP");
        let consumed = records
            .iter()
            .find(|record| record["kind"] == "PromptConsumed");
        let facts = json!({"serverId": "s", "name": "review", "messageCount": 2});
        assert_eq!(consumed.unwrap()["payload"], facts);
    });
}

#[test]
fn a_prompt_can_be_said_before_anything_else() {
    in_both_forms(|bench| {
        trusted(bench);
        let run = bench.headless(&[], "/mcp__s__review src/lib.rs");
        let answer = run.answer();
        assert!(answer.contains("review src/lib.rs"), "{run:#?}");
        let run = bench.headless(&[], "/mcp__s__nothing");
        assert!(run.stderr.contains("Validation/CommandUnknown"), "{run:#?}");
    });
}

#[test]
fn a_bound_resource_enters_the_request_as_far_as_its_limit_goes() {
    in_both_forms(|bench| {
        trusted(bench);
        let binding =
            json!({"serverId": "s", "uri": "memo://long", "maxBytes": 100, "maxTokens": 9});
        let file = json!({"mcpServers": {"s": server(bench, &json!({}))}, "resources": [binding]});
        bench.world.write("home/mcp.json", file.to_string());
        let folder = "home/context-providers/script-context-provider";
        bench.install("script-context-provider", "context-providers");
        let fragment = json!({
            "kind": "resource-binding",
            "content": "mcp:s:memo://long",
            "tokenBudget": 50,
            "priority": 1,
        });
        let script = bench
            .world
            .write("fragments", json!({"return": [fragment]}).to_string());
        let config = json!({"script": script}).to_string();
        bench.world.write(format!("{folder}/config.json"), config);
        let ear = bench.ear();
        assert_eq!(bench.headless(&[], "hello").answer(), "USER hello");
        assert_eq!(ear.heard("BudgetEnforced")[0]["fragmentCount"], 1);
        let records = bench.audited("MCP");
        let bound = records
            .iter()
            .find(|record| record["kind"] == "ResourceBound");
        let facts = json!({
            "serverId": "s",
            "uri": "memo://long",
            "maxBytes": 100,
            "maxTokens": 9,
            "truncated": true,
            "mimeType": "text/plain",
        });
        assert_eq!(bound.unwrap()["payload"], facts);
    });
}

#[test]
fn a_server_that_dies_comes_back_without_a_question() {
    in_both_forms(|bench| {
        trusted(bench);
        let calls = json!([["mcp__s__die", {}], ["mcp__s__say", {"text": "again"}]]);
        let run = bench.headless(&["--mode", "yolo"], &format!("!seq {calls}"));
        assert_eq!(run.result()["result"]["content"][0]["text"], "again");
        let first: Value = serde_json::from_str(
            bench.recorded("tool_result")[0]["content"]
                .as_str()
                .unwrap(),
        )
        .unwrap();
        assert_eq!(first["error"]["class"], "ProviderTransient");
        assert_eq!(first["error"]["code"], "MCPConnectionLost");
        let records = bench.audited("MCP");
        assert_eq!(
            kinds(&records),
            [
                "MCPServerConnected",
                "MCPServerDisconnected",
                "MCPReconnectAttempt",
                "MCPServerConnected",
                "MCPServerReconnected",
                "MCPServerDisconnected",
            ]
        );
        let attempt = &records[2]["payload"];
        assert_eq!(
            (&attempt["attempt"], &attempt["delayMs"]),
            (&json!(1), &json!(0))
        );
        let back = &records[4]["payload"];
        assert_eq!(
            (&back["attempts"], &back["totalDelayMs"]),
            (&json!(1), &json!(0))
        );
    });
}

#[test]
fn a_server_that_stays_away_is_given_up_after_five_attempts() {
    in_both_forms(|bench| {
        trusted(bench);
        with_fault(bench, "once");
        let calls = json!([["mcp__s__die", {}], ["mcp__s__say", {"text": "again"}]]);
        let run = bench.headless(&["--mode", "yolo"], &format!("!seq {calls}"));
        let error = &run.result()["error"];
        assert_eq!(error["code"], "MCPConnectionLost");
        assert_eq!(error["context"]["attempts"], 5);
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains("once was enough")
        );
        let records = bench.audited("MCP");
        let attempts = records
            .iter()
            .filter(|record| record["kind"] == "MCPReconnectAttempt");
        let delays: Vec<u64> = attempts
            .map(|record| record["payload"]["delayMs"].as_u64().unwrap())
            .collect();
        assert_eq!(delays.len(), 5);
        for (delay, meant) in delays.iter().zip([0, 250, 500, 1000, 2000]) {
            assert!(delay.abs_diff(meant) <= meant / 5, "{delays:?}");
        }
        assert_eq!(error["context"]["totalDelayMs"], delays.iter().sum::<u64>());
    });
}

#[test]
fn a_dead_server_is_named_and_the_rest_is_unaffected() {
    in_both_forms(|bench| {
        let silent = server(bench, &json!({"args": ["--fault", "silent"]}));
        let crash = server(bench, &json!({"args": ["--fault", "crash"]}));
        configure(
            bench,
            json!({
                "s": server(bench, &json!({})),
                "gone": {"command": "/no/such/program"},
                "silent": silent,
                "crash": crash,
                "far": {"url": "http://127.0.0.1:9/mcp"},
            }),
        );
        bench.settings(&json!({"mcp": {"connectTimeoutMs": 2000, "startupGraceMs": 0}}));
        let calls = json!([
            ["mcp__s__say", {"text": "fine"}],
            ["mcp__gone__x", {}],
            ["mcp__silent__x", {}],
            ["mcp__crash__x", {}],
            ["mcp__far__x", {}],
        ]);
        let run = bench.headless(&["--yolo"], &format!("!par {calls}"));
        assert_eq!(run.status, 0, "{run:#?}");
        let results = bench.recorded("tool_result");
        let read = |index: usize| -> Value {
            serde_json::from_str(results[index]["content"].as_str().unwrap()).unwrap()
        };
        assert_eq!(read(0)["result"]["content"][0]["text"], "fine");
        for (index, server, word) in [
            (1, "gone", "/no/such/program"),
            (2, "silent", "did not answer within 2000 ms"),
            (3, "crash", "flux capacitor"),
            (4, "far", "is not available"),
        ] {
            let error = &read(index)["error"];
            stud_observed::covers!(MCP_CONNECTION_LOST, error);
            assert_eq!(error["context"]["serverId"], server);
            assert!(
                error["message"].as_str().unwrap().contains(word),
                "{error:#}"
            );
        }
    });
}

#[test]
fn a_server_that_cannot_work_is_named_and_the_others_start() {
    in_both_forms(|bench| {
        configure(
            bench,
            json!({
                "s": server(bench, &json!({})),
                "bad id": {"command": "x"},
                "empty": {},
                "old": {"type": "sse", "url": "http://127.0.0.1:9/sse"},
                "where": {"url": "ftp://127.0.0.1/mcp"},
            }),
        );
        let run = bench.headless(&["--yolo"], SAY);
        assert_eq!(run.result()["ok"], true);
        let named = run
            .stderr
            .matches("Validation/MCPServerConfigInvalid")
            .count();
        assert_eq!(named, 4, "{run:#?}");
        stud_observed::covers!(MCP_SERVER_CONFIG_INVALID, run.stderr);
        assert!(run.stderr.contains("streamable-http"), "{run:#?}");
    });
}

#[test]
fn a_limit_that_is_none_is_named() {
    in_both_forms(|bench| {
        let binding = json!({"serverId": "s", "uri": "memo://long", "maxBytes": 1.5});
        let file = json!({"mcpServers": {}, "resources": [binding]});
        bench.world.write("home/mcp.json", file.to_string());
        let run = bench.headless(&[], "hello");
        stud_observed::covers!(BINDING_CAP_EXCEEDED, run.stderr);
        assert_eq!(run.answer(), "USER hello");
    });
}

#[test]
fn a_broken_trust_list_trusts_nobody() {
    in_both_forms(|bench| {
        trusted(bench);
        bench.world.write("home/mcp-trust.json", "{");
        let run = bench.headless(&["--yolo"], SAY);
        stud_observed::covers!(MCP_TRUST_UNAVAILABLE, run.stderr);
        assert_eq!(run.result()["error"]["code"], "MCPTrustUnavailable");
        assert_eq!(noted(bench, "started"), 0);
        let kept = std::fs::read_to_string(bench.world.path("home/mcp-trust.json"));
        assert_eq!(kept.unwrap(), "{", "what cannot be read is left as it is");
    });
}

#[test]
fn servers_of_a_project_wait_for_the_project_to_be_trusted() {
    in_both_forms(|bench| {
        let file = json!({"mcpServers": {"s": server(bench, &json!({}))}});
        bench
            .world
            .write("project/.stud/mcp.json", file.to_string());
        let run = bench.headless(&[], SAY);
        assert_eq!((run.status, noted(bench, "started")), (1, 0), "{run:#?}");
        bench.trust();
        // The project is trusted, and its server still needs a decision of its own.
        let result = bench.headless(&[], SAY).result();
        assert_eq!(result["error"]["code"], "MCPUntrusted");
        let person = person(bench, true);
        assert_eq!(bench.headless(&[], SAY).result()["ok"], true);
        assert_eq!(person.asked()[0]["kind"], "Confirm");
        assert!(bench.world.path("project/.stud/mcp-trust.json").is_file());
        assert_eq!(list(bench), Value::Null);
    });
}

#[test]
fn no_process_outlives_the_session() {
    in_both_forms(|bench| {
        trusted(bench);
        let run = bench.headless(&["--mode", "yolo"], "!tool mcp__s__fork {}");
        let pid = run.result()["result"]["content"][0]["text"].clone();
        let stat = format!("/proc/{}/stat", pid.as_str().unwrap());
        eventually("the end of what the server started", || {
            // It may have no parent to reap it.
            let stat = std::fs::read_to_string(&stat).unwrap_or_default();
            (stat.is_empty() || stat.contains(") Z ")).then_some(())
        });
    });
}

#[test]
fn what_could_deceive_is_left_out_by_name() {
    in_both_forms(|bench| {
        trusted(bench);
        with_fault(bench, "names");
        let run = bench.headless(&["--mode", "yolo"], SAY);
        assert_eq!(run.result()["ok"], true);
        // The logger is told of each that is left out.
        let logs = bench.world.home().join("logs");
        let mut text = String::new();
        for entry in std::fs::read_dir(logs).unwrap() {
            text += &std::fs::read_to_string(entry.unwrap().path()).unwrap();
        }
        let line = text.lines().find(|line| line.contains("MCPOfferInvalid"));
        let record: Value = serde_json::from_str(line.unwrap()).unwrap();
        let told = |member: &str| record["payload"][member].as_str().unwrap().to_owned();
        let problem = format!("warning[{}]: {}", told("code"), told("message"));
        stud_observed::covers!(MCP_OFFER_INVALID, problem);
        assert!(text.contains("u{202e}"), "{text}");
        assert!(!text.contains('\u{202e}'), "{text}");
    });
}
