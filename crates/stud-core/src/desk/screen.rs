//! Finds what must not reach a model.

use secrecy::ExposeSecret as _;

use crate::redact::{Confidential, Finder, Redactor, is_ordinary, is_telling};

/// The values that must not reach a model, all looked for in one pass.
pub(crate) struct Screen {
    values: Vec<Confidential>,
    finder: Option<Finder>,
    known: usize,
}

impl Screen {
    /// What was resolved so far, and what stands in the settings.
    pub(super) fn of(in_settings: &[Confidential], redactor: &Redactor) -> Self {
        let learned = redactor.learned();
        let known = learned.len();
        let mut values: Vec<Confidential> = Vec::new();
        for value in learned.into_iter().chain(in_settings.iter().cloned()) {
            let text = value.value.expose_secret();
            let is_machine = value.origin.source == "env" && is_ordinary(&value.origin.identifier);
            let mut others = values.iter().map(|value| value.value.expose_secret());
            if is_telling(text) && !is_machine && others.all(|other| other != text) {
                values.push(value);
            }
        }
        let finder = Finder::of(values.iter().map(|value| value.value.expose_secret()));
        Self {
            values,
            finder,
            known,
        }
    }

    /// How many values the redactor knew when this was made.
    pub(crate) fn known(&self) -> usize {
        self.known
    }

    /// The values that stand in a text.
    pub(crate) fn found_in(&self, text: &str) -> Vec<&Confidential> {
        let Some(finder) = &self.finder else {
            return Vec::new();
        };
        let found = finder.which(text).into_iter();
        found.filter_map(|index| self.values.get(index)).collect()
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen")
            .field("values", &self.values.len())
            .finish_non_exhaustive()
    }
}
