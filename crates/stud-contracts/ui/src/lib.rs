//! The UI contract: where a person and a session meet.
//!
//! Core owns the loop; a UI shows it, answers for the person, or draws a part of another UI.
//! Any number may be active, so that one session can be watched in a terminal, approved on a phone and logged in a
//! panel at the same time.
//!
//! # Manifest members
//!
//! Besides what every manifest has, a UI plugin declares:
//!
//! | Member | Type | Rule |
//! |---|---|---|
//! | `roles` | list of [`Role`] | at least one, each at most once; else `Validation/ShapeInvalid` |
//! | `regions` | list of [`RegionContribution`], optional | at least one for the role `region` |
//!
//! | Role | Trait | Handler | Gets events | Answers prompts | Draws in another UI |
//! |---|---|---|---|---|---|
//! | `subscriber` | [`Subscriber`] | `onEvent` | yes | no | no |
//! | `interactor` | [`Interactor`] | `onInteraction` | no | yes | no |
//! | `region` | [`Region`] | `renderRegion`, and `regions` | no | no | yes |
//!
//! A role without its handler, or `region` without `regions`, is refused with `Validation/UIRoleHandlerMissing`.
//! A handler without its role is never called, and reported as a warning.
//!
//! # Handlers
//!
//! | Handler | Subject | Payload | Reply |
//! |---|---|---|---|
//! | `onEvent` | a header: number, name, turn | the event's payload | nothing |
//! | `onInteraction` | the kind's word | the [`Request`](stud_contract_interaction::Request) | a [`Response`](stud_contract_interaction::Response) |
//! | `renderRegion` | the contribution's `id` | a [`Canvas`] | a list of [`Line`]s |
//!
//! # Two rails
//!
//! Events say what happened and carry no authority; interactions ask for a decision.
//! A UI that decides by the timing of events has mixed the two up.
//! A UI also never calls a tool, never touches another plugin's state and never sees the value of a secret.
//!
//! # Phases
//!
//! | Phase | What a UI does in it |
//! |---|---|
//! | `init` | checks what its config means; takes the terminal, the window or the connection |
//! | `activate` | begins to listen; from here on prompts may come |
//! | `deactivate` | ends the prompts it still shows, and stops listening |
//! | `dispose` | gives back what `init` took; may be called twice |
//!
//! A UI that cannot finish `init` is disabled with `ExtensionHost/LifecycleFailure`; the session continues without it,
//! and without any UI if need be.
//!
//! # Errors
//!
//! | Code | When |
//! |---|---|
//! | `Validation/UIRoleHandlerMissing` | a declared role cannot be played |
//! | `Validation/ShapeInvalid` | `roles` is empty, repeats itself or has an unknown word; another `reloadBehavior` |
//! | `Validation/ConfigSchemaViolation` | the config schema does not accept `enabled` or, for a region, `targetUI` |
//! | `Validation/EventPayloadInvalid` | a payload does not fit the type it was parsed as |
//! | `Validation/InteractionPayloadMismatch` | a response has the wrong shape |
//! | `Session/InteractionAlreadyAnswered` | an answer given through the host came too late |
//!
//! # Cardinality, state, reload
//!
//! Any number loaded, any number active, in every role; there is no priority among interactors.
//! A state slot is optional: pane sizes, a theme, the last event seen.
//! `reloadBehavior` is `between-turns`, and a reload waits for prompts that are open.
//!
//! # Config
//!
//! Every UI's `configSchema` accepts `enabled` (boolean), and a region's accepts `targetUI` (string), the id of the UI
//! it draws in.
//! Everything else is the plugin's own.
//!
//! # Versions
//!
//! This is version 1.0.0; the changelog is `CHANGELOG.md` beside this crate's manifest.
#![forbid(unsafe_code)]

mod manifest;
mod event;
mod canvas;
mod ui;
#[cfg(feature = "schema")]
mod schema;

pub use canvas::{Canvas, Color, Line, Modifier, Span};
pub use event::Event;
pub use manifest::{RegionContribution, RegionMode, Role, UiMembers};
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use ui::{Interactor, Region, Subscriber};

use stud_contract_meta::{Kind, SemVer};

/// The version of the contract this crate describes.
pub const CONTRACT_VERSION: SemVer = SemVer::new(1, 0, 0);

/// The category.
pub const KIND: Kind = Kind::Ui;

/// The manifest members of this category.
pub const MEMBERS: &[&str] = &["roles", "regions"];

/// The functions of this category's table.
pub const HANDLERS: &[&str] = &["onEvent", "onInteraction", "renderRegion"];

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
