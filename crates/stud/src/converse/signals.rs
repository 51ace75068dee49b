//! What Ctrl-C and a request to end do to a session.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals as Incoming;
use stud_core::session::Session;

use crate::ask::restore_terminal;

/// Listens from the start, so that no signal ends a session that could have been saved.
///
/// The first Ctrl-C calls the running turn off, or ends a session in which none runs; one more ends the program at once,
/// with everything that was acknowledged on the disk. A request to end lets the session finish and save itself.
pub(super) struct Signals(Arc<Heard>);

#[derive(Default)]
struct Heard {
    session: Mutex<Weak<Session>>,
    /// How often Ctrl-C was pressed since a turn last ran.
    presses: AtomicU32,
    ended: AtomicBool,
    /// Whether a session is on its way, which is let come up so that it can save itself.
    awaited: AtomicBool,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        let heard = Arc::new(Heard::default());
        let mut incoming = Incoming::new([SIGINT, SIGTERM, SIGHUP])?;
        let listener = heard.clone();
        let listening = thread::Builder::new().name("stud-signals".to_owned());
        listening.spawn(move || {
            for signal in incoming.forever() {
                listener.hear(signal);
            }
        })?;
        Ok(Self(heard))
    }

    /// From now on a session is on its way.
    pub(super) fn await_session(&self) {
        self.0.awaited.store(true, Ordering::Release);
    }

    /// From now on signals are for this session.
    pub(super) fn steer(&self, session: &Arc<Session>) {
        *self.0.session() = Arc::downgrade(session);
        if self.0.ended.load(Ordering::Acquire) {
            session.end_of_input();
        }
    }

    /// Whether a signal ended the session.
    pub(super) fn ended_session(&self) -> bool {
        self.0.ended.load(Ordering::Acquire)
    }
}

impl Heard {
    fn session(&self) -> std::sync::MutexGuard<'_, Weak<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, signal: i32) {
        let session = self.session().upgrade();
        if session.is_none() && !self.awaited.load(Ordering::Acquire) {
            // Nothing has begun that could be saved.
            leave();
        }
        if signal != SIGINT {
            self.ended.store(true, Ordering::Release);
            if let Some(session) = session {
                session.end_of_input();
                session.cancel_turn();
            }
            return;
        }
        if self.presses.fetch_add(1, Ordering::AcqRel) > 0 {
            leave();
        }
        match session {
            Some(session) if session.cancel_turn() => {
                self.presses.store(0, Ordering::Release);
                let _ = writeln!(io::stderr().lock(), "called off");
            }
            Some(session) => {
                self.ended.store(true, Ordering::Release);
                session.end_of_input();
            }
            // Nothing has begun that could be saved.
            None => leave(),
        }
    }
}

#[expect(
    clippy::exit,
    reason = "the person asked twice, and what was acknowledged is on the disk"
)]
fn leave() {
    restore_terminal();
    std::process::exit(130)
}
