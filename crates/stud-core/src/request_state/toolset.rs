//! The tools of a request. They seldom change, so what was found out about them is kept.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use serde_json::value::{RawValue, to_raw_value};
use stud_contract_provider::ToolSpec;

use crate::sync::AtomicU64;

/// The tools of a request, as the model is told of them.
#[derive(Debug)]
pub(crate) struct Toolset {
    specs: Vec<ToolSpec>,
    json: Box<RawValue>,
    chars: u64,
    tokens: OnceLock<u64>,
    /// How many secrets there were when it was last found to hold none, and one.
    cleared: AtomicU64,
}

impl Toolset {
    pub(crate) fn of(specs: Vec<ToolSpec>) -> Self {
        // Texts, and JSON as it came: nothing in them can fail to be written.
        let json = to_raw_value(&specs).unwrap_or_else(|_| RawValue::NULL.to_owned());
        let mut toolset = Self {
            specs,
            json,
            chars: 0,
            tokens: OnceLock::new(),
            cleared: AtomicU64::new(0),
        };
        toolset.chars = toolset.json().chars().count() as u64;
        toolset
    }

    pub(crate) fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// The list as a provider takes it.
    pub(crate) fn raw(&self) -> &RawValue {
        &self.json
    }

    /// What a model reads of them. No tools take up nothing.
    pub(crate) fn json(&self) -> &str {
        match &*self.specs {
            [] => "",
            _ => self.json.get(),
        }
    }

    pub(crate) fn chars(&self) -> u64 {
        self.chars
    }

    pub(crate) fn tokens(&self, count: impl FnOnce(&str) -> u64) -> u64 {
        *self.tokens.get_or_init(|| count(self.json()))
    }

    pub(crate) fn is_clear_of(&self, secrets: usize) -> bool {
        self.cleared.load(Ordering::Relaxed) == secrets as u64 + 1
    }

    pub(crate) fn clear_of(&self, secrets: usize) {
        self.cleared.store(secrets as u64 + 1, Ordering::Relaxed);
    }
}
