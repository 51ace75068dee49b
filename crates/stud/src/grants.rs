//! `stud grants`: what tools are always allowed to do in this project.

use serde_json::json;
use stud_core::approvals::{Grant, ProjectApprovals};
use stud_core::trust::{self, Entered};
use stud_diagnostics::{Diagnostic, printable};

use crate::cli::GrantsVerb;
use crate::output::{Outcome, Output, Verdict, told};
use crate::setup;

pub(crate) fn run(verb: &GrantsVerb, output: &Output) -> Verdict {
    let Some(approvals) = approvals()? else {
        show(
            &[],
            "there is no project here, so there are no grants",
            output,
        )?;
        return Ok(Outcome::Done);
    };
    match verb {
        GrantsVerb::List => {
            let grants = approvals.grants().map_err(told)?;
            show(&grants, "nothing is granted in this project", output)?;
        }
        GrantsVerb::Revoke { tool, key, all } => {
            let unwanted = |grant: &Grant| {
                let of_tool = tool.as_ref().is_some_and(|tool| *tool == grant.key.tool_id);
                let of_key = key
                    .as_ref()
                    .is_none_or(|key| *key == grant.key.approval_key);
                *all || (of_tool && of_key)
            };
            let revoked = approvals.revoke(unwanted).map_err(told)?;
            show(&revoked, "there was no such grant", output)?;
        }
    }
    Ok(Outcome::Done)
}

/// The approvals of this project. One that is not trusted has none that count, and none is read.
fn approvals() -> Result<Option<ProjectApprovals>, Diagnostic> {
    match trust::enter(&setup::places()?)? {
        Entered::Absent => Ok(None),
        Entered::Trusted(project) => Ok(Some(ProjectApprovals::of(&project))),
        Entered::Untrusted(why) => Err(why),
    }
}

fn show(grants: &[Grant], none: &str, output: &Output) -> Result<(), Diagnostic> {
    if output.is_json() {
        return output.document(&json!({ "grants": grants }));
    }
    if grants.is_empty() {
        output.line(none);
    }
    for grant in grants {
        output.line(format!(
            "{}  {}  {}",
            output.bold(&printable(&grant.key.tool_id)),
            printable(&grant.key.approval_key),
            output.dim(&printable(&grant.granted_at))
        ));
    }
    Ok(())
}
