//! Every operation with an example of what is asked and what is answered.

use std::task::{Context, Poll, Waker};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use stud_contract_meta::Result;

use crate::HostApi;

/// One operation.
pub(super) struct Case {
    pub(super) name: &'static str,
    /// Makes the call, and gives its result as JSON.
    pub(super) call: fn(&dyn HostApi) -> Result<Value>,
    /// What arrives at the host: the arguments as JSON.
    pub(super) asked: Value,
    /// What the host answers, and what arrives at the plugin.
    pub(super) answered: Value,
}

/// The outcome of a future that has nothing to wait for.
pub(super) fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("there is nothing to wait for"),
    }
}

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn written<T: Serialize>(result: Result<T>) -> Result<Value> {
    result.map(|value| serde_json::to_value(value).unwrap())
}

/// All but those that give more than JSON: the token, the snapshot and the feeds.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = at_once();
    cases.extend(of_the_log());
    cases.extend(of_the_session());
    cases.extend(of_commands());
    cases.extend(of_prompts());
    cases.extend(of_the_registries());
    cases
}

fn at_once() -> Vec<Case> {
    vec![
        Case {
            name: "env.get",
            call: |host| written(host.env().get("TOKEN")),
            asked: json!("TOKEN"),
            answered: json!("t0"),
        },
        Case {
            name: "env.get",
            call: |host| written(host.env().get("UNSET")),
            asked: json!("UNSET"),
            answered: Value::Null,
        },
        Case {
            name: "env.require",
            call: |host| written(host.env().require("TOKEN")),
            asked: json!("TOKEN"),
            answered: json!("t0"),
        },
        Case {
            name: "config.readOwn",
            call: |host| written(host.config().read_own()),
            asked: Value::Null,
            answered: json!({"name": "Ada", "depth": [1, {"a": null}]}),
        },
        Case {
            name: "config.readGlobal",
            call: |host| written(host.config().read_global("headless")),
            asked: json!("headless"),
            answered: json!(true),
        },
        Case {
            name: "config.mayReach",
            call: |host| {
                let to = json!({"host": "a.org", "port": 443, "url": "https://a.org/", "address": "10.0.0.1"});
                written(host.config().may_reach(&read(to)))
            },
            asked: json!({"host": "a.org", "port": 443, "url": "https://a.org/", "address": "10.0.0.1"}),
            answered: Value::Null,
        },
        Case {
            name: "events.publish",
            call: |host| {
                written(
                    host.events()
                        .publish(read(json!({"name": "Counted", "payload": 3}))),
                )
            },
            asked: json!({"name": "Counted", "payload": 3}),
            answered: Value::Null,
        },
        Case {
            name: "events.list",
            call: |host| written(host.events().list()),
            asked: Value::Null,
            answered: json!([{"name": "Counted", "owner": "counter", "schema": {"type": "integer"}}]),
        },
        Case {
            name: "workspace.projectRoot",
            call: |host| written(host.workspace().project_root()),
            asked: Value::Null,
            answered: json!("/projects/site/.stud"),
        },
        Case {
            name: "workspace.globalRoot",
            call: |host| written(host.workspace().global_root()),
            asked: Value::Null,
            answered: json!("/users/ada/.stud"),
        },
        Case {
            name: "workspace.correlationId",
            call: |host| written(host.workspace().correlation_id()),
            asked: Value::Null,
            answered: json!("t1"),
        },
        Case {
            name: "workspace.sessionId",
            call: |host| written(host.workspace().session_id()),
            asked: Value::Null,
            answered: json!("s1"),
        },
        Case {
            name: "commands.list",
            call: |host| written(host.commands().list()),
            asked: Value::Null,
            answered: json!([{"name": "help", "aliases": ["h"], "description": "Helps.", "source": "help", "turnSafe": true}]),
        },
        Case {
            name: "commands.complete",
            call: |host| written(host.commands().complete("/he", 3)),
            asked: json!(["/he", 3]),
            answered: json!([{"label": "help", "replacement": "/help"}]),
        },
    ]
}

