//! Stage `category`: what the plugin's own category asks of it.

mod command;
mod hook;
mod provider;
mod state_machine;
mod tool;
pub(crate) mod ui;

use serde::de::DeserializeOwned;
use serde_json::Value;
use stud_contract_command::CommandMembers;
use stud_contract_hook::HookMembers;
use stud_contract_interaction::InteractionKind;
use stud_contract_logger::LoggerMembers;
use stud_contract_meta::{Kind, Manifest};
use stud_contract_provider::ProviderMembers;
use stud_contract_session_store::SessionStoreMembers;
use stud_contract_state_machine::StateMachineMembers;
use stud_contract_tool::ToolMembers;
use stud_contract_ui::UiMembers;
use stud_diagnostics::{Diagnostic, Stage, codes};

use super::document::{Document, invalid, suggest};
use super::schema;
use crate::provenance::Provenance;

/// What a manifest declares for its category.
#[derive(Debug, Clone)]
pub enum Members {
    /// A Provider's.
    Provider(ProviderMembers),
    /// A Tool's.
    Tool(ToolMembers),
    /// A Hook's.
    Hook(HookMembers),
    /// A UI's.
    Ui(UiMembers),
    /// A Logger's.
    Logger(LoggerMembers),
    /// A `StateMachine`'s.
    StateMachine(StateMachineMembers),
    /// A Command's.
    Command(CommandMembers),
    /// A `SessionStore`'s.
    SessionStore(SessionStoreMembers),
    /// A `ContextProvider` declares nothing of its own.
    ContextProvider,
}

/// Checks the members of the manifest's category.
pub(crate) fn check(
    provenance: &mut Provenance,
    manifest: &Manifest,
    folder: Option<Kind>,
) -> Result<Members, Diagnostic> {
    check_cardinality(provenance, manifest)?;
    check_folder(provenance, manifest, folder)?;
    check_rights(provenance, manifest)?;
    check_events(provenance, manifest)?;
    if let Some(slot) = &manifest.state_slot {
        schema::check(
            provenance,
            Stage::Category,
            "/stateSlot/schema",
            &slot.schema,
        )?;
    }
    let document = Document::new(
        provenance,
        Stage::Category,
        String::new(),
        &manifest.document,
    )?;
    let (members, warnings) = match manifest.kind {
        Kind::Provider => (provider::check(&document)?, Vec::new()),
        Kind::Tool => (tool::check(&document)?, Vec::new()),
        Kind::Hook => (hook::check(&document)?, Vec::new()),
        Kind::Ui => ui::check(&document, manifest)?,
        Kind::Logger => {
            document.object("accepts", "an object saying which records it takes")?;
            (Members::Logger(read(&document)?), Vec::new())
        }
        Kind::StateMachine => (state_machine::check(&document, manifest)?, Vec::new()),
        Kind::Command => (command::check(&document)?, Vec::new()),
        Kind::SessionStore => {
            document.words("storeId", "the id stamped on stored sessions")?;
            document.object("capabilities", "an object with the store's capabilities")?;
            (Members::SessionStore(read(&document)?), Vec::new())
        }
        Kind::ContextProvider => (Members::ContextProvider, Vec::new()),
    };
    for warning in warnings {
        provenance.warn(warning);
    }
    Ok(members)
}

/// The typed members, once their telling parts were checked one by one.
fn read<T: DeserializeOwned>(document: &Document<'_>) -> Result<T, Diagnostic> {
    T::deserialize(document.members).map_err(|error| {
        let value = Value::Object(document.members.clone());
        invalid(
            document.provenance,
            document.stage,
            "",
            "the members of its category",
            Some(&value),
        )
        .note(error.to_string())
    })
}

/// Members of one entry of a list such as `tools`.
fn entries<'a>(
    document: &Document<'a>,
    member: &str,
    expected: &str,
) -> Result<Vec<Document<'a>>, Diagnostic> {
    document.required(member, expected)?;
    let items = document.list(member, expected)?;
    if items.is_empty() {
        return Err(document.invalid(member, expected));
    }
    let path = document.path(member);
    items
        .iter()
        .enumerate()
        .map(|(index, item)| {
            Document::new(
                document.provenance,
                document.stage,
                format!("{path}/{index}"),
                item,
            )
        })
        .collect()
}

