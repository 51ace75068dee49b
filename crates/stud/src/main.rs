//! The program `stud`.
#![forbid(unsafe_code)]

mod output; // Text for people, JSON for programs.
mod cli; // The command line.
mod bundled; // The plugins the program carries.
mod setup; // Environment and runtime of a verb.
mod logging; // The log of the program.
mod ask; // Questions asked before a session exists.
mod explain; // `stud explain`.
mod completions; // `stud completions`.
mod trust; // `stud trust`.
mod grants; // `stud grants`.
mod audit; // `stud audit`.
mod control; // `stud control`.
mod plugin; // `stud plugin`.
mod sessions; // `stud sessions`.
mod doctor; // `stud doctor`.
mod provider_setup; // `stud setup`.
mod first_run; // What a first start finds missing.
mod converse; // `stud` without a verb: a session.
mod serve; // `stud serve`.
mod attach; // `stud attach`.

use std::process::ExitCode;

use stud_diagnostics::codes;

use crate::cli::Verb;
use crate::output::{Outcome, Output};

fn main() -> ExitCode {
    let cli = match cli::read(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(error) => return cli::explain_usage(&error),
    };
    if let Some(error) = cli.mistyped_verb() {
        return cli::explain_usage(&error);
    }
    let output = Output::new(cli.json);
    if let Err(diagnostic) = logging::start(&cli) {
        output.fail(&diagnostic);
        let is_misused = diagnostic.code == &codes::UNKNOWN_FLAG;
        return ExitCode::from(if is_misused { 2 } else { 1 });
    }
    let outcome = match cli.verb {
        None => converse::run(&cli.converse, &output),
        Some(Verb::Serve(arguments)) => serve::run(&arguments, &output),
        Some(Verb::Attach(arguments)) => attach::run(&arguments, &output),
        Some(Verb::Setup) => provider_setup::run(&output),
        Some(Verb::Doctor) => doctor::run(&output),
        Some(Verb::Sessions(verb)) => sessions::run(&verb, &output),
        Some(Verb::Completions { shell }) => Ok(completions::run(shell, &output)),
        Some(Verb::Plugin(verb)) => plugin::run(verb, &output),
        Some(Verb::Explain(explain)) => explain::run(&explain, &output),
        Some(Verb::Trust(trust)) => trust::run(&trust, &output),
        Some(Verb::Grants(verb)) => grants::run(&verb, &output),
        Some(Verb::Control(verb)) => control::run(verb, &output),
        Some(Verb::Audit(verb)) => audit::run(&verb, &output),
    };
    match outcome.and_then(|outcome| output.check().map(|()| outcome)) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Refused) => ExitCode::from(1),
        Ok(Outcome::Misused) => ExitCode::from(2),
        Ok(Outcome::Halted) => ExitCode::from(3),
        Ok(Outcome::Cancelled) => ExitCode::from(130),
        Err(diagnostic) => {
            output.fail(&diagnostic);
            let called_off = diagnostic.code == &codes::TURN_CANCELLED;
            ExitCode::from(if called_off { 130 } else { 1 })
        }
    }
}