fn of_the_log() -> Vec<Case> {
    vec![
        Case {
            name: "events.logLevel",
            call: |host| written(host.events().log_level()),
            asked: Value::Null,
            answered: json!("debug"),
        },
        Case {
            name: "events.log",
            call: |host| {
                written(host.events().log(read(json!({
                    "severity": "warn", "target": "probe", "message": "slow",
                    "fields": {"files": 3}, "spans": [{"name": "scan"}], "durationMs": 4,
                }))))
            },
            asked: json!({
                "severity": "warn", "target": "probe", "message": "slow",
                "fields": {"files": 3}, "spans": [{"name": "scan"}], "durationMs": 4,
            }),
            answered: Value::Null,
        },
    ]
}

fn of_the_session() -> Vec<Case> {
    vec![
        Case {
            name: "audit.record",
            call: |host| {
                written(ready(
                    host.audit().record(read(json!({"class": "Indexing"}))),
                ))
            },
            asked: json!({"class": "Indexing", "payload": {}}),
            answered: Value::Null,
        },
        Case {
            name: "audit.query",
            call: |host| written(ready(host.audit().query(read(json!({"kind": "Begun"}))))),
            asked: json!({"kind": "Begun"}),
            answered: json!([{
                "class": "Indexing",
                "kind": "Begun",
                "correlationId": "t1",
                "timestamp": "2026-01-01T00:00:00.000Z",
                "sessionId": "s1",
                "actor": "indexer",
                "payload": {"files": 3},
            }]),
        },
        Case {
            name: "audit.activeSubagents",
            call: |host| written(ready(host.audit().active_subagents())),
            asked: Value::Null,
            answered: json!([]),
        },
        Case {
            name: "session.read",
            call: |host| written(ready(host.session().read(read(json!({"afterSeq": 4}))))),
            asked: json!({"afterSeq": 4}),
            answered: json!({
                "sessionId": "s1",
                "mode": "ask",
                "createdAt": "2026-01-01T00:00:00.000Z",
                "turnCount": 1,
                "lastSeq": 4,
                "records": [],
            }),
        },
        Case {
            name: "session.append",
            call: |host| {
                written(ready(
                    host.session()
                        .append(read(json!({"kind": "note", "text": "hm"}))),
                ))
            },
            asked: json!({"kind": "note", "text": "hm"}),
            answered: json!({"seq": 5}),
        },
        Case {
            name: "session.openChild",
            call: |host| {
                let child = json!({"prompt": "Look", "requestedEnvelope": ["read"], "depth": 1});
                written(ready(host.session().open_child(read(child))))
            },
            asked: json!({"prompt": "Look", "requestedEnvelope": ["read"], "depth": 1}),
            answered: json!({"state": "Aborted", "reason": "depthExceeded"}),
        },
        Case {
            name: "context.contribute",
            call: |host| {
                let fragment =
                    json!({"kind": "tool-hint", "content": "x", "tokenBudget": 9, "priority": -1});
                written(ready(host.context().contribute(read(fragment))))
            },
            asked: json!({"kind": "tool-hint", "content": "x", "tokenBudget": 9, "priority": -1}),
            answered: Value::Null,
        },
        Case {
            name: "context.compact",
            call: |host| {
                let how = json!({"targetUtilizationPercent": 60});
                written(ready(host.context().compact(read(how))))
            },
            asked: json!({"targetUtilizationPercent": 60, "preserveRecentTurns": 2}),
            answered: json!({
                "compactedSegments": 1,
                "originalTokens": 900,
                "compactedTokens": 300,
                "newUtilizationPercent": 31.5,
                "summary": "They spoke.",
            }),
        },
    ]
}

