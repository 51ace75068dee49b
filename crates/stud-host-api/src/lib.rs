//! The Host API: what a plugin may ask of stud.
//!
//! Core hands every plugin a [`HostApi`] when it calls `init`; the plugin keeps it for as long as it lives.
//! There is no other way to reach core, and no way at all to reach another plugin: what plugins have to do with each
//! other goes through events, commands and contracts, with core in between.
//!
//! # Principles
//!
//! - **Small services, precise calls.** Each of the thirteen does one thing, and says what it refuses.
//! - **Nothing in bulk.** No call lists the environment, reads the whole configuration or hands out a whole session.
//! - **The same for everyone**, but for the refusals below. Which category a plugin has is settled when it is loaded;
//!   no call changes it.
//! - **Present from the start, usable when it makes sense.** A call at the wrong time fails with
//!   `ExtensionHost/NotReady` and never crashes, not even after `dispose`. Leave expensive work to `activate`.
//! - **One host per plugin and session.** A handle belongs to one session and speaks of no other.
//! - **Secrets stay out.** What `env` gives may be used inside the plugin and never reaches a model; no other service
//!   gives secrets away at all.
//! - **Unconfined.** A plugin runs in stud's own process. These refusals keep honest code on the right path; they do
//!   not hold back code that means harm.
//!
//! # The services
//!
//! | Accessor | Service | Calls |
//! |---|---|---|
//! | [`env`](HostApi::env) | [`EnvReader`](env::EnvReader) | `get`, `require` |
//! | [`config`](HostApi::config) | [`ConfigReader`](config::ConfigReader) | `read_own`, `read_global`, `may_reach` |
//! | [`events`](HostApi::events) | [`EventPublisher`](events::EventPublisher) | `publish`, `list`, `log_level`, `log` |
//! | [`audit`](HostApi::audit) | [`AuditLogger`](audit::AuditLogger) | `record`, `query`, `active_subagents` |
//! | [`interaction`](HostApi::interaction) | [`InteractionRequester`](interaction::InteractionRequester) | `request`, `respond`, `availability`, `approval`, `approve`, `clear_approvals` |
//! | [`cancellation`](HostApi::cancellation) | [`CancellationFactory`](cancellation::CancellationFactory) | `token` |
//! | [`session`](HostApi::session) | [`SessionAccessor`](session::SessionAccessor) | `read`, `append`, `state_slot`, `open_child` |
//! | [`workspace`](HostApi::workspace) | [`WorkspaceInfo`](workspace::WorkspaceInfo) | `project_root`, `global_root`, `correlation_id`, `session_id` |
//! | [`prompt`](HostApi::prompt) | [`PromptReader`](prompt::PromptReader) | `list`, `read` |
//! | [`resource`](HostApi::resource) | [`ResourceReader`](resource::ResourceReader) | `list`, `read` |
//! | [`context`](HostApi::context) | [`ContextContributor`](context::ContextContributor) | `contribute`, `compact` |
//! | [`commands`](HostApi::commands) | [`CommandSurface`](commands::CommandSurface) | `list`, `complete`, `dispatch`, `perform` |
//! | [`metrics`](HostApi::metrics) | [`RuntimeReader`](metrics::RuntimeReader) | `snapshot`, `subscribe`, `subscribe_to_tokens` |
//!
//! Calls that may wait return a [`BoxFuture`]; the others answer at once.
//!
//! # What is refused
//!
//! | Call | Refused | With |
//! |---|---|---|
//! | any | outside the phase or scope in which it means something | `ExtensionHost/NotReady` |
//! | `env.require` | a name that is unset or empty | `Validation/EnvNameNotSet` |
//! | `config.read_global` | a key not in [`READ_GLOBAL_KEYS`](config::READ_GLOBAL_KEYS) | `Validation/UnknownConfigKey` |
//! | `config.may_reach` | a host that the network policy does not let tools reach | `ToolTerminal/NetworkDenied` |
//! | `events.publish` | a name of [core's own](events::CORE_EVENTS) | `Validation/EventNameReserved` |
//! | | a name the manifest does not declare | `Validation/EventUndeclared` |
//! | | a payload that does not fit the declared schema | `Validation/EventPayloadInvalid` |
//! | `audit.record` | a class of [core's own](audit::CORE_CLASSES) | `ExtensionHost/AuditClassReserved` |
//! | `interaction.request` | a kind that the category does not own or the manifest does not declare | `Validation/InteractionKindForbidden` |
//! | | a payload that does not fit its kind | `Validation/InteractionPayloadMismatch` |
//! | `interaction.respond` | a prompt that is settled already | `Session/InteractionAlreadyAnswered` |
//! | | an answer that does not fit the prompt | `Validation/InteractionPayloadMismatch` |
//! | | everything but an active interactor | `ExtensionHost/NotReady` |
//! | `interaction.approval`, `approve`, `clear_approvals` | everything but a `Tool` | `Validation/InteractionKindForbidden` |
//! | | a key that is empty, too long or has control characters | `Validation/ApprovalKeyInvalid` |
//! | `session.append` | `userInput` from anything but a `UI` | `ExtensionHost/UserInputForbidden` |
//! | `session.state_slot` | another plugin's slot | `ExtensionHost/SlotAccessDenied` |
//! | `session.open_child` | everything but the bundled `delegate` tool | `Validation/OpenChildForbidden` |
//! | `prompt.read` | an unregistered id | `Validation/PromptMissing` |
//! | | a text that is no id of a prompt | `Validation/PromptUriMalformed` |
//! | `resource.read` | an unregistered id | `Validation/ResourceMissing` |
//! | `context.contribute` | everything but a `ContextProvider` | `ExtensionHost/ContextContributionForbidden` |
//! | | a fragment of the wrong shape | `Validation/FragmentShapeInvalid`, `FragmentKindInvalid`, `FragmentBudgetNegative` |
//! | `context.compact` | everything but a `Tool` or a `Command` | `ExtensionHost/ContextContributionForbidden` |
//! | `commands.dispatch` | everything but a `UI` or a `Command` | `ExtensionHost/CommandDispatchForbidden` |
//! | | a name or a text with control characters, a slash or nothing | `Validation/CommandNameInvalid` |
//! | | a name that no command has | `Validation/CommandUnknown` |
//! | | arguments that do not fit the command's `argsSchema` | `ToolTerminal/InputInvalid` |
//! | `commands.perform` | everything but the `Command` that the deed belongs to | `ExtensionHost/DeedForbidden` |
//!
//! [`refusal`] makes these errors, so that a real host and a test double say the same.
//!
//! # Versions
//!
//! The Host API has the version of core; a plugin's `requiredCoreVersion` is what protects it from a host that is too
//! old. New calls and new optional fields are minor, so build the structs with `..Default::default()`.
//!
//! # Example
//!
//! ```
//! use stud_contract_interaction::{Answer, Ask, Payload};
//! use stud_contract_meta::Result;
//! use stud_host_api::HostApi;
//!
//! /// Greets by the configured name, or asks for one.
//! async fn greeting(host: &dyn HostApi) -> Result<String> {
//!     if let Some(name) = host.config().read_own()?.get("name").and_then(|name| name.as_str()) {
//!         return Ok(format!("Hello {name}"));
//!     }
//!     let question = Payload::from(Ask { prompt: "Your name?".into(), ..Ask::default() });
//!     let response = host.interaction().request(question.clone()).await?;
//!     Ok(match response.answer(&question)? {
//!         Some(Answer::Ask(answer)) => format!("Hello {}", answer.text),
//!         _ => "Hello, unknown user".to_owned(),
//!     })
//! }
//! ```
#![forbid(unsafe_code)]

