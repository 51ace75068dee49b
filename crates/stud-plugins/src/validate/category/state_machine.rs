//! A `StateMachine`: stages that can be entered, bounded, and filled in.

use std::collections::BTreeSet;

use serde_json::Value;
use stud_contract_meta::Manifest;
use stud_diagnostics::{Code, Diagnostic, codes};

use super::{Members, read};
use crate::validate::document::Document;
use crate::validate::schema;

pub(super) fn check(document: &Document<'_>, manifest: &Manifest) -> Result<Members, Diagnostic> {
    if manifest.state_slot.is_none() {
        return Err(document.invalid(
            "stateSlot",
            "a slot declaration: a state machine keeps its place in it",
        ));
    }
    let wrong = |code: &'static Code, pointer: String, message: String| {
        document
            .provenance
            .error(document.stage, code, message)
            .field(pointer)
    };
    let stages = document.list("stages", "a list of stages")?;
    if stages.is_empty() {
        return Err(wrong(
            &codes::STAGE_DEFINITION_INVALID,
            "/stages".to_owned(),
            "a state machine has at least one stage".to_owned(),
        )
        .help("author: declare the stages of the workflow"));
    }
    let mut ids = BTreeSet::new();
    for (index, stage) in stages.iter().enumerate() {
        let stage = Document::new(
            document.provenance,
            document.stage,
            format!("/stages/{index}"),
            stage,
        )?;
        let id = stage.words("id", "the stage's id")?;
        if !ids.insert(id) {
            return Err(wrong(
                &codes::STAGE_DEFINITION_INVALID,
                stage.path("id"),
                format!("the stage `{id}` is declared twice"),
            )
            .with("duplicateId", id)
            .help("author: give each stage an id of its own"));
        }
        check_stage(&stage, id)?;
    }
    let entry = document.text("entryStage", "the id of the first stage")?;
    if !ids.contains(entry) {
        return Err(wrong(
            &codes::STAGE_DEFINITION_INVALID,
            "/entryStage".to_owned(),
            format!("the entry stage `{entry}` is not among the stages"),
        )
        .with("entryStage", entry)
        .help("author: name one of the declared stages"));
    }
    read(document).map(Members::StateMachine)
}

fn check_stage(stage: &Document<'_>, id: &str) -> Result<(), Diagnostic> {
    let wrong = |code: &'static Code, pointer: String, message: String| {
        stage
            .provenance
            .error(stage.stage, code, message)
            .field(pointer)
            .with("stageId", id)
    };
    let cap = stage.required("turnCap", "a number of at least 1")?;
    if !cap.is_i64() && !cap.is_u64() {
        return Err(stage.invalid("turnCap", "a number of at least 1"));
    }
    if cap.as_u64().is_none_or(|cap| cap < 1) {
        return Err(wrong(
            &codes::STAGE_TURN_CAP_TOO_LOW,
            stage.path("turnCap"),
            format!("the stage `{id}` may take {cap} turns"),
        )
        .with("turnCap", cap.clone())
        .help("author: allow at least one"));
    }
    let body = stage.text("body", "the text the stage tells the model")?;
    let declared: Vec<&str> = match stage.members.get("context") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for name in stud_contract_state_machine::ctx_references(body) {
        if !declared.contains(&name.as_str()) {
            return Err(wrong(
                &codes::STAGE_CTX_UNRESOLVED,
                format!("{}#{name}", stage.path("body")),
                format!("the stage `{id}` uses `{{{{ctx.{name}}}}}`, which it does not declare"),
            )
            .with("name", name.as_str())
            .help("author: add the name to the stage's `context`"));
        }
    }
    let completion = stage.required("completionSchema", "a JSON Schema object")?;
    schema::build(completion).map_err(|problem| {
        wrong(
            &codes::STAGE_COMPLETION_SCHEMA_INVALID,
            stage.path("completionSchema"),
            format!("the completion schema of the stage `{id}` does not compile"),
        )
        .note(problem)
        .help("author: correct the schema; only references inside it are followed")
    })?;
    Ok(())
}
