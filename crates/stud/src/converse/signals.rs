//! What Ctrl-C and a request to end do to a session.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals as Incoming;
use stud_core::environment::Environment;
use stud_core::launch::Screens;
use stud_core::session::Session;

use crate::ask::restore_terminal;

/// Listens from the start, so that no signal ends a session that could have been saved.
///
/// The first Ctrl-C calls the running turn off, or ends a session in which none runs; one more while that takes its time
/// ends the program at once, with everything that was acknowledged on the disk. A request to end takes no more input and
/// begins no other turn, lets the running one come to its end, and lets the session save itself; what waits is answered
/// when the session is resumed. A turn that takes too long, or a second signal, calls it off.
pub(super) struct Signals(Arc<Heard>);

#[derive(Default)]
struct Heard {
    session: Mutex<Weak<Session>>,
    /// How long a running turn is waited for once the process was asked to end.
    patience: Mutex<Duration>,
    /// The turn that the last Ctrl-C cancelled.
    interrupted: Mutex<Option<String>>,
    /// Whether the process was asked to end.
    asked_to_end: AtomicBool,
    /// Whether a signal ended what was going on before it was done.
    called_off: AtomicBool,
    /// Whether a session is on its way, which is let come up so that it can save itself.
    awaited: AtomicBool,
    /// What gives the terminal back before the process ends at once.
    screens: Mutex<Option<Screens>>,
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

    /// From now on these screens give the terminal back before the process ends at once.
    pub(super) fn release(&self, screens: Screens) {
        *lock(&self.0.screens) = Some(screens);
    }

    /// From now on signals are for this session.
    pub(super) fn steer(&self, session: &Arc<Session>, patience: Duration) {
        *lock(&self.0.patience) = patience;
        *lock(&self.0.session) = Arc::downgrade(session);
        if self.asked_to_end() {
            session.wind_down();
        }
    }

    /// Whether the process was asked to end.
    pub(super) fn asked_to_end(&self) -> bool {
        self.0.asked_to_end.load(Ordering::Acquire)
    }

    /// Whether a signal ended what was going on before it was done.
    pub(super) fn called_off(&self) -> bool {
        self.0.called_off.load(Ordering::Acquire)
    }
}

impl Heard {
    fn hear(self: &Arc<Self>, signal: i32) {
        let session = lock(&self.session).upgrade();
        if session.is_none() && !self.awaited.load(Ordering::Acquire) {
            // Nothing has begun that could be saved.
            self.leave();
        }
        let is_over = self.called_off.load(Ordering::Acquire);
        match (session, signal) {
            // What was asked for takes too long.
            (Some(_), SIGINT) if is_over => self.leave(),
            (None, SIGINT) => self.leave(),
            (Some(session), SIGINT) if !self.asked_to_end.load(Ordering::Acquire) => {
                self.interrupt(&session);
            }
            (Some(session), SIGINT) => self.call_off(&session),
            (session, _) => self.end(session.as_ref()),
        }
    }

    fn interrupt(&self, session: &Session) {
        let turn = session.turn_id();
        let before = std::mem::replace(&mut *lock(&self.interrupted), turn.clone());
        if turn.is_some() && (turn == before || session.is_turn_called_off()) {
            return self.leave();
        }
        if session.cancel_turn() {
            let _ = writeln!(io::stderr().lock(), "cancelled");
        } else {
            self.called_off.store(true, Ordering::Release);
            session.wind_down();
        }
    }

    /// A session that is still on its way hears of it when it is there.
    fn end(self: &Arc<Self>, session: Option<&Arc<Session>>) {
        let again = self.asked_to_end.swap(true, Ordering::AcqRel);
        let Some(session) = session else { return };
        session.wind_down();
        if again {
            return self.call_off(session);
        }
        let patience = *lock(&self.patience);
        let (heard, weak) = (self.clone(), Arc::downgrade(session));
        let waiting = thread::Builder::new().name("stud-drain".to_owned());
        let waiting = waiting.spawn(move || {
            thread::sleep(patience);
            if let Some(session) = weak.upgrade() {
                heard.call_off(&session);
            }
        });
        if waiting.is_err() {
            self.call_off(session);
        }
    }

    /// Ends the process, with the terminal as it was.
    fn leave(&self) {
        /// How long a screen may take to give the terminal back.
        const PATIENCE: Duration = Duration::from_millis(700);
        let screens = lock(&self.screens).take();
        if let Some(screens) = screens {
            screens.release(PATIENCE);
        }
        leave();
    }

    fn call_off(&self, session: &Session) {
        if session.cancel_turn() {
            self.called_off.store(true, Ordering::Release);
        }
    }
}

/// How long a running turn is waited for: as long as `/save-and-close` does. Without a terminal it is cancelled soon,
/// because what sent the signal kills the process after a while; only a person's own setting makes it longer.
pub(super) fn patience(ground: &Environment, session: &Session, headless: bool) -> Duration {
    const AT_A_TERMINAL: u64 = 30_000;
    const HEADLESS: u64 = 1_000;
    const SETTING: &str = "drainTimeoutMs";
    let millis = if headless {
        let set = ground.settings.get("commands", "save-and-close");
        let set = set.and_then(|set| set.value.get(SETTING)?.as_u64());
        set.unwrap_or(HEADLESS)
    } else {
        let plugins = session.plugins();
        let command = plugins.get("save-and-close");
        let set = command.and_then(|command| command.identity().setting(SETTING)?.as_u64());
        set.unwrap_or(AT_A_TERMINAL)
    };
    Duration::from_millis(millis)
}

fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "the person asked twice, and what was acknowledged is on the disk"
)]
fn leave() {
    restore_terminal();
    std::process::exit(130)
}
