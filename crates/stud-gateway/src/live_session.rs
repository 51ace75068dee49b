//! A session that runs here, with the clients that take part in it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use stud_contract_interaction::Request;
use stud_contract_meta::Error;
use stud_core::assistant;
use stud_core::environment::Environment;
use stud_core::executor::block_on;
use stud_core::interactions::Audience;
use stud_core::launch::{Launched, Reloader};
use stud_core::register::HostSource;
use stud_core::session::{Ending, Session};
use stud_host_api::metrics::{RuntimeReader as _, Subscription};
use tokio::sync::watch;

use crate::event_log::EventLog;
use crate::frame::InteractionMode;
use crate::web_interactor::{EXT_ID, WebInteractor};

/// How long a session that ends waits for its turn to end.
const TURN_END: Duration = Duration::from_secs(10);

/// Whether a session can still be used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Live = 0,
    Closed = 1,
    Deleted = 2,
}

/// A session that runs here.
pub(crate) struct LiveSession {
    pub(crate) session: Arc<Session>,
    pub(crate) log: Arc<EventLog>,
    pub(crate) interactor: Arc<WebInteractor>,
    reloader: Reloader,
    hosts: Arc<dyn HostSource>,
    clients: Mutex<Clients>,
    life: AtomicU8,
    /// How often what the session looks like has changed.
    state_version: Arc<AtomicU64>,
    watching: OnceLock<Subscription>,
    /// Whether inputs are still answered.
    answering: watch::Sender<bool>,
}

#[derive(Default)]
struct Clients {
    modes: BTreeMap<String, InteractionMode>,
    /// Whether the interactor takes part in the session.
    joined: bool,
}

impl LiveSession {
    /// A session that was launched, with its log.
    pub(crate) fn new(launched: &Launched, ground: &Environment, log: Arc<EventLog>) -> Arc<Self> {
        let session = launched.session.clone();
        let waking = log.clone();
        let live = Arc::new(Self {
            interactor: WebInteractor::new(move || waking.wake()),
            session,
            log,
            reloader: launched.reloader(ground),
            hosts: launched.hosts(),
            clients: Mutex::default(),
            life: AtomicU8::new(Life::Live as u8),
            state_version: Arc::new(AtomicU64::new(1)),
            watching: OnceLock::new(),
            answering: watch::Sender::new(true),
        });
        live.watch_state();
        live
    }

    /// Loads what is now in a plugin's place.
    pub(crate) fn reload(&self, ext_id: &str) -> Result<Value, Error> {
        self.reloader.reload(ext_id)
    }

    /// What makes hosts for plugins of the session.
    pub(crate) fn hosts(&self) -> &Arc<dyn HostSource> {
        &self.hosts
    }

    pub(crate) fn id(&self) -> &str {
        self.session.id()
    }

    pub(crate) fn life(&self) -> Life {
        match self.life.load(Ordering::Acquire) {
            0 => Life::Live,
            1 => Life::Closed,
            _ => Life::Deleted,
        }
    }

    /// The session has ended. Everyone who takes part in it learns that, and in which way.
    pub(crate) fn set_life(&self, life: Life) {
        self.life.fetch_max(life as u8, Ordering::AcqRel);
        self.log.wake();
    }

    fn watch_state(self: &Arc<Self>) {
        let (version, log) = (self.state_version.clone(), self.log.clone());
        let reader = self.session.metrics().reader(EXT_ID, |_| {});
        let changed = move |_| {
            version.fetch_add(1, Ordering::AcqRel);
            log.wake();
        };
        if let Ok(subscription) = reader.subscribe(Box::new(changed)) {
            let _ = self.watching.set(subscription);
        }
    }

    pub(crate) fn state_version(&self) -> u64 {
        self.state_version.load(Ordering::Acquire)
    }

