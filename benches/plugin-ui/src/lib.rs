//! A UI that counts the events it hears and answers prompts at once.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

use stud_sdk::interaction::{AskAnswer, ConfirmAnswer};
use stud_sdk::ui::{Cx, Event, Interactor, Payload, Request, Response, Result, Subscriber, ui};

/// Counts and answers.
#[ui(id = "bench-ui")]
#[derive(Default)]
struct BenchUi {
    heard: AtomicU64,
}

impl Subscriber for BenchUi {
    fn on_event(&self, _event: &Event<'_>) -> Result<()> {
        self.heard.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Interactor for BenchUi {
    /// Says yes, and to an open question how many events it has heard.
    async fn on_interaction(&self, request: Request, _cx: &Cx) -> Result<Response> {
        Ok(match &request.payload {
            Payload::Confirm(_) => Response::accepted(&request, ConfirmAnswer { confirmed: true }),
            Payload::Ask(_) => {
                let text = self.heard.load(Ordering::Relaxed).to_string();
                Response::accepted(&request, AskAnswer { text })
            }
            _ => Response::dismissed(&request),
        })
    }
}
