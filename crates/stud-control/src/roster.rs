//! Who may send what: the members of the team, their roles, and lists that allow and deny.

use std::collections::BTreeMap;

use serde_json::Value;
use stud_core::settings::ControlSettings;
use stud_diagnostics::{Diagnostic, codes};

/// What a request asks for, as far as rights go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
    /// Typing text that waits its turn.
    Stdin,
    /// Cancelling the running turn, alone or in favor of a text.
    Interrupt,
}

/// What a member may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Operator,
    Writer,
    Observer,
}

/// The members of the team and what each may do.
#[derive(Debug, Clone)]
pub(crate) struct Roster {
    members: BTreeMap<String, Role>,
    allow: Option<Vec<Rule>>,
    deny: Vec<Rule>,
}

/// `NAME`, or `NAME:stdin`, or `NAME:interrupt`.
#[derive(Debug, Clone)]
struct Rule {
    sender: String,
    right: Option<Right>,
}

impl Roster {
    /// The roster that the settings describe.
    pub(crate) fn of(set: &ControlSettings<'_>) -> Result<Self, Diagnostic> {
        let members = set.members.value.iter();
        let mut members: BTreeMap<String, Role> = members
            .map(|name| ((*name).to_owned(), Role::Operator))
            .collect();
        for (name, role) in roles(set.roles.value)? {
            let Some(member) = members.get_mut(&name) else {
                let message = format!(
                    "`control.roles` gives `{name}` a role, and `control.members` does not list it"
                );
                return Err(invalid(message, "roles"));
            };
            *member = role;
        }
        let allow = set.allow.value.as_deref();
        Ok(Self {
            members,
            allow: allow.map(|rules| rules_of(rules, "allow")).transpose()?,
            deny: rules_of(&set.deny.value, "deny")?,
        })
    }

    /// Whether `sender` of `team` may do what `rights` need; if not, why not.
    ///
    /// A sender is a name, or a name with its team, which must be the team of the request.
    pub(crate) fn check(
        &self,
        sender: &str,
        team: &str,
        known_team: Option<&str>,
        rights: &[Right],
    ) -> Result<(), &'static str> {
        const UNKNOWN: &str = "unknown_sender: the sender is no member of the team";
        let name = match sender.rsplit_once('@') {
            None => sender,
            Some((name, of)) if of == team => name,
            Some(_) => return Err("foreign_team: the sender belongs to another team"),
        };
        if known_team.is_some_and(|known| known != team) {
            return Err(UNKNOWN);
        }
        let Some(role) = self.members.get(name) else {
            return Err(UNKNOWN);
        };
        for right in rights {
            let is_in = |rules: &[Rule]| {
                rules.iter().any(|rule| {
                    rule.sender == name && rule.right.is_none_or(|of_rule| of_rule == *right)
                })
            };
            if is_in(&self.deny) {
                return Err("denied: `control.deny` lists the sender for this action");
            }
            if self.allow.as_ref().is_some_and(|allow| !is_in(allow)) {
                return Err("denied: `control.allow` does not list the sender for this action");
            }
            let may = match role {
                Role::Operator => true,
                Role::Writer => *right == Right::Stdin,
                Role::Observer => false,
            };
            if !may {
                return Err("role_denied: the sender's role does not cover this action");
            }
        }
        Ok(())
    }
}

fn roles(set: Option<&Value>) -> Result<Vec<(String, Role)>, Diagnostic> {
    let Some(set) = set else {
        return Ok(Vec::new());
    };
    let Value::Object(set) = set else {
        let message = "`control.roles` is not an object of names and roles".to_owned();
        return Err(invalid(message, "roles"));
    };
    let role = |(name, word): (&String, &Value)| match word.as_str() {
        Some("operator") => Ok((name.clone(), Role::Operator)),
        Some("writer") => Ok((name.clone(), Role::Writer)),
        Some("observer") => Ok((name.clone(), Role::Observer)),
        _ => {
            let message = format!(
                "`control.roles` gives `{name}` a role that is not `operator`, `writer` or `observer`"
            );
            Err(invalid(message, "roles"))
        }
    };
    set.iter().map(role).collect()
}

fn rules_of(rules: &[&str], setting: &str) -> Result<Vec<Rule>, Diagnostic> {
    let rule = |text: &&str| {
        let (sender, right) = match text.split_once(':') {
            None => (*text, None),
            Some((sender, "stdin")) => (sender, Some(Right::Stdin)),
            Some((sender, "interrupt")) => (sender, Some(Right::Interrupt)),
            Some(_) => {
                let message = format!(
                    "`control.{setting}` has the entry `{text}`, and an action is `stdin` or `interrupt`"
                );
                return Err(invalid(message, setting));
            }
        };
        let sender = sender.to_owned();
        Ok(Rule { sender, right })
    };
    rules.iter().map(rule).collect()
}

/// `Validation/ControlSettingsInvalid`: the settings of the control socket cannot be used as they are.
pub(crate) fn invalid(message: String, setting: &str) -> Diagnostic {
    Diagnostic::error(&codes::CONTROL_SETTINGS_INVALID, message)
        .with("setting", format!("control.{setting}"))
        .help("`stud doctor` shows every setting with the file it stands in")
}
