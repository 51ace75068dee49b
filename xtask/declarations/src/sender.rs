//! Who sends a payload: the direction decides which bump a change needs.

use stud_host_api::CORE_EVENTS;

/// What core alone sends to plugins.
const CORE: &[(&str, &[&str])] = &[
    (
        "stud_contract_interaction",
        &[
            "InteractionRaised",
            "InteractionAnswered",
            "InteractionCancelled",
        ],
    ),
    ("stud_contract_ui", &["Canvas"]),
    ("stud_contract_command", &["RawArgs", "Draft"]),
    ("stud_contract_provider", &["Request"]),
    ("stud_contract_logger", &["Record"]),
    ("stud_contract_state_machine", &["PhaseInput"]),
    ("stud_contract_session_store", &["JournalBatch", "Page"]),
    (
        "stud_host_api",
        &[
            "Phase",
            "EventType",
            "AuditRecord",
            "ActiveSubagent",
            "SessionView",
            "Appended",
            "ChildOutcome",
            "PromptRef",
            "Prompt",
            "ResourceRef",
            "Resource",
            "Compacted",
            "CommandRef",
            "Completion",
            "CommandResult",
            "RuntimeSnapshot",
            "TokenDelta",
        ],
    ),
];

/// What plugins alone send to core.
const PLUGIN: &[(&str, &[&str])] = &[
    ("stud_contract_tool", &["ToolMembers", "Envelope"]),
    ("stud_contract_hook", &["HookMembers", "Verdict"]),
    ("stud_contract_ui", &["UiMembers", "Line"]),
    (
        "stud_contract_command",
        &["CommandMembers", "Rendered", "Completion"],
    ),
    (
        "stud_contract_provider",
        &["ProviderMembers", "StreamEvent"],
    ),
    ("stud_contract_logger", &["LoggerMembers"]),
    (
        "stud_contract_state_machine",
        &[
            "StateMachineMembers",
            "GateResult",
            "AssertOutcome",
            "NextResult",
        ],
    ),
    (
        "stud_contract_session_store",
        &["SessionStoreMembers", "JournalPage"],
    ),
    (
        "stud_contract_context_provider",
        &["ContextProviderMembers", "ContextFragment"],
    ),
    (
        "stud_host_api",
        &[
            "Destination",
            "Event",
            "LogEntry",
            "AuditEvent",
            "AuditQuery",
            "Scope",
            "Page",
            "OpenChild",
            "PromptFilter",
            "ResourceFilter",
            "ContextFragment",
            "Compacting",
            "CommandArgs",
            "Deed",
        ],
    ),
];

/// `core`, `plugin`, or `both` for what goes either way; a payload in neither list counts as both, the strictest.
pub(crate) fn of(contract: &str, schema: &str) -> &'static str {
    let is_in = |lists: &[(&str, &[&str])]| {
        lists
            .iter()
            .any(|(name, schemas)| *name == contract && schemas.contains(&schema))
    };
    let is_core_event = contract == "stud_host_api" && CORE_EVENTS.contains(&schema);
    if is_core_event || is_in(CORE) {
        "core"
    } else if is_in(PLUGIN) {
        "plugin"
    } else {
        "both"
    }
}
