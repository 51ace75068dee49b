//! Finding known values in a text, all in one pass.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use zeroize::Zeroizing;

use super::REDACTED;

/// Below this a value is no secret, and replacing it would only spoil records.
const SHORTEST: usize = 4;

/// A secret with a quote in it looks different in JSON text, and again in JSON text inside JSON text.
const JSON_LEVELS: usize = 3;

/// Whether a value is worth looking for.
pub(super) fn is_learnable(value: &str) -> bool {
    value.len() >= SHORTEST && !matches!(value, "true" | "false" | "null")
}

/// Finds a set of values. A copy costs a counter.
#[derive(Clone)]
pub(crate) struct Finder {
    automaton: AhoCorasick,
    /// Which value each form of one is of.
    value_of: Arc<[usize]>,
}

impl Finder {
    /// Nothing if there is nothing to find.
    pub(crate) fn of<'a>(values: impl Iterator<Item = &'a str>) -> Option<Self> {
        let (mut all, mut value_of) = (Vec::new(), Vec::new());
        for (index, value) in values.enumerate() {
            let Forms(forms) = Forms::of(value);
            value_of.extend(forms.iter().map(|_| index));
            all.extend(forms);
        }
        if all.is_empty() {
            return None;
        }
        // It fails only for more patterns than fit into memory.
        let found = AhoCorasick::builder()
            // The faster automaton is a hundred times the size of the values, and a certificate is not small.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(all.iter().map(|form| form.as_bytes()));
        let automaton = found.ok()?;
        Some(Self {
            automaton,
            value_of: value_of.into(),
        })
    }

    pub(super) fn finds(&self, text: &str) -> bool {
        self.automaton.is_match(text)
    }

    /// The values that stand in the text, by their place among those this was made of.
    pub(crate) fn which(&self, text: &str) -> BTreeSet<usize> {
        // Almost every text ends here.
        if !self.finds(text) {
            return BTreeSet::new();
        }
        let found = self.automaton.find_overlapping_iter(text);
        found
            .filter_map(|found| self.value_of.get(found.pattern().as_usize()).copied())
            .collect()
    }

    /// The text with each occurrence replaced. Occurrences that overlap are replaced together: no byte of any stays.
    pub(super) fn replace<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let places = self.places(text);
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut kept = String::with_capacity(text.len());
        let mut end = 0;
        for place in places {
            kept.push_str(&text[end..place.start]);
            kept.push_str(REDACTED);
            end = place.end;
        }
        kept.push_str(&text[end..]);
        Cow::Owned(kept)
    }

    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        if !self.finds(text) {
            return places;
        }
        // Matches come in the order of their ends, so a long one may begin before several short ones.
        for found in self.automaton.find_overlapping_iter(text) {
            let mut place = found.range();
            while let Some(last) = places.pop_if(|last| last.end > place.start) {
                place.start = place.start.min(last.start);
            }
            places.push(place);
        }
        places
    }
}

/// A value as it is, and as JSON text writes it.
pub(crate) struct Forms(Vec<Zeroizing<String>>);

impl Forms {
    /// The forms of a value.
    pub(crate) fn of(value: &str) -> Self {
        Self(forms(value))
    }

    /// Whether any of them stands in the text.
    pub(crate) fn stand_in(&self, text: &str) -> bool {
        self.0.iter().any(|form| text.contains(form.as_str()))
    }
}

fn forms(value: &str) -> Vec<Zeroizing<String>> {
    let mut forms = vec![Zeroizing::new(value.to_owned())];
    for _ in 0..JSON_LEVELS {
        let last = forms.last().map_or("", |form| form.as_str());
        // Text can always be written as JSON.
        let quoted = Zeroizing::new(serde_json::to_string(last).unwrap_or_default());
        let escaped = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or("");
        if escaped == last || escaped.is_empty() {
            break;
        }
        forms.push(Zeroizing::new(escaped.to_owned()));
    }
    forms
}
