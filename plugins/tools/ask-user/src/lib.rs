//! `ask-user`: asks the person a question and returns the answer.
#![forbid(unsafe_code)]

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use stud_sdk::interaction::{Answer, Ask, Payload, Response, Status};
use stud_sdk::prelude::*;
use stud_sdk::time::sleep;

/// How questions are asked.
#[derive(Config)]
struct Options {
    /// After how many milliseconds without an answer to give up; never when left out.
    #[stud(min = 1)]
    timeout_ms: Option<u64>,
}

/// What the model sends.
#[derive(Args)]
struct Question {
    /// The question, as the person reads it.
    #[stud(min_length = 1)]
    prompt: String,
    /// What stands in the empty input.
    placeholder: Option<String>,
    /// What the input begins with.
    default_value: Option<String>,
}

/// What the person said.
#[derive(Schema)]
struct Answered {
    /// The answer, as it was typed.
    answer: String,
    /// Always false: a person who does not want to answer ends the turn.
    cancelled: bool,
}

/// Asks the person a question and waits for the answer.
#[tool(
    id = "ask-user",
    name = "ask-user",
    config = Options,
    output = Answered,
    approval_key = key,
    interactions("Ask")
)]
async fn ask_user(question: Question, cx: &Cx) -> Result<Output> {
    if cx.is_cancelled() {
        return Err(turn_cancelled("the turn was cancelled before the question"));
    }
    if question.prompt.trim().is_empty() {
        let empty = Error::invalid_input("`prompt` is empty");
        return Err(empty.with("fieldPath", "/prompt"));
    }
    let options: Options = cx.config()?;
    let payload = Payload::from(Ask {
        prompt: question.prompt,
        placeholder: question.placeholder,
        default_value: question.default_value,
    });
    let asking = cx.host().interaction().request(payload.clone());
    let asking = cx.unless_cancelled(asking);
    let response = match options.timeout_ms {
        None => asking.await?,
        Some(millis) => within(millis, asking).await.ok_or_else(timed_out)??,
    }?;
    answered(&response, &payload)
}

fn key(_question: &Question) -> String {
    "ask-user".to_owned()
}

fn answered(response: &Response, payload: &Payload) -> Result<Output> {
    match (response.status, response.answer(payload)?) {
        (Status::Timeout, _) => Err(timed_out()),
        (_, Some(Answer::Ask(said))) => Output::json(Answered {
            answer: said.text,
            cancelled: false,
        }),
        // To answer nothing is to want the turn to end.
        _ => Err(turn_cancelled("the person did not want to answer")),
    }
}

/// What the work gives, unless that takes longer. The question is taken back then.
async fn within<T>(millis: u64, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let mut end = pin!(sleep(Duration::from_millis(millis)));
    poll_fn(|task| match work.as_mut().poll(task) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => end.as_mut().poll(task).map(|()| None),
    })
    .await
}

fn timed_out() -> Error {
    Error::transient(
        "ExecutionTimeout",
        "the user did not answer before the timeout",
    )
}

fn turn_cancelled(why: &str) -> Error {
    Error::new(Class::Cancellation, "TurnCancelled", why)
}

#[cfg(test)]
mod tests;
