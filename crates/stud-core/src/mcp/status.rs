//! Configuration and trust of servers, readable without starting or connecting to any.

use stud_contract_meta::{Error, Result};
use stud_diagnostics::Diagnostic;

use super::config::{ServerConfig, configured};
use super::fingerprint;
use super::trust::{TrustLists, TrustStanding};
use crate::environment::Environment;
use crate::plugin_scope::Scope;

/// A server that is configured, and how it stands.
#[derive(Debug)]
pub struct Surveyed {
    /// The server.
    pub config: ServerConfig,
    /// Whether it may be started or reached.
    pub trust: Trust,
}

/// Whether a server may be started or reached.
#[derive(Debug)]
pub enum Trust {
    /// It may: the program brings it, or the list of this scope says so.
    Trusted(Scope),
    /// Undecided; the user is asked.
    Unknown,
    /// It was trusted when it was started or reached in another way, and the user is asked again.
    Changed,
    /// The list of decisions cannot be read.
    Unavailable(Error),
}

impl Trust {
    /// The word for programs.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Trusted(_) => "trusted",
            Self::Unknown => "unknown",
            Self::Changed => "changed",
            Self::Unavailable(_) => "unavailable",
        }
    }
}

/// Every server that the scopes configure that take part, by id, and what of their files cannot be used.
pub fn survey(ground: &Environment) -> (Vec<Surveyed>, Vec<Diagnostic>) {
    let configured = configured(ground);
    let lists = TrustLists::of(ground);
    let servers = configured.servers.into_values().map(|config| {
        let trust = trust(&lists, &config).unwrap_or_else(Trust::Unavailable);
        Surveyed { config, trust }
    });
    (servers.collect(), configured.problems)
}

fn trust(lists: &TrustLists, config: &ServerConfig) -> Result<Trust> {
    if config.scope == Scope::Bundled {
        return Ok(Trust::Trusted(Scope::Bundled));
    }
    let fingerprint = fingerprint::of_config(config);
    Ok(match lists.standing(&config.id, &fingerprint)? {
        TrustStanding::Trusted(scope, _) => Trust::Trusted(scope),
        TrustStanding::Changed => Trust::Changed,
        TrustStanding::Unknown => Trust::Unknown,
    })
}
