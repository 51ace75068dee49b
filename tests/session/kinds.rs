//! Who may ask what: each kind from the category that owns it, and from no other.

use serde_json::{Value, json};
use stud_core::session::Ending;
use stud_tests::{Door, Elf, World, code_of, fixture};

use crate::stage::{Ui, install, probe, ui};

/// One question of each kind, and an answer to it.
fn samples() -> Vec<(&'static str, Value, Value)> {
    let form = json!({"type": "form", "fields": [{"id": "a", "type": "text", "label": "A"}]});
    vec![
        ("Ask", json!({"prompt": "?"}), json!({"text": "Ada"})),
        (
            "Approve",
            json!({"toolId": "t", "approvalKey": "k", "description": "d"}),
            json!({"decision": "approve"}),
        ),
        (
            "Select",
            json!({"prompt": "?", "options": ["a", "b"]}),
            json!({"index": 1}),
        ),
        (
            "Auth.DeviceCode",
            json!({"url": "https://example.org", "code": "A1", "expiresAt": "2030-01-01T00:00:00.000Z"}),
            json!({"completed": true}),
        ),
        (
            "Auth.Password",
            json!({"prompt": "?"}),
            json!({"secret": "hunter2"}),
        ),
        (
            "Confirm",
            json!({"prompt": "?"}),
            json!({"confirmed": true}),
        ),
        (
            "grantStageTool",
            json!({
                "stageExecutionId": "s", "attempt": 0, "proposalId": "p",
                "tool": "t", "argsDigest": "d", "argsSummary": "s",
            }),
            json!({"outcome": "approve"}),
        ),
        (
            "approveSubagentEnvelope",
            json!({
                "subagentId": "a", "parentSessionId": "s", "depth": 1, "requestedEnvelope": [],
                "promptSummary": "p", "model": {"providerId": "p", "modelId": "m"},
            }),
            json!({"outcome": "approve"}),
        ),
        (
            "ToolInput",
            json!({"toolCallId": "c", "toolName": "t", "inputSchema": form}),
            json!({"action": "submit", "input": {"a": "Ada"}}),
        ),
        (
            "ToolApproval",
            json!({"toolCallId": "c", "toolName": "t"}),
            json!({"action": "approve", "approvalScope": "session"}),
        ),
    ]
}

/// A UI that gives the sample answer to each kind.
fn agreeable(world: &World) -> Ui {
    let rules = samples()
        .into_iter()
        .map(|(kind, _, answer)| (kind.to_owned(), json!({"do": "accept", "value": answer})));
    let rules: serde_json::Map<String, Value> = rules.collect();
    ui(world, "agreeable", &json!({"prompts": rules}))
}

fn request(door: &Door, kind: &str, payload: &Value) -> Result<Value, Value> {
    door.call(
        "interaction.request",
        &json!({"kind": kind, "payload": payload}),
    )
}

/// Has a plugin ask one question of each kind: those that are owned are answered, the others refused.
fn asks(package: &str, folder: &str, category: &str, owned: &[&str]) {
    let world = World::new();
    let ui = agreeable(&world);
    let door = probe(&world, package, folder);
    let live = world.live(vec![]);
    for (kind, payload, answer) in samples() {
        let asked = request(&door, kind, &payload);
        if owned.contains(&kind) {
            let response = asked.unwrap_or_else(|error| panic!("{category} {kind}: {error:#}"));
            assert_eq!(response["status"], "accepted", "{category} {kind}");
            assert_eq!(response["value"], answer, "{category} {kind}");
            let seen = ui.saw(kind);
            assert_eq!(seen["payload"], payload, "{category} {kind}");
        } else {
            let refused = asked.unwrap_err();
            assert_eq!(
                code_of(&refused),
                "Validation/InteractionKindForbidden",
                "{category} {kind}"
            );
            assert_eq!(
                refused["context"],
                json!({"kind": kind, "category": category})
            );
        }
    }
    live.session().close().unwrap();
    assert_eq!(ui.all_seen().len(), owned.len(), "{category}");
}

