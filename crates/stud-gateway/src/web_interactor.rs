//! The interactor behind which all clients of a session stand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use stud_abi::CancellationToken;
use stud_contract_interaction::{PROTOCOL_VERSION, Request, Response};
use stud_contract_meta::Result;
use stud_core::interactions::Interactor;
use stud_host_api::BoxFuture;

use crate::event_log::EventLog;

/// The id of the interactor.
pub(crate) const EXT_ID: &str = "web";

/// Shows the prompts of one session to its clients.
pub(crate) struct WebInteractor {
    log: Arc<EventLog>,
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    /// The prompts that are not part of the transcript, by their ids.
    prompts: BTreeMap<String, Request>,
    /// How often they have changed.
    version: u64,
    /// Prompts that a person has left by typing something else.
    passed_over: Vec<String>,
}

impl WebInteractor {
    pub(crate) fn new(log: Arc<EventLog>) -> Arc<Self> {
        Arc::new(Self {
            log,
            shown: Mutex::default(),
        })
    }

    /// How often the prompts have changed.
    pub(crate) fn version(&self) -> u64 {
        self.shown().version
    }

    /// The prompts that clients which may answer are shown.
    pub(crate) fn prompts(&self) -> Vec<Request> {
        self.shown().prompts.values().cloned().collect()
    }

    /// The prompt with this id, if it is one that is not part of the transcript.
    pub(crate) fn prompt(&self, interaction_id: &str) -> Option<Request> {
        self.shown().prompts.get(interaction_id).cloned()
    }

    /// Cancels these prompts as soon as it is their turn.
    pub(crate) fn pass_over(&self, interaction_ids: Vec<String>) {
        self.shown().passed_over = interaction_ids;
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Request>)) {
        {
            let mut shown = self.shown();
            change(&mut shown.prompts);
            shown.version += 1;
        }
        self.log.wake();
    }
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
            let id = request.interaction_id.clone();
            if self.shown().passed_over.contains(&id) {
                return Ok(passed_over(request));
            }
            // What a tool of this session asks is in the transcript, which every client sees.
            let is_in_transcript = request.kind().is_of_tools() && request.subagent_id.is_none();
            if !is_in_transcript {
                self.change(|prompts| drop(prompts.insert(id.clone(), request.clone())));
            }
            cancelled.cancelled().await;
            if !is_in_transcript {
                self.change(|prompts| drop(prompts.remove(&id)));
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
