//! Stage `shape`: the ten fields every contract has, then the members that say who the plugin is and how it was built.

use serde_json::Value;
use stud_contract_meta::{
    ABI_MEMBER, AbiDeclaration, ActiveCardinality, COMMON_MEMBERS, Capability, DiscoveryRules,
    EventDeclaration, ExtId, Kind, LoadedCardinality, META_FIELDS, Manifest, ModelNeed, Phase,
    Reference, ReloadBehavior, SemVer, SlotDeclaration,
};
use stud_diagnostics::{Diagnostic, Stage, codes};

use super::document::{Document, invalid};
use crate::contracts;
use crate::provenance::Provenance;

/// Reads a manifest into its typed form, which keeps the document; what is wrong comes with the document.
pub(crate) fn check(
    provenance: &mut Provenance,
    value: Value,
) -> Result<Manifest, (Diagnostic, Value)> {
    match read(provenance, &value) {
        Ok(mut manifest) => {
            warn_unknown(provenance, &value, manifest.kind);
            manifest.document = value;
            Ok(manifest)
        }
        Err(why) => Err((why, value)),
    }
}

/// The typed form, still without the document.
fn read(provenance: &Provenance, value: &Value) -> Result<Manifest, Diagnostic> {
    let document = Document::new(provenance, Stage::Shape, String::new(), value)?;

    let kind = document.word("kind", &Kind::ALL.map(Kind::as_str), Kind::parse)?;
    let contract_version = document
        .text("contractVersion", "a version such as `1.0.0`")?
        .to_owned();
    let required_core_version = document
        .text("requiredCoreVersion", "a range such as `>=0.1.0 <1.0.0`")?
        .to_owned();
    let lifecycle = read_lifecycle(&document)?;
    let config_schema = document.object("configSchema", "a JSON Schema object")?;
    let loaded = "`unlimited`, `one` or `{\"kind\":\"n\",\"n\":…}`";
    let loaded_cardinality =
        LoadedCardinality::parse(document.required("loadedCardinality", loaded)?)
            .ok_or_else(|| document.invalid("loadedCardinality", loaded))?;
    let active = "`unlimited`, `one` or `one-attached`";
    let active_cardinality =
        ActiveCardinality::parse(document.required("activeCardinality", active)?)
            .ok_or_else(|| document.invalid("activeCardinality", active))?;
    let state_slot = read_slot(&document)?;
    let discovery_rules = read_discovery(&document)?;
    let reload_behavior = document.word(
        "reloadBehavior",
        &["in-turn", "between-turns", "never"],
        ReloadBehavior::parse,
    )?;

    let id = "a kebab-case id of at most 64 characters";
    let ext_id =
        ExtId::parse(document.text("extId", id)?).map_err(|_| document.invalid("extId", id))?;
    let version = "a version such as `1.0.0`";
    let version = SemVer::parse(document.text("version", version)?)
        .ok_or_else(|| document.invalid("version", version))?;
    let name = match document.members.get("name") {
        None => ext_id.to_string(),
        Some(_) => document.words("name", "a name")?.to_owned(),
    };

    Ok(Manifest {
        name,
        version,
        description: optional_text(&document, "description")?,
        kind,
        contract_version,
        required_core_version,
        lifecycle,
        config_schema: Value::Object(config_schema.members.clone()),
        loaded_cardinality,
        active_cardinality,
        state_slot,
        discovery_rules,
        reload_behavior,
        handlers: document.texts("handlers", "a list of handler names")?,
        interaction_kinds: document.texts("interactionKinds", "a list of interaction kinds")?,
        interaction_protocol: read_protocol(&document)?,
        events: read_list(&document, "events", "`{name, schema}`", read_event)?,
        provides: document.texts("provides", "a list of capabilities")?,
        depends_on: read_references(&document, "dependsOn")?,
        conflicts_with: read_references(&document, "conflictsWith")?,
        model_needs: read_list(&document, "modelNeeds", NEED, read_need)?,
        entry: document
            .words("entry", "the symbol of the entry")?
            .to_owned(),
        sdk_version: optional_text(&document, "sdkVersion")?,
        rustc_version: optional_text(&document, "rustcVersion")?,
        target: document
            .words("target", "the platform it was built for")?
            .to_owned(),
        panic_strategy: document.words("panicStrategy", "`unwind`")?.to_owned(),
        abi: read_abi(&document)?,
        document: Value::Null,
        ext_id,
    })
}

fn read_lifecycle(document: &Document<'_>) -> Result<Vec<Phase>, Diagnostic> {
    let lifecycle = document.object("lifecycle", "an object naming the phases")?;
    let declared = |phase: &Phase| {
        lifecycle
            .members
            .get(phase.as_str())
            .is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
    };
    Ok(Phase::ALL.into_iter().filter(declared).collect())
}

