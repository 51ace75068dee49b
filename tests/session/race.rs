//! Several interactors, one prompt: the first answer wins, and everyone else is told.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use stud_abi::CancellationToken;
use stud_contract_interaction::{Request, Response};
use stud_contract_meta::Result;
use stud_core::executor::block_on;
use stud_core::interactions::Interactor;
use stud_core::session::{Ending, Session};
use stud_tests::{Calling, Door, World, cause_of, code_of, eventually};

use crate::stage::{Ear, Ui, deaf, probe, tools, ui, ui_as};

/// Has the tool ask for a name.
fn ask(tool: &Door) -> Calling {
    let payload = json!({"kind": "Ask", "payload": {"prompt": "Your name?"}});
    tool.start("interaction.request", &payload)
}

fn accept(text: &str) -> Value {
    json!({"do": "accept", "value": {"text": text}})
}

/// A rule that is followed once the file `gate` is there.
fn once(world: &World, gate: &str, mut rule: Value) -> Value {
    rule["until"] = json!(world.path(gate));
    rule
}

fn rules(rule: Value) -> Value {
    json!({"prompts": {"*": rule}})
}

#[test]
fn the_first_answer_wins_and_the_other_is_called_off() {
    let world = World::new();
    let one = ui(&world, "one", &rules(once(&world, "go", accept("Ada"))));
    let two = ui(&world, "two", &rules(json!({"do": "wait"})));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);

    let asked = ask(&tool);
    let (first, second) = (one.saw("Ask"), two.saw("Ask"));
    assert_eq!(first, second, "everyone is asked the same");
    let members: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "correlationId",
            "interactionId",
            "issuedAt",
            "kind",
            "payload"
        ]
    );
    assert_eq!(first["payload"], json!({"prompt": "Your name?"}));
    assert!(!asked.is_over());

    world.write("go", "");
    let response = asked.result().unwrap();
    let (id, turn) = (&first["interactionId"], &first["correlationId"]);
    assert_eq!(
        response,
        json!({
            "interactionId": id,
            "correlationId": turn,
            "status": "accepted",
            "value": {"text": "Ada"},
        })
    );
    two.called_off(id);
    for ui in [&one, &two] {
        let raised = ui.heard("InteractionRaised");
        let answered = ui.heard("InteractionAnswered");
        assert_eq!(
            raised["payload"],
            json!({"interactionId": id, "correlationId": turn, "kind": "Ask", "extId": "probe-tool"})
        );
        assert_eq!(
            answered["payload"],
            json!({
                "interactionId": id,
                "correlationId": turn,
                "status": "accepted",
                "value": {"text": "Ada"},
                "extId": "one",
            })
        );
        assert_eq!(&answered["correlationId"], turn);
        assert!(raised["seq"].as_u64() < answered["seq"].as_u64());
    }
    assert!(one.all_heard("InteractionCancelled").is_empty());
    live.session().close().unwrap();
}

#[test]
fn of_four_a_no_wins_too_and_those_who_do_not_answer_win_nothing() {
    let world = World::new();
    let no = json!({"do": "reject", "reason": "not today"});
    let deaf_one = ui_as(&world, "deaf-one", &rules(json!({"do": "wait"})), deaf);
    let gone = ui(&world, "gone", &rules(json!({"do": "dismiss"})));
    let slow = ui(
        &world,
        "slow",
        &rules(json!({"do": "timeout", "reason": "asleep"})),
    );
    let clear = ui(&world, "clear", &rules(once(&world, "go", no)));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);

    let asked = ask(&tool);
    for ui in [&deaf_one, &gone, &slow, &clear] {
        ui.saw("Ask");
    }
    world.write("go", "");
    let response = asked.result().unwrap();
    let id = response["interactionId"].clone();
    assert_eq!(response["status"], "rejected");
    assert_eq!(response["reason"], "not today");
    assert_eq!(response.get("value"), None);
    let answered = gone.heard("InteractionAnswered");
    assert_eq!(
        answered["payload"],
        json!({
            "interactionId": id,
            "correlationId": response["correlationId"],
            "status": "rejected",
            "extId": "clear",
        })
    );
    // An interactor that receives no events learns it from its call alone.
    deaf_one.called_off(&id);
    let heard = |line: &Value| line["heard"].is_string();
    assert!(!deaf_one.lines().iter().any(heard));
    assert_eq!(gone.all_seen().len() + slow.all_seen().len(), 2);
    live.session().close().unwrap();
}

