//! `stud attach`: this terminal as one more screen of a session that `stud serve` runs.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGTERM};
use signal_hook::iterator::Signals;
use stud_control::{AttachedScreen, LiveSession, Policy, RunDir, ScreenEnd, Sender};
use stud_core::environment::Environment;
use stud_core::ids;
use stud_core::limits::Limits;
use stud_core::plugin_scope::Scope;
use stud_core::register::PluginRuntime;
use stud_core::retire::retire;
use stud_core::settings::Settings;
use stud_core::startup;
use stud_diagnostics::{Diagnostic, codes, printable};

use crate::bundled;
use crate::cli::Attach;
use crate::control::AMONG;
use crate::output::{Outcome, Output, Verdict, told};
use crate::setup;

/// The plugin that is the screen.
const SCREEN: &str = "default-tui";

pub(crate) fn run(arguments: &Attach, output: &Output) -> Verdict {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let message = "standard input and output are not a terminal, so there is no screen";
        return Err(Diagnostic::error(&codes::STARTUP_FAILURE, message)
            .help("a script types into a session with `stud control send`"));
    }
    let places = setup::places()?;
    let state_dir = arguments.state_dir.as_ref().unwrap_or(&places.global_root);
    let mut settings = Settings::default();
    settings.layer(Scope::Global, &places.global_root)?;
    let policy = Policy::of(&settings, &places.global_root)?;
    let run_dir = RunDir::of(state_dir);
    let server = run_dir.serve_socket();
    let sender = Sender::new(
        run_dir,
        places.global_root.clone(),
        policy.ack_timeout,
        policy.retries,
    );
    let open: Vec<LiveSession> = sender
        .live_sessions()
        .into_iter()
        .filter(|session| session.socket == server)
        .collect();
    let session_id = meant(arguments.session.as_deref(), &open)?;
    let ground = Environment::survey(places, bundled::plugins())?;
    let ended = show(&server, &session_id, &ground)?;
    output.line(match ended {
        ScreenEnd::Left => format!(
            "left the session {}, which continues",
            printable(&session_id)
        ),
        ScreenEnd::Session => format!("the session {} has ended here", printable(&session_id)),
    });
    Ok(Outcome::Done)
}

/// The session that was named, or the only one that is open. One that is kept and not open is for the server to find.
fn meant(word: Option<&str>, open: &[LiveSession]) -> Result<String, Diagnostic> {
    let Some(word) = word else {
        return match open {
            [only] => Ok(only.session_id.clone()),
            [] => {
                let message = "no session is open in `stud serve`";
                Err(Diagnostic::error(&codes::CONTROL_UNAVAILABLE, message)
                    .help("begin one on its page, or name one that is kept: `stud attach ID`")
                    .help(
                        "`stud serve` starts the server; `stud sessions list` shows what is kept",
                    ))
            }
            several => {
                let message = format!("{} sessions are open, and none was named", several.len());
                Err(Diagnostic::error(&codes::SESSION_AMBIGUOUS, message)
                    .help("name one: `stud control sessions` lists them"))
            }
        };
    };
    let known: Vec<String> = open
        .iter()
        .map(|session| session.session_id.clone())
        .collect();
    if !known.iter().any(|id| id.starts_with(word)) {
        return Ok(word.to_owned());
    }
    ids::meant(word, &known, AMONG).map(str::to_owned)
}

/// Shows the session in this terminal until the user leaves or the session ends.
fn show(server: &Path, session_id: &str, ground: &Environment) -> Result<ScreenEnd, Diagnostic> {
    let screen = AttachedScreen::attach(server, session_id, SCREEN).map_err(told)?;
    leave_on_signals(&screen)?;
    let limits = Limits::default();
    let runtime = PluginRuntime {
        hosts: screen.hosts(),
        limits: limits.clone(),
    };
    let plugins = startup::prepare(ground, &limits).only(SCREEN);
    let started = plugins.start(ground, &runtime, &mut ());
    let Some(active) = started.registry.iter().next().cloned() else {
        let problem = started.problems().next().cloned();
        let message = "the terminal screen could not be started";
        return Err(problem.unwrap_or_else(|| Diagnostic::error(&codes::STARTUP_FAILURE, message)));
    };
    let end = screen.relay_to(&active);
    let _ = retire(&active, &limits);
    Ok(end)
}

/// The terminal is given back before the process ends.
fn leave_on_signals(screen: &AttachedScreen) -> Result<(), Diagnostic> {
    let leave = screen.leaver();
    let deaf = |error: io::Error| {
        let message = format!("signals cannot be listened to: {error}");
        Diagnostic::error(&codes::STARTUP_FAILURE, message)
    };
    let mut signals = Signals::new([SIGTERM, SIGHUP]).map_err(deaf)?;
    let listening = thread::Builder::new().name("stud-signals".to_owned());
    let spawned = listening.spawn(move || {
        for _ in signals.forever() {
            leave();
        }
    });
    spawned.map(drop).map_err(deaf)
}