fn check_cardinality(provenance: &Provenance, manifest: &Manifest) -> Result<(), Diagnostic> {
    let (loaded, active) = manifest.kind.cardinality();
    let mismatch = |member: &str, expected: String, actual: String| {
        provenance
            .error(
                Stage::Category,
                &codes::CARDINALITY_MISMATCH,
                format!(
                    "`{member}` of a {} is `{expected}`, and the manifest says `{actual}`",
                    manifest.kind
                ),
            )
            .field(format!("/{member}"))
            .with("expected", expected)
            .with("actual", actual)
            .help("author: leave it to `stud-sdk`, which knows the category's")
    };
    if manifest.loaded_cardinality != loaded {
        return Err(mismatch(
            "loadedCardinality",
            loaded.to_string(),
            manifest.loaded_cardinality.to_string(),
        ));
    }
    if manifest.active_cardinality != active {
        return Err(mismatch(
            "activeCardinality",
            active.to_string(),
            manifest.active_cardinality.to_string(),
        ));
    }
    Ok(())
}

fn check_folder(
    provenance: &Provenance,
    manifest: &Manifest,
    folder: Option<Kind>,
) -> Result<(), Diagnostic> {
    let mismatch = |found: &str| {
        provenance
            .error(
                Stage::Category,
                &codes::CATEGORY_FOLDER_MISMATCH,
                format!(
                    "a {} belongs in `{}`, not in `{found}`",
                    manifest.kind,
                    manifest.kind.folder()
                ),
            )
            .with("kind", manifest.kind.as_str())
            .with("folder", found)
            .with("expected", manifest.kind.folder())
    };
    if let Some(folder) = folder.filter(|folder| *folder != manifest.kind) {
        return Err(mismatch(folder.folder())
            .field("/kind")
            .help(format!("operator: move it to `{}`", manifest.kind.folder())));
    }
    // A category may divide its folder, so only the first part of the path counts.
    let declared = manifest.discovery_rules.folder.as_str();
    if declared.split('/').next() != Some(manifest.kind.folder()) {
        return Err(mismatch(declared)
            .field("/discoveryRules/folder")
            .help("author: leave `discoveryRules` to `stud-sdk`"));
    }
    Ok(())
}

/// The interaction kinds a plugin declares are ones its category may raise.
fn check_rights(provenance: &Provenance, manifest: &Manifest) -> Result<(), Diagnostic> {
    for (index, word) in manifest.interaction_kinds.iter().enumerate() {
        let pointer = format!("/interactionKinds/{index}");
        let Some(kind) = InteractionKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == word)
        else {
            let unknown = provenance
                .error(
                    Stage::Category,
                    &codes::INTERACTION_KIND_UNKNOWN,
                    format!("`{word}` is not an interaction kind"),
                )
                .field(pointer)
                .with("kind", word.as_str());
            return Err(suggest(
                unknown,
                word,
                &InteractionKind::ALL.map(InteractionKind::as_str),
            ));
        };
        if !kind.may_be_raised_by(manifest.kind.as_str()) {
            return Err(provenance
                .error(
                    Stage::Category,
                    &codes::INTERACTION_KIND_FORBIDDEN,
                    format!("a {} may not raise `{word}`", manifest.kind),
                )
                .field(pointer)
                .with("kind", word.as_str())
                .with("category", manifest.kind.as_str())
                .help("author: drop it from the declared interactions"));
        }
    }
    Ok(())
}

fn check_events(provenance: &Provenance, manifest: &Manifest) -> Result<(), Diagnostic> {
    for (index, event) in manifest.events.iter().enumerate() {
        if stud_host_api::events::is_core_event(&event.name) {
            return Err(provenance
                .error(
                    Stage::Category,
                    &codes::EVENT_NAME_RESERVED,
                    format!("the event name `{}` belongs to core", event.name),
                )
                .field(format!("/events/{index}/name"))
                .with("name", event.name.as_str())
                .help("author: choose a name of the plugin's own"));
        }
        schema::check(
            provenance,
            Stage::Category,
            &format!("/events/{index}/schema"),
            &event.schema,
        )?;
    }
    Ok(())
}
