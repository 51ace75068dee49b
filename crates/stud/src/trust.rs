//! `stud trust`: decide whether a project's plugins and settings may be used.

mod listing;

use std::path::PathBuf;

use serde_json::json;
use stud_core::audit::bootstrap::{self, Deed};
use stud_core::platform::{self, Durability, Places};
use stud_core::trust::{Decision, TrustStore};
use stud_diagnostics::{Diagnostic, printable};

use crate::cli::Trust;
use crate::output::{Outcome, Output, Verdict, told};
use crate::setup;

pub(crate) use listing::Listing;

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
    let folder = match decision {
        Decision::Trusted => decide(&places, decision)?,
        Decision::Declined => revoke(&places)?,
    };
    if output.is_json() {
        let mut document = json!({ "canonicalPath": folder, "decision": decision });
        if decision == Decision::Trusted {
            let Listing {
                executable, others, ..
            } = Listing::of(&folder);
            document["executable"] = json!(executable);
            document["others"] = json!(others);
        }
        output.document(&document)?;
    } else {
        if decision == Decision::Trusted {
            output.line(Listing::of(&folder).text().trim_end());
        }
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

/// What was found out or decided about a project, as records name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    /// It is trusted.
    Trusted,
    /// It is used in this run alone, for this reason if it was not a person's answer.
    Once(Option<&'static str>),
    /// It was declined, or its trust was revoked.
    Declined,
    /// An earlier decision to trust it still holds.
    StillTrusted,
    /// It is undecided, and there was no prompt.
    Undecided,
}

/// Puts a finding on record, before anything is done about it.
pub(crate) fn note(places: &Places, finding: Finding) -> Result<(), Diagnostic> {
    let (kind, decision, durability) = match finding {
        Finding::Trusted => ("ProjectTrusted", "granted", Durability::Synced),
        Finding::Once(_) => ("ProjectTrustOnce", "granted", Durability::Written),
        Finding::Declined => ("ProjectDeclined", "refused", Durability::Synced),
        Finding::StillTrusted => ("TrustDecision", "granted", Durability::Written),
        Finding::Undecided => ("TrustDecision", "refused", Durability::Written),
    };
    let root = &places.project_root;
    let folder = root.canonicalize().unwrap_or_else(|_| root.clone());
    let mut payload = json!({
        "canonicalPath": folder.to_string_lossy(),
        "decision": decision,
        "at": platform::rfc3339(platform::now()),
    });
    if let Finding::Once(Some(reason)) = finding {
        payload["reason"] = reason.into();
    }
    let deed = Deed {
        class: Some("TrustDecision"),
        ..Deed::new(kind, payload)
    };
    bootstrap::note(&places.global_root, &[deed], durability).map_err(told)
}

/// Takes a trust back. Where there is none, there is nothing to take back.
fn revoke(places: &Places) -> Result<PathBuf, Diagnostic> {
    let folder = TrustStore::subject(places)?;
    if TrustStore::open(places)?.is_trusted(&folder) {
        decide(places, Decision::Declined)?;
    }
    Ok(folder)
}

/// Puts a decision on record and keeps it. Gives the folder it is about.
pub(crate) fn decide(places: &Places, decision: Decision) -> Result<PathBuf, Diagnostic> {
    // What cannot be decided is not on record as decided.
    let folder = TrustStore::subject(places)?;
    let store = TrustStore::open(places)?;
    let finding = match decision {
        Decision::Trusted if store.is_trusted(&folder) => Finding::StillTrusted,
        Decision::Trusted => Finding::Trusted,
        Decision::Declined => Finding::Declined,
    };
    note(places, finding)?;
    TrustStore::decide(places, decision)
}
