//! Which hosts tools may reach.
//!
//! Without an entry every host may be, since each call is approved by its host. The list of denied hosts wins over the
//! list of allowed ones, and a list of allowed ones that is not empty is complete. This binds the tools that ask before
//! they connect; plugins run in stud's own process, and nothing holds back one that does not.

use std::net::IpAddr;

use serde_json::{Map, Value, json};
use stud_contract_meta::Error;
use stud_diagnostics::{Diagnostic, codes};
use stud_host_api::config::Destination;
use stud_host_api::refusal;

/// Who may be reached and who may not, of all scopes together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// The only hosts that may be reached; any host when there is none.
    pub allow: Vec<Rule>,
    /// Hosts that may not be reached, whatever else is allowed.
    pub deny: Vec<Rule>,
}

/// A host, and perhaps some of its ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    text: String,
    host: Host,
    ports: Option<Vec<u16>>,
}

/// A host, of a rule or of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// A name, which stands for itself and all names below it.
    Name(String),
    /// All names below this one.
    Below(String),
    Address(IpAddr),
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryFault {
    /// `host`, `scope` or `ports`.
    pub reason: &'static str,
    /// What exactly.
    pub message: String,
}

impl Policy {
    /// Adds the entries of one list of a scope, unless a nearer scope says the same.
    pub fn add(list: &mut Vec<Rule>, entries: &Value) {
        let entries = entries.as_array().into_iter().flatten();
        // What cannot be read was refused with its file.
        for rule in entries.filter_map(|entry| Rule::read(entry).ok()) {
            if !list.contains(&rule) {
                list.push(rule);
            }
        }
    }

    /// Refuses a destination that may not be reached.
    ///
    /// # Errors
    ///
    /// `ToolTerminal/NetworkDenied`.
    pub fn check(&self, to: &Destination) -> Result<(), Error> {
        let host = Host::of_request(&to.host);
        let denies = |host: &Host| self.deny.iter().any(|rule| rule.fits(host, to.port));
        if denies(&host) {
            let why = format!("`{}` is on the list of denied hosts", to.host);
            return Err(refusal::network_denied(to, &why));
        }
        if let Some(address) = to.address
            && denies(&Host::Address(address.to_canonical()))
        {
            let why = format!("`{}` stands for {address}, which is denied", to.host);
            return Err(refusal::network_denied(to, &why));
        }
        let allowed = self.allow.iter().any(|rule| rule.fits(&host, to.port));
        if !self.allow.is_empty() && !allowed {
            let why = format!("`{}` is not on the list of allowed hosts", to.host);
            return Err(refusal::network_denied(to, &why));
        }
        Ok(())
    }

    /// As the command shows it.
    pub fn shown(&self) -> Value {
        let list = |rules: &[Rule]| {
            let mut shown: Vec<Value> = rules.iter().map(Rule::shown).collect();
            shown.sort_by_key(ToString::to_string);
            shown
        };
        json!({"allow": list(&self.allow), "deny": list(&self.deny)})
    }
}

impl Rule {
    /// Reads an entry: the host alone, or an object with `host` and perhaps `ports` and `scope`.
    pub fn read(entry: &Value) -> Result<Self, EntryFault> {
        let flaw = |reason, message: String| EntryFault { reason, message };
        let members = match entry {
            Value::String(host) => {
                return Self::of(host, None);
            }
            Value::Object(members) => members,
            _ => {
                let message = "an entry is a host or an object with `host`";
                return Err(flaw("host", message.to_owned()));
            }
        };
        let known = ["host", "ports", "scope"];
        if let Some(unknown) = members.keys().find(|key| !known.contains(&key.as_str())) {
            let message =
                format!("`{unknown}` is not known; there are `host`, `ports` and `scope`");
            return Err(flaw("host", message));
        }
        let scope = members.get("scope").map(Value::as_str);
        if scope.is_some_and(|word| !matches!(word, Some("bundled" | "global" | "project"))) {
            let message = "`scope` is `bundled`, `global` or `project`";
            return Err(flaw("scope", message.to_owned()));
        }
        let ports = members.get("ports").map(ports).transpose()?;
        match members.get("host").and_then(Value::as_str) {
            Some(host) => Self::of(host, ports),
            None => Err(flaw("host", "`host` is missing or no text".to_owned())),
        }
    }

