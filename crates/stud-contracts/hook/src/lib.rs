//! The hook contract: something between two stages of the message loop.
//!
//! A turn runs through six stages, and core alone decides where one ends and the next begins:
//!
//! ```text
//! RECEIVE_INPUT → COMPOSE_REQUEST → SEND_REQUEST → STREAM_RESPONSE → (TOOL_CALL → COMPOSE_REQUEST …) → RENDER
//! ```
//!
//! Before and after each is a [`Slot`]. A hook sits on one slot and is one of three sub-kinds:
//!
//! | Sub-kind | Trait | Sees | Gives |
//! |---|---|---|---|
//! | `guard` | [`Guard`] | what is about to pass | a [`Verdict`] |
//! | `transform` | [`Transform`] | what passes | what passes instead |
//! | `observer` | [`Observer`] | what passed | nothing |
//!
//! # Manifest members
//!
//! Besides what every manifest has, a hook plugin declares `registration`, a [`Registration`]:
//!
//! | Member | Type | Rule |
//! |---|---|---|
//! | `slot` | one of the twelve | another word is `Validation/HookSlotUnknown` |
//! | `subKind` | `guard`, `transform`, `observer` | where the matrix says no, `Validation/HookInvalidAttachment` |
//! | `firingMode` | `per-stage`, `per-call`, `per-token` | `per-stage` when left out; see the matrix for the others |
//!
//! # Who may sit where
//!
//! | Slot | transform | guard | observer | modes besides `per-stage` | shows |
//! |---|---|---|---|---|---|
//! | `RECEIVE_INPUT/pre` | yes | yes | yes | | all |
//! | `RECEIVE_INPUT/post` | yes | no | yes | | all |
//! | `COMPOSE_REQUEST/pre` | yes | yes | yes | | all |
//! | `COMPOSE_REQUEST/post` | yes | no | yes | | all |
//! | `SEND_REQUEST/pre` | rare | yes | yes | | all |
//! | `SEND_REQUEST/post` | no | no | yes | | the result |
//! | `STREAM_RESPONSE/pre` | rare | yes | yes | `per-token` | all |
//! | `STREAM_RESPONSE/post` | no | no | yes | `per-token` | the result |
//! | `TOOL_CALL/pre` | yes | yes | yes | `per-call` | the arguments |
//! | `TOOL_CALL/post` | yes | no | yes | `per-call` | the result |
//! | `RENDER/pre` | yes | no | yes | | all |
//! | `RENDER/post` | no | no | yes | | the result |
//!
//! *Rare* is allowed, and `COMPOSE_REQUEST/post` is the better place. [`attachment`] is this table as code, and
//! [`permits`] the short question.
//!
//! # One slot, step by step
//!
//! 1. Guards, in order. The first no ends it.
//! 2. Transforms, in order, each on the result of the one before.
//! 3. Observers, all at once, on the final payload.
//!
//! The order within a sub-kind is `ordering.json`'s where it names the hook; then bundled before global before project,
//! and by id.
//!
//! # Handlers
//!
//! | Handler | Subject | Payload | Reply |
//! |---|---|---|---|
//! | `handler` | the slot | what passes | guard: [`Verdict`]; transform: the new payload; observer: `null` |
//!
//! What passes is JSON. Around a tool call it is an object with `toolCallId`, `toolName` and `args` before, and with
//! `toolCallId`, `toolName` and `result` after, where `result` is the tool's envelope. Elsewhere it is what the stage
//! takes or has made: the input, the request, the answer, the text to show. Members may be added in a minor version.
//!
//! # Errors
//!
//! A guard or transform that fails, fails the stage; the failure names the hook and keeps the cause.
//! An observer that fails is reported as an event, and the turn continues.
//! `ExtensionHost/CallPanicked` counts as a failure like any other.
//! An error of class `Cancellation` passes through unchanged.
//!
//! # What a hook may not
//!
//! Ask a person anything: it may raise no kind of interaction, and `Validation/InteractionKindForbidden` is the answer.
//! Add context, show something, or move the boundary of a stage.
//!
//! # Cardinality, state, reload
//!
//! Any number loaded, any number active.
//! A state slot is optional.
//! `reloadBehavior` is usually `between-turns`, so that one turn is judged by one set of rules.
//!
//! # Config
//!
//! Every hook's `configSchema` accepts `enabled` (boolean). Everything else is the plugin's own.
//!
//! # Versions
//!
//! This is version 1.0.0; the changelog is `CHANGELOG.md` beside this crate's manifest.
#![forbid(unsafe_code)]

mod registration;
mod slot;
mod manifest;
mod verdict;
mod hook;
#[cfg(feature = "schema")]
mod schema;

pub use hook::{Guard, Observer, Transform};
pub use manifest::{HookMembers, Registration};
pub use registration::{FiringMode, SubKind};
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use slot::{Attachment, Slot, Visibility, attachment, permits};
pub use verdict::Verdict;

use stud_contract_meta::{Kind, SemVer};

/// The version of the contract this crate describes.
pub const CONTRACT_VERSION: SemVer = SemVer::new(1, 0, 0);

/// The category.
pub const KIND: Kind = Kind::Hook;

/// The manifest members of this category.
pub const MEMBERS: &[&str] = &["registration"];

/// The functions of this category's table.
pub const HANDLERS: &[&str] = &["handler"];

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
