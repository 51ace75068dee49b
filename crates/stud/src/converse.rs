//! `stud` without a verb: a session with all active plugins.

use std::io::{self, IsTerminal as _, Write as _};
use std::mem::ManuallyDrop;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use stud_contract_meta::{Error, Result as CoreResult};
use stud_control::{ControlServer, Policy};
use stud_core::assistant::{self, Answered};
use stud_core::environment::Environment;
use stud_core::events::Service;
use stud_core::executor::block_on;
use stud_core::launch::{Launch, LaunchObserver, Launched, Resume, launch_with};
use stud_core::limits::Limits;
use stud_core::model::{Model, ProviderChoice, STAND_IN};
use stud_core::plugin_scope::Scope;
use stud_core::session::{Ending, Session, Trigger};
use stud_core::settings::ValidationSettings;
use stud_core::startup;
use stud_diagnostics::{Diagnostic, codes, printable};
use stud_host_api::commands::CommandResult;

use crate::bundled;
use crate::cli::Converse;
use crate::output::{self, Outcome, Output, Verdict, escaped, surface, told};

mod control;
mod entrance;
mod first_input;
mod report;
mod screen;
mod end_of_input;
mod signals;

use end_of_input::EndOfInput;
use report::AnswerReport;
use screen::{Fallback, Screen};
use signals::Signals;

pub(crate) fn run(arguments: &Converse, output: &Output) -> Verdict {
    let headless = arguments.headless || output.is_json();
    let signals = Signals::listen().map_err(deaf)?;
    match begin(arguments, headless, &signals, output) {
        Ok(Some(begun)) => carry_on(begun, headless, &signals, output),
        Ok(None) => Ok(Outcome::Done),
        Err(why) => {
            output.fail(&why);
            startup_error(&why, headless);
            Ok(match why.code {
                code if code == &codes::TURN_CANCELLED => Outcome::Cancelled,
                code if code == &codes::ARGUMENT_MISSING => Outcome::Misused,
                _ => Outcome::Refused,
            })
        }
    }
}

/// A session, and what is said in it first.
struct Begun {
    launched: Launched,
    first: Option<String>,
    report: Option<Arc<AnswerReport>>,
    control: Option<ControlServer>,
    end: OnceLock<Arc<EndOfInput>>,
}

