//! Waiting for an answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll};

use stud_abi::CancellationToken;
use stud_contract_interaction::Response;
use stud_contract_meta::Result;

use super::{Outcome, Prompts};
use crate::ledger;
use crate::sync::Promised;

/// A prompt that was raised. It gives what the prompt was settled with; dropping it calls the prompt off.
pub struct Raised {
    prompts: Weak<Prompts>,
    id: String,
    answer: Promised<Result<Response>>,
    cancelled: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    over: bool,
}

impl Raised {
    pub(super) fn new(
        prompts: Weak<Prompts>,
        id: String,
        answer: Promised<Result<Response>>,
        cancelled: &CancellationToken,
    ) -> Self {
        Self {
            prompts,
            id,
            answer,
            cancelled: Some(Box::pin(cancelled.cancelled())),
            over: false,
        }
    }

    /// Which prompt this is.
    pub fn interaction_id(&self) -> &str {
        &self.id
    }

    fn call_off(&self) {
        if let Some(prompts) = self.prompts.upgrade() {
            // It may have been settled a moment ago, and then that is what counts.
            let _ = prompts.settle(&self.id, Outcome::Cancelled);
        }
    }
}

impl Future for Raised {
    type Output = Result<Response>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(cancelled) = &mut self.cancelled
            && cancelled.as_mut().poll(cx).is_ready()
        {
            self.cancelled = None;
            self.call_off();
        }
        let answer = Pin::new(&mut self.answer).poll(cx);
        if answer.is_ready() {
            self.over = true;
        }
        answer.map(|answer| answer.unwrap_or_else(|| Err(ledger::closed())))
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        if !self.over {
            self.call_off();
        }
    }
}

impl std::fmt::Debug for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raised")
            .field("interaction_id", &self.id)
            .finish_non_exhaustive()
    }
}
