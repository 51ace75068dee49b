//! Before a session: is this project's folder trusted?

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use stud_core::ground::{EmbeddedPlugin, Ground, Reach};
use stud_core::platform::Places;
use stud_core::trust::{self, Decision, Entered, TrustStore};
use stud_diagnostics::{Diagnostic, codes, printable};

use crate::cli::Converse;
use crate::output::Output;
use crate::setup;

/// The ground of the session; nothing if the person would rather not start.
pub(super) fn enter(
    arguments: &Converse,
    headless: bool,
    bundled: Vec<EmbeddedPlugin>,
    output: &Output,
) -> Result<Option<Ground>, Diagnostic> {
    let places = setup::places()?;
    let reach = if arguments.safe_mode {
        Reach::BundledOnly
    } else {
        match trust::enter(&places)? {
            Entered::Absent | Entered::Trusted(_) => Reach::Everything,
            Entered::Untrusted(why) => match settle(arguments, headless, &places, why, output)? {
                Some(reach) => reach,
                None => return Ok(None),
            },
        }
    };
    Ground::survey_within(reach, places, bundled).map(Some)
}

fn settle(
    arguments: &Converse,
    headless: bool,
    places: &Places,
    why: Diagnostic,
    output: &Output,
) -> Result<Option<Reach>, Diagnostic> {
    if headless {
        if arguments.yolo {
            return Ok(Some(Reach::ProjectOnce));
        }
        let message = "this project is not trusted, and nobody is there to be asked";
        return Err(Diagnostic::error(&codes::HEADLESS_TRUST_REQUIRED, message)
            .with("projectRoot", places.project_root.display().to_string())
            .help("`stud trust` trusts this folder; `--yolo` uses it this once; `--safe-mode` leaves it out"));
    }
    if !io::stdin().is_terminal() {
        output.warn(&why);
        return Ok(Some(Reach::Everything));
    }
    ask(places)
}

/// Asks in the terminal, before any plugin runs.
fn ask(places: &Places) -> Result<Option<Reach>, Diagnostic> {
    let root = places.project_root.display().to_string();
    let mut err = io::stderr();
    let question = format!(
        "This project has a `.stud` folder that you have not decided about:\n  {}\n{}\
         If you trust it, its plugins run in stud's own process, without any barrier, with everything you may do.\n\
         [t]rust it, trust it [o]nce, [d]ecline, [a]bort? ",
        printable(&root),
        contents(places)
    );
    loop {
        let _ = write!(err, "{question}");
        let _ = err.flush();
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        match (read, line.trim()) {
            (Ok(0) | Err(_), _) | (_, "a" | "abort") => return Ok(None),
            (_, "t" | "trust") => {
                TrustStore::decide(places, Decision::Trusted)?;
                return Ok(Some(Reach::Everything));
            }
            (_, "o" | "once") => return Ok(Some(Reach::ProjectOnce)),
            (_, "d" | "decline") => {
                TrustStore::decide(places, Decision::Declined)?;
                return Ok(Some(Reach::Everything));
            }
            _ => {
                let _ = writeln!(err, "Please answer t, o, d or a.");
            }
        }
    }
}

/// The names of what would be used. Nothing is opened.
fn contents(places: &Places) -> String {
    const MOST: usize = 20;
    let names = |folder: &std::path::Path| {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    };
    let mut found = Vec::new();
    for name in names(&places.project_root) {
        let below = places.project_root.join(&name);
        if below.is_dir() && !below.is_symlink() {
            found.extend(
                names(&below)
                    .into_iter()
                    .map(|inner| format!("{name}/{inner}")),
            );
        } else {
            found.push(name);
        }
    }
    let more = found.len().saturating_sub(MOST);
    let shown = found.iter().take(MOST);
    let mut lines: Vec<String> = shown.map(|name| printable(name).into_owned()).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    let indented = lines.iter().flat_map(|line| ["    ", line, "\n"]);
    indented.collect()
}