    /// What the session looks like now.
    pub(crate) fn state_frame(&self) -> Value {
        let snapshot = self.session.metrics().snapshot();
        let audience = self.session.prompts().audience();
        json!({
            "type": "session_state",
            "sessionId": self.id(),
            "running": self.session.turn_id().is_some(),
            "queuedInputs": self.session.has_inputs(),
            "session": snapshot.session,
            "provider": snapshot.provider.current,
            "tokens": snapshot.tokens,
            "context": snapshot.context,
            "stateMachine": snapshot.state_machine,
            "diagnostics": snapshot.diagnostics,
            "interactiveClientCount": audience.supported,
            "interactiveEnabledCount": audience.enabled,
        })
    }

    /// Answers inputs, until there are no more. It takes a thread only while a turn runs.
    pub(crate) async fn answer_inputs(self: Arc<Self>) {
        while let Some(input) = self.session.next_input().await {
            let session = self.session.clone();
            let answered = tokio::task::spawn_blocking(move || {
                let Some(model) = session.model() else {
                    return Err("no model answers: choose one with `/model`".to_owned());
                };
                match block_on(assistant::answer(&session, &model, &input)) {
                    Ok(_) => Ok(()),
                    Err(error) => Err(why(&error)),
                }
            });
            if let Ok(Err(why)) = answered.await {
                // A turn that could not begin has no end of its own.
                let session = self.session.clone();
                let told = tokio::task::spawn_blocking(move || block_on(session.note("stud", why)));
                let _ = told.await;
            }
        }
        self.answering.send_replace(false);
    }

    /// Ends the session: the running turn is cancelled, and the conversation is saved.
    pub(crate) async fn end(&self, patience: Duration) -> Result<(), Error> {
        self.session.wind_down();
        let mut answering = self.answering.subscribe();
        if patience.is_zero() || self.session.prompts().open_count() > 0 {
            self.session.cancel_turn();
        }
        let done = answering.wait_for(|answering| !answering);
        if tokio::time::timeout(patience, done).await.is_err() {
            self.session.cancel_turn();
            let done = answering.wait_for(|answering| !answering);
            // A turn that does not end is left behind.
            let _ = tokio::time::timeout(TURN_END, done).await;
        }
        let session = self.session.clone();
        let closed = tokio::task::spawn_blocking(move || session.close()).await;
        closed.unwrap_or(Ok(()))
    }

    /// Says how a client stands to prompts, or that it takes part no longer.
    pub(crate) fn set_client(&self, client_id: &str, mode: Option<InteractionMode>) {
        let mut clients = self.clients();
        match mode {
            Some(mode) => clients.modes.insert(client_id.to_owned(), mode),
            None => clients.modes.remove(client_id),
        };
        let modes = clients.modes.values();
        let audience = Audience {
            supported: modes.clone().filter(|mode| mode.supported).count(),
            enabled: modes.filter(|mode| mode.enabled).count(),
        };
        let prompts = self.session.prompts();
        prompts.set_audience(EXT_ID, audience);
        match (audience.is_available(), clients.joined) {
            (true, false) => prompts.join(self.interactor.clone()),
            (false, true) => prompts.leave(EXT_ID),
            _ => {}
        }
        clients.joined = audience.is_available();
    }

    fn clients(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The prompt with this id, whether it is asked now, waits, or stays open though its tool is gone.
    pub(crate) fn prompt(&self, interaction_id: &str) -> Option<Request> {
        let is_meant = |request: &Request| request.interaction_id == interaction_id;
        let prompts = self.session.prompts();
        let mut open = prompts.open().into_iter().chain(prompts.detached());
        open.find(is_meant)
            .or_else(|| self.interactor.prompt(interaction_id))
    }
}

impl std::fmt::Debug for LiveSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveSession")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

fn why(error: &Error) -> String {
    let ending = Ending::of(error.clone());
    format!(
        "the turn could not begin ({}): {} ({}/{})",
        ending.as_str(),
        error.message(),
        error.class(),
        error.code()
    )
}
