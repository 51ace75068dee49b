//! `stud` alone: a session, with whoever is there to take part.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::sync::{Arc, Weak};

use stud_contract_meta::{Error, Result as CoreResult};
use stud_core::assistant::{self, Answered};
use stud_core::events::{Event, Service, Subscriber};
use stud_core::ground::Ground;
use stud_core::launch::{Launch, Launched, Resume, launch_with};
use stud_core::limits::Limits;
use stud_core::model::Model;
use stud_core::session::{Ending, Session};
use stud_core::startup;
use stud_core::work::block_on;
use stud_diagnostics::{Diagnostic, Severity, codes};

use crate::bundled;
use crate::cli::Converse;
use crate::output::{self, Outcome, Output, Verdict, told};

mod entrance;
mod report;
mod signals;

use report::Report;
use signals::Signals;

pub(crate) fn run(arguments: &Converse, output: &Output) -> Verdict {
    let headless = arguments.headless || output.is_json();
    let bundled = if headless {
        bundled::without_terminal()
    } else {
        bundled::plugins()
    };
    let Some(ground) = entrance::enter(arguments, headless, bundled, output)? else {
        return Ok(Outcome::Done);
    };
    let first = first_input(arguments, headless)?;
    if headless && first.is_none() {
        return Ok(Outcome::Done);
    }
    let signals = Signals::listen().map_err(deaf)?;
    if !headless {
        greet(&ground);
    }
    let limits = Limits::default();
    let plugins = startup::prepare(&ground, &limits);
    let how = how(arguments, headless, limits);
    let report = output.is_json().then(Report::new);
    let launched = launch_with(&ground, &plugins, &how, |session| {
        if let Some(report) = &report {
            session
                .books()
                .bus
                .subscribe(report.clone(), Service::Shared);
        }
        mind_the_end(session);
    })
    .map_err(told)?;
    let refused = warn_of_the_refused(&launched, output);
    let session = &launched.session;
    let strict = arguments.strict || is_strict(&ground);
    let ready = fit_to_start(&ground, session, strict.then_some(refused).flatten());
    if let Err(unfit) = ready {
        let _ = session.close();
        return Err(unfit);
    }
    if let Some(report) = &report {
        report.begin(session);
    }
    signals.steer(session);
    let talked = talk(session, first, headless);
    let closed = session.close();
    let last = talked.and_then(|last| closed.map(|()| last));
    let ended = signals.ended_session();
    if !headless {
        last.map_err(told)?;
        return Ok(if ended {
            Outcome::Cancelled
        } else {
            Outcome::Done
        });
    }
    let without_words = |ending| Answered {
        text: String::new(),
        ending,
    };
    let mut answered = match last {
        Ok(Some(answered)) if !ended => answered,
        Err(error) if !ended => without_words(Ending::Failed(error)),
        _ => without_words(Ending::Cancelled),
    };
    answered.text = session.books().redactor.text(&answered.text).into_owned();
    if let Some(report) = &report {
        report
            .end(&answered, session)
            .map_err(|error| output::unwritten(&error))?;
    }
    Ok(finish(&answered, output))
}

fn how(arguments: &Converse, headless: bool, limits: Limits) -> Launch {
    let resume = match &arguments.resume {
        Some(id) => Some(Resume::Session(id.clone())),
        None if arguments.continue_ => Some(Resume::Latest),
        None => None,
    };
    Launch {
        headless,
        yolo: arguments.yolo,
        mode: arguments.mode,
        resume,
        params: arguments.params.clone(),
        limits,
    }
}