#[test]
fn four_who_answer_at_once_have_one_winner() {
    const PROMPTS: usize = 12;
    let world = World::new();
    let names = ["ann", "bob", "cas", "dee"];
    let uis = names.map(|name| ui(&world, name, &rules(accept(name))));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);

    let asked: Vec<Calling> = (0..PROMPTS).map(|_| ask(&tool)).collect();
    let responses: Vec<Value> = asked
        .into_iter()
        .map(|asked| asked.result().unwrap())
        .collect();
    let answered = eventually("an answer to each prompt", || {
        let heard = uis[0].all_heard("InteractionAnswered");
        (heard.len() >= PROMPTS).then_some(heard)
    });
    live.session().close().unwrap();
    assert_eq!(uis[0].all_heard("InteractionAnswered").len(), PROMPTS);
    for response in responses {
        let id = &response["interactionId"];
        let mut winners = answered
            .iter()
            .filter(|event| event["payload"]["interactionId"] == *id);
        let winner = &winners.next().unwrap()["payload"];
        assert!(winners.next().is_none(), "two winners of {id}");
        assert_eq!(winner["extId"], response["value"]["text"]);
    }
}

#[test]
fn however_quick_one_is_the_other_is_asked_too_and_told_that_it_lost() {
    const PROMPTS: usize = 100;
    let world = World::new();
    let respond = |text: &str| json!({"do": "respond", "value": {"text": text}});
    let uis = ["ann", "bob"].map(|name| ui(&world, name, &rules(respond(name))));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);

    let ids: Vec<Value> = (0..PROMPTS)
        .map(|_| ask(&tool).result().unwrap()["interactionId"].take())
        .collect();
    // Immediately: an interactor that was slow over the last prompt has still to be asked.
    live.session().close().unwrap();

    let mut said = Vec::new();
    for ui in &uis {
        let seen = ui.all_seen();
        let seen: Vec<&Value> = seen
            .iter()
            .map(|request| &request["interactionId"])
            .collect();
        assert_eq!(seen, ids.iter().collect::<Vec<_>>(), "`{}`", ui.id);
        let lines = ui.lines().into_iter();
        said.extend(lines.filter(|line| line["call"] == "interaction.respond"));
    }
    let (refused, won): (Vec<Value>, Vec<Value>) = said
        .into_iter()
        .partition(|line| line.get("error").is_some());
    assert_eq!((won.len(), refused.len()), (PROMPTS, PROMPTS));
    for line in refused {
        assert_eq!(
            code_of(&line["error"]),
            "Session/InteractionAlreadyAnswered"
        );
        assert!(line["error"]["context"]["correlationId"].is_string());
    }
}

#[test]
fn an_answer_through_the_host_wins_like_any_other() {
    let world = World::new();
    let respond = json!({"do": "respond", "status": "accepted", "value": {"text": "Ada"}});
    let one = ui(&world, "one", &rules(respond));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let response = ask(&tool).result().unwrap();
    assert_eq!(response["value"], json!({"text": "Ada"}));
    let said = one.line("what the host said", |line| {
        line["call"] == "interaction.respond"
    });
    assert_eq!(said["ok"], Value::Null);
    assert_eq!(said.get("error"), None);
    assert_eq!(one.heard("InteractionAnswered")["payload"]["extId"], "one");
    live.session().close().unwrap();
}

#[test]
fn a_late_answer_is_told_so_and_changes_nothing() {
    let world = World::new();
    let late = json!({"do": "respondLate", "value": {"text": "Bob"}});
    let one = ui(&world, "one", &rules(once(&world, "go", accept("Ada"))));
    let two = ui(&world, "two", &rules(late));
    let three = ui(
        &world,
        "three",
        &rules(json!({"do": "late", "value": {"text": "Cas"}})),
    );
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);

    let asked = ask(&tool);
    for ui in [&one, &two, &three] {
        ui.saw("Ask");
    }
    world.write("go", "");
    let response = asked.result().unwrap();
    assert_eq!(response["value"], json!({"text": "Ada"}));
    let said = two.line("what the host said", |line| {
        line["call"] == "interaction.respond"
    });
    assert_eq!(
        code_of(&said["error"]),
        "Session/InteractionAlreadyAnswered"
    );
    assert_eq!(
        said["error"]["context"]["interactionId"],
        response["interactionId"]
    );

    // The one that returned its answer too late gets no error, but it is recorded.
    let late = eventually("the late answer on record", || {
        let query = json!({"class": "Interaction", "kind": "InteractionLate"});
        let found = tool.call("audit.query", &query).unwrap();
        found.as_array().unwrap().first().cloned()
    });
    assert_eq!(late["payload"]["extId"], "three");
    assert_eq!(late["payload"]["interactionId"], response["interactionId"]);
    live.session().close().unwrap();
    assert_eq!(one.all_heard("InteractionAnswered").len(), 1);
    assert!(one.all_heard("SuppressedError").is_empty());
}

