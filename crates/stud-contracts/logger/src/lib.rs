//! The logger contract: somewhere for records to go.
//!
//! Core sends three streams of records past its loggers: events, audit records and diagnostics. A logger says which it
//! wants, and is given each of those.
//!
//! # Manifest members
//!
//! Besides what every manifest has, a logger plugin declares `accepts`, an [`Accepts`]:
//!
//! | Member | Type | Meaning |
//! |---|---|---|
//! | `events` | boolean | what happened |
//! | `audit` | boolean | what was decided |
//! | `diagnostics` | boolean | what is wrong |
//! | `minSeverity` | `trace`, `debug`, `info`, `warn`, `error` | nothing that matters less |
//!
//! # Handlers
//!
//! | Handler | Subject | Payload | Reply |
//! |---|---|---|---|
//! | `sink` | the stream: `event`, `audit`, `diagnostic` | a [`Record`] | `null` |
//!
//! The author implements [`Logger`]; its page says what it owes.
//!
//! # Errors
//!
//! No failure of a logger reaches a turn: it is recorded as suppressed, with the logger's id, and the logger stays
//! active. `ExtensionHost/CallPanicked` is treated the same.
//!
//! # Cardinality, state, reload
//!
//! Any number loaded, any number active.
//! A logger usually has no state slot.
//! `reloadBehavior` is usually `in-turn`: the old logger is drained and detached before the new one is given anything.
//!
//! # Config
//!
//! Every logger's `configSchema` accepts:
//!
//! | Field | Type | Meaning |
//! |---|---|---|
//! | `enabled` | boolean | whether it takes part |
//! | `level` | a severity, `info` when left out | nothing that matters less; a debugging session lowers it |
//! | `redactSecrets` | boolean, true when left out | whether what looks like a secret is taken out of events |
//!
//! `redactSecrets: false` with a `level` of `debug` or `trace` is refused with `Validation/ConfigSchemaViolation`: the
//! two together would write down what must not be.
//!
//! # Interactions
//!
//! A logger may raise none.
//!
//! # Versions
//!
//! This is version 1.0.0; the changelog is `CHANGELOG.md` beside this crate's manifest.
#![forbid(unsafe_code)]

mod record;
mod manifest;
mod logger;
#[cfg(feature = "schema")]
mod schema;

pub use logger::Logger;
pub use manifest::{Accepts, LoggerMembers};
pub use record::{Record, RecordKind};
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use stud_host_api::Severity;

use stud_contract_meta::{Kind, SemVer};

/// The version of the contract this crate describes.
pub const CONTRACT_VERSION: SemVer = SemVer::new(1, 0, 0);

/// The category.
pub const KIND: Kind = Kind::Logger;

/// The manifest members of this category.
pub const MEMBERS: &[&str] = &["accepts"];

/// The functions of this category's table.
pub const HANDLERS: &[&str] = &["sink"];

#[cfg(test)]
mod tests {
    use super::*;
    use stud_contract_meta::{COMMON_MEMBERS, META_FIELDS};

    #[test]
    fn crate_constant_and_changelog_agree_on_the_version() {
        let version = CONTRACT_VERSION.to_string();
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
        let newest = include_str!("../CHANGELOG.md")
            .lines()
            .find_map(|line| line.strip_prefix("## "));
        assert_eq!(newest, Some(&*version));
    }

    #[test]
    fn no_member_is_one_that_every_manifest_has() {
        for member in MEMBERS {
            assert!(!META_FIELDS.contains(member), "{member}");
            assert!(!COMMON_MEMBERS.contains(member), "{member}");
        }
    }
}
