//! UIs: roles follow from the traits.

use stud_sdk::interaction::{Ask, AskAnswer, Confirm, Status};
use stud_sdk::json;
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::ui::{Answer, Canvas, Line, Payload};

mod ask_line {
    use std::sync::Mutex;

    use stud_sdk::interaction::AskAnswer;
    use stud_sdk::prelude::*;
    use stud_sdk::ui::{Event, Payload, Request, Response};

    /// Answers with the last event's name.
    #[ui(id = "ask-line")]
    #[derive(Default)]
    struct AskLine(Mutex<String>);

    impl Subscriber for AskLine {
        fn on_event(&self, event: &Event<'_>) -> Result<()> {
            event.name.clone_into(&mut self.0.lock().unwrap());
            Ok(())
        }
    }

    impl Interactor for AskLine {
        async fn on_interaction(&self, request: Request, _cx: &Cx) -> Result<Response> {
            let Payload::Ask(_) = &request.payload else {
                return Ok(Response::dismissed(&request));
            };
            let text = self.0.lock().unwrap().clone();
            Ok(Response::accepted(&request, AskAnswer { text }))
        }
    }
}

#[test]
fn a_ui_hears_and_answers() {
    let harness = Harness::new(ask_line::stud_plugin(), FakeHost::new());
    harness.event("SessionTurnStart", &json!({})).unwrap();
    let question = Payload::from(Ask {
        prompt: "What?".into(),
        ..Ask::default()
    });
    let response = harness.interact(question.clone()).unwrap();
    let text = "SessionTurnStart".to_owned();
    assert_eq!(
        response.answer(&question).unwrap(),
        Some(Answer::Ask(AskAnswer { text }))
    );
    assert_eq!(
        harness.manifest()["roles"],
        json!(["subscriber", "interactor"])
    );
    assert_eq!(
        harness.manifest()["handlers"],
        json!(["onEvent", "onInteraction"])
    );
    assert!(harness.manifest().get("regions").is_none());
    assert!(
        harness.manifest()["configSchema"]["properties"]
            .get("targetUI")
            .is_none()
    );
}

#[test]
fn what_it_does_not_implement_is_not_there() {
    let harness = Harness::new(ask_line::stud_plugin(), FakeHost::new());
    assert_eq!(
        harness
            .render("clock", &Canvas::default())
            .unwrap_err()
            .code(),
        "NotImplemented"
    );
    assert_eq!(
        harness.provide().unwrap_err().message(),
        "the plugin is a UI, not a ContextProvider"
    );
}

mod hurried {
    use std::sync::Mutex;

    use stud_sdk::interaction::{AskAnswer, ConfirmAnswer};
    use stud_sdk::prelude::*;
    use stud_sdk::ui::{Request, Response};

    /// Answers through its host, and closes the dialog with what the host said.
    #[ui(init = Hurried::new)]
    struct Hurried {
        host: Host,
        last: Mutex<Option<Request>>,
    }

    impl Hurried {
        fn new(host: Host) -> Self {
            let last = Mutex::default();
            Self { host, last }
        }

        async fn answer(&self, request: &Request) -> Result<()> {
            let text = "Ada".to_owned();
            let answer = Response::accepted(request, AskAnswer { text });
            self.host.interaction().respond(answer).await
        }
    }

    impl Interactor for Hurried {
        async fn on_interaction(&self, request: Request, _cx: &Cx) -> Result<Response> {
            let mut said = self.answer(&request).await;
            if said
                .as_ref()
                .is_err_and(|error| error.code() == "InteractionPayloadMismatch")
            {
                // The prompt is still open.
                let answer = Response::accepted(&request, ConfirmAnswer { confirmed: true });
                said = self.host.interaction().respond(answer).await;
            }
            let before = self.last.lock().unwrap().replace(request.clone());
            if let Some(before) = before {
                said = self.answer(&before).await;
            }
            Ok(match said {
                Ok(()) => Response::dismissed(&request),
                Err(error) => Response::rejected(&request, error.code()),
            })
        }
    }
}

fn question() -> Ask {
    Ask {
        prompt: "What?".into(),
        ..Ask::default()
    }
}

#[test]
fn an_interactor_hears_that_its_answer_won() {
    let harness = Harness::new(hurried::stud_plugin(), FakeHost::new());
    assert_eq!(
        harness.interact(question()).unwrap().status,
        Status::Dismissed
    );
    let responded = harness.host().responded();
    assert_eq!(responded[0].value, Some(json!({"text": "Ada"})));
}

#[test]
fn an_interactor_hears_that_it_came_too_late() {
    let harness = Harness::new(hurried::stud_plugin(), FakeHost::new().answered_elsewhere());
    let late = Some("InteractionAlreadyAnswered".to_owned());
    assert_eq!(harness.interact(question()).unwrap().reason, late);
    assert_eq!(harness.host().responded(), []);
    // The next prompt is open; the one before it stays settled.
    assert_eq!(harness.interact(question()).unwrap().reason, late);
    assert_eq!(harness.host().responded().len(), 1);
}

#[test]
fn an_answer_that_does_not_fit_leaves_the_prompt_open() {
    let harness = Harness::new(hurried::stud_plugin(), FakeHost::new());
    let question = Confirm {
        prompt: "Sure?".into(),
        default: None,
    };
    assert_eq!(
        harness.interact(question).unwrap().status,
        Status::Dismissed
    );
    let responded = harness.host().responded();
    assert_eq!(responded.len(), 1);
    assert_eq!(responded[0].value, Some(json!({"confirmed": true})));
}

mod clock {
    use stud_sdk::prelude::*;
    use stud_sdk::ui::{Canvas, Line};

    /// Shows the width of the status line.
    #[ui(regions(
        region(
            id = "width",
            region = "statusLine",
            target = "default-tui",
            priority = 10
        ),
        region(
            id = "height",
            region = "statusLine",
            target = "default-tui",
            mode = "decorate"
        ),
    ))]
    struct Clock;

    impl Region for Clock {
        fn render(&self, contribution: &str, canvas: &Canvas) -> Result<Vec<Line>> {
            Ok(vec![format!("{contribution} {}", canvas.width).into()])
        }
    }
}

#[test]
fn a_region_draws() {
    let harness = Harness::new(clock::stud_plugin(), FakeHost::new());
    let canvas = Canvas {
        width: 80,
        ..Canvas::default()
    };
    assert_eq!(
        harness.render("width", &canvas).unwrap(),
        [Line::from("width 80")]
    );
    assert_eq!(harness.manifest()["roles"], json!(["region"]));
    assert_eq!(harness.manifest()["handlers"], json!(["renderRegion"]));
    assert_eq!(
        harness.manifest()["regions"][1],
        json!({
            "id": "height", "region": "statusLine", "mode": "decorate", "priority": 0, "targetUI": "default-tui",
        })
    );
    assert_eq!(
        harness.manifest()["configSchema"]["properties"]["targetUI"]["type"],
        "string"
    );
}
