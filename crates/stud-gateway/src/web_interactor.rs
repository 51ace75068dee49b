//! The interactor behind which all clients of a session stand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use stud_abi::CancellationToken;
use stud_contract_interaction::{PROTOCOL_VERSION, Request, Response};
use stud_contract_meta::Result;
use stud_core::interactions::Interactor;
use stud_host_api::BoxFuture;

/// The id of the interactor.
pub(crate) const EXT_ID: &str = "web";

/// Shows the prompts of one session to its clients.
pub(crate) struct WebInteractor {
    /// Wakes the connections that show what has changed.
    wake: Box<dyn Fn() + Send + Sync>,
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    /// The calls about prompts that are not part of the transcript, in the order in which they began.
    ///
    /// When the last client leaves and another one joins, core cancels one call about a prompt and begins the next. The
    /// threads of the two calls run in any order, so the end of the first one must not hide what the second one shows.
    calls: BTreeMap<u64, Request>,
    /// How many calls have begun.
    begun: u64,
    /// How often the calls have changed.
    version: u64,
    /// Prompts that a person has left by typing something else.
    passed_over: Vec<String>,
}

impl WebInteractor {
    pub(crate) fn new(wake: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            wake: Box::new(wake),
            shown: Mutex::default(),
        })
    }

    /// How often the prompts have changed.
    pub(crate) fn version(&self) -> u64 {
        self.shown().version
    }

    /// The prompts that clients which may answer are shown, each once.
    pub(crate) fn prompts(&self) -> Vec<Request> {
        let mut prompts: Vec<Request> = Vec::new();
        for request in self.shown().calls.values() {
            if is_new(&prompts, request) {
                prompts.push(request.clone());
            }
        }
        prompts
    }

    /// The prompt with this id, if it is one that is not part of the transcript.
    pub(crate) fn prompt(&self, interaction_id: &str) -> Option<Request> {
        let shown = self.shown();
        let mut requests = shown.calls.values();
        let found = requests.find(|request| request.interaction_id == interaction_id);
        found.cloned()
    }

    /// Cancels these prompts as soon as it is their turn.
    pub(crate) fn pass_over(&self, interaction_ids: Vec<String>) {
        self.shown().passed_over = interaction_ids;
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the prompt of a call that begins; gives the number of the call.
    fn show(&self, request: &Request) -> u64 {
        let call = {
            let mut shown = self.shown();
            shown.begun += 1;
            shown.version += 1;
            let call = shown.begun;
            shown.calls.insert(call, request.clone());
            call
        };
        (self.wake)();
        call
    }

    /// The call has ended. Its prompt stays visible if another call about it has begun.
    fn hide(&self, call: u64) {
        {
            let mut shown = self.shown();
            shown.calls.remove(&call);
            shown.version += 1;
        }
        (self.wake)();
    }
}

fn is_new(prompts: &[Request], request: &Request) -> bool {
    prompts
        .iter()
        .all(|known| known.interaction_id != request.interaction_id)
}

impl Interactor for WebInteractor {
    fn ext_id(&self) -> &str {
        EXT_ID
    }

    fn protocol_minor(&self) -> u64 {
        let minor = PROTOCOL_VERSION.split('.').nth(1);
        minor.and_then(|minor| minor.parse().ok()).unwrap_or(0)
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        cancelled: CancellationToken,
    ) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            if self.shown().passed_over.contains(&request.interaction_id) {
                return Ok(passed_over(request));
            }
            // What a tool of this session asks is in the transcript, which every client sees.
            let is_in_transcript = request.kind().is_of_tools() && request.subagent_id.is_none();
            let call = (!is_in_transcript).then(|| self.show(request));
            cancelled.cancelled().await;
            if let Some(call) = call {
                self.hide(call);
            }
            Ok(Response::dismissed(request))
        })
    }
}

/// The answer to a tool's prompt whose person typed something else.
pub(crate) fn passed_over(request: &Request) -> Response {
    let value = json!({"action": "cancel", "reason": "User sent new message"});
    Response {
        status: stud_contract_interaction::Status::Accepted,
        value: Some(value),
        ..Response::dismissed(request)
    }
}

/// The frame that shows a prompt.
pub(crate) fn prompt_frame(session_id: &str, request: &Request) -> Value {
    let mut frame = serde_json::to_value(request).unwrap_or_default();
    frame["type"] = "interaction_prompt".into();
    frame["sessionId"] = session_id.into();
    frame
}

/// The frame that takes a prompt back.
pub(crate) fn prompt_closed_frame(session_id: &str, interaction_id: &str) -> Value {
    json!({
        "type": "interaction_prompt_closed",
        "sessionId": session_id,
        "interactionId": interaction_id,
    })
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::task::{Context, Poll, Waker};

    use stud_abi::CancellationSource;
    use stud_contract_interaction::Confirm;

    use super::*;

    type Call<'a> = BoxFuture<'a, Result<Response>>;

    fn poll(call: &mut Call<'_>) -> Poll<Result<Response>> {
        let mut context = Context::from_waker(Waker::noop());
        Pin::new(call).poll(&mut context)
    }

    fn shown(interactor: &WebInteractor) -> Vec<String> {
        let prompts = interactor.prompts().into_iter();
        prompts.map(|request| request.interaction_id).collect()
    }

    /// The last client leaves and another one joins: core cancels one call and begins the next, each on a thread of its
    /// own.
    #[test]
    fn the_end_of_a_cancelled_call_does_not_hide_the_prompt_from_a_client_that_joins() {
        let woken = Arc::new(AtomicU64::new(0));
        let counter = woken.clone();
        let interactor = WebInteractor::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        let request = Request::new("i1", "t1", "", Confirm::default());
        let (first, second) = (CancellationSource::new(), CancellationSource::new());
        let mut before = interactor.ask(&request, first.token());
        assert!(poll(&mut before).is_pending());
        first.cancel();
        let mut after = interactor.ask(&request, second.token());
        assert!(poll(&mut after).is_pending());
        assert_eq!(shown(&interactor), ["i1"], "two calls show one prompt");
        assert!(poll(&mut before).is_ready());
        assert_eq!(shown(&interactor), ["i1"]);
        assert!(interactor.prompt("i1").is_some());
        second.cancel();
        assert!(poll(&mut after).is_ready());
        assert!(shown(&interactor).is_empty());
        assert!(interactor.prompt("i1").is_none());
        assert_eq!(woken.load(Ordering::Relaxed), interactor.version());
    }

    /// The same when the thread of the first call is the faster one.
    #[test]
    fn a_prompt_is_shown_again_to_a_client_that_joins_later() {
        let interactor = WebInteractor::new(|| {});
        let request = Request::new("i1", "t1", "", Confirm::default());
        for _ in 0..2 {
            let off = CancellationSource::new();
            let mut call = interactor.ask(&request, off.token());
            assert!(poll(&mut call).is_pending());
            assert_eq!(shown(&interactor), ["i1"]);
            off.cancel();
            assert!(poll(&mut call).is_ready());
            assert!(shown(&interactor).is_empty());
        }
    }
}
