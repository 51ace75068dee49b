//! Where what context providers add stands in a request, and what the model is told first.

use std::fmt::Write as _;

use serde_json::{Value, json};
use stud_contract_meta::Result;
use stud_contract_provider::{Message, Role};
use stud_diagnostics::codes;
use stud_host_api::context::FragmentKind;

use super::fragment::Fragment;
use super::history::RequestMessage;
use super::{RequestDraft, refuse};

/// The parameter that says in whose name a backend is told the system prompt, or that it is not told.
const MODE: &str = "systemMessageMode";

/// The default system prompt: the text that a first start writes to `system.md`.
pub fn default_system_prompt() -> &'static str {
    include_str!("default_system_prompt.md")
}

/// The system prompt with what providers add to it.
///
/// What the operator wrote comes first, as it says who the model is. What a stage says comes last, as it says what the
/// model is to do now.
pub(super) fn text(draft: &RequestDraft<'_>) -> Option<String> {
    let has_prompt = draft.history.iter().any(|kept| kept.typed().is_some());
    let added = draft.fragments.iter().filter(|fragment| {
        // Without a conversation there is no prompt to add to.
        is_system(fragment) || !has_prompt
    });
    let added = added.filter_map(labeled);
    let stage = draft.base.system.clone();
    let prompt = draft.prompt.as_deref().map(str::to_owned);
    let parts: Vec<String> = prompt.into_iter().chain(added).chain(stage).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Refuses to leave the system prompt out of a request whose meaning stands in it. What only the operator wrote may be
/// left out.
pub(super) fn refuse_removal(draft: &RequestDraft<'_>) -> Result<()> {
    let mode = draft.base.params.get(MODE).and_then(Value::as_str);
    if mode != Some("remove") {
        return Ok(());
    }
    let added = draft.fragments.iter();
    let added = added.filter(|fragment| fragment.kind == FragmentKind::SystemMessage);
    let owners: Vec<&str> = added.map(|fragment| fragment.owner.as_str()).collect();
    let what = match owners.first() {
        _ if draft.base.system.is_some() => "the stage that runs speaks through it".to_owned(),
        Some(owner) => format!("`{owner}` adds to it"),
        None => return Ok(()),
    };
    let code = &codes::SYSTEM_MODE_REMOVE_LOAD_BEARING;
    let message = format!("`{MODE}` is `remove`, and the system prompt cannot be left out: {what}");
    Err(refuse(code, message)
        .with("param", MODE)
        .with("hasStage", draft.base.system.is_some())
        .with("ownerExtIds", json!(owners)))
}

/// Adds the other fragments to the prompt: before what the person said last, so that this is still the last word.
pub(super) fn add_to_prompt(
    messages: &mut Vec<RequestMessage>,
    place: Option<usize>,
    fragments: &[Fragment],
) {
    let Some(place) = place else { return };
    let added = fragments.iter().filter(|fragment| !is_system(fragment));
    let parts: Vec<String> = added.filter_map(labeled).collect();
    if !parts.is_empty() {
        let context = Message {
            role: Role::User,
            content: parts.join("\n\n").into(),
        };
        messages.insert(place, RequestMessage::New(context));
    }
}

/// Whether the session speaks. A resource is content from elsewhere, and never speaks for the session.
fn is_system(fragment: &Fragment) -> bool {
    matches!(
        fragment.kind,
        FragmentKind::SystemMessage | FragmentKind::ToolHint
    )
}

/// A fragment that says whose it is. One that was emptied is not told at all.
fn labeled(fragment: &Fragment) -> Option<String> {
    if fragment.content.is_empty() {
        return None;
    }
    let mut text = format!("<context source=\"{}\"", fragment.owner);
    if fragment.kind == FragmentKind::ResourceBinding {
        text.push_str(" untrusted=\"true\"");
    }
    // No content can close its own label and impersonate another source.
    let content = fragment.content.replace("</context", "<\\/context");
    // Writing to a string cannot fail.
    let _ = write!(text, ">\n{content}\n</context>");
    Some(text)
}
