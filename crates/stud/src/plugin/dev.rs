//! `stud plugin dev`: from a saved file to a reloaded plugin.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use stud_diagnostics::{Diagnostic, printable};
use stud_install::install::{Installed, Request};
use stud_install::source::Profile;

use crate::cli::Dev;
use crate::control::{SessionReload, reload_everywhere};
use crate::output::{Outcome, Output, Verdict};
use crate::plugin::install;
use crate::setup;

/// How often the files are looked at.
const PAUSE: Duration = Duration::from_millis(150);

/// Folders below the crate whose files are not sources.
const NOT_SOURCES: [&str; 2] = ["target", "node_modules"];

pub(crate) fn run(asked: &Dev, output: &Output) -> Verdict {
    loop {
        // A round refuses a folder of a project that is not trusted before anything in it is read.
        let done = round(&asked.folder);
        tell(&done, output)?;
        if asked.once {
            return match done {
                Ok(_) => Ok(Outcome::Done),
                // With `--json` the line has it already.
                Err(_) if output.is_json() => Ok(Outcome::Refused),
                Err(why) => Err(why),
            };
        }
        let before = match done {
            Ok(round) => round.before,
            Err(why) => {
                if !output.is_json() {
                    output.show(&why);
                }
                let (ground, _) = setup::ground()?;
                if ground.closed(&asked.folder).is_some() {
                    return Ok(Outcome::Refused);
                }
                sources(&asked.folder)
            }
        };
        if !output.is_json() {
            output.line(output.dim("waiting for a file to be saved; Ctrl-C ends"));
        }
        while sources(&asked.folder) == before {
            thread::sleep(PAUSE);
        }
    }
}

/// What one round did.
struct Round {
    installed: Installed,
    sessions: Vec<SessionReload>,
    /// The files that were built.
    before: Sources,
}

/// Every file of a crate with the time it was changed.
type Sources = BTreeMap<PathBuf, Option<SystemTime>>;

fn round(folder: &Path) -> Result<Round, Diagnostic> {
    let request = Request {
        source: folder.to_owned(),
        profile: Profile::Debug,
        // Who writes the plugin knows what it declares.
        accept: true,
        ..Request::default()
    };
    let (ground, _) = setup::ground()?;
    let is_closed = ground.closed(folder).is_some();
    // What is saved during the build starts the next round.
    let before = if is_closed {
        Sources::new()
    } else {
        sources(folder)
    };
    let installed = install::within(false, |installer| installer.install(&request))?;
    let sessions = if installed.reused {
        Vec::new()
    } else {
        reload_everywhere(&installed.ext_id)?
    };
    Ok(Round {
        installed,
        sessions,
        before,
    })
}

fn tell(done: &Result<Round, Diagnostic>, output: &Output) -> Result<(), Diagnostic> {
    let round = match done {
        Ok(round) => round,
        Err(why) if output.is_json() => return output.document(&json!({"error": why})),
        Err(_) => return Ok(()),
    };
    if output.is_json() {
        let sessions: Vec<Value> = round
            .sessions
            .iter()
            .map(|(id, outcome)| match outcome {
                Ok(phase) => json!({"sessionId": id, "phase": phase}),
                Err(why) => json!({"sessionId": id, "error": why}),
            })
            .collect();
        return output.document(&json!({"installed": round.installed, "sessions": sessions}));
    }
    install::tell(&round.installed, output);
    if !round.installed.changed.is_empty() {
        let changed = round.installed.changed.join(", ");
        output.line(format!("  the manifest changed in {}", printable(&changed)));
    }
    for (id, outcome) in &round.sessions {
        let said = match outcome {
            Ok(phase) => phase.clone(),
            Err(why) => why.message.clone(),
        };
        output.line(format!("  session {}: {}", printable(id), printable(&said)));
    }
    if round.sessions.is_empty() && !round.installed.reused {
        output.line("  no session is open; the next one uses it");
    }
    Ok(())
}

fn sources(folder: &Path) -> Sources {
    let mut found = Sources::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            // A link is not followed, so that a folder that contains itself comes to an end.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !is_hidden && !NOT_SOURCES.iter().any(|other| name == *other) {
                folders.push(entry.path());
            } else if !is_folder && !is_hidden && name != "Cargo.lock" {
                let changed = entry.metadata().and_then(|metadata| metadata.modified());
                found.insert(entry.path(), changed.ok());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_file_is_seen_and_a_built_one_is_not() {
        let folder = std::env::temp_dir().join(format!("stud-plugin-dev-{}", std::process::id()));
        let write = |name: &str| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        };
        write("src/lib.rs");
        let before = sources(&folder);
        for passed_over in ["target/debug/libx.so", ".git/index", "Cargo.lock"] {
            write(passed_over);
        }
        assert_eq!(sources(&folder), before);
        write("conformance/valid.json");
        assert_ne!(sources(&folder), before);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
