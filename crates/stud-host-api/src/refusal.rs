//! What the host says no with.
//!
//! A function for each refusal, so that its class, code and context are the same wherever it is made.

use std::fmt;

use serde::{Deserialize, Serialize};
use stud_contract_interaction::InteractionKind;
use stud_contract_meta::Error;
use stud_diagnostics::{Code, codes};

use crate::config::Destination;

/// Where a plugin is in its life, as far as its host handle is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Its `init` runs.
    Init,
    /// `init` is done and `activate` has not run yet.
    Loaded,
    /// Taking part.
    Active,
    /// Set aside by `deactivate`.
    Inactive,
    /// Gone; only the handle is left.
    Disposed,
}

impl Phase {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Loaded => "loaded",
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::Disposed => "disposed",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error with a code of the registry.
pub(crate) fn refuse(code: &Code, message: impl Into<String>) -> Error {
    Error::new(code.class, code.name, message)
}

/// `ExtensionHost/NotReady`: the call means nothing at this point.
pub fn not_ready(service: &str, phase: Phase) -> Error {
    let message = format!("`{service}` cannot be used now; the plugin is in phase `{phase}`");
    refuse(&codes::NOT_READY, message)
        .with("service", service)
        .with("phase", phase.as_str())
}

/// `Validation/EnvNameNotSet`: a required name has no value in any layer.
pub fn env_name_not_set(name: &str) -> Error {
    let message = format!("the environment name `{name}` is not set");
    refuse(&codes::ENV_NAME_NOT_SET, message).with("name", name)
}

/// `Session/SlotMigrationFailed`: what another version of the plugin kept could not be brought to this one.
pub fn slot_migration_failed(ext_id: &str, stored: &str, target: &str, cause: &Error) -> Error {
    let why = cause.message();
    let message =
        format!("what `{ext_id}` kept cannot be brought from {stored} to {target}: {why}");
    refuse(&codes::SLOT_MIGRATION_FAILED, message)
        .with("extId", ext_id)
        .with("storedVersion", stored)
        .with("targetVersion", target)
        .with("cause", format!("{}/{}", cause.class(), cause.code()))
}

/// `Validation/UnknownConfigKey`: not one of the global keys a plugin may read.
pub fn unknown_config_key(key: &str) -> Error {
    let message = format!("`{key}` is not a global key that plugins may read");
    refuse(&codes::UNKNOWN_CONFIG_KEY, message).with("key", key)
}

/// `ToolTerminal/NetworkDenied`: the network policy does not let this host be reached.
pub fn network_denied(to: &Destination, why: &str) -> Error {
    refuse(&codes::NETWORK_DENIED, why)
        .with("host", to.host.as_str())
        .with("port", to.port)
        .with("url", to.url.as_str())
}

/// `Validation/EventNameReserved`: the event is core's to emit.
pub fn event_name_reserved(name: &str) -> Error {
    let message = format!("only core emits `{name}`");
    refuse(&codes::EVENT_NAME_RESERVED, message).with("name", name)
}

/// `Validation/EventUndeclared`: the plugin's manifest does not mention the event.
pub fn event_undeclared(name: &str) -> Error {
    let message = format!("the manifest declares no event `{name}`");
    refuse(&codes::EVENT_UNDECLARED, message).with("name", name)
}

/// `Validation/EventPayloadInvalid`: the payload does not fit the schema in the manifest.
///
/// `field_path` is a JSON Pointer into the payload.
pub fn event_payload_invalid(name: &str, field_path: &str, expected: &str) -> Error {
    let message = format!("the payload of `{name}` does not fit its schema: {expected}");
    refuse(&codes::EVENT_PAYLOAD_INVALID, message)
        .with("name", name)
        .with("fieldPath", field_path)
        .with("expected", expected)
}

/// `ExtensionHost/AuditClassReserved`: records of this class are core's to write.
pub fn audit_class_reserved(class: &str) -> Error {
    let message = format!("only core writes audit records of class `{class}`");
    refuse(&codes::AUDIT_CLASS_RESERVED, message).with("class", class)
}

/// `Validation/InteractionKindForbidden`: the category does not own the kind, or the manifest does not declare it.
pub fn interaction_kind_forbidden(kind: InteractionKind, category: &str) -> Error {
    let message = format!("this `{category}` plugin may not raise `{kind}`");
    refuse(&codes::INTERACTION_KIND_FORBIDDEN, message)
        .with("kind", kind.as_str())
        .with("category", category)
}

/// `Session/InteractionAlreadyAnswered`: the prompt was settled or cancelled before this answer came.
pub fn interaction_already_answered(interaction_id: &str, correlation_id: &str) -> Error {
    let message =
        format!("the prompt `{interaction_id}` is settled, and this answer came too late");
    refuse(&codes::INTERACTION_ALREADY_ANSWERED, message)
        .with("interactionId", interaction_id)
        .with("correlationId", correlation_id)
}

/// `ExtensionHost/UserInputForbidden`: only a UI speaks for the person.
pub fn user_input_forbidden(category: &str) -> Error {
    let message = format!("a `{category}` plugin may not append user input; only a `UI` may");
    refuse(&codes::USER_INPUT_FORBIDDEN, message).with("category", category)
}

/// `ExtensionHost/SlotAccessDenied`: the slot is another plugin's.
pub fn slot_access_denied(caller: &str, owner: &str) -> Error {
    let message = format!("`{caller}` may not use the state slot of `{owner}`");
    refuse(&codes::SLOT_ACCESS_DENIED, message)
        .with("extId", caller)
        .with("ownerExtId", owner)
}

/// `Validation/OpenChildForbidden`: only the bundled `delegate` tool opens child sessions.
pub fn open_child_forbidden(ext_id: &str) -> Error {
    let message =
        format!("`{ext_id}` may not open a child session; only the bundled `delegate` tool may");
    refuse(&codes::OPEN_CHILD_FORBIDDEN, message).with("extId", ext_id)
}

/// `Validation/PromptUriMalformed`: a text that is no id of a prompt.
pub fn prompt_uri_malformed(id: &str) -> Error {
    let message = format!("`{}` is not the id of a prompt", id.escape_debug());
    refuse(&codes::PROMPT_URI_MALFORMED, message).with("id", id)
}

/// `Validation/PromptMissing`: no such prompt, or none that the caller may see.
pub fn prompt_missing(id: &str) -> Error {
    let message = format!("there is no prompt `{id}`");
    refuse(&codes::PROMPT_MISSING, message).with("id", id)
}

/// `Validation/ResourceMissing`: no such resource, or none that the caller may see.
pub fn resource_missing(id: &str) -> Error {
    let message = format!("there is no resource `{id}`");
    refuse(&codes::RESOURCE_MISSING, message).with("id", id)
}

/// `ExtensionHost/ContextContributionForbidden`: only context providers contribute.
pub fn context_contribution_forbidden(category: &str) -> Error {
    let message =
        format!("a `{category}` plugin may not contribute context; only a `ContextProvider` may");
    refuse(&codes::CONTEXT_CONTRIBUTION_FORBIDDEN, message).with("category", category)
}

/// `ExtensionHost/ContextContributionForbidden`: only tools and commands compact.
pub fn compaction_forbidden(category: &str) -> Error {
    let message = format!(
        "a `{category}` plugin may not compact the conversation; only a `Tool` or a `Command` may"
    );
    refuse(&codes::CONTEXT_CONTRIBUTION_FORBIDDEN, message).with("category", category)
}

/// `ExtensionHost/CommandDispatchForbidden`: only UIs and commands run commands.
pub fn command_dispatch_forbidden(category: &str) -> Error {
    let message =
        format!("a `{category}` plugin may not run commands; only a `UI` or a `Command` may");
    refuse(&codes::COMMAND_DISPATCH_FORBIDDEN, message).with("category", category)
}

/// `ExtensionHost/DeedForbidden`: the deed belongs to other commands than the caller.
pub fn deed_forbidden(ext_id: &str, category: &str, deed: &str, owners: &[&str]) -> Error {
    let message = format!(
        "the `{category}` plugin `{ext_id}` may not have `{deed}` done; that is for the command `{}`",
        owners.join("` or `")
    );
    refuse(&codes::DEED_FORBIDDEN, message)
        .with("extId", ext_id)
        .with("category", category)
        .with("deed", deed)
        .with("commands", owners.to_vec())
}

/// `Validation/CommandUnknown`: no command has this name or alias. `nearest` is what was probably meant.
pub fn command_unknown(name: &str, nearest: Option<&str>) -> Error {
    let message = format!("there is no command `{name}`");
    match nearest {
        Some(nearest) => refuse(
            &codes::COMMAND_UNKNOWN,
            format!("{message}; did you mean `{nearest}`?"),
        )
        .with("name", name)
        .with("nearest", nearest),
        None => refuse(&codes::COMMAND_UNKNOWN, message).with("name", name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_late_answer_is_refused() {
        let id = "0197a8c2-5d1e-7c3a-9b60-3f1f0d6f2a11";
        let error = interaction_already_answered(id, "c1");
        stud_observed::covers!(INTERACTION_ALREADY_ANSWERED, error);
    }

    fn check(error: Error, code: &str, context: Value) {
        assert_eq!(format!("{}/{}", error.class(), error.code()), code);
        assert_eq!(Value::Object(error.context().clone()), context);
    }

    #[test]
    fn not_ready_names_the_service_and_the_phase() {
        for (phase, word) in [
            (Phase::Init, "init"),
            (Phase::Loaded, "loaded"),
            (Phase::Active, "active"),
            (Phase::Inactive, "inactive"),
            (Phase::Disposed, "disposed"),
        ] {
            assert_eq!(serde_json::to_value(phase).unwrap(), word);
            check(
                not_ready("session", phase),
                "ExtensionHost/NotReady",
                json!({"service": "session", "phase": word}),
            );
        }
    }

    #[test]
    fn what_is_out_of_reach_is_named() {
        let to = Destination {
            host: "a.org".into(),
            port: Some(443),
            url: "https://a.org/".into(),
            address: None,
        };
        check(
            network_denied(&to, "no"),
            "ToolTerminal/NetworkDenied",
            json!({"host": "a.org", "port": 443, "url": "https://a.org/"}),
        );
        check(
            deed_forbidden("a", "Tool", "listSessions", &["sessions"]),
            "ExtensionHost/DeedForbidden",
            json!({"extId": "a", "category": "Tool", "deed": "listSessions", "commands": ["sessions"]}),
        );
    }

    #[test]
    fn each_refusal_has_its_code_and_facts() {
        check(
            env_name_not_set("A"),
            "Validation/EnvNameNotSet",
            json!({"name": "A"}),
        );
        check(
            unknown_config_key("a"),
            "Validation/UnknownConfigKey",
            json!({"key": "a"}),
        );
        check(
            event_name_reserved("A"),
            "Validation/EventNameReserved",
            json!({"name": "A"}),
        );
        check(
            event_undeclared("A"),
            "Validation/EventUndeclared",
            json!({"name": "A"}),
        );
        check(
            event_payload_invalid("A", "/n", "a number"),
            "Validation/EventPayloadInvalid",
            json!({"name": "A", "fieldPath": "/n", "expected": "a number"}),
        );
        check(
            audit_class_reserved("A"),
            "ExtensionHost/AuditClassReserved",
            json!({"class": "A"}),
        );
        check(
            interaction_kind_forbidden(InteractionKind::AuthPassword, "Tool"),
            "Validation/InteractionKindForbidden",
            json!({"kind": "Auth.Password", "category": "Tool"}),
        );
        check(
            interaction_already_answered("i1", "c1"),
            "Session/InteractionAlreadyAnswered",
            json!({"interactionId": "i1", "correlationId": "c1"}),
        );
        check(
            user_input_forbidden("Tool"),
            "ExtensionHost/UserInputForbidden",
            json!({"category": "Tool"}),
        );
        check(
            slot_access_denied("a", "b"),
            "ExtensionHost/SlotAccessDenied",
            json!({"extId": "a", "ownerExtId": "b"}),
        );
        check(
            open_child_forbidden("a"),
            "Validation/OpenChildForbidden",
            json!({"extId": "a"}),
        );
        check(
            prompt_uri_malformed("a"),
            "Validation/PromptUriMalformed",
            json!({"id": "a"}),
        );
        check(
            prompt_missing("a"),
            "Validation/PromptMissing",
            json!({"id": "a"}),
        );
        check(
            resource_missing("a"),
            "Validation/ResourceMissing",
            json!({"id": "a"}),
        );
        check(
            context_contribution_forbidden("Hook"),
            "ExtensionHost/ContextContributionForbidden",
            json!({"category": "Hook"}),
        );
        check(
            compaction_forbidden("Hook"),
            "ExtensionHost/ContextContributionForbidden",
            json!({"category": "Hook"}),
        );
        check(
            command_dispatch_forbidden("Hook"),
            "ExtensionHost/CommandDispatchForbidden",
            json!({"category": "Hook"}),
        );
        check(
            command_unknown("a", None),
            "Validation/CommandUnknown",
            json!({"name": "a"}),
        );
        check(
            command_unknown("modle", Some("model")),
            "Validation/CommandUnknown",
            json!({"name": "modle", "nearest": "model"}),
        );
    }
}