#[test]
fn a_tool_asks_for_text_input_and_approval() {
    asks(
        "probe-tool",
        "tools",
        "Tool",
        &["Ask", "ToolInput", "ToolApproval"],
    );
}

#[test]
fn a_provider_asks_for_logins() {
    asks(
        "probe-provider",
        "providers",
        "Provider",
        &["Auth.DeviceCode", "Auth.Password"],
    );
}

#[test]
fn a_command_asks_to_confirm_and_to_choose() {
    asks(
        "probe-command",
        "commands",
        "Command",
        &["Confirm", "Select"],
    );
}

#[test]
fn hooks_loggers_context_providers_and_stores_ask_nothing() {
    asks("probe-hook", "hooks", "Hook", &[]);
    asks("probe-logger", "loggers", "Logger", &[]);
    asks(
        "probe-context-provider",
        "context-providers",
        "ContextProvider",
        &[],
    );
    asks("probe-session-store", "session-stores", "SessionStore", &[]);
}

#[test]
fn a_ui_asks_nothing() {
    let world = World::new();
    let ui = agreeable(&world);
    let live = world.live(vec![]);
    for (kind, payload, _) in samples() {
        let refused = request(&ui.door, kind, &payload).unwrap_err();
        assert_eq!(
            code_of(&refused),
            "Validation/InteractionKindForbidden",
            "{kind}"
        );
    }
    live.session().close().unwrap();
    assert!(ui.all_seen().is_empty());
}

#[test]
fn a_state_machine_asks_between_stages_and_not_elsewhere() {
    let world = World::new();
    let ui = agreeable(&world);
    let door = probe(&world, "probe-state-machine", "state-machines");
    let live = world.live(vec![]);
    for (kind, payload, _) in samples() {
        let refused = request(&door, kind, &payload).unwrap_err();
        let expected = match kind {
            "Ask" | "Select" | "Confirm" => "ExtensionHost/NotReady",
            _ => "Validation/InteractionKindForbidden",
        };
        assert_eq!(code_of(&refused), expected, "{kind}");
    }
    live.session().close().unwrap();
    assert!(ui.all_seen().is_empty());
}

#[test]
fn what_the_manifest_does_not_declare_is_refused_though_the_category_owns_it() {
    let world = World::new();
    let ui = agreeable(&world);
    let door = probe(&world, "probe-tool", "tools");
    let library = Elf::read(&fixture("probe-tool"))
        .with_manifest(|manifest| manifest["interactionKinds"] = json!(["Ask"]));
    world.write("home/tools/probe-tool/libprobe_tool.so", library.bytes);
    let live = world.live(vec![]);
    let declared = samples()
        .into_iter()
        .filter(|(kind, payload, _)| request(&door, kind, payload).is_ok());
    let declared: Vec<&str> = declared.map(|(kind, ..)| kind).collect();
    assert_eq!(declared, ["Ask"]);
    live.session().close().unwrap();
    assert_eq!(ui.all_seen().len(), 1);
}

#[test]
fn a_question_that_contradicts_itself_is_shown_to_nobody() {
    let world = World::new();
    let ui = agreeable(&world);
    let tool = probe(&world, "probe-tool", "tools");
    let command = probe(&world, "probe-command", "commands");
    let live = world.live(vec![]);
    let fields = json!({"type": "form", "fields": []});
    for (door, kind, payload, code) in [
        (
            &command,
            "Select",
            json!({"prompt": "?", "options": []}),
            "Validation/InteractionPayloadMismatch",
        ),
        (
            &tool,
            "ToolApproval",
            json!({"toolCallId": "c", "toolName": "t", "approvalScopes": []}),
            "Validation/InteractionPayloadMismatch",
        ),
        (
            &tool,
            "ToolInput",
            json!({"toolCallId": "c", "toolName": "t", "inputSchema": fields}),
            "Validation/InteractionPayloadMismatch",
        ),
        (
            &tool,
            "ToolApproval",
            json!({"toolCallId": "c", "toolName": "t", "timeoutMs": 0}),
            "Validation/TimeoutMsInvalid",
        ),
        (
            &tool,
            "trustProject",
            json!({}),
            "Validation/InteractionKindUnknown",
        ),
    ] {
        let refused = request(door, kind, &payload).unwrap_err();
        assert_eq!(code_of(&refused), code, "{kind} {payload}");
    }
    live.session().close().unwrap();
    assert!(ui.all_seen().is_empty());
}

