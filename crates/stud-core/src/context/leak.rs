//! The scan of a request for what must not reach a model.

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use stud_contract_meta::Result;
use stud_diagnostics::codes;

use super::{RequestDraft, history, refuse};
use crate::redact::{Confidential, Redactor};
use crate::request_state::Screen;
use crate::session::Kept;

/// A value that was found, and where.
struct Hit<'a> {
    value: &'a Confidential,
    matched_on: &'static str,
    owner: Option<&'a str>,
    /// Whether it is to be kept out of everything from now on.
    is_secret: bool,
}

/// Refuses a request that holds what must not reach a model.
///
/// Each finding is recorded first. What a person typed, in this turn or before, may be sent: that is how it gets
/// there if it has to. A message without findings is not scanned again until there are more values to look for,
/// so that a long conversation costs no more with every request. What a tool said and is blanked out before it is sent
/// is recorded too, once for each message.
pub(super) fn refuse_leaks(draft: &RequestDraft<'_>) -> Result<()> {
    let books = draft.turn.session().books();
    let redactor = &*books.redactor;
    let screen = draft.desk.screen(redactor);
    let typed = |value: &Confidential| {
        let value = value.value.expose_secret();
        let mut typed = draft.history.iter().filter_map(|kept| kept.typed());
        typed.any(|text| text.contains(value))
    };
    let mut hits: Vec<Hit<'_>> = Vec::new();
    in_what_was_written(draft, &screen, &mut hits);
    for kept in &draft.history {
        for hit in look_at(kept, &screen, redactor, &mut hits) {
            if !typed(hit.value) {
                books.audit("IsolationViolation", None, draft.turn.id(), hit.to_value());
            }
        }
    }
    // The same value is typed or not wherever it stands.
    let mut judged: BTreeMap<&str, bool> = BTreeMap::new();
    hits.retain(|hit| {
        let value = hit.value.value.expose_secret();
        !*judged.entry(value).or_insert_with(|| typed(hit.value))
    });
    if hits.is_empty() {
        return Ok(());
    }
    let violations: Vec<Value> = hits.iter().map(Hit::to_value).collect();
    for violation in &violations {
        books.audit(
            "IsolationViolation",
            None,
            draft.turn.id(),
            violation.clone(),
        );
    }
    for hit in hits.iter().filter(|hit| hit.is_secret) {
        // From now on it is blanked out wherever a tool says it, so that the conversation can continue.
        redactor.learn_from(&hit.value.value, hit.value.origin.clone());
    }
    let places: Vec<String> = hits.iter().map(Hit::to_string).collect();
    let message = format!(
        "the request was not sent, because it contains values that must not reach a model: {}",
        places.join("; ")
    );
    Err(refuse(&codes::LLM_CONTEXT_LEAK, message).with("violations", violations))
}

/// The system prompt, the tools and the contributions of context providers: authored text.
fn in_what_was_written<'a>(
    draft: &'a RequestDraft<'_>,
    screen: &'a Screen,
    hits: &mut Vec<Hit<'a>>,
) {
    let mut add = |text: &str, matched_on, owner| {
        let hit = |value, is_secret| Hit {
            value,
            matched_on,
            owner,
            is_secret,
        };
        let secret = screen.found_in(text).into_iter();
        hits.extend(secret.map(|value| hit(value, true)));
        let private = screen.private_in(text).into_iter();
        hits.extend(private.map(|value| hit(value, false)));
    };
    if let Some(system) = draft.own_system() {
        add(system, "systemPrompt", None);
    }
    if !draft.base.tools.is_clear_of(screen.known()) {
        add(draft.base.tools.json(), "tools", None);
    }
    for fragment in &draft.fragments {
        add(&fragment.content, "fragment", Some(&fragment.owner));
    }
    if hits.iter().all(|hit| hit.matched_on != "tools") {
        draft.base.tools.clear_of(screen.known());
    }
}

/// One message of the conversation, as it would be sent. Gives what is blanked out in it and was not on record yet.
fn look_at<'a>(
    kept: &Arc<Kept>,
    screen: &'a Screen,
    redactor: &Redactor,
    hits: &mut Vec<Hit<'a>>,
) -> Vec<Hit<'a>> {
    if kept.is_clear_of(screen.known()) || kept.typed().is_some() {
        return Vec::new();
    }
    let text = history::text(kept);
    let hit = |value| Hit {
        value,
        matched_on: "history",
        owner: None,
        is_secret: true,
    };
    let sent = screen.found_in(&redactor.text(&text));
    let is_blanked = redactor.finds(&text);
    if sent.is_empty() && !is_blanked {
        kept.clear_of(screen.known());
        return Vec::new();
    }
    let in_all = if is_blanked {
        screen.found_in(&text)
    } else {
        sent.clone()
    };
    // Whatever becomes of it now, this message has been told of.
    let new: Vec<&Confidential> = in_all
        .into_iter()
        .filter(|value| kept.told_of(&value.origin))
        .collect();
    let is_sent = |value: &Confidential| sent.iter().any(|sent| sent.origin == value.origin);
    let blanked = new.into_iter().filter(|value| !is_sent(value));
    let is_result = kept.role() == "tool";
    let blanked = blanked.filter(|_| is_result).map(hit).collect();
    hits.extend(sent.iter().copied().map(hit));
    blanked
}

impl Hit<'_> {
    fn to_value(&self) -> Value {
        let mut violation = json!({
            "source": self.value.origin.source,
            "identifier": self.value.origin.identifier,
            "matchedOn": self.matched_on,
        });
        if let Some(owner) = self.owner {
            violation["fragmentOwnerExtId"] = owner.into();
        }
        violation
    }
}

impl std::fmt::Display for Hit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let origin = &self.value.origin;
        write!(f, "`{}` of {} in ", origin.identifier, origin.source)?;
        match (self.matched_on, self.owner) {
            ("systemPrompt", _) => f.write_str("the system prompt"),
            ("tools", _) => f.write_str("the description of a tool"),
            (_, Some(owner)) => write!(f, "what `{owner}` adds"),
            _ => f.write_str("the conversation"),
        }
    }
}
