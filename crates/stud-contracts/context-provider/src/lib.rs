//! The context-provider contract: something the model should know.
//!
//! While core puts a request together it asks every active context provider for fragments: rules of the house, a
//! summary of the project, a resource to bind, a hint about a tool.
//! This is the only way for a plugin to add to what the model is told.
//!
//! # Manifest members
//!
//! None besides what every manifest has: [`ContextProviderMembers`] is empty.
//!
//! # Handlers
//!
//! | Handler | Subject | Payload | Reply |
//! |---|---|---|---|
//! | `provide` | nothing | `null` | a list of [`ContextFragment`]s |
//!
//! The author implements [`ContextProvider`]; its page says what it owes.
//!
//! | Member of a fragment | Type | Rule |
//! |---|---|---|
//! | `kind` | `system-message`, `prompt-fragment`, `resource-binding`, `tool-hint` | these four: [`FragmentKind`] |
//! | `content` | string | the text; for `resource-binding` the resource's id |
//! | `tokenBudget` | integer, not negative | the most it may take up |
//! | `priority` | integer | higher comes first |
//! | `exclusiveSlot` | string, optional | of several fragments with the same slot, that of the plugin first by name is used |
//!
//! A fragment can also be handed in during the same stage through the host's `context.contribute`, with the same rules.
//!
//! # Errors
//!
//! A fragment of another kind, with a negative budget or of another shape is refused with class `Validation`, and the
//! code names which. So is one that holds what must not reach a model, which is never softened to a warning.
//!
//! | Code | When |
//! |---|---|
//! | `ExtensionHost/ContextContributionForbidden` | a plugin of another category tried to contribute |
//! | `ExtensionHost/NotReady` | a contribution outside the stage |
//! | `ExtensionHost/CallPanicked` | the plugin panicked |
//!
//! # Cardinality, state, reload
//!
//! Any number loaded, any number active.
//! A state slot is optional.
//! `reloadBehavior` is usually `between-turns`.
//!
//! # Config
//!
//! Every context provider's `configSchema` accepts `enabled` (boolean). Everything else is the plugin's own.
//!
//! # Interactions
//!
//! A context provider may raise none.
//!
//! # Versions
//!
//! This is version 1.1.0; the changelog is `CHANGELOG.md` beside this crate's manifest.
#![forbid(unsafe_code)]

mod manifest;
mod context_provider;
#[cfg(feature = "schema")]
mod schema;

pub use context_provider::ContextProvider;
pub use manifest::ContextProviderMembers;
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use stud_host_api::context::{ContextFragment, FragmentKind};

use stud_contract_meta::{Kind, SemVer};

/// The version of the contract this crate describes.
pub const CONTRACT_VERSION: SemVer = SemVer::new(1, 1, 0);

/// The category.
pub const KIND: Kind = Kind::ContextProvider;

/// The manifest members of this category.
pub const MEMBERS: &[&str] = &[];

/// The functions of this category's table.
pub const HANDLERS: &[&str] = &["provide"];

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
