//! Approvals: what a person has allowed, for how long, and what that covers.
//!
//! An approval belongs to a tool and to the key that the tool derived from its arguments. It holds for one call, for the
//! session, or for the project; only the last is written down, in `.stud/approvals.json` of a project that is trusted.

use std::path::{Path, PathBuf};

use serde_json::Value;
use stud_contract_interaction::{ApprovalScope, ScopeOffer};
use stud_contract_meta::{Error, Result};
use stud_contract_tool::{ApprovalCoverage, covers, keys};
use stud_diagnostics::codes;

use crate::did_you_mean::nearest;
use crate::platform;
use crate::sync::{Mutex, lock};

mod allowlist;
mod project;
mod of_tools;

pub use allowlist::{Allowlist, wanted};
pub use of_tools::{ToolApprovals, ToolOwner, lasting};
pub use project::{Grant, GrantedBy, ProjectApprovals, Subject};

/// What is allowed in one session.
#[derive(Debug, Default)]
pub struct Approvals {
    session: Mutex<Vec<Subject>>,
    project: Option<ProjectApprovals>,
    allowlist: Allowlist,
    /// What the command line of this run allows.
    of_run: Allowlist,
    workspace: Option<PathBuf>,
    /// Whether they are those of a child session.
    of_child: bool,
}

/// A call as approvals see it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The tool.
    pub tool: &'a str,
    /// What it would touch.
    pub key: &'a str,
    /// How far an approval of a key reaches.
    pub coverage: ApprovalCoverage,
    /// What it is called with, where that is known.
    pub args: Option<&'a Value>,
    /// The folder the session works in, where there is one.
    pub workspace: Option<&'a Path>,
}

impl Approvals {
    /// Nothing is allowed yet but what the project and the allowlist say.
    pub fn new(project: Option<ProjectApprovals>, allowlist: Allowlist) -> Self {
        Self {
            session: Mutex::default(),
            project,
            allowlist,
            of_run: Allowlist::default(),
            workspace: None,
            of_child: false,
        }
    }

    /// The same for a run in this folder, with what its command line allows.
    #[must_use]
    pub fn of_run(self, workspace: Option<&Path>, of_run: Allowlist) -> Self {
        Self {
            of_run,
            workspace: workspace.map(Path::to_owned),
            ..self
        }
    }

    /// What is allowed in a child session when it begins: what the operator listed, and nothing that a person allowed
    /// before.
    #[must_use]
    pub fn for_child(&self) -> Self {
        Self {
            allowlist: self.allowlist.clone(),
            of_run: self.of_run.clone(),
            workspace: self.workspace.clone(),
            of_child: true,
            ..Self::default()
        }
    }

    /// The folder the session works in, where there is one.
    pub fn workspace(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }

    /// What the command line of this run allows in every mode.
    pub fn allowed_by_run(&self) -> &Allowlist {
        &self.of_run
    }

    /// The entries of the mode `allowlist`.
    pub fn allowlist(&self) -> &Allowlist {
        &self.allowlist
    }

    /// The scopes a person can choose from.
    pub fn scopes(&self) -> Vec<ApprovalScope> {
        let mut scopes = vec![ApprovalScope::Once, ApprovalScope::Session];
        if self.project.is_some() {
            scopes.push(ApprovalScope::Always);
        }
        scopes
    }

    /// What a yes to this call would cover in each scope, and where it would be kept.
    pub fn offers(&self, asked: Asked<'_>) -> Vec<ScopeOffer> {
        let Asked { tool, key, .. } = asked;
        let reach = match asked.coverage {
            ApprovalCoverage::Exact => {
                format!(
                    "every call of `{tool}` with the key `{key}`, whatever its other arguments are"
                )
            }
            ApprovalCoverage::Path => format!("every call of `{tool}` in `{key}` and below it"),
            ApprovalCoverage::PathSet => {
                let each: Vec<_> = keys(asked.coverage, key)
                    .map(|key| format!("`{key}`"))
                    .collect();
                format!("every call of `{tool}` in {} and below", each.join(", "))
            }
        };
        let offers = self.scopes().into_iter().map(|scope| {
            let (covers, kept) = match scope {
                ApprovalScope::Once => ("this call with exactly these arguments", "nowhere"),
                ApprovalScope::Session if self.of_child => {
                    (&*reach, "in memory, until this subagent ends")
                }
                ApprovalScope::Session => (&*reach, "in memory, until stud ends"),
                ApprovalScope::Always => (
                    &*reach,
                    "in `.stud/approvals.json` of this project, until it is revoked",
                ),
            };
            ScopeOffer {
                scope,
                covers: covers.to_owned(),
                kept: kept.to_owned(),
            }
        });
        offers.collect()
    }

