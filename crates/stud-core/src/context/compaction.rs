//! Putting a summary in the place of the oldest part of a conversation.

use std::sync::Arc;

use serde_json::json;
use stud_abi::CancellationToken;
use stud_contract_meta::Result;
use stud_diagnostics::codes;
use stud_host_api::context::{Compacted, Compacting};
use stud_host_api::events::{
    CompactionCompleted, CompactionFailed, CompactionInvoked, CompactionPerformed,
    CompactionStarted, CoreEvent,
};

use super::meter::Meter;
use super::plan::{Keep, Plan, plan};
use super::summary::{Summarizer, transcribed};
use super::{percent, refuse, show};
use crate::activate::Active;
use crate::model::Model;
use crate::request_state::LastRequest;
use crate::session::{Compaction, Kept, Segment, Session};
use crate::span;

/// Compacts a conversation on request, whether or not it is needed. `None` if no request was sent yet,
/// so that the window is unknown.
///
/// The events are `CompactionInvoked` (`totalTokens`, `targetTokens`: of the conversation alone), then, unless it is
/// short enough, `CompactionStarted` with the same; at the end `CompactionCompleted`, and `CompactionPerformed` under
/// its older name (`segmentsCompacted`, `originalTokens`, `compactedTokens`), or `CompactionFailed` (`errorClass`,
/// `errorCode`, `message`). What was done is on record in the class `Compaction`, without a word of what was said.
///
/// # Errors
///
/// `Validation/ContextOverflow` if it cannot be made as short as that, `ProviderTransient/SummarizeFailed`, and
/// `Cancellation/TurnCancelled`. The conversation is as it was then.
pub async fn compact(
    session: &Arc<Session>,
    cancelled: CancellationToken,
    how: &Compacting,
) -> Option<Result<Compacted>> {
    let last = session.desk().last()?;
    Some(compact_for(session, cancelled, how, &last).await)
}

async fn compact_for(
    session: &Arc<Session>,
    cancelled: CancellationToken,
    how: &Compacting,
    last: &LastRequest,
) -> Result<Compacted> {
    let LastRequest {
        model,
        window,
        besides,
    } = last;
    let wanted = window.saturating_mul(how.target_utilization_percent.into()) / 100;
    let target = wanted.saturating_sub(*besides);
    let job = CompactionJob {
        session,
        provider: &model.provider(&session.plugins())?,
        model,
        window: *window,
        cancelled,
        correlation_id: session.correlation_id(),
    };
    let done = job
        .run(Goal {
            target,
            limit: target,
            keep: Keep::Turns(how.preserve_recent_turns),
        })
        .await?;
    let used = done.compacted_tokens + besides;
    let fragments = session.metrics().snapshot().context.assembled_fragments;
    show(
        session,
        used,
        *window,
        usize::try_from(fragments).unwrap_or(0),
    );
    Ok(Compacted {
        compacted_segments: done.segments as u64,
        original_tokens: done.original_tokens,
        compacted_tokens: done.compacted_tokens,
        new_utilization_percent: percent(used, *window),
        summary: done.summary,
    })
}

/// A compaction to be done.
pub(super) struct CompactionJob<'a> {
    pub(super) session: &'a Arc<Session>,
    pub(super) provider: &'a Arc<Active>,
    pub(super) model: &'a Model,
    pub(super) window: u64,
    pub(super) cancelled: CancellationToken,
    /// What ties together all that is told of it.
    pub(super) correlation_id: String,
}

/// What is to be reached, in tokens of the conversation.
pub(super) struct Goal {
    /// What it should have.
    pub(super) target: u64,
    /// What it must not exceed.
    pub(super) limit: u64,
    pub(super) keep: Keep,
}

/// What a compaction came to.
#[derive(Debug, Default)]
pub(super) struct CompactionResult {
    pub(super) segments: usize,
    /// How many messages the summary stands for.
    dropped: u64,
    pub(super) original_tokens: u64,
    pub(super) compacted_tokens: u64,
    pub(super) summary: String,
}

