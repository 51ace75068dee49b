//! The tools of a request. They seldom change, so what was found out about them is kept.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use stud_contract_provider::ToolSpec;

use crate::sync::AtomicU64;

/// The tools of a request, as the model is told of them.
#[derive(Debug)]
pub(crate) struct Toolset {
    specs: Vec<ToolSpec>,
    json: String,
    chars: u64,
    tokens: OnceLock<u64>,
    /// How many secrets there were when it was last found to hold none, and one.
    cleared: AtomicU64,
}

impl Toolset {
    pub(super) fn of(specs: &[ToolSpec]) -> Self {
        // No tools take up nothing.
        let json = match specs {
            [] => String::new(),
            specs => serde_json::to_string(specs).unwrap_or_default(),
        };
        Self {
            specs: specs.to_vec(),
            chars: json.chars().count() as u64,
            json,
            tokens: OnceLock::new(),
            cleared: AtomicU64::new(0),
        }
    }

    pub(super) fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    pub(crate) fn json(&self) -> &str {
        &self.json
    }

    pub(crate) fn chars(&self) -> u64 {
        self.chars
    }

    pub(crate) fn tokens(&self, count: impl FnOnce(&str) -> u64) -> u64 {
        *self.tokens.get_or_init(|| count(&self.json))
    }

    pub(crate) fn is_clear_of(&self, secrets: usize) -> bool {
        self.cleared.load(Ordering::Relaxed) == secrets as u64 + 1
    }

    pub(crate) fn clear_of(&self, secrets: usize) {
        self.cleared.store(secrets as u64 + 1, Ordering::Relaxed);
    }
}
