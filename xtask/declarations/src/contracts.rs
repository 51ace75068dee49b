//! What the contract crates declare, a member for each contract.
//!
//! `cargo xtask contracts` adds what only the sources say (layouts, traits, error codes) and compares with the locks.

use serde_json::{Map, Value, json};
use stud_contract_interaction::{InteractionAnswered, InteractionCancelled, InteractionRaised};
use stud_contract_meta::{ABI_MEMBER, COMMON_MEMBERS, Capability, Kind, META_FIELDS, Phase};
use stud_host_api::events::CORE_EVENTS;

use crate::sender;

/// The schemas of one crate, each with who sends it.
macro_rules! schemas {
    ($contract:ident) => {
        schemas!($contract, $contract::schemas())
    };
    ($contract:ident, $schemas:expr) => {
        $schemas
            .into_iter()
            .map(|(name, schema)| {
                let sender = sender::of(stringify!($contract), name);
                (name.to_owned(), json!({"sender": sender, "schema": schema}))
            })
            .collect::<Map<String, Value>>()
    };
}

/// The declarations of one category.
macro_rules! category {
    ($contract:ident) => {{
        let (loaded, active) = $contract::KIND.cardinality();
        json!({
            "kind": $contract::KIND.as_str(),
            "members": $contract::MEMBERS,
            "handlers": $contract::HANDLERS,
            "cardinality": {"loaded": loaded, "active": active},
            "schemas": schemas!($contract),
        })
    }};
}

/// Every contract by its short name.
pub(crate) fn contracts() -> Value {
    json!({
        "meta": meta(),
        "interaction": {
            "events": [InteractionRaised::NAME, InteractionAnswered::NAME, InteractionCancelled::NAME],
            "schemas": schemas!(stud_contract_interaction),
        },
        "tool": category!(stud_contract_tool),
        "hook": category!(stud_contract_hook),
        "ui": category!(stud_contract_ui),
        "command": category!(stud_contract_command),
        "provider": category!(stud_contract_provider),
        "logger": category!(stud_contract_logger),
        "state-machine": category!(stud_contract_state_machine),
        "session-store": category!(stud_contract_session_store),
        "context-provider": category!(stud_contract_context_provider),
        "host-api": {
            "events": CORE_EVENTS.as_slice(),
            "schemas": schemas!(stud_host_api, stud_host_api::schema::schemas()),
        },
    })
}

/// What every manifest has, and the words it is written with.
fn meta() -> Value {
    let members: Vec<&str> = META_FIELDS
        .into_iter()
        .chain(COMMON_MEMBERS)
        .chain([ABI_MEMBER])
        .collect();
    let words = |words: Vec<&str>| json!({"sender": "plugin", "schema": {"enum": words}});
    json!({
        "members": members,
        "schemas": {
            "Kind": words(Kind::ALL.map(Kind::as_str).to_vec()),
            "Phase": words(Phase::ALL.map(Phase::as_str).to_vec()),
            "Capability": words(Capability::ALL.map(Capability::as_str).to_vec()),
        },
    })
}