impl CompactionJob<'_> {
    pub(super) async fn run(&self, goal: Goal) -> Result<CompactionResult> {
        // Two at a time would each summarize what the other one replaces.
        let _pass = self.session.desk().gate.enter().await;
        let history = self.session.history();
        let meter = Meter::exact(&history, None).await;
        let tokens: Vec<u64> = history.iter().map(|kept| meter.message(kept)).collect();
        let total: u64 = tokens.iter().sum();
        self.publish(&CompactionInvoked {
            target_tokens: Some(goal.target),
            total_tokens: total,
            ..CompactionInvoked::default()
        });
        let work = self.work(&goal, &history, &tokens, meter);
        let books = self.session.books();
        match span::over(books, "compaction", &self.correlation_id, work).await {
            Ok(done) => {
                self.tell(&done);
                Ok(done)
            }
            Err(error) => {
                self.publish(&CompactionFailed {
                    error_class: error.class().to_owned(),
                    error_code: error.code().to_owned(),
                    message: error.message().to_owned(),
                });
                Err(error)
            }
        }
    }

    async fn work(
        &self,
        goal: &Goal,
        history: &[Arc<Kept>],
        tokens: &[u64],
        meter: Meter,
    ) -> Result<CompactionResult> {
        let total: u64 = tokens.iter().sum();
        if goal.target == 0 {
            return Err(too_long(total, 0));
        }
        if total <= goal.target {
            return Ok(CompactionResult {
                original_tokens: total,
                compacted_tokens: total,
                ..CompactionResult::default()
            });
        }
        let budget = (goal.target / 5).max(1);
        let room = goal.target.saturating_sub(budget);
        let plan =
            plan(history, tokens, goal.keep, room).ok_or_else(|| too_long(total, goal.limit))?;
        let stays: u64 = (0..history.len())
            .filter(|place| plan.keeps(*place))
            .map(|place| tokens[place])
            .sum();
        if stays >= goal.limit {
            return Err(too_long(stays, goal.limit));
        }
        self.publish(&CompactionStarted {
            target_tokens: goal.target,
            total_tokens: total,
        });
        let (summary, segments) = self.summarize(history, tokens, &plan, budget).await?;
        let compacted = stays + meter.text(&summary);
        if compacted > goal.limit {
            return Err(too_long(compacted, goal.limit));
        }
        let count = segments.len();
        let dropped = segments.iter().map(|segment| segment.messages).sum();
        let compaction = Compaction {
            summary: summary.clone(),
            segments,
            through: history[plan.cut - 1].id().to_owned(),
            kept: plan
                .also
                .map(|place| history[place].id().to_owned())
                .into_iter()
                .collect(),
            original_tokens: total,
            compacted_tokens: compacted,
        };
        self.session
            .condense(compaction, &self.correlation_id)
            .await?;
        Ok(CompactionResult {
            segments: count,
            dropped,
            original_tokens: total,
            compacted_tokens: compacted,
            summary,
        })
    }

    /// Summarizes piece by piece, each with the summary of those before it: what is summarized may itself be more than
    /// the model takes.
    async fn summarize(
        &self,
        history: &[Arc<Kept>],
        tokens: &[u64],
        plan: &Plan,
        budget: u64,
    ) -> Result<(String, Vec<Segment>)> {
        let summarizer = Summarizer {
            session: self.session,
            provider: self.provider,
            model: self.model,
            cancelled: &self.cancelled,
            correlation_id: &self.correlation_id,
            budget,
        };
        let redactor = &self.session.books().redactor;
        // The rest is for two summaries, and for a model that counts otherwise.
        let most = (self.window / 4 * 3).max(1);
        // No text has more tokens than bytes.
        let longest = usize::try_from(most).unwrap_or(usize::MAX);
        let mut pieces: Vec<(String, Segment)> = Vec::new();
        for place in plan.replaced() {
            let kept = &history[place];
            let fits = pieces
                .last()
                .is_some_and(|(_, segment)| segment.tokens + tokens[place] <= most);
            if !fits {
                pieces.push(Default::default());
            }
            let Some((text, segment)) = pieces.last_mut() else {
                continue;
            };
            let fits = tokens[place] <= most;
            let longest = if fits { usize::MAX } else { longest };
            text.push_str(&transcribed(kept, redactor, longest));
            segment.messages += 1;
            segment.tokens += tokens[place];
            if let Some(turn) = kept.turn_id()
                && segment.turn_ids.last().is_none_or(|last| last != turn)
            {
                segment.turn_ids.push(turn.to_owned());
            }
        }
        let mut summary: Option<String> = None;
        let mut segments = Vec::with_capacity(pieces.len());
        for (text, segment) in pieces {
            let next = summarizer.summarize(summary.as_deref(), &text).await?;
            summary = Some(next);
            segments.push(segment);
        }
        Ok((summary.unwrap_or_default(), segments))
    }

    /// Tells what was done, and puts it on record.
    fn tell(&self, done: &CompactionResult) {
        let completed = CompactionCompleted {
            compacted_tokens: done.compacted_tokens,
            original_tokens: done.original_tokens,
            segments_compacted: done.segments as u64,
        };
        self.publish(&completed);
        let mut record = json!(completed);
        self.publish(&CompactionPerformed(completed));
        record["droppedMessages"] = done.dropped.into();
        record["beforeTokens"] = done.original_tokens.into();
        record["afterTokens"] = done.compacted_tokens.into();
        let books = self.session.books();
        books.audit("Compaction", None, &self.correlation_id, record);
    }

    fn publish(&self, event: &impl CoreEvent) {
        let books = self.session.books();
        books.publish(&self.correlation_id, event);
    }
}

fn too_long(tokens: u64, limit: u64) -> stud_contract_meta::Error {
    let message =
        format!("the conversation has {tokens} tokens that cannot be summarized, and {limit} fit");
    refuse(&codes::CONTEXT_OVERFLOW, message)
        .with("totalTokens", tokens)
        .with("targetTokens", limit)
}
