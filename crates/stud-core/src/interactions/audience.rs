//! How many screens could answer a prompt now.

use super::{Prompts, Table};
use crate::sync::lock;

/// How many screens could answer, and how many of them may.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Audience {
    /// The screens that can show a prompt.
    pub supported: usize,
    /// Those of them whose person wants to answer.
    pub enabled: usize,
}

impl Audience {
    /// Whether a prompt that is raised now can be answered.
    pub const fn is_available(self) -> bool {
        self.enabled > 0
    }
}

impl Prompts {
    /// Says how many screens stand behind an interactor that has several. One that says nothing is one screen as long as
    /// it takes part.
    pub fn set_audience(&self, ext_id: &str, audience: Audience) {
        lock(&self.table)
            .audiences
            .insert(ext_id.to_owned(), audience);
    }

    /// How many screens there are behind all interactors.
    pub fn audience(&self) -> Audience {
        lock(&self.table).audience()
    }
}

impl Table {
    fn audience(&self) -> Audience {
        let single = self
            .seats
            .iter()
            .filter(|seat| !self.audiences.contains_key(seat.ext_id()))
            .count();
        let several = self.audiences.values();
        let (supported, enabled) = several.fold((single, single), |(supported, enabled), of| {
            (supported + of.supported, enabled + of.enabled)
        });
        Audience { supported, enabled }
    }
}
