//! The fixture tools do what everyone who drives stud with them relies on.

use serde_json::{Value, json};
use stud_tests::{Live, World};

use crate::stage::{Ui, tools, ui};

/// A session with the tools and a UI that answers as told.
fn bench(world: &World, prompts: &Value) -> (Live, Ui) {
    let ui = ui(world, "one", &json!({"prompts": prompts}));
    tools(world);
    (world.live(vec![echo::stud_plugin()]), ui)
}

/// Has the model call a tool, and gives what it got.
fn call(live: &Live, tool: &str, args: &Value) -> Value {
    let text = live.say(&format!("!tool {tool} {args}")).answered().text;
    let result = text
        .strip_prefix("RESULT ")
        .unwrap_or_else(|| panic!("{text}"));
    serde_json::from_str(result).unwrap()
}

/// What the tool returned.
fn returned(live: &Live, tool: &str, args: &Value) -> Value {
    let mut result = call(live, tool, args);
    assert_eq!(result["ok"], true, "{tool}: {result:#}");
    result["result"].take()
}

/// The code the tool failed with.
fn failed(live: &Live, tool: &str, args: &Value) -> String {
    let result = call(live, tool, args);
    assert_eq!(result["ok"], false, "{tool}: {result:#}");
    let text = |member: &str| result["error"][member].as_str().unwrap().to_owned();
    format!("{}/{}", text("class"), text("code"))
}

fn submit(input: Value) -> Value {
    json!({"do": "accept", "value": {"action": "submit", "input": input}})
}

fn press(action: &str) -> Value {
    json!({"do": "accept", "value": {"action": action}})
}

#[test]
fn ask_user_asks_for_one_field() {
    let world = World::new();
    let answers = json!([
        submit(json!({"answer": "Ada"})),
        submit(json!({"answer": "red"})),
        press("cancel"),
        {"do": "reject"},
    ]);
    let (live, ui) = bench(&world, &json!({"ToolInput": answers}));
    let question = json!({"question": "Your name?"});
    let ask = |args: &Value| returned(&live, "ask_user", args);
    assert_eq!(ask(&question), json!({"ok": true, "answer": "Ada"}));
    let choice = json!({"question": "Which?", "inputType": "select", "options": ["red", "blue"]});
    assert_eq!(ask(&choice), json!({"ok": true, "answer": "red"}));
    for _ in 0..2 {
        assert_eq!(ask(&question), json!({"ok": false, "cancelled": true}));
    }
    let seen = ui.all_seen();
    let field = |prompt: usize| seen[prompt]["payload"]["inputSchema"]["fields"].clone();
    assert_eq!(
        field(0),
        json!([{"id": "answer", "type": "text", "label": "Your name?", "required": true}])
    );
    assert_eq!(
        field(1)[0]["options"],
        json!([{"value": "red", "label": "red"}, {"value": "blue", "label": "blue"}])
    );
    assert_eq!(seen[0]["payload"]["toolName"], "ask_user");
    live.session().close().unwrap();
}

#[test]
fn fx_gate_remembers_what_lasts() {
    let world = World::new();
    let approve = |scope: &str| json!({"do": "accept", "value": {"action": "approve", "approvalScope": scope}});
    let denied = json!({"do": "accept", "value": {"action": "deny", "reason": "no"}});
    let answers =
        json!([approve("once"), approve("session"), denied, press("cancel"), {"do": "wait"}]);
    let (live, ui) = bench(&world, &json!({"ToolApproval": answers}));
    let gate = |key: &str| returned(&live, "fx_gate", &json!({"key": key}));
    assert_eq!(
        gate("k"),
        json!({"ok": true, "via": "prompt", "scope": "once"})
    );
    assert_eq!(
        gate("k"),
        json!({"ok": true, "via": "prompt", "scope": "session"})
    );
    assert_eq!(
        gate("k"),
        json!({"ok": true, "via": "cache", "scope": "session"})
    );
    assert_eq!(
        gate("other"),
        json!({"ok": false, "denied": true, "reason": "no"})
    );
    assert_eq!(gate("other"), json!({"ok": false, "cancelled": true}));
    let short = json!({"key": "other", "scopes": ["once", "always"], "timeoutMs": 50});
    let timed_out = returned(&live, "fx_gate", &short);
    assert_eq!(
        timed_out,
        json!({"ok": false, "error": "Approval timed out"})
    );
    live.session().close().unwrap();
    let first = &ui.all_seen()[0]["payload"];
    assert_eq!(first["prompt"], "Run k?");
    assert_eq!(first.get("approvalScopes"), None);
}

#[test]
fn fx_gate_remembers_always_in_every_session_and_process() {
    let world = World::new();
    let always = json!({"action": "approve", "approvalScope": "always"});
    let answers = json!({"ToolApproval": {"do": "accept", "value": always}});
    let (live, ui) = bench(&world, &answers);
    let scopes = json!({"key": "deploy", "scopes": ["once", "always"]});
    let gate = |live: &Live| returned(live, "fx_gate", &scopes);
    assert_eq!(
        gate(&live),
        json!({"ok": true, "via": "prompt", "scope": "always"})
    );
    let cached = json!({"ok": true, "via": "cache", "scope": "always"});
    assert_eq!(gate(&live), cached);
    live.session().close().unwrap();

    // Another session knows it from the file alone.
    let live = world.live(vec![echo::stud_plugin()]);
    assert_eq!(gate(&live), cached);
    assert_eq!(ui.all_seen().len(), 1);
    live.session().close().unwrap();
}

