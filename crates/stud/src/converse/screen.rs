//! Which of the bundled screens has the terminal, and which takes its place when it fails.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use stud_core::launch::StandIn;
use stud_core::platform;
use stud_core::settings::Settings;

/// The full screen.
const FULL: &str = "default-tui";

/// The screen that works everywhere.
pub(super) const LINE: &str = "line-ui";

/// One of the bundled screens. Exactly one of them reads the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Screen {
    /// The one for terminals that can do more than show lines.
    Full,
    /// The one for pipes and plain terminals.
    Line,
}

impl Screen {
    /// The full screen where there is a terminal for it and the settings do not say otherwise.
    pub(super) fn of(settings: &Settings) -> Self {
        let is_set = |member: &str, to: bool| {
            let set = settings.get("ui", FULL);
            set.is_some_and(|set| set.value.get(member) == Some(&to.into()))
        };
        let term = platform::env_value("TERM");
        let is_plain = term.is_none_or(|term| term == "dumb");
        let has_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        if has_terminal && !is_plain && !is_set("enabled", false) && !is_set("accessible", true) {
            Self::Full
        } else {
            Self::Line
        }
    }

    /// The bundled screens that take no part.
    pub(super) fn left_out(self) -> &'static [&'static str] {
        match self {
            Self::Full => &[LINE],
            Self::Line => &[FULL],
        }
    }
}

/// Starts the line screen once the full one has failed.
#[derive(Debug, Default)]
pub(super) struct Fallback(Mutex<Option<Sender<()>>>);

impl Fallback {
    /// From now on there is something to fall back on.
    pub(super) fn arm(&self, stand_in: StandIn) {
        let (sender, called) = channel::<()>();
        let waiting = thread::Builder::new().name("stud-screen".to_owned());
        let waiting = waiting.spawn(move || {
            if called.recv().is_ok() {
                stand_in.start();
            }
        });
        if waiting.is_ok() {
            *self.lock() = Some(sender);
        }
    }

    /// The full screen has failed. False if there is nothing to fall back on.
    pub(super) fn call(&self) -> bool {
        let sender = self.lock().take();
        sender.is_some_and(|sender| sender.send(()).is_ok())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