/// From the arguments to a session that is ready for its first turn; none if there is nothing to begin.
fn begin(
    arguments: &Converse,
    headless: bool,
    signals: &Signals,
    output: &Output,
) -> Result<Option<Begun>, Diagnostic> {
    let bundled = if headless {
        bundled::without_terminal()
    } else {
        bundled::plugins()
    };
    let Some(entrance) = entrance::enter(arguments, headless, bundled)? else {
        return Ok(None);
    };
    let ground = if headless {
        // Installed as libraries they would take part all the same, and show the answer once more.
        entrance.ground.leaving_out(bundled::FOR_TERMINALS)
    } else {
        entrance.ground
    };
    let screen = Screen::of(&ground.settings);
    let has_full_screen = !headless && screen == Screen::Full;
    let line_ground = has_full_screen.then(|| ground.clone());
    let ground = if headless {
        ground
    } else {
        ground.leaving_out(screen.left_out())
    };
    let ground = &ground;
    // What is wrong with the settings is told before what is wrong with the input.
    let policy = Policy::of(&ground.settings, &ground.places.global_root)?;
    let first = first_input::read(arguments, headless)?;
    signals.await_session();
    let limits = Limits::default();
    let plugins = startup::prepare(ground, &limits);
    let how = how(arguments, headless, entrance.resume, limits);
    let report = output.is_json().then(AnswerReport::new);
    let fallback: Arc<Fallback> = Arc::default();
    let end = OnceLock::new();
    let opened = |session: &Arc<Session>| {
        if let Some(report) = &report {
            session.subscribe(report.clone(), Service::Shared);
        }
        // Without a terminal the end of the input is known from the start, and the UI need not be woken for each event.
        if !headless {
            let _ = end.set(EndOfInput::heard_in(session, &fallback));
        }
    };
    let greet = |session: &Arc<Session>, model: Option<&Model>| {
        greet(session, model, ProviderChoice::of(&ground.settings));
    };
    let mut onlooker = LaunchObserver {
        opened: &opened,
        ..LaunchObserver::default()
    };
    if !headless && !has_full_screen {
        onlooker.before_screens = &greet;
    }
    let launched = launch_with(ground, &plugins, &how, &onlooker).map_err(told)?;
    let session = &launched.session;
    // The full screen shows what is wrong with plugins by itself, and nothing else may write beside it.
    let shows_problems = has_full_screen && session.can_be_typed_to();
    let refused = warn_of_the_refused(&launched, (!shows_problems).then_some(output));
    if let Some(line_ground) = line_ground {
        let stand_in = launched.stand_in(line_ground.leaving_out(&[]), screen::LINE);
        if session.can_be_typed_to() {
            fallback.arm(stand_in);
        } else {
            stand_in.start();
        }
    }
    let strict = arguments.strict || is_strict(ground);
    let ready = fit_to_start(
        ground,
        session,
        headless,
        strict.then_some(refused).flatten(),
    );
    let ready = ready.and_then(|()| {
        let begins = first.is_some() || session.workflow_begins_by_itself();
        if headless && !begins {
            return Err(first_input::no_input());
        }
        if headless || begins || session.can_be_typed_to() {
            return Ok(());
        }
        Err(nobody_types())
    });
    if let Err(unfit) = ready {
        let _ = session.close();
        return Err(unfit);
    }
    if let Some(report) = &report {
        report.begin(session);
    }
    signals.release(launched.screens());
    signals.steer(session, signals::patience(ground, session, headless));
    let control = control::listen(policy, &launched, ground, output);
    Ok(Some(Begun {
        launched,
        first,
        report,
        control,
        end,
    }))
}

/// From the first turn to the end of the session.
fn carry_on(begun: Begun, headless: bool, signals: &Signals, output: &Output) -> Verdict {
    // What is left when the session is closed ends with the process, which takes it back at once: to take it apart piece
    // by piece would delay the exit of the process.
    let mut begun = ManuallyDrop::new(begun);
    let first = begun.first.take();
    // Its socket goes when everything is over, which the rest does not wait for.
    let _control = begun.control.take();
    let session = &begun.launched.session;
    // There is no input after the first one, and only this program shows the answer.
    let alone = headless || !session.can_be_typed_to();
    let talked = talk(session, first, alone, begun.end.get(), output);
    let asked_to_end = signals.asked_to_end();
    let closed = session.close_on(if asked_to_end {
        Trigger::Sigterm
    } else {
        Trigger::Close
    });
    let last = talked.and_then(|last| closed.map(|()| last));
    let called_off = signals.called_off();
    if !alone {
        last.map_err(told)?;
        return Ok(if called_off {
            Outcome::Cancelled
        } else {
            Outcome::Done
        });
    }
    let mut last = match last {
        Ok(Some(last)) if !called_off => last,
        Err(error) if !called_off && !asked_to_end => Last::without_words(Ending::Failed(error)),
        _ => Last::without_words(Ending::Cancelled),
    };
    let text = session.redacted(&last.answered.text);
    last.answered.text = text.into_owned();
    if let Some(report) = &begun.report {
        report
            .end(&last.answered, last.payload.take(), session)
            .map_err(|error| output::unwritten(&error))?;
    }
    Ok(last.finish(output))
}

fn how(arguments: &Converse, headless: bool, resume: Option<Resume>, limits: Limits) -> Launch {
    Launch {
        headless,
        yolo: arguments.yolo,
        mode: arguments.mode,
        allow_tools: arguments.allow_tools.clone(),
        resume,
        machine: arguments.sm.clone(),
        params: arguments.params.clone(),
        limits,
        // It starts nothing before a server is to be connected to.
        connector: Some(Arc::new(stud_mcp::Client::default())),
    }
}

