//! The tool contract: something the model can have done.
//!
//! A tool plugin carries one or more tools. The model sees their names, descriptions and schemas, and proposes calls;
//! core checks a proposal, has it approved where needed, and hands it to the plugin.
//!
//! # Manifest members
//!
//! Besides what every manifest has, a tool plugin declares `tools`, a list of at least one [`ToolDeclaration`]:
//!
//! | Member | Type | Rule |
//! |---|---|---|
//! | `name` | string | flat: [`is_tool_name`]; unique in its scope |
//! | `description` | string | what the model is told |
//! | `inputSchema` | JSON Schema | every call is held to it before any plugin code runs |
//! | `outputSchema` | JSON Schema, optional | for the model; values are not checked |
//! | `executor` | `local`, `remote` | where the work is done |
//! | `gated` | boolean | whether a call needs approval |
//! | `approvalCoverage` | `exact`, `path`, `pathSet`; optional | how far an approval reaches: [`ApprovalCoverage`]; `exact` when left out |
//!
//! Two tools of one name in one scope: the later is refused with `Validation/ToolNameConflict`.
//! A tool of a nearer scope takes the place of its namesake further out; that is no conflict.
//!
//! # Handlers
//!
//! | Handler | Subject | Payload | Reply |
//! |---|---|---|---|
//! | `execute` | the tool's name | the arguments | [`Envelope`] |
//! | `deriveApprovalKey` | the tool's name | the arguments | the key, as a JSON string |
//!
//! The author implements [`Tool`]; its page says what each handler owes.
//! `deriveApprovalKey` is answered at once, since the gate waits for it; `execute` may take its time.
//!
//! # Approval
//!
//! | Security mode | A gated call |
//! |---|---|
//! | `ask` | asks when no approval of this tool [covers] the key |
//! | `allowlist` | runs when the key matches a pattern on the list |
//! | `yolo` | runs |
//!
//! A call to a tool with `gated: false` runs unasked in every mode, unless a hook denies it or the stage of a state
//! machine leaves the tool out.
//!
//! # Errors
//!
//! | Code | When | Who raises it |
//! |---|---|---|
//! | `ToolTerminal/InputInvalid` | the arguments do not fit the input schema | core, before the call; the plugin, for what no schema can say |
//! | `ToolTerminal/NotFound` | the plugin has no tool of this name | core or plugin |
//! | `ToolTerminal/ToolNotRegistered` | the plugin is asked for the approval key of a tool it does not have | the plugin |
//! | `ToolTerminal/ToolExecutionFailed` | the tool failed and has no code of its own for it | the plugin; core, for a panic or a failure without a type |
//! | `Cancellation/ToolCancelled` | the call was cancelled | the plugin, when it noticed first |
//! | `ExtensionHost/CallPanicked` | the plugin panicked; a model is told `ToolExecutionFailed` with this as its `cause` | the boundary |
//!
//! A plugin may use codes of its own in the classes `ToolTerminal` and `ToolTransient`.
//! No failure of a tool ends the turn: the model receives the error and continues.
//!
//! # Cardinality, state, reload
//!
//! Any number loaded, any number active.
//! A state slot is optional.
//! `reloadBehavior` is usually `between-turns`, so that a call finishes on the code it started on.
//!
//! # Config
//!
//! Every tool plugin's `configSchema` accepts `enabled` (boolean) and may accept `timeoutMs` (integer, at least 1),
//! the timeout of a call; the `default` in the schema applies where the config omits it.
//! Without either it is 30 seconds, or what the operator set for all tools.
//! A tool that keeps time itself has an argument `timeoutMs`: it is waited for 5 seconds longer than the longest of that
//! argument, `defaultTimeoutMs` of its config and the time of other tools, so that it can say by itself what came of it.
//! Time in which a person is asked does not count.
//! Everything else is the plugin's own.
//!
//! # Interactions
//!
//! A tool may raise `Ask`, `ToolInput` and `ToolApproval` if its manifest declares them.
//!
//! # Versions
//!
//! This is version 1.1.0; the changelog is `CHANGELOG.md` beside this crate's manifest.
#![forbid(unsafe_code)]

mod coverage;
mod manifest;
mod output;
mod tool;
#[cfg(feature = "schema")]
mod schema;

pub use coverage::{ApprovalCoverage, covers, keys};
pub use manifest::{Executor, ToolDeclaration, ToolMembers, is_tool_name};
pub use output::{Envelope, Output};
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use tool::Tool;

use stud_contract_meta::{Kind, SemVer};

/// The version of the contract this crate describes.
pub const CONTRACT_VERSION: SemVer = SemVer::new(1, 1, 0);

/// The category.
pub const KIND: Kind = Kind::Tool;

/// The manifest members of this category.
pub const MEMBERS: &[&str] = &["tools"];

/// The functions of this category's table.
pub const HANDLERS: &[&str] = &["execute", "deriveApprovalKey"];

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
