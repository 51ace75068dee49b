//! The fake host refuses what the real one would, and writes down the rest.

use stud_sdk::interaction::AskAnswer;
use stud_sdk::json;
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::tool::Output;

mod asker {
    use stud_sdk::host::audit::AuditEvent;
    use stud_sdk::host::events::Event;
    use stud_sdk::host::session::{SessionRecord, SlotValue};
    use stud_sdk::interaction::{Answer, Ask, Confirm, Payload, Request, Response};
    use stud_sdk::prelude::*;

    /// A name was given.
    #[derive(Schema)]
    struct NameGiven {
        /// The name.
        name: String,
    }

    #[derive(Args)]
    struct What {
        /// What to try.
        #[stud(values(
            "ask",
            "confirm",
            "respond",
            "publish",
            "publish-other",
            "audit",
            "input",
            "slot",
            "dispatch"
        ))]
        what: String,
    }

    /// Tries one service.
    #[tool(
        interactions("Ask"),
        events(NameGiven),
        state_slot(version = "1.0.0", schema = NameGiven, drift = "warn"),
    )]
    async fn asker(input: What, cx: &Cx) -> Result<Output> {
        let host = cx.host();
        match input.what.as_str() {
            "ask" => {
                let question = Payload::from(Ask {
                    prompt: "Your name?".into(),
                    ..Ask::default()
                });
                let response = host.interaction().request(question.clone()).await?;
                Ok(match response.answer(&question)? {
                    Some(Answer::Ask(answer)) => Output::text(answer.text),
                    _ => Output::text("nobody"),
                })
            }
            "confirm" => {
                let question = Confirm {
                    prompt: "Sure?".into(),
                    default: None,
                };
                host.interaction()
                    .request(question.into())
                    .await
                    .map(|_| "sure".into())
            }
            "respond" => {
                let question = Ask {
                    prompt: "Your name?".into(),
                    ..Ask::default()
                };
                let shown = Request::new("i1", "t1", "2026-01-01T00:00:00.000Z", question);
                let answer = Response::rejected(&shown, "no");
                host.interaction().respond(answer).await?;
                Ok("answered".into())
            }
            "publish" => {
                cx.publish("NameGiven", &NameGiven { name: "Ada".into() })?;
                Ok("published".into())
            }
            "publish-other" => {
                host.events().publish(Event {
                    name: "Other".into(),
                    ..Event::default()
                })?;
                Ok("published".into())
            }
            "audit" => {
                host.audit()
                    .record(AuditEvent {
                        class: "Asker".into(),
                        ..AuditEvent::default()
                    })
                    .await?;
                Ok("audited".into())
            }
            "input" => {
                let record = SessionRecord::UserInput { text: "hi".into() };
                host.session().append(record).await?;
                Ok("appended".into())
            }
            "slot" => {
                let slot = host.session().state_slot("asker")?;
                slot.write(SlotValue {
                    slot_version: "1.0.0".into(),
                    data: json!({"name": "Ada"}),
                })
                .await?;
                host.session().state_slot("other").map(|_| "other".into())
            }
            _ => {
                host.commands().dispatch("help", "".into()).await?;
                Ok("dispatched".into())
            }
        }
    }
}

fn harness(host: FakeHost) -> Harness {
    Harness::new(asker::stud_plugin(), host)
}

fn code(what: &str) -> String {
    harness(FakeHost::new())
        .tool("asker", json!({"what": what}))
        .unwrap_err()
        .code()
        .to_owned()
}

#[test]
fn a_scripted_answer_arrives() {
    let harness = harness(
        FakeHost::new()
            .answers(AskAnswer { text: "Ada".into() })
            .dismisses(),
    );
    assert_eq!(
        harness.tool("asker", json!({"what": "ask"})).unwrap(),
        Output::text("Ada")
    );
    assert_eq!(
        harness.tool("asker", json!({"what": "ask"})).unwrap(),
        Output::text("nobody")
    );
    assert_eq!(harness.host().asked().len(), 2);
}

#[test]
fn what_is_done_is_written_down() {
    let harness = harness(FakeHost::new());
    harness.tool("asker", json!({"what": "publish"})).unwrap();
    assert_eq!(
        harness.host().published()[0].payload,
        json!({"name": "Ada"})
    );
    harness.host().advance(5);
    harness.tool("asker", json!({"what": "audit"})).unwrap();
    let audited = &harness.host().audited()[0];
    assert_eq!(
        (audited.actor.as_str(), audited.timestamp.as_str()),
        ("asker", "2026-01-01T00:00:00.005Z")
    );
    let denied = harness.tool("asker", json!({"what": "slot"})).unwrap_err();
    assert_eq!(denied.code(), "SlotAccessDenied");
    assert_eq!(harness.host().slot().unwrap().data, json!({"name": "Ada"}));
}

#[test]
fn what_a_tool_may_not_do_is_refused() {
    assert_eq!(code("ask"), "NoInteractorAttached");
    assert_eq!(code("confirm"), "InteractionKindForbidden");
    assert_eq!(code("respond"), "NotReady");
    assert_eq!(code("publish-other"), "EventUndeclared");
    assert_eq!(code("input"), "UserInputForbidden");
    assert_eq!(code("dispatch"), "CommandDispatchForbidden");
}

#[test]
fn slots_and_events_are_declared() {
    let harness = harness(FakeHost::new());
    assert_eq!(harness.manifest()["stateSlot"]["slotVersion"], "1.0.0");
    assert_eq!(harness.manifest()["stateSlot"]["driftPolicy"], "warn");
    assert_eq!(
        harness.manifest()["stateSlot"]["schema"]["required"],
        json!(["name"])
    );
    assert_eq!(harness.manifest()["events"][0]["name"], "NameGiven");
    assert_eq!(harness.manifest()["events"][0]["schema"]["type"], "object");
}
