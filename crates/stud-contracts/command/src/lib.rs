//! The command contract: something a person can have done by typing a slash and a name.
//!
//! Commands act on the session they were typed in and know nothing of the UI that sent them.
//! They stand beside the message loop: a command starts no turn, passes no stage of a state machine and cannot be
//! vetoed by one.
//!
//! # Manifest members
//!
//! Besides what every manifest has, a command plugin declares `commands`, a list of at least one
//! [`CommandDeclaration`]:
//!
//! | Member | Type | Rule |
//! |---|---|---|
//! | `name` | string | without slash: [`is_command_name`]; else `Validation/CommandNameInvalid` |
//! | `description` | string | not blank; else `Validation/CommandDescriptionEmpty` |
//! | `argsSchema` | JSON Schema | what `run` is given; see below |
//! | `argumentHint` | string, optional | display |
//! | `category` | string, optional | display |
//! | `turnSafe` | boolean | whether it may run while a turn does; otherwise it is blocked, which is a result and no failure |
//!
//! Two commands of one name in one scope are both refused with `Validation/CommandAmbiguous`.
//! A command of a nearer scope takes the place of its namesake further out. Aliases follow the same rules.
//!
//! # Handlers
//!
//! | Handler | Subject | Payload | Reply |
//! |---|---|---|---|
//! | `run` | the command's name | the arguments | [`Rendered`] |
//! | `complete` | the command's name | a [`Draft`] | a list of [`Completion`]s |
//!
//! The author implements [`Command`]; its page says what each handler owes.
//! `complete` is answered at once, since someone is typing.
//!
//! # Arguments
//!
//! What was typed after the name is taken apart by [`RawArgs::parse`] and brought into the shape of `argsSchema` by
//! [`RawArgs::fit`]. A program that dispatches a command may hand over that shape itself.
//! Either way core holds it to the schema before `run` is called.
//!
//! # Errors
//!
//! | Code | When |
//! |---|---|
//! | `Validation/CommandNameInvalid` | a name or alias is not flat, or has a slash |
//! | `Validation/CommandDescriptionEmpty` | a description is blank |
//! | `Validation/CommandAmbiguous` | two commands of one scope share a name |
//! | `ExtensionHost/CommandDispatchForbidden` | a plugin that is neither UI nor command tried to run one |
//! | `ExtensionHost/CallPanicked` | the plugin panicked |
//!
//! # Cardinality, state, reload
//!
//! Any number loaded, any number active.
//! A state slot is optional.
//! `reloadBehavior` is usually `in-turn`: a command that is running ends on the code it started on.
//!
//! # Config
//!
//! Every command plugin's `configSchema` accepts `enabled` (boolean) and `alias` (a list of names for which
//! [`is_command_name`] holds).
//! Everything else is the plugin's own.
//!
//! # Interactions
//!
//! A command may raise `Confirm` and `Select` if its manifest declares them.
//!
//! # Versions
//!
//! This is version 1.1.0; the changelog is `CHANGELOG.md` beside this crate's manifest.
#![forbid(unsafe_code)]

mod manifest;
mod args;
mod payload;
mod command;
#[cfg(feature = "schema")]
mod schema;

pub use args::RawArgs;
pub use command::Command;
pub use manifest::{CommandDeclaration, CommandMembers, is_command_name};
pub use payload::{Draft, Rendered};
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use stud_host_api::commands::Completion;

use stud_contract_meta::{Kind, SemVer};

/// The version of the contract this crate describes.
pub const CONTRACT_VERSION: SemVer = SemVer::new(1, 1, 0);

/// The category.
pub const KIND: Kind = Kind::Command;

/// The manifest members of this category.
pub const MEMBERS: &[&str] = &["commands"];

/// The functions of this category's table.
pub const HANDLERS: &[&str] = &["run", "complete"];

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
