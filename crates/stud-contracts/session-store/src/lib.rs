//! The session-store contract: durable storage of sessions.
//!
//! A store keeps a snapshot of each session, written at the end of a turn, and may keep a journal of what happened
//! since. Exactly one store is active.
//!
//! # Manifest members
//!
//! Besides what every manifest has, a session-store plugin declares:
//!
//! | Member | Type | Rule |
//! |---|---|---|
//! | `storeId` | string | what it is called in everything it writes; unique among the loaded, never changed |
//! | `capabilities` | [`StoreCapabilities`] | all four members |
//!
//! | Capability | Type | Meaning |
//! |---|---|---|
//! | `journaling` | boolean | it has `append` and `readJournal` |
//! | `snapshotBytesLimit` | integer | how large a snapshot may be |
//! | `largeSlotStreaming` | boolean | whether a state slot may be larger than one message |
//! | `concurrentReaders` | boolean | whether others may read while one writes |
//! | `removal` | boolean, optional | whether it has `remove` |
//!
//! # Handlers
//!
//! | Handler | Subject | Payload | Reply |
//! |---|---|---|---|
//! | `read` | the session's id | `null` | [`Stored`] |
//! | `write` | the session's id | [`Stored`] | `null` |
//! | `list` | nothing | `null` | a list of ids |
//! | `append` | the session's id | [`JournalBatch`] | `null` |
//! | `readJournal` | the session's id | [`Page`] | [`JournalPage`] |
//!
//! The author implements [`SessionStore`]; its page says what each handler owes and how each may fail.
//! The last two are declared only by a store that journals.
//!
//! # What is stored
//!
//! [`SessionManifest`] has these members and no others:
//!
//! | Member | Type |
//! |---|---|
//! | `sessionId`, `projectRoot`, `storeId` | string |
//! | `mode` | `ask`, `yolo`, `allowlist` |
//! | `messages` | list of objects |
//! | `smState` | `{smExtId, stateSlotRef}`, optional |
//! | `createdAt`, `updatedAt` | RFC 3339 in UTC, with milliseconds |
//!
//! Beside it are the [`SlotBlob`]s, the state of plugins by id and version.
//! A store that finds that something is not what was written, and can read the rest, says so with each [`Damage`].
//!
//! # Errors
//!
//! Failures are of class `Session`, with the codes on the page of [`SessionStore`].
//! `ExtensionHost/NotImplemented` is the answer of a store without a journal.
//! Nothing a store reports loses what is in memory.
//!
//! # Cardinality, state, reload
//!
//! Any number loaded, one active.
//! A state slot is optional, and of little use: it would be stored by the store itself.
//! `reloadBehavior` is `never`.
//!
//! # Config
//!
//! Every store's `configSchema` accepts `enabled` (boolean), `active` (boolean; true for exactly one store) and `path`
//! (string, optional), the place to keep sessions.
//! Everything else is the plugin's own.
//!
//! # Interactions
//!
//! A store may raise none.
//!
//! # Versions
//!
//! This is version 1.2.0; the changelog is `CHANGELOG.md` beside this crate's manifest.
#![forbid(unsafe_code)]

mod manifest;
mod session;
mod journal;
mod store;
#[cfg(feature = "schema")]
mod schema;

pub use journal::{Durability, JournalBatch, JournalPage, JournalRecord};
pub use manifest::{SessionStoreMembers, StoreCapabilities};
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use session::{Damage, DamagedPart, SessionManifest, SlotBlob, SmState, Stored};
pub use store::SessionStore;
pub use stud_host_api::session::{Page, SecurityMode};

use stud_contract_meta::{Kind, SemVer};

/// The version of the contract this crate describes.
pub const CONTRACT_VERSION: SemVer = SemVer::new(1, 2, 0);

/// The category.
pub const KIND: Kind = Kind::SessionStore;

/// The manifest members of this category.
pub const MEMBERS: &[&str] = &["storeId", "capabilities"];

/// The functions of this category's table.
pub const HANDLERS: &[&str] = &["read", "write", "list", "append", "readJournal"];

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
