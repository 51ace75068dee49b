//! `stud trust`: decide whether a project's plugins and settings may be used.

use serde_json::json;
use stud_core::trust::{Decision, TrustStore};
use stud_diagnostics::printable;

use crate::cli::Trust;
use crate::output::{Outcome, Output, Verdict};
use crate::setup;

pub(crate) fn run(asked: &Trust, output: &Output) -> Verdict {
    let places = setup::places()?;
    if asked.list {
        let store = TrustStore::open(&places)?;
        let trusted = store.trusted();
        if output.is_json() {
            output.document(&json!({ "trusted": trusted }))?;
        } else if trusted.is_empty() {
            output.line("no project is trusted");
        } else {
            for entry in trusted {
                let since = entry.granted_at.as_deref().unwrap_or("unknown");
                output.line(format!(
                    "{}  {}",
                    printable(&entry.canonical_path.to_string_lossy()),
                    output.dim(&printable(since))
                ));
            }
        }
        return Ok(Outcome::Done);
    }
    let decision = if asked.revoke {
        Decision::Declined
    } else {
        Decision::Trusted
    };
    let folder = TrustStore::decide(&places, decision)?;
    if output.is_json() {
        output.document(&json!({ "canonicalPath": folder, "decision": decision }))?;
    } else {
        let folder = folder.to_string_lossy();
        let folder = printable(&folder);
        output.line(match decision {
            Decision::Trusted => format!(
                "{folder} is trusted: its plugins run in stud's own process, with everything you may do\n\
                 `stud trust --revoke` takes that back"
            ),
            Decision::Declined => format!("{folder} is not trusted: nothing in it is read"),
        });
    }
    Ok(Outcome::Done)
}
