//! What Ctrl-C and a request to end do to a session.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals as Incoming;
use stud_core::session::Session;

use crate::ask::restore_terminal;

/// Listens from the start, so that no signal ends a session that could have been saved.
///
/// The first Ctrl-C calls the running turn off, or ends a session in which none runs; one more while that takes its time
/// ends the program at once, with everything that was acknowledged on the disk. A request to end calls the turn off,
/// begins no other, and lets the session save itself; what waits is answered when the session is resumed.
pub(super) struct Signals(Arc<Heard>);

#[derive(Default)]
struct Heard {
    session: Mutex<Weak<Session>>,
    /// The turn that the last Ctrl-C called off.
    called_off: Mutex<Option<String>>,
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
        *lock(&self.0.session) = Arc::downgrade(session);
        if self.0.ended.load(Ordering::Acquire) {
            session.wind_down();
        }
    }

    /// Whether a signal ended the session.
    pub(super) fn ended_session(&self) -> bool {
        self.0.ended.load(Ordering::Acquire)
    }
}

impl Heard {
    fn hear(&self, signal: i32) {
        let session = lock(&self.session).upgrade();
        if session.is_none() && !self.awaited.load(Ordering::Acquire) {
            // Nothing has begun that could be saved.
            leave();
        }
        if signal != SIGINT {
            self.ended.store(true, Ordering::Release);
            if let Some(session) = session {
                session.wind_down();
                session.cancel_turn();
            }
            return;
        }
        // Nothing has begun that could be saved, or what was asked for takes too long.
        let Some(session) = session.filter(|_| !self.ended.load(Ordering::Acquire)) else {
            return leave();
        };
        let turn = session.turn_id();
        let before = std::mem::replace(&mut *lock(&self.called_off), turn.clone());
        if turn.is_some() && turn == before {
            return leave();
        }
        if session.cancel_turn() {
            let _ = writeln!(io::stderr().lock(), "called off");
        } else {
            self.ended.store(true, Ordering::Release);
            session.wind_down();
        }
    }
}

fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(
    clippy::exit,
    reason = "the person asked twice, and what was acknowledged is on the disk"
)]
fn leave() {
    restore_terminal();
    std::process::exit(130)
}
