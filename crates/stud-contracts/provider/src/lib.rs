//! The provider contract: the way to a model.
//!
//! A provider turns core's request into one its backend understands, and the backend's answer into pieces that core
//! understands. Every active provider can be called; settings and commands choose which one serves the session.
//!
//! # Manifest members
//!
//! Besides what every manifest has, a provider plugin declares:
//!
//! | Member | Type | Rule |
//! |---|---|---|
//! | `protocol` | string | the API it speaks; an entry of the settings may name it |
//! | `capabilities` | [`Capabilities`] | seven claims, all of them |
//! | `models` | list of [`ModelDeclaration`], optional | what is known of single models |
//! | `params` | [`ParamRules`], optional | what holds for parameters besides their schema |
//!
//! | Claim | Values |
//! |---|---|
//! | `streaming`, `toolCalling`, `structuredOutput`, `multimodal`, `reasoning`, `promptCaching` | `hard`, `preferred`, `probed`, `absent` |
//! | `contextWindow` | a number of tokens, or `probed` |
//!
//! Claims are compared with what the session needs before a model is chosen.
//! An undeclared model is assumed to stream; other capabilities are tried: [`Capabilities::default`].
//!
//! # Handlers
//!
//! | Handler | Payload | Reply |
//! |---|---|---|
//! | `request` | a [`Request`] | a stream of [`StreamEvent`]s |
//!
//! The author implements [`Provider`] and writes into a [`Sink`]; [`stream`] makes the two into the stream that crosses.
//!
//! | Event | Members |
//! |---|---|
//! | `text-delta` | `delta` |
//! | `thinking-delta` | `delta` |
//! | `tool-call` | `toolCallId`, `toolName`, `args`, complete |
//! | `usage` | `inputTokens`, `outputTokens`, `cachedInputTokens`; the last one counts |
//! | `finish` | `reason`: `stop`, `tool-calls`, `length`, `content-filter`, `error`, `other` |
//!
//! Exactly one `finish`, and it is last. A stream that ends without one, or continues after it, does not conform; nothing
//! made by [`stream`] can. The two deltas cross the boundary as bare text, everything else as JSON.
//!
//! # Errors
//!
//! | Class | What core does |
//! |---|---|
//! | `ProviderTransient` | waits, longer each time, and tries again; `retryAfterMs` in the context is obeyed |
//! | `ProviderCapability` | reports that this model will not do |
//! | `Cancellation` | passes it on |
//! | any other | ends the turn with it |
//!
//! Within the first two a provider chooses its codes, and says in the message what the backend said.
//! A plugin that panics ends the stream with `ExtensionHost/CallPanicked`.
//!
//! # Cardinality, state, reload
//!
//! Any number loaded, any number active.
//! A state slot is optional and holds no secrets.
//! `reloadBehavior` is usually `between-turns`, so that an answer comes from one build.
//!
//! # Config
//!
//! Every provider's `configSchema` accepts:
//!
//! | Field | Type | Meaning |
//! |---|---|---|
//! | `enabled` | boolean | whether it takes part |
//! | `apiKeyRef` | `{"kind":"env","name":"…"}` | where the key is, never the key itself |
//! | `model` | string | the model to begin with |
//! | `baseUrl` | string, optional | another address |
//! | `maxTokens` | integer, optional | at least 1 |
//! | `models` | list, optional | the models there are: names, or objects with an `id` and claims |
//! | `defaultParams` | object, optional | parameters of every request |
//! | `protocol` | string, optional | the API, where the entry has another name |
//!
//! Core reads `protocol`, `model`, `models` and `defaultParams` itself. What the schema has no place for is kept back
//! from the provider, so that none has to know them.
//!
//! The `properties` in the schema of `defaultParams` are the parameters there are, by their names in camelCase. Core
//! refuses others before a request is made. Without a list, everything that is not a secret is passed on.
//!
//! A backend without a key makes `apiKeyRef` optional and ignores it.
//!
//! # Interactions
//!
//! A provider may raise `Auth.DeviceCode` and `Auth.Password` if its manifest declares them.
//!
//! # Versions
//!
//! This is version 1.2.0; the changelog is `CHANGELOG.md` beside this crate's manifest.
#![forbid(unsafe_code)]

mod manifest;
mod verbatim;
mod request;
mod event;
mod sink;
mod provider;
#[cfg(feature = "schema")]
mod schema;

pub use event::{FinishReason, StreamEvent, Usage};
pub use manifest::{
    Capabilities, ContextWindow, Level, ModelDeclaration, ParamRules, ProviderMembers,
};
pub use provider::Provider;
pub use request::{Content, Message, Part, Request, Role, ToolSpec};
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use sink::{Items, QUEUE_LIMIT, Sink, sink, stream};
pub use verbatim::Verbatim;

use stud_contract_meta::{Kind, SemVer};

/// The version of the contract this crate describes.
pub const CONTRACT_VERSION: SemVer = SemVer::new(1, 2, 0);

/// The category.
pub const KIND: Kind = Kind::Provider;

/// The manifest members of this category.
pub const MEMBERS: &[&str] = &["protocol", "capabilities", "models", "params"];

/// The functions of this category's table.
pub const HANDLERS: &[&str] = &["request"];

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