use std::pin::Pin;

pub mod config; // The plugin's own config, and a few global facts.
pub mod refusal; // The errors with which the host refuses.
pub mod env; // Environment values by name.
mod severity; // How much a record matters.
pub mod events; // Every event of core with its payload, and publishing events.
pub mod audit; // Writing and reading audit records.
pub mod interaction; // Asking a person.
pub mod cancellation; // Tokens that say when to stop.
pub mod session; // Reading the session, adding to it, slots, child sessions.
pub mod workspace; // Paths and ids.
pub mod prompt; // The registered prompt templates, to read.
mod base64; // Bytes as text.
pub mod resource; // The registered resources, to read.
pub mod context; // Fragments for the next model request.
pub mod commands; // Slash commands: list, complete, dispatch.
pub mod metrics; // The runtime snapshot.
#[cfg(feature = "schema")]
pub mod schema; // The JSON Schemas of the payloads.
pub mod wire; // The services across the plugin boundary.
mod cx; // What a plugin gets with every call.

pub use context::ContextFragment;
pub use cx::{CallIds, Cx, Host};
pub use events::CORE_EVENTS;
pub use severity::Severity;

/// What a call returns that may have to wait.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Everything one plugin may ask of stud, in one session.
///
/// A type that is all thirteen services is a `HostApi` without another word.
pub trait HostApi: Send + Sync {
    /// Environment values, one at a time.
    fn env(&self) -> &dyn env::EnvReader;

