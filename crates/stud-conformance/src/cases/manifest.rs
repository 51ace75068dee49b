//! What a manifest says.

use serde_json::Value;
use stud_contract_interaction::InteractionKind;
use stud_contract_meta::{ActiveCardinality, ExtId, LoadedCardinality, META_FIELDS, SemVer};

use crate::case::{Context, Verdict};

pub(super) fn shape(context: &Context) -> Verdict {
    let manifest = &context.manifest;
    let missing = META_FIELDS
        .iter()
        .find(|field| manifest.get(**field).is_none());
    if let Some(field) = missing {
        return Verdict::fail(format!("`{field}` is missing"));
    }
    if context.kind().is_none() {
        return Verdict::fail(format!("`kind` is {}, none of the nine", manifest["kind"]));
    }
    let version = manifest["contractVersion"].as_str().and_then(SemVer::parse);
    if version.is_none() {
        return Verdict::fail("`contractVersion` is not three numbers");
    }
    let range = manifest["requiredCoreVersion"].as_str().unwrap_or_default();
    if range.trim().is_empty() {
        return Verdict::fail("`requiredCoreVersion` is empty");
    }
    let schema = context.config_schema();
    if schema["type"] != "object" || schema["additionalProperties"] != false {
        return Verdict::fail(
            "`configSchema` is not a closed object: `type: object` and `additionalProperties: false`",
        );
    }
    let slot = &manifest["stateSlot"];
    let is_slot = slot.is_null()
        || slot["slotVersion"]
            .as_str()
            .and_then(SemVer::parse)
            .is_some();
    Verdict::of(is_slot, "`stateSlot` has no `slotVersion` of three numbers")
}

pub(super) fn cardinality(context: &Context) -> Verdict {
    let Some(kind) = context.kind() else {
        return Verdict::not_applicable("the category is unknown");
    };
    let (loaded, active) = kind.cardinality();
    let says = (
        LoadedCardinality::parse(&context.manifest["loadedCardinality"]),
        ActiveCardinality::parse(&context.manifest["activeCardinality"]),
    );
    let why = format!(
        "the manifest says {} and {}",
        context.manifest["loadedCardinality"], context.manifest["activeCardinality"]
    );
    Verdict::of(says == (Some(loaded), Some(active)), why)
}

pub(super) fn described(context: &Context) -> Verdict {
    let text = |member: &str| context.manifest[member].as_str().unwrap_or_default().trim();
    if ExtId::parse(text("extId")).is_err() {
        return Verdict::fail(format!("`extId` is {}", context.manifest["extId"]));
    }
    if SemVer::parse(text("version")).is_none() {
        return Verdict::fail(format!("`version` is {}", context.manifest["version"]));
    }
    Verdict::of(!text("description").is_empty(), "`description` is empty")
}

pub(super) fn rights(context: &Context) -> Verdict {
    let category = context.manifest["kind"].as_str().unwrap_or_default();
    let may_raise = |kind: &Value| {
        let kind = kind
            .as_str()
            .and_then(|kind| kind.parse::<InteractionKind>().ok());
        kind.is_some_and(|kind| kind.may_be_raised_by(category))
    };
    let foreign = context
        .list("interactionKinds")
        .iter()
        .find(|kind| !may_raise(kind));
    match foreign {
        Some(kind) => Verdict::fail(format!("the category may not raise {kind}")),
        None => Verdict::Pass,
    }
}
