//! When a screen says that nothing more is typed there.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use stud_contract_meta::Result;
use stud_core::events::{Event, Service, Subscriber};
use stud_core::session::Session;

use super::screen::Fallback;

/// Hears when there is nothing more to say.
pub(super) struct EndOfInput {
    session: Weak<Session>,
    fallback: Arc<Fallback>,
    /// The ends that came before the first input was taken; nothing once it is.
    early: Mutex<Option<Vec<String>>>,
}

impl EndOfInput {
    /// Listens in a session before a screen can say it.
    pub(super) fn heard_in(session: &Arc<Session>, fallback: &Arc<Fallback>) -> Arc<Self> {
        let end = Arc::new(Self {
            session: Arc::downgrade(session),
            fallback: fallback.clone(),
            early: Mutex::new(Some(Vec::new())),
        });
        session.subscribe(end.clone(), Service::Shared);
        end
    }

    /// What was given on the command line is taken now, so the session may end after it. A screen whose input is empty
    /// says so at once, and the session would take nothing any more.
    pub(super) fn first_input_is_taken(&self) {
        let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        let names = early.take();
        drop(early);
        for name in names.into_iter().flatten() {
            self.end(&name);
        }
    }

    fn end(&self, name: &str) {
        let Some(session) = self.session.upgrade() else {
            return;
        };
        match name {
            "DefaultTuiInputEnded" if self.fallback.call() => {
                session.prompts().depart("default-tui");
            }
            name if is_end_of_input(name) => {
                session.end_of_input();
                // The terminal will not answer any more; another UI may.
                session.prompts().depart("line-ui");
            }
            "SessionExitRequested" => session.end_of_input(),
            _ => {}
        }
    }
}

impl Subscriber for EndOfInput {
    fn ext_id(&self) -> &'static str {
        "stud"
    }

    fn hear(&self, event: &Event) -> Result<()> {
        if let Some(early) = &mut *self.early.lock().unwrap_or_else(PoisonError::into_inner) {
            early.push(event.name.to_string());
            return Ok(());
        }
        self.end(&event.name);
        Ok(())
    }

    fn hears(&self, name: &str) -> bool {
        name == "SessionExitRequested" || is_end_of_input(name)
    }
}

/// Whether a screen says by this event that nothing more is typed there. Any screen may declare one.
fn is_end_of_input(name: &str) -> bool {
    name.ends_with("InputEnded")
}
