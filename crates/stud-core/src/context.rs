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
//! contain a secret, because a tool reads files; so resolved secrets are redacted and the
//! conversation continues ([`Redactor`](crate::redact::Redactor)). The scan is the second line of defense: it also knows the values in
//! the settings that were never resolved, and it covers the texts that must not be redacted, because their author wrote them
//! there: the system prompt, the tools, what context providers add. What it finds ends the request, and is told.

use std::sync::Arc;

use serde_json::{Map, Value};
use stud_contract_meta::{Error, Result};
use stud_contract_provider::Message;
use stud_diagnostics::{Code, codes};
use stud_host_api::events::{
    AssemblyCompleted, AssemblyStarted, BudgetEnforced, CompactionInvoked, CompactionReason,
    CompactionThresholdHit, FragmentsResolved, ProviderFragmentsResolved,
};

use crate::model::Model;
use crate::request_state::{LastRequest, RequestState, Toolset};
use crate::session::{Kept, Session, Turn};

mod fragment;
mod budget;
mod history;
mod composed;
mod meter;
mod plan;
mod summary;
mod compaction;
mod gather;
mod leak;
mod system;
mod window;

pub use compaction::compact;
pub(crate) use composed::Composed;
pub use system::default_system_prompt;

use compaction::{CompactionJob, Goal};
use fragment::Fragment;
use history::RequestMessage;
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
    /// The messages of a transcript of its own, such as that of a stage. It stands for the conversation, and nothing of
    /// the session is added to it.
    pub(crate) messages: Option<Vec<Arc<Kept>>>,
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
    let mut draft = RequestDraft::begin(turn, base, window)?;

    let providers = if draft.is_apart() {
        Vec::new()
    } else {
        gather::providers(turn)
    };
    draft.measure().await;
    turn.publish(&AssemblyStarted {
        provider_count: providers.len() as u64,
        tokenizer_id: draft.meter.id().map(str::to_owned),
    });
    let fragments = gather::fragments(turn, &providers).await?;
    let fragment_count = fragments.len() as u64;
    turn.publish(&ProviderFragmentsResolved {
        fragment_count,
        provider_count: providers.len() as u64,
    });
    turn.publish(&FragmentsResolved {
        base_tokens: draft.tokens(),
        fragment_count,
    });
    draft.fragments = budget::enforce(fragments, |cut| turn.publish(&cut));
    turn.publish(&BudgetEnforced {
        fragment_count: draft.fragments.len() as u64,
    });
    draft.measure().await;
    system::refuse_removal(&draft)?;
    leak::refuse_leaks(&draft)?;

    let compacted = draft.fit(&provider, model).await?;
    let total = draft.tokens();
    if !draft.is_apart() {
        desk.remember(LastRequest {
            model: model.clone(),
            window,
            besides: draft.besides(),
        });
    }
    show(session, total, window, draft.fragments.len());
    turn.publish(&AssemblyCompleted {
        compacted,
        model_window_tokens: window,
        total_tokens: total,
    });
    Ok(draft.finish(model))
}

/// The conversation as a model is told it, or the messages of a transcript of its own.
pub(crate) fn told(turn: &Turn, messages: Option<&[Arc<Kept>]>) -> Vec<Message> {
    let session = turn.session();
    let redactor = &session.books().redactor;
    let (told, _) = match messages {
        Some(messages) => history::told(messages, redactor),
        None => history::told(&session.history(), redactor),
    };
    told.iter().filter_map(RequestMessage::message).collect()
}

/// A request on its way.
struct RequestDraft<'a> {
    turn: &'a Turn,
    desk: &'a RequestState,
    base: Base,
    /// What the operator has the model told, unless the base says something.
    prompt: Option<Arc<str>>,
    history: Vec<Arc<Kept>>,
    fragments: Vec<Fragment>,
    window: u64,
    meter: Meter,
}

impl<'a> RequestDraft<'a> {
    fn begin(turn: &'a Turn, base: Base, window: u64) -> Result<Self> {
        let desk = turn.session().desk();
        let prompt = match base.system {
            Some(_) => None,
            None => desk.system_prompt.text()?,
        };
        let history = match &base.messages {
            Some(messages) => messages.clone(),
            None => turn.session().history(),
        };
        Ok(Self {
            turn,
            desk,
            prompt,
            base,
            history,
            fragments: Vec::new(),
            window,
            meter: Meter::Rough,
        })
    }

    /// Whether it has a transcript of its own.
    fn is_apart(&self) -> bool {
        self.base.messages.is_some()
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
            self.turn.publish(&CompactionThresholdHit {
                model_window_tokens: window,
                percent: percent(total, window),
                total_tokens: total,
            });
        }
        let needed = used > self.desk.terms.compact_at;
        let reason = if needed {
            CompactionReason::WindowExceeded
        } else {
            CompactionReason::NotNeeded
        };
        self.turn.publish(&CompactionInvoked {
            model_window_tokens: Some(window),
            reason: Some(reason),
            total_tokens: total,
            ..CompactionInvoked::default()
        });
        if !needed {
            return Ok(false);
        }
        if self.is_apart() {
            // A transcript of its own is bounded by the turns it may take, and is not summarized.
            if total > window {
                return Err(overflow(total, window));
            }
            return Ok(false);
        }
        let besides = self.besides();
        if besides >= window {
            return Err(overflow(total, window));
        }
        let job = CompactionJob {
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
    let done = crate::executor::or_cancelled(cancelled, work).await;
    done.unwrap_or_else(|| Err(session.turn_called_off()))
}

#[cfg(test)]
mod tests;
