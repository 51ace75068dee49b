//! `stud` alone: a session, with whoever is there to take part.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::sync::{Arc, Weak};

use stud_contract_meta::{Error, Kind, Result as CoreResult};
use stud_core::assistant::{self, Answered, Model};
use stud_core::events::{Event, Service, Subscriber};
use stud_core::ground::Ground;
use stud_core::launch::{Launch, Launched, Resume, launch_with};
use stud_core::limits::Limits;
use stud_core::session::{Ending, Session};
use stud_core::startup;
use stud_core::validate::Members;
use stud_core::work::block_on;
use stud_diagnostics::{Diagnostic, Severity, codes};

use crate::bundled;
use crate::cli::Converse;
use crate::output::{Outcome, Output, Verdict};
use crate::setup;

pub(crate) fn run(arguments: &Converse, output: &Output) -> Verdict {
    let carried = if arguments.headless {
        bundled::without_terminal()
    } else {
        bundled::plugins()
    };
    let ground = Ground::survey(setup::places()?, carried)?;
    if !arguments.headless {
        greet(&ground);
    }
    let limits = Limits::default();
    let plugins = startup::prepare(&ground, &limits);
    let how = how(arguments, limits);
    let launched = launch_with(&ground, &plugins, &how, mind_the_end).map_err(told)?;
    warn_of_the_refused(&launched, output);
    let session = &launched.session;
    let model = model(&ground, session).map_err(told)?;
    let last = if arguments.headless {
        once(session, &model)
    } else {
        talk(session, &model)
    };
    let closed = session.close();
    let last = last.map_err(told)?;
    closed.map_err(told)?;
    match last {
        Some(mut answered) if arguments.headless => {
            answered.text = session.books().redactor.text(&answered.text).into_owned();
            finish(&answered, output)
        }
        _ => Ok(Outcome::Done),
    }
}

fn how(arguments: &Converse, limits: Limits) -> Launch {
    let resume = match &arguments.resume {
        Some(id) => Some(Resume::Session(id.clone())),
        None if arguments.continue_ => Some(Resume::Latest),
        None => None,
    };
    Launch {
        headless: arguments.headless,
        yolo: arguments.yolo,
        mode: arguments.mode,
        resume,
        limits,
    }
}

/// Listens for the end of input before anyone can reach it.
fn mind_the_end(session: &Arc<Session>) {
    let end = Arc::new(EndOfInput(Arc::downgrade(session)));
    session.books().bus.subscribe(end, Service::Shared);
}

/// Answers what the UIs bring, until they bring no more.
fn talk(session: &Arc<Session>, model: &Model) -> CoreResult<Option<Answered>> {
    block_on(assistant::converse(session, model))
}

/// Answers standard input, as one input.
fn once(session: &Arc<Session>, model: &Model) -> CoreResult<Option<Answered>> {
    let mut text = String::new();
    if io::stdin().read_to_string(&mut text).is_err() || text.trim().is_empty() {
        return Ok(None);
    }
    block_on(session.submit("stud", text.trim().to_owned()))?;
    session.end_of_input();
    block_on(assistant::converse(session, model))
}

/// Hears when the person at the line has nothing more to say.
struct EndOfInput(Weak<Session>);

impl Subscriber for EndOfInput {
    fn ext_id(&self) -> &'static str {
        "stud"
    }

    fn hear(&self, event: &Event) -> CoreResult<()> {
        if &*event.name == "LineUiInputEnded"
            && let Some(session) = self.0.upgrade()
        {
            session.end_of_input();
            // Nobody will type an answer any more; another UI may still give one.
            session.prompts().depart("line-ui");
        }
        Ok(())
    }
}

/// The model that the settings name, or the first there is.
fn model(ground: &Ground, session: &Session) -> CoreResult<Model> {
    let plugins = session.plugins();
    let set = ground.settings.get("active", "provider");
    let wanted = set.and_then(|set| set.value.as_str());
    let mut providers = plugins.of_kind(Kind::Provider).into_iter();
    let provider = match wanted {
        Some(id) => providers.find(|provider| provider.identity().ext_id.as_str() == id),
        None => providers.next_back(),
    };
    let Some(provider) = provider else {
        let code = &codes::EXTENSION_NOT_FOUND;
        let id = wanted.unwrap_or("echo");
        return Err(Error::new(
            code.class,
            code.name,
            format!("there is no provider `{id}`"),
        ));
    };
    let identity = provider.identity();
    let declared = match &*identity.members {
        Members::Provider(members) => members.models.first().map(|model| model.model_id.clone()),
        _ => None,
    };
    let configured = identity
        .config
        .get("model")
        .and_then(|model| model.as_str());
    let provider_id = identity.ext_id.as_str().to_owned();
    Ok(Model {
        model_id: configured
            .map(str::to_owned)
            .or(declared)
            .unwrap_or_else(|| provider_id.clone()),
        provider_id,
    })
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

/// Plugins that were refused do not stop the session, but nobody should wonder where they are.
fn warn_of_the_refused(launched: &Launched, output: &Output) {
    let of_plugins = launched
        .reports
        .iter()
        .flat_map(|report| &report.diagnostics);
    let errors = of_plugins.filter(|problem| problem.severity == Severity::Error);
    for problem in launched.diagnostics.iter().chain(errors) {
        output.warn(problem);
    }
}

fn finish(answered: &Answered, output: &Output) -> Verdict {
    match &answered.ending {
        Ending::Completed => {
            output.line(&answered.text);
            Ok(Outcome::Done)
        }
        Ending::Cancelled => Ok(Outcome::Cancelled),
        Ending::Halted(error) => {
            output.fail(&told(error.clone()));
            Ok(Outcome::Halted)
        }
        Ending::Failed(error) => Err(told(error.clone())),
    }
}

/// An error of core, for people.
fn told(error: Error) -> Diagnostic {
    let known = codes::ALL
        .iter()
        .find(|code| code.class.as_str() == error.class() && code.name == error.code());
    let mut diagnostic = Diagnostic::error(
        known.copied().unwrap_or(&codes::STARTUP_FAILURE),
        error.message(),
    );
    for (key, value) in error.context() {
        diagnostic = diagnostic.with(key, value.clone());
    }
    diagnostic
}