#[test]
fn fx_email_asks_again_with_what_was_typed() {
    let world = World::new();
    let answers = json!([
        submit(json!({"email": "ada"})),
        submit(json!({"email": "ada@example.org"}))
    ]);
    let (live, ui) = bench(&world, &json!({"ToolInput": answers}));
    let email = returned(&live, "fx_email", &json!({}));
    assert_eq!(email, json!({"ok": true, "email": "ada@example.org"}));
    let seen = ui.all_seen();
    assert_eq!(seen.len(), 2);
    let (first, second) = (&seen[0], &seen[1]);
    assert_eq!(first["payload"].get("error"), None);
    assert_eq!(second["payload"]["error"], "Invalid email format");
    let schema = &second["payload"]["inputSchema"];
    assert_eq!(schema["initialValues"], json!({"email": "ada"}));
    assert_ne!(first["interactionId"], second["interactionId"]);
    assert_eq!(
        first["payload"]["toolCallId"],
        second["payload"]["toolCallId"]
    );
    live.session().close().unwrap();
}

#[test]
fn fx_form_and_fx_late_say_what_becomes_of_a_form() {
    let world = World::new();
    let answers = json!([submit(json!({"a": 1, "b": "x"})), {"do": "wait"}]);
    let (live, ui) = bench(&world, &json!({"ToolInput": answers}));
    let schema = json!({"type": "form", "fields": [
        {"id": "a", "type": "number", "label": "A"},
        {"id": "b", "type": "text", "label": "B"},
    ]});
    let form = json!({
        "schema": schema,
        "presentation": "questionnaire",
        "completedView": {"showInputs": true},
    });
    let filled = returned(&live, "fx_form", &form);
    assert_eq!(filled, json!({"ok": true, "answers": {"a": 1, "b": "x"}}));
    let shown = &ui.saw("ToolInput")["payload"];
    assert_eq!(shown["inputSchema"], schema);
    assert_eq!(shown["presentation"], "questionnaire");
    assert_eq!(shown["completedView"], json!({"showInputs": true}));

    let queued = json!({"schema": schema, "timeoutMs": 1, "queued": true});
    let pending = json!({"pending": true, "message": "later", "queued": true});
    assert_eq!(returned(&live, "fx_form", &queued), pending);
    for (form, expected) in [
        ("pending", pending.clone()),
        (
            "pending_closed",
            json!({"pending": true, "message": "later"}),
        ),
        (
            "complete",
            json!({"ok": true, "pending": true, "queued": true, "message": "later"}),
        ),
    ] {
        let late = json!({"timeoutMs": 1, "form": form});
        assert_eq!(returned(&live, "fx_late", &late), expected, "{form}");
    }
    live.session().close().unwrap();
}

#[test]
fn tools_that_are_made_to_fail_do() {
    let world = World::new();
    let answer = submit(json!({"answer": "x"}));
    let (live, ui) = bench(&world, &json!({"ToolInput": answer}));
    let error = "ToolTerminal/ToolExecutionFailed";
    assert_eq!(
        failed(&live, "fx_throw", &json!({"where": "response"})),
        error
    );
    let before = ui.all_seen().len();
    let looping = call(&live, "fx_loop", &json!({}));
    stud_observed::covers!(REPROMPT_LIMIT, looping["error"]);
    assert_eq!(ui.all_seen().len() - before, 11, "one prompt and ten more");
    assert_eq!(
        failed(&live, "fx_panic", &json!({})),
        error,
        "a panic has no code of the tool's own"
    );
    live.session().detach_plugin("one");
    live.session().prompts().depart("one");
    let nobody = failed(&live, "fx_throw", &json!({"where": "timeout"}));
    assert_eq!(nobody, "ToolTerminal/InteractionUnavailable");
    live.session().close().unwrap();
}

#[test]
fn fx_throw_fails_over_a_timeout() {
    let world = World::new();
    let (live, _ui) = bench(&world, &json!({}));
    let late = failed(&live, "fx_throw", &json!({"where": "timeout"}));
    assert_eq!(late, "ToolTerminal/ToolExecutionFailed");
    live.session().close().unwrap();
}

#[test]
fn the_others_do_one_thing_each() {
    let world = World::new();
    let settings = json!({"env": {"STUD_FIXTURE_NAME": "a-value-of-its-own"}});
    world.write("home/settings.json", settings.to_string());
    let (live, ui) = bench(&world, &json!({}));
    let probe = returned(&live, "fx_probe", &json!({}));
    assert_eq!(
        probe,
        json!({"available": true, "supportedCount": 1, "enabledCount": 1})
    );
    assert!(ui.all_seen().is_empty());
    let env = |name: &str| returned(&live, "fx_env", &json!({"name": name}));
    assert_eq!(env("STUD_FIXTURE_NAME"), json!({"set": true}));
    assert_eq!(env("STUD_NO_SUCH_NAME"), json!({"set": false}));
    assert_eq!(returned(&live, "fx_bytes", &json!({"n": 10})), "xxxxxxxxxx");
    assert_eq!(
        returned(&live, "fx_sleep", &json!({"ms": 1})),
        json!({"ok": true})
    );
    assert_eq!(
        failed(&live, "fx_bytes", &json!({"n": -1})),
        "ToolTerminal/InputInvalid"
    );
    live.session().close().unwrap();
}
