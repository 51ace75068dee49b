//! Who answers prompts, and how.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use serde_json::{Value, json};
use shuttle::sync::Mutex;
use stud_abi::CancellationToken;
use stud_contract_interaction::{AskAnswer, Request, Response};
use stud_contract_meta::{Error, Result};
use stud_core::events::Bus;
use stud_core::interactions::{Interactor, Prompts};
use stud_diagnostics::codes;
use stud_host_api::BoxFuture;

use crate::gate::FifoLock;
use crate::shelf::StoredSessions;

/// What a person does when asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Move {
    /// Answers.
    Accept,
    /// Says no.
    Reject,
    /// Closes the dialog.
    Dismiss,
    /// Does not answer in time.
    TimeOut,
    /// Answers something that is no answer to this question.
    Misshape,
    /// The UI breaks.
    Fail,
    /// Answers through the registry, and returns nothing of use.
    Respond,
    /// Answers through the registry, and once more by returning.
    Insist,
    /// Waits until the answer is no longer wanted, and gives one then, both ways.
    Belated,
    /// Waits until the answer is no longer wanted.
    Wait,
    /// Does not let go before it is told to, wanted or not, and answers then.
    Cling,
}

/// An interactor that plays its moves one after the other, and waits when it has none left.
pub(crate) struct Person {
    id: &'static str,
    moves: Mutex<VecDeque<Move>>,
    diary: Mutex<Diary>,
    /// What holds one who clings.
    hold: FifoLock,
    prompts: Weak<Prompts>,
    bus: Arc<Bus>,
    shelf: Arc<StoredSessions>,
}

/// What a person remembers.
#[derive(Default, Clone)]
pub(crate) struct Diary {
    pub(crate) calls: Vec<Call>,
    /// The prompts whose explicit answer was taken.
    pub(crate) won: Vec<String>,
    /// The prompts whose explicit answer was not, and why.
    pub(crate) refused: Vec<(String, Error)>,
}

/// A question put to a person.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) prompt: String,
    /// The last event that was published by then.
    pub(crate) after: u64,
    cancelled: CancellationToken,
    over: bool,
}

impl Person {
    pub(crate) fn new(
        id: &'static str,
        moves: &[Move],
        prompts: &Arc<Prompts>,
        bus: &Arc<Bus>,
        shelf: &Arc<StoredSessions>,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            moves: Mutex::new(moves.iter().copied().collect()),
            diary: Mutex::default(),
            hold: FifoLock::default(),
            prompts: Arc::downgrade(prompts),
            bus: bus.clone(),
            shelf: shelf.clone(),
        })
    }

    pub(crate) fn diary(&self) -> Diary {
        self.diary.lock().unwrap().clone()
    }

    /// Makes one who clings let go.
    pub(crate) fn let_go(&self) {
        self.hold.open();
    }

    /// The answer that is unique to this interactor and prompt.
    pub(crate) fn words(&self, prompt: &str) -> Value {
        json!({"text": self.text(prompt)})
    }

    fn text(&self, prompt: &str) -> String {
        format!("{} to {prompt}", self.id)
    }

    fn answer(&self, request: &Request) -> Response {
        let text = self.text(&request.interaction_id);
        Response::accepted(request, AskAnswer { text })
    }

    /// No interactor is asked an unrecorded prompt, nor two at once.
    fn begin(&self, request: &Request, cancelled: &CancellationToken) -> usize {
        let id = &request.interaction_id;
        let requests = self.shelf.about(id, "interaction_request");
        assert_eq!(requests.len(), 1, "asked before it is on record");
        let after = self.bus.last_seq();
        let mut diary = self.diary.lock().unwrap();
        for call in diary.calls.iter().filter(|call| !call.over) {
            // For an interactor that left and came back one of the two is cancelled already.
            let wanted = !call.cancelled.is_cancelled() && !cancelled.is_cancelled();
            assert!(!wanted, "`{}` is asked two things at once", self.id);
        }
        diary.calls.push(Call {
            prompt: id.clone(),
            after,
            cancelled: cancelled.clone(),
            over: false,
        });
        diary.calls.len() - 1
    }

    fn end(&self, place: usize) {
        self.diary.lock().unwrap().calls[place].over = true;
    }

    async fn play(&self, request: &Request, cancelled: CancellationToken) -> Result<Response> {
        let next = self.moves.lock().unwrap().pop_front();
        match next.unwrap_or(Move::Wait) {
            Move::Accept => Ok(self.answer(request)),
            Move::Reject => Ok(Response::rejected(request, "no")),
            Move::Dismiss => Ok(Response::dismissed(request)),
            Move::TimeOut => Ok(Response::timeout(request)),
            Move::Misshape => Ok(Response {
                value: Some(json!({"index": 1})),
                ..self.answer(request)
            }),
            Move::Fail => {
                let code = &codes::LIFECYCLE_FAILURE;
                Err(Error::new(code.class, code.name, "the terminal is gone"))
            }
            Move::Respond => {
                self.respond(self.answer(request)).await;
                Ok(Response::dismissed(request))
            }
            Move::Insist => {
                self.respond(self.answer(request)).await;
                Ok(self.answer(request))
            }
            Move::Belated => {
                cancelled.cancelled().await;
                let taken = self.respond(self.answer(request)).await;
                assert!(!taken, "`{}` came late and was heard", self.id);
                Ok(self.answer(request))
            }
            Move::Wait => {
                cancelled.cancelled().await;
                Ok(Response::dismissed(request))
            }
            Move::Cling => {
                self.hold.pass();
                Ok(self.answer(request))
            }
        }
    }

    /// Answers through the registry. Gives whether the answer was taken.
    async fn respond(&self, response: Response) -> bool {
        let Some(prompts) = self.prompts.upgrade() else {
            return false;
        };
        let id = response.interaction_id.clone();
        let taken = prompts.respond(self.id, response).await;
        let mut diary = self.diary.lock().unwrap();
        match taken {
            Ok(()) => {
                diary.won.push(id);
                true
            }
            Err(error) => {
                diary.refused.push((id, error));
                false
            }
        }
    }
}

impl Interactor for Person {
    fn ext_id(&self) -> &str {
        self.id
    }

    fn protocol_minor(&self) -> u64 {
        2
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        cancelled: CancellationToken,
    ) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            let place = self.begin(request, &cancelled);
            let played = self.play(request, cancelled).await;
            self.end(place);
            played
        })
    }
}