#[test]
fn core_asks_before_a_gated_call_and_takes_both_forms_of_a_no() {
    let world = World::new();
    let answers = json!([
        {"do": "accept", "value": {"decision": "approve", "allowOnce": true}},
        {"do": "accept", "value": {"decision": "deny"}},
        {"do": "reject", "reason": "no"},
    ]);
    let ui = ui(&world, "one", &json!({"prompts": {"Approve": answers}}));
    install(&world, "good-tool", "tools");
    let live = world.live(vec![echo::stud_plugin()]);
    let propose = || {
        live.say(r#"!tool line_count {"path": "/dev/null"}"#)
            .answered()
    };

    let approved = propose();
    assert!(matches!(approved.ending, Ending::Completed));
    assert_eq!(approved.text, r#"RESULT {"ok":true,"result":"0 lines"}"#);
    let request = ui.saw("Approve");
    assert_eq!(request["payload"]["toolId"], "line_count");
    let key = request["payload"]["approvalKey"].as_str().unwrap();
    assert!(key.contains("/dev/null"), "{key}");
    assert_eq!(
        ui.heard("InteractionRaised")["payload"].get("extId"),
        None,
        "core asks"
    );
    for _ in 0..2 {
        let denied = propose();
        assert!(matches!(denied.ending, Ending::Completed));
        assert!(
            denied.text.contains(r#""code":"ApprovalDenied""#),
            "{}",
            denied.text
        );
    }
    live.session().close().unwrap();
}

#[test]
fn a_tools_prompt_runs_out_of_time_by_itself() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    crate::stage::tools(&world);
    let live = world.live(vec![echo::stud_plugin()]);
    let answered = live
        .say(r#"!tool fx_gate {"key": "k", "timeoutMs": 1}"#)
        .answered();
    assert_eq!(
        answered.text,
        r#"RESULT {"ok":true,"result":{"error":"Approval timed out","ok":false}}"#
    );
    // Also the one that was asked, who may not have come to it before the time was over.
    let cancelled = one.heard("InteractionCancelled");
    assert!(cancelled["payload"]["interactionId"].is_string());
    live.session().close().unwrap();
}

#[test]
fn an_approval_of_a_tools_own_is_kept_by_the_tool_and_bypasses_nothing() {
    let world = World::new();
    let always =
        json!({"do": "accept", "value": {"action": "approve", "approvalScope": "session"}});
    let deny = json!({"do": "reject"});
    let prompts = json!({"prompts": {"ToolApproval": always, "Approve": deny}});
    let one = ui(&world, "one", &prompts);
    crate::stage::tools(&world);
    install(&world, "good-tool", "tools");
    let live = world.live(vec![echo::stud_plugin()]);
    let gate = || {
        live.say(r#"!tool fx_gate {"key": "line_count"}"#)
            .answered()
            .text
    };
    assert_eq!(
        gate(),
        r#"RESULT {"ok":true,"result":{"ok":true,"scope":"session","via":"prompt"}}"#
    );
    assert_eq!(
        gate(),
        r#"RESULT {"ok":true,"result":{"ok":true,"scope":"session","via":"cache"}}"#
    );
    assert_eq!(one.all_seen().len(), 1);
    let denied = live
        .say(r#"!tool line_count {"path": "/dev/null"}"#)
        .answered();
    assert!(
        denied.text.contains(r#""code":"ApprovalDenied""#),
        "{}",
        denied.text
    );
    live.session().close().unwrap();
}
