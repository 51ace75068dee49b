//! What is the same for all plugins of a category.

use stud_abi::tables;
use stud_contract_meta::Kind;

use super::version;

/// One of the nine.
pub trait Category {
    /// Its word.
    const KIND: Kind;
    /// The version of its contract.
    const CONTRACT_VERSION: &'static str;
    /// Its newest table.
    const FINGERPRINT: &'static str;
    /// When its plugins are reloaded, unless they say otherwise.
    const RELOAD: &'static str;
    /// All functions of its table.
    const HANDLERS: &'static [&'static str];
    /// What the config of each of its plugins accepts.
    const BASE: &'static [BaseMember];
}

/// A config member that core, not the author, gives a meaning to.
#[derive(Debug, Clone, Copy)]
pub struct BaseMember {
    pub(crate) name: &'static str,
    /// `"name":{…}`, first in the list.
    pub(crate) first: &'static str,
    /// `,"name":{…}`, anywhere else.
    pub(crate) later: &'static str,
}

macro_rules! base {
    ($($name:literal: $schema:literal),+ $(,)?) => {
        &[$(BaseMember {
            name: $name,
            first: concat!("\"", $name, "\":", $schema),
            later: concat!(",\"", $name, "\":", $schema),
        }),+]
    };
}

macro_rules! categories {
    ($($Marker:ident in $table:ident, $contract:ident, $reload:literal {$($base:tt)*})+) => {$(
        #[doc = concat!("The category of `", stringify!($contract), "`.")]
        #[derive(Debug)]
        pub enum $Marker {}

        impl Category for $Marker {
            const KIND: Kind = $contract::KIND;
            const CONTRACT_VERSION: &'static str = version::text!($contract::CONTRACT_VERSION);
            const FINGERPRINT: &'static str = <tables::$table::$Marker as stud_abi::Category>::FINGERPRINT;
            const HANDLERS: &'static [&'static str] = $contract::HANDLERS;
            const RELOAD: &'static str = $reload;
            const BASE: &'static [BaseMember] = base! {
                "enabled": r#"{"description":"Whether the plugin takes part.","type":"boolean","default":true}"#,
                $($base)*
            };
        }
    )+};
}

categories! {
    Tool in tool, stud_contract_tool, "between-turns" {
        "timeoutMs": r#"{"description":"After how many milliseconds a call is called off.","type":"integer","minimum":1}"#,
    }
    Command in command, stud_contract_command, "in-turn" {
        "alias": r#"{"description":"More names for the command.","type":"array","items":{"type":"string","pattern":"^[A-Za-z0-9_-]+$"}}"#,
    }
    Hook in hook, stud_contract_hook, "between-turns" {}
    Ui in ui, stud_contract_ui, "between-turns" {}
    Provider in provider, stud_contract_provider, "between-turns" {
        "apiKeyRef": r#"{"description":"Where the key is, never the key itself.","type":"object","properties":{"kind":{"type":"string","enum":["env","keyring"]},"name":{"type":"string","minLength":1}},"required":["kind","name"],"additionalProperties":false}"#,
        "model": r#"{"description":"The model to begin with.","type":"string","minLength":1}"#,
        "baseUrl": r#"{"description":"Another address of the backend.","type":"string"}"#,
        "maxTokens": r#"{"description":"The most tokens of an answer.","type":"integer","minimum":1}"#,
    }
    Logger in logger, stud_contract_logger, "in-turn" {
        "level": r#"{"description":"Nothing that matters less is kept.","type":"string","enum":["trace","debug","info","warn","error"],"default":"info"}"#,
        "redactSecrets": r#"{"description":"Whether what looks like a secret is taken out of events.","type":"boolean","default":true}"#,
    }
    StateMachine in state_machine, stud_contract_state_machine, "between-turns" {
        "entry": r#"{"description":"The stage to begin with.","type":"string","minLength":1}"#,
        "autoAttach": r#"{"description":"Whether to attach when a session starts and no other machine was chosen.","type":"boolean","default":false}"#,
    }
    SessionStore in session_store, stud_contract_session_store, "never" {
        "active": r#"{"description":"Whether this is the store in use; one is.","type":"boolean","default":false}"#,
        "path": r#"{"description":"Where it keeps sessions.","type":"string","minLength":1}"#,
    }
    ContextProvider in context_provider, stud_contract_context_provider, "between-turns" {}
}

/// What the config of a UI that draws in another one accepts.
pub const REGION_BASE: &[BaseMember] = base! {
    "enabled": r#"{"description":"Whether the plugin takes part.","type":"boolean","default":true}"#,
    "targetUI": r#"{"description":"The id of the UI to draw in.","type":"string","minLength":1}"#,
};