#[test]
fn whoever_holds_on_to_a_prompt_that_is_over_is_late_and_not_out_of_place() {
    let world = World::new();
    let one = ui(&world, "one", &rules(once(&world, "go", accept("Ada"))));
    let stay = once(&world, "let-go", json!({"do": "stay"}));
    let two = ui(&world, "two", &rules(stay));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);

    let asked = ask(&tool);
    let request = two.saw("Ask");
    one.saw("Ask");
    world.write("go", "");
    asked.result().unwrap();
    one.line("that the other does not let go", |line| {
        line["heard"] == "SuppressedError" && line["payload"]["extId"] == "two"
    });
    let response = json!({
        "interactionId": request["interactionId"],
        "correlationId": request["correlationId"],
        "status": "accepted",
        "value": {"text": "Bob"},
    });
    let said = two.door.call("interaction.respond", &response).unwrap_err();
    assert_eq!(code_of(&said), "Session/InteractionAlreadyAnswered");
    world.write("let-go", "");
    live.session().close().unwrap();
}

#[test]
fn an_answer_of_the_wrong_shape_leaves_the_prompt_open() {
    let world = World::new();
    let wrong = json!({"do": "respond", "value": {"index": 1}});
    let one = ui(&world, "one", &rules(wrong));
    let two = ui(&world, "two", &rules(once(&world, "go", accept("Ada"))));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);

    let asked = ask(&tool);
    let said = one.line("what the host said", |line| {
        line["call"] == "interaction.respond"
    });
    assert_eq!(
        code_of(&said["error"]),
        "Validation/InteractionPayloadMismatch"
    );
    assert_eq!(said["error"]["context"]["kind"], "Ask");
    assert!(!asked.is_over());
    world.write("go", "");
    assert_eq!(asked.result().unwrap()["value"], json!({"text": "Ada"}));
    assert_eq!(two.heard("InteractionAnswered")["payload"]["extId"], "two");
    live.session().close().unwrap();
}

#[test]
fn who_returns_the_wrong_shape_is_asked_again_and_named() {
    let world = World::new();
    let wrong = json!({"do": "accept", "value": "Ada"});
    let one = ui(&world, "one", &rules(json!([wrong, accept("Ada")])));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);

    let response = ask(&tool).result().unwrap();
    assert_eq!(response["value"], json!({"text": "Ada"}));
    assert_eq!(one.all_seen().len(), 2);
    let named = one.heard("SuppressedError");
    assert_eq!(named["payload"]["extId"], "one");
    let cause = code_of(&cause_of(&named["payload"]));
    assert_eq!(cause, "Validation/InteractionPayloadMismatch");
    live.session().close().unwrap();
}

#[test]
fn who_never_gets_the_shape_right_does_not_keep_others_from_it() {
    let world = World::new();
    let one = ui(&world, "one", &rules(json!({"do": "accept"})));
    let two = ui(&world, "two", &rules(once(&world, "go", accept("Ada"))));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);

    let asked = ask(&tool);
    one.saw("Ask");
    two.saw("Ask");
    block_on(live.session().prompts().idle("one"));
    assert_eq!(live.session().prompts().open_count(), 1);
    let tries = one.all_seen().len();
    assert!(tries < 10, "{tries}");
    world.write("go", "");
    assert_eq!(asked.result().unwrap()["value"], json!({"text": "Ada"}));
    live.session().close().unwrap();
    assert_eq!(one.all_seen().len(), tries);
}

