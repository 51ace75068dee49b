//! What a model is told: a request is put together from the system prompt, the conversation, the tools, and what
//! context providers add; it is looked through, measured, and made to fit.
//!
//! In the order of events, all of which carry the turn's id:
//!
//! | Event | Payload |
//! |---|---|
//! | `AssemblyStarted` | `providerCount`, `tokenizerId`: `null` as long as sizes are estimated |
//! | `ContextProviderFailed` | `ownerExtId`, `graceful`, `code`; for each that failed |
//! | `ExclusiveSlotConflict` | `exclusiveSlot`, `winnerExtId`, `loserExtId`; for each that claims a slot in vain |
//! | `ProviderFragmentsResolved` | `providerCount`, `fragmentCount`: who was asked, and what came of it |
//! | `FragmentsResolved` | `fragmentCount`, `baseTokens`: what there is without them |
//! | `FragmentTruncated` | `ownerExtId`, `beforeTokens`, `afterTokens`; for each that was cut |
//! | `BudgetEnforced` | `fragmentCount` |
//! | `CompactionThresholdHit` | `totalTokens`, `modelWindowTokens`, `percent`; once, when the window begins to fill up |
//! | `CompactionInvoked` | `reason`: `window-exceeded` or `not-needed`; `totalTokens`, `modelWindowTokens` |
//! | those of a compaction | see [`compact`] |
//! | `AssemblyCompleted` | `totalTokens`, `modelWindowTokens`, `compacted` |
//!
//! Two things keep secrets from a model, and they are there for different reasons. Whatever a tool or a model said may
//! hold a secret, because a tool reads files; nobody is to blame, so what stud resolved is blanked out and the
//! conversation goes on ([`Redactor`](crate::redact::Redactor)). The scan is the net below: it also knows what stands in
//! the settings and was never resolved, and it looks where nothing should ever be blanked out, because somebody wrote it
//! there: the system prompt, the tools, what context providers add. What it finds ends the request, and is told.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use stud_contract_meta::{Error, Result};
use stud_contract_provider::Message;
use stud_diagnostics::{Code, codes};

use crate::model::Model;
use crate::request_state::{Desk, Last, Toolset};
use crate::session::{Kept, Session, Turn};

mod budget;
mod compaction;
mod composed;
mod fragment;
mod gather;
mod history;
mod leak;
mod meter;
mod plan;
mod summary;
mod system;
mod window;

pub use compaction::compact;
pub(crate) use composed::Composed;
pub use system::default_system_prompt;

use compaction::{Goal, Job};
use composed::Told;
use fragment::Fragment;
use meter::Meter;
use plan::Keep;

/// What a request is put together from, besides the conversation and what context providers add.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    /// What the model is told first, such as the body of a stage. Without it that is the operator's `system.md`.
    pub(crate) system: Option<String>,
    /// The tools the model may propose calls of.
    pub(crate) tools: Arc<Toolset>,
    /// The most the answer may have.
    pub(crate) max_tokens: Option<u64>,
    /// How far the answer may stray.
    pub(crate) temperature: Option<f64>,
    /// Parameters of the backend alone.
    pub(crate) params: Map<String, Value>,
}

