//! What things take up: roughly, or exactly.

use std::sync::Arc;

use super::history;
use crate::executor;
use crate::request_state::Toolset;
use crate::session::Kept;
use crate::tokens::{TOKENIZER_ID, Tokenizer, estimate};

/// How tokens are counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meter {
    /// From characters.
    Rough,
    /// By a tokenizer.
    Exact(Tokenizer),
}

impl Meter {
    /// Counts potentially large texts, on a thread of its own.
    pub(super) async fn exact(history: &[Arc<Kept>], tools: Option<&Arc<Toolset>>) -> Self {
        let (history, tools) = (history.to_vec(), tools.cloned());
        let counted = executor::spawn_future(async move {
            let meter = Tokenizer::get().map_or(Self::Rough, Self::Exact);
            meter.history(&history);
            if let Some(tools) = &tools {
                meter.tools(tools);
            }
            meter
        });
        counted.await.unwrap_or(Self::Rough)
    }

    /// Which tokenizer counts.
    pub(super) fn id(self) -> Option<&'static str> {
        match self {
            Self::Rough => None,
            Self::Exact(_) => Some(TOKENIZER_ID),
        }
    }

    pub(super) fn text(self, text: &str) -> u64 {
        match self {
            Self::Rough => estimate(text.chars().count() as u64),
            Self::Exact(tokenizer) => tokenizer.count(text),
        }
    }

    pub(super) fn tools(self, tools: &Toolset) -> u64 {
        match self {
            Self::Rough => estimate(tools.chars()),
            Self::Exact(tokenizer) => tools.tokens(|json| tokenizer.count(json)),
        }
    }

    pub(super) fn message(self, kept: &Kept) -> u64 {
        match self {
            Self::Rough => estimate(history::size(kept).chars),
            Self::Exact(tokenizer) => kept.tokens(|| tokenizer.count(&history::text(kept))),
        }
    }

    pub(super) fn history(self, history: &[Arc<Kept>]) -> u64 {
        history.iter().map(|kept| self.message(kept)).sum()
    }
}