/// What came of the last thing that was said.
struct Last {
    answered: Answered,
    /// What a command gave besides its text.
    payload: Option<Value>,
    /// Whether it was a command that has nothing to show.
    silent: bool,
}

impl Last {
    fn without_words(ending: Ending) -> Self {
        Self {
            answered: Answered {
                text: String::new(),
                ending,
            },
            payload: None,
            silent: false,
        }
    }

    fn finish(&self, output: &Output) -> Outcome {
        if self.silent {
            return Outcome::Done;
        }
        finish(&self.answered, output)
    }
}

/// Answers what was said first and what the UIs bring, until they bring no more. Where it is `alone` they bring nothing.
///
/// A line that begins with a slash is a command, and never reaches a model.
fn talk(
    session: &Arc<Session>,
    first: Option<String>,
    alone: bool,
    end: Option<&Arc<EndOfInput>>,
    output: &Output,
) -> CoreResult<Option<Last>> {
    let mut last = None;
    match first {
        Some(line) if line.starts_with('/') => {
            let done = command(session, &line);
            if !alone {
                done.finish(output);
            }
            last = Some(done);
        }
        Some(first) => {
            block_on(session.submit("stud", first))?;
        }
        None => {}
    }
    if let Some(end) = end {
        end.first_input_is_taken();
    }
    if alone {
        session.end_of_input();
    }
    let answered = block_on(assistant::converse(session))?;
    let answered = answered.map(|answered| Last {
        answered,
        payload: None,
        silent: false,
    });
    Ok(answered.or(last))
}

/// Runs a command, and gives what it shows as if it were an answer.
fn command(session: &Session, line: &str) -> Last {
    let (text, payload, ending) = match block_on(session.dispatch_line("stud", line)) {
        Ok(CommandResult::Done { rendered, payload }) => (rendered, payload, Ending::Completed),
        Ok(CommandResult::Blocked { reason }) => (reason, None, Ending::Completed),
        Err(error) => (String::new(), None, Ending::of(error)),
    };
    let lines = text.lines().map(printable);
    let text = lines.collect::<Vec<_>>().join("\n");
    Last {
        silent: text.is_empty() && matches!(ending, Ending::Completed),
        answered: Answered { text, ending },
        payload,
    }
}

/// What must be there for a first turn, and what must not.
fn fit_to_start(
    ground: &Environment,
    session: &Session,
    headless: bool,
    refused: Option<Diagnostic>,
) -> Result<(), Diagnostic> {
    if let Some(refused) = refused {
        return Err(refused.help("start without `--strict` to continue without the plugin"));
    }
    if headless {
        is_set_up(ground, session)?;
    }
    match session.model() {
        Some(_) => Ok(()),
        None => Model::chosen(&session.plugins(), &ground.settings, &session.refused())
            .map(drop)
            .map_err(told),
    }
}

fn nobody_types() -> Diagnostic {
    let message = "no UI takes part, so nothing could be typed";
    Diagnostic::error(&codes::STARTUP_FAILURE, message)
        .help("enable `ui.line-ui` in settings.json, or correct its config: `stud doctor` shows the problem")
        .help("or give a prompt to answer: `stud --headless PROMPT`")
}

