//! What a context provider adds.

use std::collections::{BTreeMap, BTreeSet};

use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::ContextFragment;
use stud_host_api::context::FragmentKind;
use stud_host_api::events::ExclusiveSlotConflict;

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
    /// What it alone may have.
    pub(super) exclusive_slot: Option<String>,
}

impl Fragment {
    pub(super) fn of(owner: &str, fragment: ContextFragment) -> Self {
        Self {
            owner: owner.to_owned(),
            kind: fragment.kind,
            content: fragment.content,
            budget: fragment.token_budget,
            priority: fragment.priority,
            exclusive_slot: fragment.exclusive_slot,
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
            format!("a `{kind}` of `{owner}` contains what looks like a credential ({shape})");
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

/// Leaves one fragment in each slot: of those that claim it the one whose owner comes first by name, and of several of
/// the same owner the first. Gives the others, in order.
pub(super) fn settle_slots(fragments: &mut Vec<Fragment>) -> Vec<ExclusiveSlotConflict> {
    let mut winners: BTreeMap<String, String> = BTreeMap::new();
    for fragment in fragments.iter() {
        if let Some(slot) = &fragment.exclusive_slot {
            let winner = winners
                .entry(slot.clone())
                .or_insert(fragment.owner.clone());
            if fragment.owner < *winner {
                winner.clone_from(&fragment.owner);
            }
        }
    }
    let mut taken = BTreeSet::new();
    let mut conflicts = Vec::new();
    fragments.retain(|fragment| {
        let Some((slot, winner)) = fragment
            .exclusive_slot
            .as_ref()
            .and_then(|slot| winners.get_key_value(slot))
        else {
            return true;
        };
        if fragment.owner == *winner && taken.insert(slot) {
            return true;
        }
        conflicts.push(ExclusiveSlotConflict {
            exclusive_slot: slot.clone(),
            winner_ext_id: winner.clone(),
            loser_ext_id: fragment.owner.clone(),
        });
        false
    });
    conflicts
}
