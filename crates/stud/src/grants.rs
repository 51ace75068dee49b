//! `stud grants`: what tools are always allowed to do in this project.

use serde_json::json;
use stud_core::approvals::{Grant, ProjectApprovals, lasting};
use stud_core::trust::{self, Entered};
use stud_diagnostics::{Diagnostic, printable};

use crate::cli::GrantsVerb;
use crate::output::{Outcome, Output, Verdict, told};
use crate::setup;

/// Where grants are kept.
struct Kept {
    /// Those of calls, which stud asks about. Only a project has any.
    of_calls: Option<ProjectApprovals>,
    /// Those that tools ask for and look up by themselves.
    of_tools: ProjectApprovals,
}

/// Grants of both kinds.
struct Grants {
    of_calls: Vec<Grant>,
    of_tools: Vec<Grant>,
}

pub(crate) fn run(verb: &GrantsVerb, output: &Output) -> Verdict {
    let kept = kept()?;
    match verb {
        GrantsVerb::List => {
            let none = match kept.of_calls {
                Some(_) => "nothing is granted in this project",
                None => "there is no project here, so there are no grants",
            };
            let all = |approvals: &ProjectApprovals| approvals.grants().map_err(told);
            show(&kept.each(all)?, none, output)?;
        }
        GrantsVerb::Revoke { tool, key, all } => {
            let unwanted = |grant: &Grant| {
                let of_tool = tool.as_ref().is_some_and(|tool| is_of(grant, tool));
                let of_key = key
                    .as_ref()
                    .is_none_or(|key| *key == grant.key.approval_key);
                *all || (of_tool && of_key)
            };
            let revoke = |approvals: &ProjectApprovals| approvals.revoke(unwanted).map_err(told);
            show(&kept.each(revoke)?, "there was no such grant", output)?;
        }
    }
    Ok(Outcome::Done)
}

/// Whether a grant is for a tool. A tool that keeps grants by itself is listed as `PLUGIN/TOOL`; its name alone will do.
fn is_of(grant: &Grant, tool: &str) -> bool {
    let listed = &grant.key.tool_id;
    let name = listed.split_once('/').map_or("", |(_, name)| name);
    listed == tool || name == tool
}

impl Kept {
    fn each(
        &self,
        work: impl Fn(&ProjectApprovals) -> Result<Vec<Grant>, Diagnostic>,
    ) -> Result<Grants, Diagnostic> {
        Ok(Grants {
            of_calls: self.of_calls.as_ref().map_or(Ok(Vec::new()), &work)?,
            of_tools: work(&self.of_tools)?,
        })
    }
}

/// The approvals of this project. One that is not trusted has none that count, and none is read.
fn kept() -> Result<Kept, Diagnostic> {
    let places = setup::places()?;
    Ok(match trust::enter(&places)? {
        Entered::Absent => Kept {
            of_calls: None,
            of_tools: lasting(&places, None),
        },
        Entered::Trusted(project) => Kept {
            of_calls: Some(ProjectApprovals::of(&project)),
            of_tools: lasting(&places, Some(&project)),
        },
        Entered::Untrusted(why) => return Err(why),
    })
}

fn show(grants: &Grants, none: &str, output: &Output) -> Result<(), Diagnostic> {
    let Grants { of_calls, of_tools } = grants;
    if output.is_json() {
        return output.document(&json!({ "grants": of_calls, "toolGrants": of_tools }));
    }
    if of_calls.is_empty() && of_tools.is_empty() {
        output.line(none);
    }
    for grant in of_calls.iter().chain(of_tools) {
        output.line(format!(
            "{}  {}  {}",
            output.bold(&printable(&grant.key.tool_id)),
            printable(&grant.key.approval_key),
            output.dim(&printable(&grant.granted_at))
        ));
    }
    Ok(())
}