    /// Whether the call was allowed before, and how far that reaches.
    pub fn find(&self, asked: Asked<'_>) -> Result<Option<ApprovalScope>> {
        let mut widest = Some(ApprovalScope::Always);
        for key in keys(asked.coverage, asked.key) {
            widest = match self.find_one(asked.tool, asked.coverage, key)? {
                None => return Ok(None),
                Some(ApprovalScope::Always) => widest,
                Some(narrower) => Some(narrower),
            };
        }
        Ok(widest)
    }

    fn find_one(
        &self,
        tool: &str,
        coverage: ApprovalCoverage,
        key: &str,
    ) -> Result<Option<ApprovalScope>> {
        let is_it =
            |known: &Subject| known.tool_id == tool && covers(coverage, &known.approval_key, key);
        if lock(&self.session).iter().any(is_it) {
            return Ok(Some(ApprovalScope::Session));
        }
        let Some(project) = &self.project else {
            return Ok(None);
        };
        let known = project.grants()?;
        let found = known.iter().any(|grant| is_it(&grant.key));
        Ok(found.then_some(ApprovalScope::Always))
    }

    /// Remembers a yes for as long as it was given.
    pub fn remember(&self, asked: Asked<'_>, scope: ApprovalScope) -> Result<()> {
        let subjects = keys(asked.coverage, asked.key).map(|key| Subject {
            tool_id: asked.tool.to_owned(),
            approval_key: key.to_owned(),
        });
        match scope {
            ApprovalScope::Once => Ok(()),
            ApprovalScope::Session => {
                let mut session = lock(&self.session);
                for subject in subjects {
                    if !session.contains(&subject) {
                        session.push(subject);
                    }
                }
                Ok(())
            }
            ApprovalScope::Always => {
                let project = self.project.as_ref().ok_or_else(untrusted)?;
                let granted_at = platform::rfc3339(platform::now());
                project.add(subjects.map(|key| Grant::of_person(key, granted_at.clone())))
            }
        }
    }

    /// What is allowed that comes nearest to a call that is not, in words.
    pub fn near_miss(&self, asked: Asked<'_>) -> Option<String> {
        let session = lock(&self.session).clone();
        let project = self
            .project
            .as_ref()
            .and_then(|project| project.grants().ok());
        let project = project.unwrap_or_default();
        let known: Vec<&Subject> = session
            .iter()
            .chain(project.iter().map(|grant| &grant.key))
            .collect();
        let of_tool = known.iter().filter(|known| known.tool_id == asked.tool);
        let same_tool: Vec<&str> = of_tool.map(|known| known.approval_key.as_str()).collect();
        if let Some(near) =
            nearest(asked.key, same_tool.iter().copied()).or(same_tool.last().copied())
        {
            let reach = match asked.coverage {
                ApprovalCoverage::Exact => "and nothing else",
                _ => "and what lies below it",
            };
            return Some(format!(
                "`{near}` is allowed {reach}; `{}` is not it",
                asked.key
            ));
        }
        let other = known.iter().find(|known| known.approval_key == asked.key)?;
        Some(format!(
            "`{}` is allowed to `{}`, not to `{}`",
            asked.key, other.tool_id, asked.tool
        ))
    }
}

/// What a tool may call what it touches: something, in one line, that fits.
pub fn check_key(key: &str) -> Result<()> {
    const LONGEST: usize = 1024;
    let reason = if key.is_empty() {
        "empty"
    } else if key.bytes().any(|byte| byte.is_ascii_control()) {
        "control-character"
    } else if key.len() > LONGEST {
        "too-long"
    } else {
        return Ok(());
    };
    let code = &codes::APPROVAL_KEY_INVALID;
    let message = format!("the tool's approval key cannot be used: {reason}");
    Err(Error::new(code.class, code.name, message).with("reason", reason))
}

fn untrusted() -> Error {
    let code = &codes::UNTRUSTED_PROJECT_CACHE_PATH;
    let message = "an approval for the project needs a project that is trusted: there is no `.stud` folder here, or \
                   it is not trusted";
    Error::new(code.class, code.name, message)
}

#[cfg(test)]
mod tests;
