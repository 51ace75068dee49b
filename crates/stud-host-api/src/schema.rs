//! The JSON Schemas of what crosses between a plugin and its host.
//!
//! Questions and answers are in the Interaction Protocol's own list,
//! [`stud_contract_interaction::schemas`].

use schemars::{Schema, schema_for};

use crate::audit::{ActiveSubagent, AuditEvent, AuditQuery, AuditRecord};
use crate::cancellation::Scope;
use crate::commands::{CommandArgs, CommandRef, CommandResult, Completion, Deed};
use crate::config::Destination;
use crate::context::{Compacted, Compacting, ContextFragment};
use crate::events::{Event, EventType, LogEntry, core_events};
use crate::interaction::{Availability, ToolApprovalKey};
use crate::metrics::{RuntimeSnapshot, TokenDelta};
use crate::prompt::{Prompt, PromptFilter, PromptRef};
use crate::refusal::Phase;
use crate::resource::{Resource, ResourceFilter, ResourceRef};
use crate::session::{
    Appended, ChildOutcome, OpenChild, Page, SessionRecord, SessionView, SlotValue,
};

/// Every payload by name, in the order of the services, and then those of core's events.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    let events = core_events().map(|event| (event.name, (event.schema)()));
    let services = vec![
        ("Phase", schema_for!(Phase)),
        ("Destination", schema_for!(Destination)),
        ("Event", schema_for!(Event)),
        ("EventType", schema_for!(EventType)),
        ("LogEntry", schema_for!(LogEntry)),
        ("AuditEvent", schema_for!(AuditEvent)),
        ("AuditRecord", schema_for!(AuditRecord)),
        ("AuditQuery", schema_for!(AuditQuery)),
        ("ActiveSubagent", schema_for!(ActiveSubagent)),
        ("Availability", schema_for!(Availability)),
        ("ToolApprovalKey", schema_for!(ToolApprovalKey)),
        ("Scope", schema_for!(Scope)),
        ("Page", schema_for!(Page)),
        ("SessionView", schema_for!(SessionView)),
        ("SessionRecord", schema_for!(SessionRecord)),
        ("Appended", schema_for!(Appended)),
        ("SlotValue", schema_for!(SlotValue)),
        ("OpenChild", schema_for!(OpenChild)),
        ("ChildOutcome", schema_for!(ChildOutcome)),
        ("PromptFilter", schema_for!(PromptFilter)),
        ("PromptRef", schema_for!(PromptRef)),
        ("Prompt", schema_for!(Prompt)),
        ("ResourceFilter", schema_for!(ResourceFilter)),
        ("ResourceRef", schema_for!(ResourceRef)),
        ("Resource", schema_for!(Resource)),
        ("ContextFragment", schema_for!(ContextFragment)),
        ("Compacting", schema_for!(Compacting)),
        ("Compacted", schema_for!(Compacted)),
        ("CommandRef", schema_for!(CommandRef)),
        ("Completion", schema_for!(Completion)),
        ("CommandArgs", schema_for!(CommandArgs)),
        ("CommandResult", schema_for!(CommandResult)),
        ("Deed", schema_for!(Deed)),
        ("RuntimeSnapshot", schema_for!(RuntimeSnapshot)),
        ("TokenDelta", schema_for!(TokenDelta)),
    ];
    services.into_iter().chain(events).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_schema_says_what_it_is() {
        let schemas = schemas();
        let mut names: Vec<_> = schemas.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), schemas.len());
        for (name, schema) in &schemas {
            assert!(schema.get("description").is_some(), "{name}");
        }
    }

    #[test]
    fn wire_names_reach_the_schemas() {
        let text = serde_json::to_string(&schema_for!(RuntimeSnapshot)).unwrap();
        for name in [
            "stateMachine",
            "targetUI",
            "allowedNow",
            "lastNextResult",
            "assembledFragments",
        ] {
            assert!(text.contains(&format!("\"{name}\"")), "{name}");
        }
    }
}
