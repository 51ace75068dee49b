//! `stud sessions`: what was said, in whichever store is active. Nothing of a session changes here, unless it is removed.

mod speech;
mod list;
mod show;
mod fork;
mod remove;
mod export;

use stud_core::environment::Environment;
use stud_core::limits::Limits;
use stud_core::stored_sessions::StoredSessions;

use crate::bundled;
use crate::cli::SessionsVerb;
use crate::output::{Output, Verdict};
use crate::setup;

pub(crate) fn run(verb: &SessionsVerb, output: &Output) -> Verdict {
    let ground = Environment::survey(setup::places()?, bundled::without_terminal())?;
    let shelf = StoredSessions::open(&ground, &Limits::default())?;
    match verb {
        SessionsVerb::List => list::run(&shelf, output),
        SessionsVerb::Show { session, tree } => show::run(&shelf, session, *tree, output),
        SessionsVerb::Fork { session, at } => {
            fork::run(&shelf, &ground.places, session, *at, output)
        }
        SessionsVerb::Delete { sessions } => remove::delete(&shelf, sessions, output),
        SessionsVerb::Prune { before, yes } => remove::prune(&shelf, before, *yes, output),
        SessionsVerb::Export {
            session,
            format,
            output: file,
        } => export::run(&shelf, session, *format, file.as_deref(), output),
    }
}
