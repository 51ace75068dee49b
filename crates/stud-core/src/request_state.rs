//! Where the requests of one session are put together: what the operator set for it, and what is worth keeping from one
//! request to the next.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use stud_contract_provider::ToolSpec;
use stud_host_api::ContextFragment;

use crate::fifo_lock::FifoLock;
use crate::model::Model;
use crate::redact::Redactor;
use crate::sync::{AtomicBool, Mutex, lock};

mod confidential;
mod leak_filter;
mod system_prompt;
mod context_settings;
mod toolset;

pub use context_settings::Terms;

pub(crate) use leak_filter::Screen;
pub(crate) use toolset::Toolset;

use system_prompt::SystemPrompt;

/// The desk of one session.
pub(crate) struct RequestState {
    pub(crate) terms: Terms,
    pub(crate) system_prompt: SystemPrompt,
    /// Lets one compaction at a time through.
    pub(crate) gate: Arc<FifoLock>,
    /// What context providers have handed in while they are asked, by their ids.
    handed_in: Mutex<BTreeMap<String, Vec<ContextFragment>>>,
    /// Context providers that have not come back from being asked, by id and generation.
    absent: Mutex<BTreeSet<(String, u64)>>,
    last: Mutex<Option<LastRequest>>,
    /// Whether it was told that the window fills up.
    warned: AtomicBool,
    screen: Mutex<Option<Arc<Screen>>>,
    tools: Mutex<Option<Arc<Toolset>>>,
}

/// What the last request was.
#[derive(Debug, Clone)]
pub(crate) struct LastRequest {
    pub(crate) model: Model,
    /// What fits into a request.
    pub(crate) window: u64,
    /// What was in it besides the conversation, in tokens.
    pub(crate) besides: u64,
}

impl RequestState {
    pub(crate) fn new(terms: Terms) -> Self {
        Self {
            system_prompt: SystemPrompt::at(terms.system_prompt.clone()),
            terms,
            gate: Arc::default(),
            handed_in: Mutex::default(),
            absent: Mutex::default(),
            last: Mutex::default(),
            warned: AtomicBool::new(false),
            screen: Mutex::default(),
            tools: Mutex::default(),
        }
    }

    /// Begins to take what a context provider hands in.
    pub(crate) fn open_for(&self, ext_id: &str) {
        lock(&self.handed_in).insert(ext_id.to_owned(), Vec::new());
    }

    /// Takes a fragment, if its provider is being asked. Gives whether it is.
    pub(crate) fn hand_in(&self, ext_id: &str, fragment: ContextFragment) -> bool {
        match lock(&self.handed_in).get_mut(ext_id) {
            Some(fragments) => {
                fragments.push(fragment);
                true
            }
            None => false,
        }
    }

    /// Takes no more, and gives what was handed in.
    pub(crate) fn close_for(&self, ext_id: &str) -> Vec<ContextFragment> {
        let handed_in = lock(&self.handed_in).remove(ext_id);
        handed_in.unwrap_or_default()
    }

    /// Whether a context provider has not come back from the last time it was asked.
    pub(crate) fn is_absent(&self, ext_id: &str, generation: u64) -> bool {
        lock(&self.absent).contains(&(ext_id.to_owned(), generation))
    }

    pub(crate) fn left(&self, ext_id: &str, generation: u64) {
        lock(&self.absent).insert((ext_id.to_owned(), generation));
    }

    pub(crate) fn mark_returned(&self, ext_id: &str, generation: u64) {
        lock(&self.absent).remove(&(ext_id.to_owned(), generation));
    }

    pub(crate) fn last(&self) -> Option<LastRequest> {
        lock(&self.last).clone()
    }

    pub(crate) fn remember(&self, last: LastRequest) {
        *lock(&self.last) = Some(last);
    }

    /// Whether this is the first time that the window fills up, since it last did not.
    pub(crate) fn fills_up(&self, is_filling_up: bool) -> bool {
        let before = self.warned.swap(is_filling_up, Ordering::Relaxed);
        is_filling_up && !before
    }

    /// What must not reach a model, as of now.
    pub(crate) fn screen(&self, redactor: &Redactor) -> Arc<Screen> {
        let mut screen = lock(&self.screen);
        match &*screen {
            Some(screen) if screen.known() == redactor.known() => screen.clone(),
            _ => {
                let fresh = Arc::new(Screen::of(&self.terms, redactor));
                *screen = Some(fresh.clone());
                fresh
            }
        }
    }

    /// The tools of a request, with what was found out about them while they are the same.
    pub(crate) fn toolset<'a>(
        &self,
        tools: impl Iterator<Item = &'a ToolSpec> + Clone,
    ) -> Arc<Toolset> {
        let mut last = lock(&self.tools);
        match &*last {
            Some(last) if tools.clone().eq(last.specs()) => last.clone(),
            _ => {
                let fresh = Arc::new(Toolset::of(tools.cloned().collect()));
                *last = Some(fresh.clone());
                fresh
            }
        }
    }
}

#[cfg(test)]
mod tests;