    /// The plugin's own configuration, and a few global facts.
    fn config(&self) -> &dyn config::ConfigReader;

    /// Tells subscribers what happened.
    fn events(&self) -> &dyn events::EventPublisher;

    /// Puts on record what was decided, and reads the record.
    fn audit(&self) -> &dyn audit::AuditLogger;

    /// Asks the person, or answers for them.
    fn interaction(&self) -> &dyn interaction::InteractionRequester;

    /// Says when to stop.
    fn cancellation(&self) -> &dyn cancellation::CancellationFactory;

    /// The session this host belongs to.
    fn session(&self) -> &dyn session::SessionAccessor;

    /// Paths and ids.
    fn workspace(&self) -> &dyn workspace::WorkspaceInfo;

    /// The prompt registry.
    fn prompt(&self) -> &dyn prompt::PromptReader;

    /// The resource registry.
    fn resource(&self) -> &dyn resource::ResourceReader;

    /// Adds to what the model is told in this turn.
    fn context(&self) -> &dyn context::ContextContributor;

    /// Slash commands.
    fn commands(&self) -> &dyn commands::CommandSurface;

    /// What stud looks like from inside, right now.
    fn metrics(&self) -> &dyn metrics::RuntimeReader;
}

/// One object that is every service.
impl<T> HostApi for T
where
    T: env::EnvReader
        + config::ConfigReader
        + events::EventPublisher
        + audit::AuditLogger
        + interaction::InteractionRequester
        + cancellation::CancellationFactory
        + session::SessionAccessor
        + workspace::WorkspaceInfo
        + prompt::PromptReader
        + resource::ResourceReader
        + context::ContextContributor
        + commands::CommandSurface
        + metrics::RuntimeReader,
{
    fn env(&self) -> &dyn env::EnvReader {
        self
    }

    fn config(&self) -> &dyn config::ConfigReader {
        self
    }

    fn events(&self) -> &dyn events::EventPublisher {
        self
    }

    fn audit(&self) -> &dyn audit::AuditLogger {
        self
    }

    fn interaction(&self) -> &dyn interaction::InteractionRequester {
        self
    }

    fn cancellation(&self) -> &dyn cancellation::CancellationFactory {
        self
    }

    fn session(&self) -> &dyn session::SessionAccessor {
        self
    }

    fn workspace(&self) -> &dyn workspace::WorkspaceInfo {
        self
    }

    fn prompt(&self) -> &dyn prompt::PromptReader {
        self
    }

    fn resource(&self) -> &dyn resource::ResourceReader {
        self
    }

    fn context(&self) -> &dyn context::ContextContributor {
        self
    }

    fn commands(&self) -> &dyn commands::CommandSurface {
        self
    }

    fn metrics(&self) -> &dyn metrics::RuntimeReader {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compiles only as long as every service can be a trait object that crosses threads.
    #[expect(dead_code, reason = "being compiled is the test")]
    fn services_are_shared_objects(host: &dyn HostApi) {
        fn shared<T: Send + Sync + ?Sized>(_: &T) {}
        shared(host);
        shared(host.env());
        shared(host.config());
        shared(host.events());
        shared(host.audit());
        shared(host.interaction());
        shared(host.cancellation());
        shared(host.session());
        shared(host.workspace());
        shared(host.prompt());
        shared(host.resource());
        shared(host.context());
        shared(host.commands());
        shared(host.metrics());
    }
}
