//! Before a session: what a first start lacks, whether the project is trusted, and which session continues.

use std::path::Path;

use stud_core::environment::{EmbeddedPlugin, Environment, Reach};
use stud_core::launch::Resume;
use stud_core::limits::Limits;
use stud_core::platform::Places;
use stud_core::plugin_scope::Scope;
use stud_core::session::{archive, in_use};
use stud_core::settings::Settings;
use stud_core::stored_sessions::StoredSessions;
use stud_core::trust::{self, Decision, Entered};
use stud_diagnostics::{Diagnostic, codes, printable};

use crate::ask::{Person, say};
use crate::cli::Converse;
use crate::first_run;
use crate::output::told;
use crate::setup;
use crate::trust::{Finding, Listing, decide, note};

/// What a session begins on.
pub(super) struct Entrance {
    pub(super) ground: Environment,
    pub(super) resume: Option<Resume>,
}

/// The way into a session; none if the person would rather not start.
pub(super) fn enter(
    arguments: &Converse,
    headless: bool,
    bundled: Vec<EmbeddedPlugin>,
) -> Result<Option<Entrance>, Diagnostic> {
    let places = setup::places()?;
    // Settings that cannot be read end it before anything is written or asked.
    Settings::default().layer(Scope::Global, &places.global_root)?;
    first_run::scaffold_system_prompt(&places)?;
    let resumes = arguments.is_resuming();
    if !headless && !arguments.safe_mode && first_run::will_offer_provider(&places)? {
        if resumes {
            // Nothing is set up for a session that cannot be had.
            go_on(arguments, places.clone(), bundled.clone())?;
        }
        first_run::offer_provider(&places)?;
    }
    if resumes {
        return go_on(arguments, places, bundled).map(Some);
    }
    let reach = if arguments.safe_mode {
        Some(Reach::BundledOnly)
    } else {
        settle(arguments, headless, &places)?
    };
    let Some(reach) = reach else {
        return Ok(None);
    };
    let ground = Environment::survey_within(reach, places, bundled)?;
    Ok(Some(Entrance {
        ground,
        resume: None,
    }))
}

/// Resumes a session. Its project is the one it started in, wherever stud is run now, and stud does not ask
/// about it: what is not trusted now is left out.
fn go_on(
    arguments: &Converse,
    here: Places,
    bundled: Vec<EmbeddedPlugin>,
) -> Result<Entrance, Diagnostic> {
    let reach = if arguments.safe_mode {
        Reach::BundledOnly
    } else {
        Reach::Everything
    };
    let ground = Environment::survey_within(reach, here.clone(), bundled.clone())?;
    let (session_id, recorded) = {
        let shelf = StoredSessions::open(&ground, &Limits::default())?;
        let id = if let Some(word) = &arguments.resume {
            shelf.find(word)?
        } else {
            let trails = ground.places.global_root.join("sessions");
            archive::latest(&**shelf.store(), &trails).map_err(told)?
        };
        if let Some(pid) = shelf.holder(&id) {
            return Err(told(in_use(&id, pid)));
        }
        let recorded = archive::project_root(&id, &**shelf.store()).map_err(told)?;
        (id, recorded)
    };
    if !is_project_root(&recorded) {
        return Err(no_project_root(&session_id, &recorded));
    }
    let ground = if recorded == here.project_root {
        ground
    } else {
        let there = Places {
            project_root: recorded,
            ..here
        };
        Environment::survey_within(reach, there, bundled)?
    };
    let mut said = ground.diagnostics.iter();
    if ground.trusted() {
        note(&ground.places, Finding::StillTrusted)?;
    } else if said.any(|said| said.code == &codes::PROJECT_TRUST_REQUIRED) {
        note(&ground.places, Finding::Undecided)?;
    }
    Ok(Entrance {
        ground,
        resume: Some(Resume::Session(session_id)),
    })
}

/// Whether a path can be the `.stud` folder of a project.
fn is_project_root(path: &Path) -> bool {
    path.is_absolute() && path.ends_with(".stud")
}

/// Nothing can be said about the trust in a place that no project can be at.
fn no_project_root(session_id: &str, recorded: &Path) -> Diagnostic {
    let shown = recorded.display().to_string();
    let message = format!(
        "the session records that it began at `{shown}`, which is not the `.stud` folder of a project"
    );
    Diagnostic::error(&codes::PROJECT_ROOT_INVARIANT_VIOLATED, message)
        .with("sessionId", session_id)
        .with("projectRoot", shown)
        .help("`stud sessions show` and `stud sessions export` still read it; start a new session to continue")
}

/// How far a new session reaches; nothing if the person would rather not start.
fn settle(
    arguments: &Converse,
    headless: bool,
    places: &Places,
) -> Result<Option<Reach>, Diagnostic> {
    match trust::enter(places)? {
        Entered::Absent => return Ok(Some(Reach::Everything)),
        Entered::Trusted(_) => {
            note(places, Finding::StillTrusted)?;
            return Ok(Some(Reach::Everything));
        }
        Entered::Untrusted(_) => {}
    }
    if headless {
        if arguments.yolo {
            note(places, Finding::Once(Some("headless-yolo")))?;
            return Ok(Some(Reach::ProjectOnce));
        }
        note(places, Finding::Undecided)?;
        let message = "this project is not trusted, and no interactive UI is attached to ask";
        return Err(Diagnostic::error(&codes::HEADLESS_TRUST_REQUIRED, message)
            .with("projectRoot", places.project_root.display().to_string())
            .help("`stud trust` trusts this folder; `--yolo` uses it this once; `--safe-mode` leaves it out"));
    }
    let person = Person::present();
    if !person.is_at_terminal() {
        // The session says that the project was left out.
        note(places, Finding::Undecided)?;
        return Ok(Some(Reach::Everything));
    }
    ask(places, &person)
}

/// Asks in the terminal, before any plugin runs.
fn ask(places: &Places, person: &Person) -> Result<Option<Reach>, Diagnostic> {
    let root = places.project_root.display().to_string();
    say(&format!(
        "This project has a `.stud` folder that you have not decided to trust:\n  {}\n{}\
         If you trust it, its plugins run in stud's own process, without any barrier, with everything you may do.\n",
        printable(&root),
        Listing::of(&places.project_root).text()
    ));
    loop {
        say("[t]rust it, trust it [o]nce, [d]ecline, [a]bort? ");
        let Ok(line) = person.line() else {
            return Ok(None);
        };
        match line.trim() {
            "a" | "abort" => return Ok(None),
            "t" | "trust" => {
                decide(places, Decision::Trusted)?;
                return Ok(Some(Reach::Everything));
            }
            "o" | "once" => {
                note(places, Finding::Once(None))?;
                return Ok(Some(Reach::ProjectOnce));
            }
            "d" | "decline" => {
                decide(places, Decision::Declined)?;
                return Ok(Some(Reach::Everything));
            }
            _ => say("Please answer t, o, d or a.\n"),
        }
    }
}