/// Puts together the request that the model is sent now.
///
/// # Errors
///
/// `Validation/ModelWindowInvalid`, `Validation/SystemPromptUnreadable`, `Validation/ContextContainsForbiddenSource`,
/// `ExtensionHost/ContextProviderFailed`, `Validation/LLMContextLeak`, `Validation/ContextOverflow`,
/// `Validation/SystemModeRemoveLoadBearing`, `ProviderTransient/SummarizeFailed`, `Cancellation/TurnCancelled`, and what
/// context providers say with class `Validation`. No request is sent then.
pub(crate) async fn compose(turn: &Turn, model: &Model, base: Base) -> Result<Composed> {
    let session = turn.session();
    let desk = session.desk();
    let provider = model.provider(&turn.plugins())?;
    let window = window::of(&provider, &model.model_id)?;
    let mut draft = Draft::begin(turn, base, window)?;

    let providers = gather::providers(turn);
    draft.measure().await;
    let started = json!({"providerCount": providers.len(), "tokenizerId": draft.meter.id()});
    turn.publish("AssemblyStarted", &started);
    let fragments = gather::fragments(turn, &providers).await?;
    let gathered = json!({"providerCount": providers.len(), "fragmentCount": fragments.len()});
    turn.publish("ProviderFragmentsResolved", &gathered);
    let resolved = json!({
        "fragmentCount": fragments.len(),
        "baseTokens": draft.tokens(),
    });
    turn.publish("FragmentsResolved", &resolved);
    draft.fragments = budget::enforce(fragments, |cut| {
        turn.publish("FragmentTruncated", &json!(cut));
    });
    turn.publish(
        "BudgetEnforced",
        &json!({"fragmentCount": draft.fragments.len()}),
    );
    draft.measure().await;
    system::refuse_removal(&draft)?;
    leak::refuse_leaks(&draft)?;

    let compacted = draft.fit(&provider, model).await?;
    let total = draft.tokens();
    desk.remember(Last {
        model: model.clone(),
        window,
        besides: draft.besides(),
    });
    show(session, total, window, draft.fragments.len());
    let completed = json!({
        "totalTokens": total,
        "modelWindowTokens": window,
        "compacted": compacted,
    });
    turn.publish("AssemblyCompleted", &completed);
    Ok(draft.finish(model))
}

/// The conversation as a model is told it.
pub(crate) fn told(turn: &Turn) -> Vec<Message> {
    let session = turn.session();
    let (told, _) = history::told(&session.history(), &session.books().redactor);
    told.iter().filter_map(Told::message).collect()
}

/// Says which model answers, before it has been asked anything: so that a session can be compacted before its next turn.
pub fn expect_model(session: &Session, model: &Model) -> Result<()> {
    let provider = model.provider(&session.plugins())?;
    let window = window::of(&provider, &model.model_id)?;
    session.desk().remember(Last {
        model: model.clone(),
        window,
        besides: 0,
    });
    Ok(())
}

/// A request on its way.
struct Draft<'a> {
    turn: &'a Turn,
    desk: &'a Desk,
    base: Base,
    /// What the operator has the model told, unless the base says something.
    prompt: Option<Arc<str>>,
    history: Vec<Arc<Kept>>,
    fragments: Vec<Fragment>,
    window: u64,
    meter: Meter,
}

impl<'a> Draft<'a> {
    fn begin(turn: &'a Turn, base: Base, window: u64) -> Result<Self> {
        let desk = turn.session().desk();
        let prompt = match base.system {
            Some(_) => None,
            None => desk.system_prompt.text()?,
        };
        Ok(Self {
            turn,
            desk,
            prompt,
            base,
            history: turn.session().history(),
            fragments: Vec::new(),
            window,
            meter: Meter::Rough,
        })
    }

    /// The system prompt without what context providers add.
    fn own_system(&self) -> Option<&str> {
        self.base.system.as_deref().or(self.prompt.as_deref())
    }

    /// Counts exactly as soon as the window might fill up, and not before: it takes a while and much memory.
    async fn measure(&mut self) {
        if matches!(self.meter, Meter::Rough)
            && part_of(self.most(), self.window) >= self.desk.terms.warn_at
        {
            self.meter = Meter::exact(&self.history, Some(&self.base.tools)).await;
        }
    }

    /// What the request cannot exceed, in tokens.
    fn most(&self) -> u64 {
        let system = self.own_system().map_or(0, str::len) as u64;
        let history = self.history.iter().map(|kept| history::size(kept).bytes);
        let fragments = self
            .fragments
            .iter()
            .map(|fragment| fragment.content.len() as u64);
        system + self.base.tools.json().len() as u64 + history.sum::<u64>() + fragments.sum::<u64>()
    }