fn of_commands() -> Vec<Case> {
    vec![
        Case {
            name: "commands.dispatch",
            call: |host| written(ready(host.commands().dispatch("model", "echo-1".into()))),
            asked: json!(["model", "echo-1"]),
            answered: json!({"status": "done", "rendered": "Switched", "payload": {"id": "echo-1"}}),
        },
        Case {
            name: "commands.perform",
            call: |host| {
                let deed = json!({"deed": "grantTrust", "path": "/projects/site"});
                written(ready(host.commands().perform(read(deed))))
            },
            asked: json!({"deed": "grantTrust", "path": "/projects/site"}),
            answered: json!({"granted": true, "target": "/projects/site/.stud"}),
        },
    ]
}

fn of_prompts() -> Vec<Case> {
    vec![
        Case {
            name: "interaction.request",
            call: |host| {
                let question = read(json!({"kind": "Ask", "payload": {"prompt": "Who?"}}));
                written(ready(host.interaction().request(question)))
            },
            asked: json!({"kind": "Ask", "payload": {"prompt": "Who?"}}),
            answered: json!({
                "interactionId": "i1",
                "correlationId": "t1",
                "status": "accepted",
                "value": {"text": "Ada"},
            }),
        },
        Case {
            name: "interaction.respond",
            call: |host| {
                let answer =
                    json!({"interactionId": "i1", "correlationId": "t1", "status": "dismissed"});
                written(ready(host.interaction().respond(read(answer))))
            },
            asked: json!({"interactionId": "i1", "correlationId": "t1", "status": "dismissed"}),
            answered: Value::Null,
        },
        Case {
            name: "interaction.availability",
            call: |host| written(host.interaction().availability()),
            asked: Value::Null,
            answered: json!({"available": true, "supportedCount": 3, "enabledCount": 2}),
        },
        Case {
            name: "interaction.approval",
            call: |host| {
                let of = json!({"key": "deploy", "sessionId": "s1", "toolCallId": "c1"});
                written(ready(host.interaction().approval(read(of))))
            },
            asked: json!({"key": "deploy", "sessionId": "s1", "toolCallId": "c1"}),
            answered: json!("session"),
        },
        Case {
            name: "interaction.approval",
            call: |host| {
                let of = json!({"key": "deploy"});
                written(ready(host.interaction().approval(read(of))))
            },
            asked: json!({"key": "deploy"}),
            answered: Value::Null,
        },
        Case {
            name: "interaction.approve",
            call: |host| {
                let of = json!({"key": "deploy", "sessionId": "s1"});
                let scope = read(json!("always"));
                written(ready(host.interaction().approve(read(of), scope)))
            },
            asked: json!([{"key": "deploy", "sessionId": "s1"}, "always"]),
            answered: Value::Null,
        },
        Case {
            name: "interaction.clearApprovals",
            call: |host| written(ready(host.interaction().clear_approvals("s1".to_owned()))),
            asked: json!("s1"),
            answered: Value::Null,
        },
    ]
}

fn of_the_registries() -> Vec<Case> {
    vec![
        Case {
            name: "prompt.list",
            call: |host| written(ready(host.prompt().list(read(json!({"namespace": "mcp"}))))),
            asked: json!({"namespace": "mcp"}),
            answered: json!([{"id": "mcp:git:review", "source": "mcp", "untrusted": true}]),
        },
        Case {
            name: "prompt.read",
            call: |host| written(ready(host.prompt().read("mcp:git:review"))),
            asked: json!("mcp:git:review"),
            answered: json!({"id": "mcp:git:review", "source": "mcp", "body": "Be kind.", "untrusted": true}),
        },
        Case {
            name: "resource.list",
            call: |host| written(ready(host.resource().list(read(json!({"source": "http"}))))),
            asked: json!({"source": "http"}),
            answered: json!([{"id": "web:a", "source": "http", "uri": "https://a.example", "byteCap": 1, "tokenCap": 2}]),
        },
        Case {
            name: "resource.read",
            call: |host| written(ready(host.resource().read("web:a"))),
            asked: json!("web:a"),
            answered: json!({
                "id": "web:a",
                "bytes": "AP8=",
                "mime": "application/octet-stream",
                "untrusted": true,
                "fetchedAt": "2026-01-01T00:00:00.000Z",
            }),
        },
    ]
}
