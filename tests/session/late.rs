//! Answers that come after the tool that asked is gone.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use stud_core::environment::EmbeddedPlugin;
use stud_core::launch::{Launch, Resume};
use stud_tests::{Live, World, code_of};

use crate::stage::{Ui, tools, ui, write_script};

const ANSWERED: &str = "Session/InteractionAlreadyAnswered";

fn bundled() -> Vec<EmbeddedPlugin> {
    vec![echo::stud_plugin(), filesystem_session_store::stud_plugin()]
}

/// A session with the tools and a UI that answers nothing by itself.
fn bench(world: &World) -> (Live, Ui) {
    let ui = ui(world, "one", &json!({}));
    tools(world);
    (world.live(bundled()), ui)
}

/// Has a tool ask in vain; gives the prompt. Its time may be over before the UI is shown it.
fn ask_in_vain(live: &Live, ui: &Ui, tool: &str, args: &Value) -> Value {
    let text = live.say(&format!("!tool {tool} {args}")).answered().text;
    assert!(text.contains(r#""pending":true"#), "{text}");
    last_request(ui)
}

fn last_request(ui: &Ui) -> Value {
    records(ui, "interaction_request").pop().unwrap()["payload"].take()
}

/// Has `fx_late` ask in vain and say that the answer may come later.
fn detached(live: &Live, ui: &Ui) -> Value {
    let args = json!({"timeoutMs": 1, "form": "pending"});
    ask_in_vain(live, ui, "fx_late", &args)
}

/// Answers through the host, as the person's UI does.
fn respond(ui: &Ui, request: &Value, status: &str, value: &Value) -> Result<Value, String> {
    let response = json!({
        "interactionId": request["interactionId"],
        "correlationId": request["correlationId"],
        "status": status,
        "value": value,
    });
    let answered = ui.door.call("interaction.respond", &response);
    answered.map_err(|error| code_of(&error))
}

fn submit(ui: &Ui, request: &Value, answer: &str) -> Result<Value, String> {
    let value = json!({"action": "submit", "input": {"answer": answer}});
    respond(ui, request, "accepted", &value)
}

fn records(ui: &Ui, kind: &str) -> Vec<Value> {
    let page = json!({"limit": 1000});
    let view = ui.door.call("session.read", &page).unwrap();
    let mut records = view["records"].as_array().unwrap().clone();
    records.retain(|record| record["kind"] == kind);
    records
}

#[test]
fn one_late_answer_becomes_something_the_person_says() {
    let world = World::new();
    let (live, ui) = bench(&world);
    let request = detached(&live, &ui);
    let id = &request["interactionId"];
    let told = ui.heard("InteractionDetached");
    assert_eq!(
        told["payload"],
        json!({
            "correlationId": request["correlationId"],
            "interactionId": id,
            "kind": "ToolInput",
            "extId": "fixture-tools",
        })
    );

    submit(&ui, &request, "Ada").unwrap();
    assert_eq!(submit(&ui, &request, "Bob").unwrap_err(), ANSWERED);
    let answered = ui.heard("InteractionAnswered")["payload"].take();
    assert_eq!(
        (&answered["interactionId"], &answered["extId"]),
        (id, &json!("one"))
    );
    let text = live.listen().answered().text;
    assert_eq!(text, "USER A late answer for fx_late\nAnswer: Ada");
    assert!(!live.session().has_inputs());

    let said = records(&ui, "user_input").pop().unwrap();
    assert_eq!(said["extId"], "one");
    let origin = &said["payload"]["origin"];
    assert_eq!(
        origin,
        &json!({
            "kind": "interaction_response",
            "interactionId": id,
            "toolCallId": request["payload"]["toolCallId"],
            "toolName": "fx_late",
            "action": "submit",
            "input": {"answer": "Ada"},
        })
    );
    let outcomes: Vec<Value> = records(&ui, "interaction_response")
        .iter()
        .map(|record| record["payload"]["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["timeout", "accepted"]);
    let turns = records(&ui, "turn_start");
    assert_eq!(turns[0]["payload"].get("causedBy"), None);
    assert_eq!(&turns[1]["payload"]["causedBy"], id);
    assert_ne!(turns[0]["correlationId"], turns[1]["correlationId"]);
    live.session().close().unwrap();
}

#[test]
fn a_prompt_stays_open_only_if_its_tool_says_so() {
    let world = World::new();
    let (live, ui) = bench(&world);
    let late = |form: &str| json!({"timeoutMs": 1, "form": form});
    let closed = ask_in_vain(&live, &ui, "fx_late", &late("pending_closed"));
    assert_eq!(submit(&ui, &closed, "x").unwrap_err(), ANSWERED);
    assert!(ui.all_heard("InteractionDetached").is_empty());

    let schema = json!({"type": "form", "title": "Two things", "fields": [
        {"id": "answer", "type": "text", "label": "One"},
        {"id": "more", "type": "multiselect", "label": "More", "options": [
            {"value": "a", "label": "A"}, {"value": "b", "label": "B"},
        ]},
    ]});
    let form = json!({"schema": schema, "timeoutMs": 1, "queued": true});
    let open = [
        ask_in_vain(&live, &ui, "fx_late", &late("complete")),
        ask_in_vain(&live, &ui, "fx_form", &form),
    ];
    assert_eq!(live.session().prompts().detached().len(), 2);
    submit(&ui, &open[0], "x").unwrap();
    let text = live.listen().answered().text;
    assert_eq!(text, "USER A late answer for fx_late\nAnswer: x");
    let both =
        json!({"action": "submit", "input": {"answer": "y", "more": ["a", "b"], "stray": 1}});
    respond(&ui, &open[1], "accepted", &both).unwrap();
    let text = live.listen().answered().text;
    assert_eq!(
        text,
        "USER A late answer for fx_form: Two things\nOne: y\nMore: a, b"
    );
    live.session().close().unwrap();
}

#[test]
fn what_is_no_answer_leaves_the_prompt_open_and_a_no_is_said_too() {
    let world = World::new();
    let (live, ui) = bench(&world);
    let request = detached(&live, &ui);
    let mismatch = "Validation/InteractionPayloadMismatch";
    assert_eq!(submit(&ui, &request, " ").unwrap_err(), mismatch);
    let approve = json!({"action": "approve"});
    let refused = respond(&ui, &request, "accepted", &approve);
    assert_eq!(refused.unwrap_err(), mismatch);
    respond(&ui, &request, "dismissed", &Value::Null).unwrap();
    assert!(!live.session().has_inputs());

    respond(&ui, &request, "rejected", &Value::Null).unwrap();
    let text = live.listen().answered().text;
    assert_eq!(text, "USER A late answer for fx_late\nAction: cancel");
    assert_eq!(submit(&ui, &request, "x").unwrap_err(), ANSWERED);
    live.session().close().unwrap();
}

#[test]
fn a_prompt_that_is_called_off_takes_no_answer() {
    let world = World::new();
    let (live, ui) = bench(&world);
    let request = detached(&live, &ui);
    let id = request["interactionId"].as_str().unwrap();
    live.session().prompts().call_off(id).unwrap();
    assert_eq!(submit(&ui, &request, "x").unwrap_err(), ANSWERED);
    assert!(!live.session().has_inputs());
    let outcome = records(&ui, "interaction_response").pop().unwrap();
    assert_eq!(outcome["payload"]["outcome"], "cancelled");
    live.session().close().unwrap();
}

#[test]
fn a_late_answer_waits_for_the_turn_that_runs() {
    let world = World::new();
    let (live, ui) = bench(&world);
    let request = detached(&live, &ui);
    let asking = live.say(r#"!tool ask_user {"question": "Now?"}"#);
    let now = ui.line("the next prompt", |line| {
        line["request"]["payload"]["toolName"] == "ask_user"
    });
    submit(&ui, &request, "later").unwrap();
    assert!(!asking.is_over());
    submit(&ui, &now["request"], "now").unwrap();
    assert!(asking.answered().text.contains(r#""answer":"now""#));
    let text = live.listen().answered().text;
    assert_eq!(text, "USER A late answer for fx_late\nAnswer: later");
    live.session().close().unwrap();
}

fn resume(world: &World) -> Live {
    let how = Launch {
        resume: Some(Resume::Latest),
        ..Launch::default()
    };
    world.live_as(bundled(), how)
}

#[test]
fn a_prompt_stays_open_when_its_session_is_left() {
    let world = World::new();
    let (live, ui) = bench(&world);
    let request = detached(&live, &ui);
    live.session().close().unwrap();
    drop(live);

    let live = resume(&world);
    assert_eq!(live.session().prompts().detached().len(), 1);
    submit(&ui, &request, "Ada").unwrap();
    assert_eq!(submit(&ui, &request, "Bob").unwrap_err(), ANSWERED);
    live.session().close().unwrap();
    drop(live);

    // It was submitted, and is not answered yet.
    let live = resume(&world);
    assert!(live.session().prompts().detached().is_empty());
    let text = live.listen().answered().text;
    assert_eq!(text, "USER A late answer for fx_late\nAnswer: Ada");
    live.session().close().unwrap();
}

#[test]
fn a_prompt_stays_open_when_the_process_is_killed() {
    let world = World::new();
    let ask = r#"!tool fx_late {"timeoutMs": 1, "form": "pending"}"#;
    let said = json!({"call": "session.append", "with": {"kind": "userInput", "text": ask}});
    let ui = ui(&world, "one", &json!({"activate": [said]}));
    tools(&world);
    let mut stud = world
        .command()
        .arg("--headless")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Something it waits for, so that it does not end by itself.
    let waits = br#"!tool ask_user {"question": "Still there?"}"#;
    stud.stdin.take().unwrap().write_all(waits).unwrap();
    ui.line("the prompt it waits at", |line| {
        line["request"]["payload"]["toolName"] == "ask_user"
    });
    stud.kill().unwrap();
    stud.wait().unwrap();

    write_script(&world, "one", &json!({}));
    let live = resume(&world);
    let open = live.session().prompts().detached();
    assert_eq!(open.len(), 1);
    submit(&ui, &json!(open[0]), "Ada").unwrap();
    let text = live.listen().answered().text;
    assert_eq!(text, "USER A late answer for fx_late\nAnswer: Ada");
    live.session().close().unwrap();
}

#[test]
fn a_prompt_stays_open_however_often_its_session_is_left() {
    let world = World::new();
    let (live, ui) = bench(&world);
    let request = detached(&live, &ui);
    live.session().close().unwrap();
    drop(live);
    for turn in ["one", "two"] {
        let live = resume(&world);
        live.say(turn).answered();
        live.session().close().unwrap();
    }
    let live = resume(&world);
    assert_eq!(live.session().prompts().detached().len(), 1);
    submit(&ui, &request, "Ada").unwrap();
    let text = live.listen().answered().text;
    assert_eq!(text, "USER A late answer for fx_late\nAnswer: Ada");
    live.session().close().unwrap();
}
