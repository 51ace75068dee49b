//! What a context provider adds.

use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::ContextFragment;
use stud_host_api::context::FragmentKind;

use super::refuse;
use crate::redact::shape_of;

/// A fragment, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fragment {
    pub(super) owner: String,
    pub(super) kind: FragmentKind,
    pub(super) content: String,
    pub(super) budget: u64,
    pub(super) priority: i64,
}

impl Fragment {
    pub(super) fn of(owner: &str, fragment: ContextFragment) -> Self {
        Self {
            owner: owner.to_owned(),
            kind: fragment.kind,
            content: fragment.content,
            budget: fragment.token_budget,
            priority: fragment.priority,
        }
    }

    /// Refuses what has the shape of a credential. No setting softens that.
    pub(super) fn screen(&self) -> Result<()> {
        match shape_of(&self.content) {
            None => Ok(()),
            Some(shape) => Err(self.forbidden(shape)),
        }
    }

    fn forbidden(&self, shape: &str) -> Error {
        let (owner, kind) = (&self.owner, self.kind.as_str());
        let message =
            format!("a `{kind}` of `{owner}` holds what looks like a credential ({shape})");
        refuse(&codes::CONTEXT_CONTAINS_FORBIDDEN_SOURCE, message)
            .with("ownerExtId", owner.as_str())
            .with("fragmentKind", kind)
            .with("patternId", shape)
    }
}

/// The more important first; of the same owner in the order they were given.
pub(super) fn sort(fragments: &mut [Fragment]) {
    fragments.sort_by(|one, other| {
        let priority = other.priority.cmp(&one.priority);
        priority.then_with(|| one.owner.cmp(&other.owner))
    });
}