/// Whether a provider was chosen, or the stand-in answers. There is no terminal to ask, and an unconfigured provider
/// up has no key.
fn is_set_up(ground: &Environment, session: &Session) -> Result<(), Diagnostic> {
    let plugins = session.plugins();
    let model = session.model();
    let answering = model.and_then(|model| plugins.get(&model.provider_id).cloned());
    let is_chosen = ProviderChoice::of(&ground.settings) != ProviderChoice::StandIn;
    let is_there = answering.is_some_and(|provider| {
        let identity = provider.identity();
        let id = identity.ext_id.as_str();
        id == STAND_IN
            || identity.scope != Scope::Bundled
            || ground.settings.get("providers", id).is_some()
    });
    if is_chosen || is_there {
        return Ok(());
    }
    // The provider is there, and has no model of the name that was chosen.
    if let Err(error) = Model::chosen(&plugins, &ground.settings, &session.refused())
        && error.code() == codes::MODEL_NOT_IN_PROVIDER.name
    {
        return Err(told(error));
    }
    let message = "no provider is configured, and no interactive UI is attached to ask";
    Err(Diagnostic::error(&codes::MISSING_HEADLESS_DEFAULTS, message)
        .help("`stud setup` in a terminal sets one up; or name one as `active.provider` in settings.json"))
}

fn is_strict(ground: &Environment) -> bool {
    ValidationSettings::of(&ground.settings).strict.value
}

/// Says who answers and how to end, before a UI has the terminal.
fn greet(session: &Arc<Session>, model: Option<&Model>, answering: ProviderChoice<'_>) {
    if !io::stdin().is_terminal() {
        return;
    }
    let mode = serde_json::json!(session.facts().mode);
    let mode = mode.as_str().unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let mut lines = Vec::new();
    if let Some(Model {
        provider_id,
        model_id,
    }) = model
    {
        let answers = format!("{provider_id} {model_id}");
        let answers = printable(&answers);
        lines.push(format!("stud {version}: {answers} answers, mode {mode}"));
        if let ProviderChoice::Configured(id, several @ 2..) = answering
            && id == provider_id
        {
            lines.push(format!(
                "`{}` is the first of {several} providers that are set up; `active.provider` or `/provider` chooses another.",
                printable(id)
            ));
        }
        if provider_id == STAND_IN {
            lines.push(
                "`echo` is a stand-in that repeats what you say. `stud setup` sets up a real provider."
                    .to_owned(),
            );
        }
    }
    lines.push("End with Ctrl-D. `stud --help` tells everything else.".to_owned());
    let _ = writeln!(io::stderr().lock(), "{}", lines.join("\n"));
}

/// Refused plugins do not stop the session, but they are reported, and so are settings of the project that
/// says does not hold. Gives the first that nothing takes the place of.
fn warn_of_the_refused(launched: &Launched, output: Option<&Output>) -> Option<Diagnostic> {
    let of_plugins = launched
        .reports
        .iter()
        .flat_map(|report| &report.diagnostics);
    let missed = of_plugins.filter(|problem| problem.is_error() || problem.fallback().is_some());
    let mut first = None;
    for problem in launched.diagnostics.iter().chain(missed) {
        if let Some(output) = output {
            output.warn(problem);
        }
        if problem.is_error() && first.is_none() {
            first = Some(problem.clone());
        }
    }
    first
}

fn finish(answered: &Answered, output: &Output) -> Outcome {
    match &answered.ending {
        Ending::Completed => {
            if !output.is_json() {
                output.words(&answered.text);
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

/// One line for programs: a prompt could not be answered.
fn interaction_required(error: &Error) {
    let line = surface(
        "headless.interaction-required",
        error.class(),
        error.code(),
        error.context(),
    );
    let _ = writeln!(io::stderr().lock(), "{}", escaped(&line));
}

/// One line for programs: no session came of it.
fn startup_error(why: &Diagnostic, headless: bool) {
    let name = if headless {
        "stderr.startup-error"
    } else {
        "default-tui.startup-error"
    };
    let line = surface(name, why.class().as_str(), why.code.name, &why.context);
    let _ = writeln!(io::stderr().lock(), "{}", escaped(&line));
}

fn deaf(error: io::Error) -> Diagnostic {
    let message = format!("signals cannot be listened to: {error}");
    Diagnostic::error(&codes::STARTUP_FAILURE, message)
}