#[test]
fn only_an_interactor_answers_and_only_what_was_asked() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let asked = ask(&tool);
    let request = one.saw("Ask");
    let answer = |id: &Value| {
        json!({
            "interactionId": id,
            "correlationId": request["correlationId"],
            "status": "accepted",
            "value": {"text": "Eve"},
        })
    };
    let respond = "interaction.respond";
    let unknown = one
        .door
        .call(respond, &answer(&json!("no-such-prompt")))
        .unwrap_err();
    assert_eq!(code_of(&unknown), "Session/InteractionNotFound");
    let outsider = tool
        .call(respond, &answer(&request["interactionId"]))
        .unwrap_err();
    assert_eq!(code_of(&outsider), "ExtensionHost/NotReady");
    let mut mixed_up = answer(&request["interactionId"]);
    mixed_up["correlationId"] = "another-turn".into();
    let mixed_up = one.door.call(respond, &mixed_up).unwrap_err();
    assert_eq!(code_of(&mixed_up), "Validation/InteractionPayloadMismatch");
    assert!(!asked.is_over());

    // From a thread of its own, while its call is still waiting.
    one.door
        .call(respond, &answer(&request["interactionId"]))
        .unwrap();
    assert_eq!(asked.result().unwrap()["value"], json!({"text": "Eve"}));
    one.called_off(&request["interactionId"]);
    live.session().close().unwrap();
}

#[test]
fn when_all_dismiss_it_the_prompt_stays_open_until_the_turn_is_called_off() {
    let world = World::new();
    let one = ui(&world, "one", &rules(json!({"do": "dismiss"})));
    let two = ui(&world, "two", &rules(json!({"do": "timeout"})));
    let tool = probe(&world, "probe-tool", "tools");
    tools(&world);
    let live = world.live(vec![echo::stud_plugin()]);
    let ear = Ear::of(&live);

    let talking = live.say(r#"!tool ask_user {"question": "Your name?"}"#);
    let request = one.saw("ToolInput");
    two.saw("ToolInput");
    // Another plugin asks in the same turn, and waits in line.
    let in_line = ask(&tool);
    let prompts = live.session().prompts();
    eventually("two prompts", || (prompts.open_count() == 2).then_some(()));
    for ui in ["one", "two"] {
        block_on(prompts.idle(ui));
    }
    assert_eq!(prompts.open_count(), 2);
    assert!(!talking.is_over() && !in_line.is_over());

    assert!(live.session().cancel_turn());
    let error = in_line.result().unwrap_err();
    assert_eq!(code_of(&error), "Cancellation/TurnCancelled");
    let ending = talking.answered().ending;
    assert!(matches!(ending, Ending::Cancelled), "{ending:?}");
    let cancelled = ear.named("InteractionCancelled");
    assert_eq!(
        cancelled["payload"],
        json!({
            "interactionId": request["interactionId"],
            "correlationId": request["correlationId"],
        })
    );
    assert!(ear.all_named("InteractionAnswered").is_empty());
    eventually("no prompt", || (prompts.open_count() == 0).then_some(()));
    live.session().close().unwrap();
    assert_eq!(
        ear.all_named("InteractionRaised").len(),
        1,
        "nobody saw the one in line"
    );
}

/// Notes how far the stream was when it was asked, and says no.
struct Watch {
    session: Arc<Session>,
    asked_at: Arc<Mutex<Option<u64>>>,
}

impl Interactor for Watch {
    fn ext_id(&self) -> &'static str {
        "watch"
    }

    fn protocol_minor(&self) -> u64 {
        2
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        _: CancellationToken,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Response>> + Send + 'a>> {
        *self.asked_at.lock().unwrap() = Some(self.session.bus().last_seq());
        Box::pin(std::future::ready(Ok(Response::rejected(request, "no"))))
    }
}

#[test]
fn whoever_listens_as_well_hears_of_a_prompt_before_it_is_asked() {
    let world = World::new();
    let quick = rules(json!({"do": "respond", "value": {"text": "Ada"}}));
    let uis = [ui(&world, "one", &quick), ui(&world, "two", &quick)];
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    for _ in 0..20 {
        ask(&tool).result().unwrap();
    }
    live.session().close().unwrap();
    for ui in &uis {
        let lines = ui.lines();
        let place = |member: &str, id: &Value| {
            let found = lines.iter().position(|line| {
                let about = &line[if member == "saw" {
                    "request"
                } else {
                    "payload"
                }];
                line[member].is_string() && about["interactionId"] == *id
            });
            found.unwrap()
        };
        for request in ui.all_seen() {
            let id = &request["interactionId"];
            assert!(place("heard", id) < place("saw", id), "{lines:#?}");
        }
    }
}