    /// What the request takes up without the conversation.
    fn besides(&self) -> u64 {
        let system = self.own_system().map_or(0, |text| self.meter.text(text));
        let fragments = self.fragments.iter();
        let fragments = fragments.map(|fragment| self.meter.text(&fragment.content));
        system + self.meter.tools(&self.base.tools) + fragments.sum::<u64>()
    }

    fn tokens(&self) -> u64 {
        self.besides() + self.meter.history(&self.history)
    }

    /// Makes the request fit, if it does not. Gives whether the conversation was summarized for it.
    async fn fit(
        &mut self,
        provider: &Arc<crate::activate::Active>,
        model: &Model,
    ) -> Result<bool> {
        let (total, window) = (self.tokens(), self.window);
        let used = part_of(total, window);
        if self.desk.fills_up(used >= self.desk.terms.warn_at) {
            let hit = json!({
                "totalTokens": total,
                "modelWindowTokens": window,
                "percent": percent(total, window),
            });
            self.turn.publish("CompactionThresholdHit", &hit);
        }
        let needed = used > self.desk.terms.compact_at;
        let invoked = json!({
            "reason": if needed { "window-exceeded" } else { "not-needed" },
            "totalTokens": total,
            "modelWindowTokens": window,
        });
        self.turn.publish("CompactionInvoked", &invoked);
        if !needed {
            return Ok(false);
        }
        let besides = self.besides();
        if besides >= window {
            return Err(overflow(total, window));
        }
        let job = Job {
            session: self.turn.session(),
            provider,
            model,
            window,
            cancelled: self.turn.cancelled(),
            correlation_id: self.turn.id().to_owned(),
        };
        let goal = Goal {
            target: window::room(window, besides),
            limit: window - besides,
            keep: Keep::Fitting,
        };
        match job.run(goal).await {
            Ok(done) => {
                self.history = self.turn.session().history();
                self.meter = Meter::exact(&self.history, Some(&self.base.tools)).await;
                leak::refuse_leaks(self)?;
                match self.tokens() {
                    total if total > window => Err(overflow(total, window)),
                    _ => Ok(done.segments > 0),
                }
            }
            // It was worth a try, and there is still room.
            Err(error) if total <= window && error.class() != "Cancellation" => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn finish(self, model: &Model) -> Composed {
        let redactor = &self.turn.session().books().redactor;
        let (mut messages, said_last) = history::told(&self.history, redactor);
        let system = system::text(&self);
        system::add_to_prompt(&mut messages, said_last, &self.fragments);
        Composed {
            system,
            messages,
            tools: self.base.tools,
            model_id: model.model_id.clone(),
            max_tokens: self.base.max_tokens,
            temperature: self.base.temperature,
            params: self.base.params,
        }
    }
}

/// Shows how full the window is to everyone who looks.
fn show(session: &Session, used: u64, window: u64, fragments: usize) {
    session.metrics().update(|picture| {
        picture.context.used_tokens = used;
        picture.context.window_tokens = Some(window);
        picture.context.percent = Some(percent(used, window));
        picture.context.assembled_fragments = fragments as u64;
    });
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no window has so many tokens that it would show"
)]
fn part_of(tokens: u64, window: u64) -> f64 {
    tokens as f64 / window as f64
}

/// In percent, to one place.
fn percent(tokens: u64, window: u64) -> f64 {
    (part_of(tokens, window) * 1000.0).round() / 10.0
}

fn overflow(total: u64, window: u64) -> Error {
    let message = format!("the request has {total} tokens, and the model takes {window}");
    refuse(&codes::CONTEXT_OVERFLOW, message)
        .with("totalTokens", total)
        .with("modelWindowTokens", window)
}

fn refuse(code: &Code, message: impl Into<String>) -> Error {
    Error::new(code.class, code.name, message)
}

/// Waits for `work`, but not longer than it is wanted.
async fn unless_cancelled<T>(
    session: &Session,
    cancelled: &stud_abi::CancellationToken,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let done = crate::executor::unless(cancelled, work).await;
    done.unwrap_or_else(|| Err(session.turn_called_off()))
}

#[cfg(test)]
mod tests;