fn read_slot(document: &Document<'_>) -> Result<Option<SlotDeclaration>, Diagnostic> {
    let expected = "a slot declaration, or null";
    if document.required("stateSlot", expected)?.is_null() {
        return Ok(None);
    }
    let slot = document.object("stateSlot", expected)?;
    if !slot.members.contains_key("slotVersion") {
        return Err(document
            .provenance
            .error(
                Stage::Shape,
                &codes::SLOT_VERSION_MISSING,
                "the state slot has no version",
            )
            .field("/stateSlot/slotVersion")
            .help(
                "author: give the slot a version, such as `state_slot(version = \"1.0.0\", …)`",
            ));
    }
    let version = "a version such as `1.0.0`";
    SemVer::parse(slot.text("slotVersion", version)?)
        .ok_or_else(|| slot.invalid("slotVersion", version))?;
    slot.object("schema", "a JSON Schema object")?;
    read_as(&slot, "a slot declaration").map(Some)
}

fn read_discovery(document: &Document<'_>) -> Result<DiscoveryRules, Diagnostic> {
    let rules = document.object(
        "discoveryRules",
        "an object with `folder` and `manifestKey`",
    )?;
    rules.words("folder", "the category folder")?;
    rules.words("manifestKey", "the extension's id in that folder")?;
    read_as(&rules, "`{folder, manifestKey}`")
}

fn read_protocol(document: &Document<'_>) -> Result<Option<SemVer>, Diagnostic> {
    if !document.members.contains_key("interactionProtocol") {
        return Ok(None);
    }
    let expected = "a version such as `1.2.0`";
    SemVer::parse(document.text("interactionProtocol", expected)?)
        .ok_or_else(|| document.invalid("interactionProtocol", expected))
        .map(Some)
}

fn read_event(event: &Document<'_>) -> Result<EventDeclaration, Diagnostic> {
    event.words("name", "the event's name")?;
    event.object("schema", "a JSON Schema object")?;
    read_as(event, "`{name, schema}`")
}

fn read_references(document: &Document<'_>, member: &str) -> Result<Vec<Reference>, Diagnostic> {
    let expected = "`{kind, name}` or `{kind, capability}`";
    read_list(document, member, expected, |reference| {
        read_as(reference, expected)
    })
}

const NEED: &str = "`{name, level, minimum?}`";

fn read_need(need: &Document<'_>) -> Result<ModelNeed, Diagnostic> {
    let names = Capability::ALL.map(Capability::as_str);
    need.word("name", &names, Capability::parse)?;
    let levels = ["hard", "preferred", "probed"];
    need.word("level", &levels, |word| {
        levels.contains(&word).then_some(())
    })?;
    let read: ModelNeed = read_as(need, NEED)?;
    match read.fault() {
        None => Ok(read),
        Some(fault) => Err(need
            .invalid("minimum", "an integer from 1 on, of `contextWindow` alone")
            .note(fault)),
    }
}

fn read_abi(document: &Document<'_>) -> Result<AbiDeclaration, Diagnostic> {
    let abi = document.object(ABI_MEMBER, "an object with `version` and `fingerprint`")?;
    abi.words("version", "the version of the boundary")?;
    abi.words("fingerprint", "the fingerprint of the table")?;
    read_as(&abi, "`{version, fingerprint}`")
}

fn read_list<T>(
    document: &Document<'_>,
    member: &str,
    expected: &str,
    read: impl Fn(&Document<'_>) -> Result<T, Diagnostic>,
) -> Result<Vec<T>, Diagnostic> {
    let items = document.list(member, &format!("a list of {expected}"))?;
    let path = document.path(member);
    items
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let item = Document::new(
                document.provenance,
                document.stage,
                format!("{path}/{index}"),
                item,
            )?;
            read(&item)
        })
        .collect()
}

/// The rest of an object whose telling members were checked one by one.
fn read_as<T: serde::de::DeserializeOwned>(
    document: &Document<'_>,
    expected: &str,
) -> Result<T, Diagnostic> {
    T::deserialize(document.members).map_err(|error| {
        let value = Value::Object(document.members.clone());
        invalid(
            document.provenance,
            document.stage,
            &document.pointer,
            expected,
            Some(&value),
        )
        .note(error.to_string())
    })
}

fn optional_text(document: &Document<'_>, member: &str) -> Result<String, Diagnostic> {
    if document.members.contains_key(member) {
        document.text(member, "a text").map(str::to_owned)
    } else {
        Ok(String::new())
    }
}

/// A newer SDK may add members, so an unknown one is worth a word and no more.
fn warn_unknown(provenance: &mut Provenance, value: &Value, kind: Kind) {
    let known = |member: &str| {
        META_FIELDS.contains(&member)
            || COMMON_MEMBERS.contains(&member)
            || member == ABI_MEMBER
            || contracts::members_of(kind).contains(&member)
    };
    let unknown: Vec<&String> = value
        .as_object()
        .into_iter()
        .flat_map(|members| members.keys())
        .filter(|member| !known(member))
        .collect();
    for member in unknown {
        let warning = provenance
            .error(
                Stage::Shape,
                &codes::MANIFEST_MEMBER_UNKNOWN,
                format!("the manifest has a member `{member}` that this stud does not know"),
            )
            .field(format!("/{}", super::document::escape(member)))
            .with("member", member.as_str())
            .help("update stud if the plugin needs it; otherwise it is ignored");
        provenance.warn(warning);
    }
}
