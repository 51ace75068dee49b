//! What the person at the keyboard would have said.

use std::collections::VecDeque;

use stud_contract_interaction::{Answer, Payload, Request, Response};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::Class;

/// The turn every test runs in.
pub(crate) const TURN: &str = "turn-1";

/// One prepared reaction to a question.
#[derive(Debug, Clone)]
pub(crate) enum Reaction {
    Answer(Box<Answer>),
    Reject(String),
    Dismiss,
    Fail(Error),
    /// It is never answered.
    Silence,
}

/// Reactions in the order of the questions.
#[derive(Debug, Default)]
pub(crate) struct Script(VecDeque<Reaction>);

impl Script {
    pub(crate) fn add(&mut self, reaction: Reaction) {
        self.0.push_back(reaction);
    }

    /// The reaction to the next question; `None` for a question that is never answered.
    pub(crate) fn next(
        &mut self,
        payload: Payload,
        id: u64,
        now: String,
    ) -> Option<Result<Response>> {
        let request = Request::new(format!("interaction-{id}"), TURN, now, payload);
        Some(match self.0.pop_front() {
            Some(Reaction::Answer(answer)) => {
                let response = Response::accepted(&request, *answer);
                // A script that answers another question than the one asked is a mistake in the test.
                response.check(&request).map(|_| response)
            }
            Some(Reaction::Reject(reason)) => Ok(Response::rejected(&request, reason)),
            Some(Reaction::Dismiss) => Ok(Response::dismissed(&request)),
            Some(Reaction::Fail(error)) => Err(error),
            Some(Reaction::Silence) => return None,
            None => Err(nobody(&request.payload)),
        })
    }
}

fn nobody(payload: &Payload) -> Error {
    let message = "no answer is prepared; prepare one with `FakeHost::answers`";
    match payload {
        Payload::ToolInput(_) | Payload::ToolApproval(_) => {
            Error::new(Class::ToolTerminal, "InteractionUnavailable", message)
        }
        _ => Error::new(Class::Session, "NoInteractorAttached", message),
    }
}