#[test]
fn everybody_can_know_of_a_prompt_before_anyone_is_asked() {
    let world = World::new();
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let ear = Ear::of(&live);
    let asked_at = Arc::new(Mutex::new(None));
    live.session().prompts().join(Arc::new(Watch {
        session: live.session().clone(),
        asked_at: asked_at.clone(),
    }));
    ask(&tool).result().unwrap();
    let raised = ear.named("InteractionRaised")["seq"].as_u64();
    let asked_at = *asked_at.lock().unwrap();
    assert!(
        raised <= asked_at,
        "raised at {raised:?}, asked at {asked_at:?}"
    );
    live.session().close().unwrap();
}

#[test]
fn each_interactor_sees_one_prompt_at_a_time_in_the_order_they_came() {
    let world = World::new();
    let answers = json!([
        once(&world, "first", accept("Ada")),
        once(&world, "second", accept("Bob")),
    ]);
    let one = ui(&world, "one", &rules(answers));
    let two = ui(&world, "two", &json!({}));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let prompts = live.session().prompts();
    let ask = |prompt: &str| {
        let payload = json!({"kind": "Ask", "payload": {"prompt": prompt}});
        tool.start("interaction.request", &payload)
    };
    let seen = |ui: &Ui| -> Vec<Value> {
        ui.all_seen()
            .iter()
            .map(|request| request["payload"]["prompt"].clone())
            .collect()
    };

    let first = ask("first?");
    one.saw("Ask");
    two.saw("Ask");
    let second = ask("second?");
    eventually("two prompts", || (prompts.open_count() == 2).then_some(()));
    assert_eq!(
        (seen(&one), seen(&two)),
        (vec![json!("first?")], vec![json!("first?")])
    );

    world.write("first", "");
    assert_eq!(first.result().unwrap()["value"]["text"], "Ada");
    for ui in [&one, &two] {
        eventually("the second prompt", || (seen(ui).len() == 2).then_some(()));
        assert_eq!(seen(ui), ["first?", "second?"]);
    }
    world.write("second", "");
    assert_eq!(second.result().unwrap()["value"]["text"], "Bob");
    live.session().close().unwrap();
}

#[test]
fn who_joins_late_is_asked_what_is_being_asked() {
    let world = World::new();
    let one = ui(&world, "one", &json!({}));
    let two = ui(&world, "two", &rules(accept("Bob")));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let late = live.session().plugins().get("two").cloned().unwrap();
    live.session().detach_plugin("two");

    let asked = ask(&tool);
    let request = one.saw("Ask");
    assert!(two.all_seen().is_empty());
    stud_core::participants::join(live.session(), &late);
    let response = asked.result().unwrap();
    assert_eq!(response["value"], json!({"text": "Bob"}));
    assert_eq!(two.saw("Ask"), request);
    assert!(
        two.all_heard("InteractionRaised").is_empty(),
        "the past is not told again"
    );
    live.session().close().unwrap();
}

#[test]
fn an_interactor_of_an_older_protocol_is_not_asked_what_it_cannot_know() {
    let world = World::new();
    let old = ui_as(&world, "old", &json!({}), |manifest| {
        manifest["interactionProtocol"] = "1.1.0".into();
    });
    let submit = json!({"do": "accept", "value": {"action": "submit", "input": {"answer": "Ada"}}});
    let text = once(&world, "go", accept("Ada"));
    let new = ui(
        &world,
        "new",
        &json!({"prompts": {"ToolInput": submit, "Ask": text}}),
    );
    let tool = probe(&world, "probe-tool", "tools");
    tools(&world);
    let live = world.live(vec![echo::stud_plugin()]);

    let answered = live
        .say(r#"!tool ask_user {"question": "Your name?"}"#)
        .answered();
    assert_eq!(
        answered.text,
        r#"RESULT {"ok":true,"result":{"answer":"Ada","ok":true}}"#
    );
    let asked = ask(&tool);
    old.saw("Ask");
    world.write("go", "");
    asked.result().unwrap();
    assert_eq!(old.all_seen().len(), 1);
    new.saw("ToolInput");

    // With the new one gone no interactor is left.
    live.session().detach_plugin("new");
    let answered = live
        .say(r#"!tool ask_user {"question": "Your name?"}"#)
        .answered();
    assert!(
        answered.text.contains(r#""code":"InteractionUnavailable""#),
        "{}",
        answered.text
    );
    live.session().close().unwrap();
}
