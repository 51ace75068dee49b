//! What of a conversation is summarized, and what stays word by word.

use std::ops::Range;
use std::sync::Arc;

use crate::session::Kept;

/// How much has to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// As much as fits.
    Fitting,
    /// This many turns, with the one that runs.
    Turns(u32),
}

/// What is summarized, by place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// From here on everything stays.
    pub(super) cut: usize,
    /// The one message before it that stays too: what the person wants in the turn that runs.
    pub(super) also: Option<usize>,
}

impl Plan {
    /// Whether the message in this place stays.
    pub(super) fn keeps(&self, place: usize) -> bool {
        place >= self.cut || self.also == Some(place)
    }

    /// The places that are summarized.
    pub(super) fn replaced(&self) -> impl Iterator<Item = usize> {
        (0..self.cut).filter(|place| self.also != Some(*place))
    }
}

/// Divides a conversation. `room` is what may stay, `tokens` what each message takes up. Nothing if there is nothing to
/// gain.
///
/// It is never divided between a call and its result. The last message always stays, and so does what the person asked
/// for in the turn that is cut through.
pub(super) fn plan(history: &[Arc<Kept>], tokens: &[u64], keep: Keep, room: u64) -> Option<Plan> {
    let begins_turn = |place: &usize| history[*place].typed().is_some();
    let divides = |place: &usize| history[*place].role() != "tool";
    let last = (0..history.len()).rev().find(divides)?;
    let wanted = match keep {
        Keep::Fitting => fitting(tokens, room).find(divides),
        Keep::Turns(turns) => recent(history, turns),
    };
    let cut = wanted.unwrap_or(last);
    let asked = (0..cut).rev().find(begins_turn);
    let plan = Plan {
        cut,
        also: asked.filter(|_| !begins_turn(&cut)),
    };
    let mut replaced = plan.replaced();
    let is_gain = replaced.any(|place| history[place].summary().is_none());
    drop(replaced);
    is_gain.then_some(plan)
}

/// The places from which on everything fits, first the one from which on the most does.
fn fitting(tokens: &[u64], room: u64) -> Range<usize> {
    let mut left = room;
    let mut from = tokens.len();
    while from > 0
        && let Some(rest) = left.checked_sub(tokens[from - 1])
    {
        left = rest;
        from -= 1;
    }
    from..tokens.len()
}

/// Where the last so many turns begin.
fn recent(history: &[Arc<Kept>], turns: u32) -> Option<usize> {
    let places = (0..history.len()).rev();
    let mut begins = places.filter(|place| history[*place].typed().is_some());
    let mut first = None;
    for _ in 0..turns {
        match begins.next() {
            Some(place) => first = Some(place),
            None => break,
        }
    }
    first
}