    fn of(text: &str, ports: Option<Vec<u16>>) -> Result<Self, EntryFault> {
        let host = Host::of_rule(text).ok_or_else(|| EntryFault {
            reason: "host",
            message: format!("`{}` is not a host", text.escape_debug()),
        })?;
        Ok(Self {
            text: text.to_owned(),
            host,
            ports,
        })
    }

    fn fits(&self, host: &Host, port: Option<u16>) -> bool {
        let is_port = |ports: &Vec<u16>| port.is_some_and(|port| ports.contains(&port));
        self.host.covers(host) && self.ports.as_ref().is_none_or(is_port)
    }

    fn shown(&self) -> Value {
        match &self.ports {
            None => self.text.as_str().into(),
            Some(ports) => json!({"host": self.text, "ports": ports}),
        }
    }
}

fn ports(value: &Value) -> Result<Vec<u16>, EntryFault> {
    let port = |value: &Value| {
        let port = value.as_u64().and_then(|port| u16::try_from(port).ok());
        port.filter(|port| *port > 0)
    };
    let ports: Option<Vec<u16>> = value
        .as_array()
        .and_then(|ports| ports.iter().map(port).collect());
    ports
        .filter(|ports| !ports.is_empty())
        .ok_or_else(|| EntryFault {
            reason: "ports",
            message: "`ports` is a list of whole numbers from 1 to 65535".to_owned(),
        })
}

impl Host {
    /// As a rule may name it: in lowercase, with `*.` before it or without.
    fn of_rule(text: &str) -> Option<Self> {
        if let Some(address) = address(text) {
            return Some(Self::Address(address));
        }
        let (name, below) = match text.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (text, false),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        // A last label of digits alone would be read as a part of an address, so that it never fits a name.
        let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = name.len() <= 253
            && name.split('.').all(is_label)
            && !name.rsplit('.').next().is_some_and(is_number);
        let name = is_name.then(|| name.to_owned())?;
        Some(if below {
            Self::Below(name)
        } else {
            Self::Name(name)
        })
    }

    /// As a request names it. The address parser has normalized names and numbers already.
    fn of_request(text: &str) -> Self {
        if let Some(address) = address(text) {
            return Self::Address(address);
        }
        let text = text.to_ascii_lowercase();
        Self::Name(text.strip_suffix('.').unwrap_or(&text).to_owned())
    }

    fn covers(&self, host: &Self) -> bool {
        match (self, host) {
            (Self::Name(name), Self::Name(host)) => name == host || is_below(host, name),
            (Self::Below(name), Self::Name(host)) => is_below(host, name),
            (Self::Address(one), Self::Address(other)) => one == other,
            _ => false,
        }
    }
}

/// One form for each address, however it is written.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address: IpAddr = bare.unwrap_or(text).parse().ok()?;
    Some(address.to_canonical())
}

fn is_label(label: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&label.len())
        && label.bytes().all(is_part)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Whether `host` ends in `.name`.
fn is_below(host: &str, name: &str) -> bool {
    let above = host
        .strip_suffix(name)
        .and_then(|rest| rest.strip_suffix('.'));
    above.is_some_and(|below| !below.is_empty())
}

/// What is wrong with the setting `network`, with its place below it.
pub(crate) fn flaw(
    members: &Map<String, Value>,
) -> Option<(String, Result<EntryFault, &'static str>)> {
    for (name, list) in members {
        if !matches!(name.as_str(), "allow" | "deny") {
            let what = "is not known; there are `allow` and `deny`";
            return Some((format!("/{name}"), Err(what)));
        }
        let Some(entries) = list.as_array() else {
            return Some((format!("/{name}"), Err("is not a list")));
        };
        let wrong = entries.iter().enumerate().find_map(|(place, entry)| {
            let flaw = Rule::read(entry).err()?;
            Some((format!("/{name}/{place}"), Ok(flaw)))
        });
        if wrong.is_some() {
            return wrong;
        }
    }
    None
}

/// `Validation/PolicyInvalid`: this entry cannot be enforced.
pub fn invalid(flaw: &EntryFault) -> Diagnostic {
    Diagnostic::error(&codes::POLICY_INVALID, flaw.message.clone())
        .with("reason", flaw.reason)
        .help("write a host as `example.com`, `*.example.com` or an address")
}

#[cfg(test)]
mod tests;
