//! Finds what must not reach a model.

use secrecy::ExposeSecret as _;

use super::Terms;
use crate::redact::{Confidential, Finder, Forms, Redactor, is_ordinary, is_telling};

/// The values that must not reach a model. Secrets are looked for in everything that is said, all in one pass. What is
/// only private is looked for in the authored texts, where an automaton costs more than it saves.
pub(crate) struct Screen {
    secret: Values,
    private: Vec<(Confidential, Forms)>,
    known: usize,
}

impl Screen {
    /// What was resolved so far, and what stands in the settings.
    pub(super) fn of(terms: &Terms, redactor: &Redactor) -> Self {
        let learned = redactor.learned();
        let known = learned.len();
        let mut secret: Vec<Confidential> = Vec::new();
        for value in learned
            .into_iter()
            .chain(terms.confidential.iter().cloned())
        {
            let text = value.value.expose_secret();
            let is_machine = value.origin.source == "env" && is_ordinary(&value.origin.identifier);
            if is_telling(text) && !is_machine && !holds(&secret, &value) {
                secret.push(value);
            }
        }
        let private = terms.private.iter();
        let private = private.filter(|value| !holds(&secret, value)).cloned();
        let private = private.map(|value| {
            let forms = Forms::of(value.value.expose_secret());
            (value, forms)
        });
        Self {
            private: private.collect(),
            secret: Values::of(secret),
            known,
        }
    }

    /// How many values the redactor knew when this was made.
    pub(crate) fn known(&self) -> usize {
        self.known
    }

    /// The secrets that stand in a text.
    pub(crate) fn found_in(&self, text: &str) -> Vec<&Confidential> {
        self.secret.found_in(text)
    }

    /// The values of the settings, secrets aside, that occur in an authored text.
    pub(crate) fn private_in(&self, text: &str) -> Vec<&Confidential> {
        let private = self.private.iter();
        let found = private.filter(|(_, forms)| forms.stand_in(text));
        found.map(|(value, _)| value).collect()
    }
}

fn holds(values: &[Confidential], value: &Confidential) -> bool {
    let text = value.value.expose_secret();
    values
        .iter()
        .any(|other| other.value.expose_secret() == text)
}

struct Values {
    values: Vec<Confidential>,
    finder: Option<Finder>,
}

impl Values {
    fn of(values: Vec<Confidential>) -> Self {
        let finder = Finder::of(values.iter().map(|value| value.value.expose_secret()));
        Self { values, finder }
    }

    fn found_in(&self, text: &str) -> Vec<&Confidential> {
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
            .field("values", &self.secret.values.len())
            .finish_non_exhaustive()
    }
}