/// What is said first: the words on the command line, or all of standard input where nobody types.
fn first_input(arguments: &Converse, headless: bool) -> Result<Option<String>, Diagnostic> {
    let mut text = arguments.prompt.join(" ");
    if text.trim().is_empty() && headless {
        io::stdin().read_to_string(&mut text).map_err(|error| {
            let message = format!("standard input cannot be read: {error}");
            Diagnostic::error(&codes::STARTUP_FAILURE, message)
                .help("give the prompt as UTF-8 text, or on the command line")
        })?;
    }
    let text = text.trim();
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// Listens for the end of input before anyone can reach it.
fn mind_the_end(session: &Arc<Session>) {
    let end = Arc::new(EndOfInput(Arc::downgrade(session)));
    session.books().bus.subscribe(end, Service::Shared);
}

/// Answers what was said first and what the UIs bring, until they bring no more.
fn talk(
    session: &Arc<Session>,
    first: Option<String>,
    headless: bool,
) -> CoreResult<Option<Answered>> {
    if let Some(first) = first {
        block_on(session.submit("stud", first))?;
    }
    if headless {
        session.end_of_input();
    }
    block_on(assistant::converse(session))
}

/// Hears when there is nothing more to say.
struct EndOfInput(Weak<Session>);

impl Subscriber for EndOfInput {
    fn ext_id(&self) -> &'static str {
        "stud"
    }

    fn hear(&self, event: &Event) -> CoreResult<()> {
        let Some(session) = self.0.upgrade() else {
            return Ok(());
        };
        match &*event.name {
            "LineUiInputEnded" => {
                session.end_of_input();
                // Nobody will type an answer any more; another UI may still give one.
                session.prompts().depart("line-ui");
            }
            "SessionExitRequested" => session.end_of_input(),
            _ => {}
        }
        Ok(())
    }
}

/// What must be there for a first turn, and what must not.
fn fit_to_start(
    ground: &Ground,
    session: &Session,
    refused: Option<Diagnostic>,
) -> Result<(), Diagnostic> {
    if let Some(refused) = refused {
        return Err(refused.help("start without `--strict` to go on without the plugin"));
    }
    match session.model() {
        Some(_) => Ok(()),
        None => Model::chosen(&session.plugins(), &ground.settings)
            .map(drop)
            .map_err(told),
    }
}

fn is_strict(ground: &Ground) -> bool {
    let set = ground.settings.get("validation", "strict");
    set.is_some_and(|set| set.value == &serde_json::Value::Bool(true))
}

/// Says what answers and how to end, before a UI has the terminal.
fn greet(ground: &Ground) {
    if !io::stdin().is_terminal() {
        return;
    }
    let mut lines = vec![format!("stud {}", env!("CARGO_PKG_VERSION"))];
    if ground.settings.get("active", "provider").is_none() {
        lines.push(
            "`echo` answers: a stand-in that repeats what you say. Name a real provider as `active.provider` in \
             ~/.stud/settings.json."
                .to_owned(),
        );
    }
    lines.push("End with Ctrl-D. `stud --help` tells everything else.".to_owned());
    let _ = writeln!(io::stderr().lock(), "{}", lines.join("\n"));
}

/// Plugins that were refused do not stop the session, but nobody should wonder where they are. Gives the first.
fn warn_of_the_refused(launched: &Launched, output: &Output) -> Option<Diagnostic> {
    let of_plugins = launched
        .reports
        .iter()
        .flat_map(|report| &report.diagnostics);
    let errors = of_plugins.filter(|problem| problem.severity == Severity::Error);
    let mut first = None;
    for problem in launched.diagnostics.iter().chain(errors) {
        output.warn(problem);
        if problem.severity == Severity::Error && first.is_none() {
            first = Some(problem.clone());
        }
    }
    first
}

fn finish(answered: &Answered, output: &Output) -> Outcome {
    match &answered.ending {
        Ending::Completed => {
            if !output.is_json() {
                output.text(&answered.text);
            }
            Outcome::Done
        }
        Ending::Cancelled => Outcome::Cancelled,
        Ending::Halted(error) => {
            interaction_required(error);
            output.fail(&told(error.clone()));
            Outcome::Halted
        }
        Ending::Failed(error) => {
            output.fail(&told(error.clone()));
            Outcome::Refused
        }
    }
}

/// One line for programs: somebody had to be asked.
fn interaction_required(error: &Error) {
    let surface = serde_json::json!({
        "surface": "headless.interaction-required",
        "error": {
            "class": error.class(),
            "code": error.code(),
            "context": error.context(),
        },
    });
    let line = output::escaped(&surface.to_string());
    let _ = writeln!(io::stderr().lock(), "{line}");
}

fn deaf(error: io::Error) -> Diagnostic {
    let message = format!("signals cannot be listened to: {error}");
    Diagnostic::error(&codes::STARTUP_FAILURE, message)
}
