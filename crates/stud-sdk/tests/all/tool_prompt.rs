//! Tools that ask in the middle of their work.

use stud_sdk::interaction::{Action, Answer, ApprovalScope, UserResponse};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::tool::Output;
use stud_sdk::{Error, ErrorExt as _, Value, json};

mod asking {
    use stud_sdk::prelude::*;
    use stud_sdk::tool_prompt::{Outcome, Prompt};

    fn form(label: &str) -> Value {
        json!({"type": "form", "fields": [{"id": "answer", "type": "text", "label": label}]})
    }

    /// Asks twice, and needs both answers.
    #[tool(part, gated = false)]
    async fn two_questions(cx: &Cx) -> Result<Output> {
        let mut answers = Vec::new();
        for label in ["First", "Second"] {
            let request = Prompt::input("two_questions", form(label))
                .on_response(|response| async move { Outcome::complete(response.value("answer")) });
            answers.push(cx.request_interaction(request).await?);
        }
        Output::json(json!(answers))
    }

    /// Sends the model on without the answer it was given.
    #[tool(part, gated = false)]
    async fn later(cx: &Cx) -> Result<Output> {
        let request = Prompt::input("later", form("When?"))
            .on_response(|_| async { Ok(Outcome::pending("it is being looked into")) });
        Output::json(cx.request_interaction(request).await?)
    }

    /// Asks again when no answer came in time.
    #[tool(part, gated = false)]
    async fn persistent(cx: &Cx) -> Result<Output> {
        let prompt = |text| Prompt::approval("persistent").text(text);
        let request = prompt("Now?")
            .on_response(|response| async move { Outcome::complete(response.approved()) })
            .on_timeout(
                || async move { Ok(Outcome::Reprompt(prompt("And now?").error("too late"))) },
            );
        Output::json(cx.request_interaction(request).await?)
    }

    tools! {
        id = "asking",
        description = "Tools that ask.",
        interactions("ToolInput", "ToolApproval"),
        tools = [two_questions, later, persistent],
    }
}

fn submitted(answer: &str) -> Answer {
    let mut response = UserResponse::new(Action::Submit);
    let input: serde_json::Map<String, Value> =
        [("answer".to_owned(), answer.into())].into_iter().collect();
    response.input = Some(input);
    Answer::ToolInput(response)
}

#[test]
fn cit_6_a_tool_may_ask_several_times_in_one_call() {
    let host = FakeHost::new()
        .answers(submitted("a"))
        .answers(submitted("b"));
    let harness = Harness::new(asking::stud_plugin(), host);
    let output = harness.tool("two_questions", json!({})).unwrap();
    assert_eq!(output, Output::json(json!(["a", "b"])).unwrap());
    assert_eq!(harness.host().asked().len(), 2);
}

#[test]
fn cit_39_a_pending_after_an_answer_ends_the_call() {
    let host = FakeHost::new().answers(submitted("tomorrow"));
    let harness = Harness::new(asking::stud_plugin(), host);
    let output = harness.tool("later", json!({})).unwrap();
    let pending = json!({"pending": true, "message": "it is being looked into"});
    assert_eq!(output, Output::json(pending).unwrap());
    assert_eq!(harness.host().asked().len(), 1);
}

#[test]
fn cit_17_a_timeout_may_ask_again() {
    let mut yes = UserResponse::new(Action::Approve);
    yes.approval_scope = Some(ApprovalScope::Session);
    let late = Error::transient("ExecutionTimeout", "too slow");
    let host = FakeHost::new()
        .fails(late)
        .answers(Answer::ToolApproval(yes));
    let harness = Harness::new(asking::stud_plugin(), host);
    let output = harness.tool("persistent", json!({})).unwrap();
    assert_eq!(output, Output::json(json!("session")).unwrap());
    assert_eq!(harness.host().asked().len(), 2);
}
