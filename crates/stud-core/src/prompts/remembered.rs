//! The last prompts that were settled.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// How many are remembered.
const MOST: usize = 1024;

/// The ids of the last prompts that were settled. The table is locked while they are looked through, so that is not done
/// one by one.
#[derive(Default)]
pub(super) struct Remembered {
    ids: BTreeSet<Arc<str>>,
    oldest_first: VecDeque<Arc<str>>,
}

impl Remembered {
    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    pub(super) fn add(&mut self, id: &str) {
        let id: Arc<str> = id.into();
        if !self.ids.insert(id.clone()) {
            return;
        }
        self.oldest_first.push_back(id);
        if self.oldest_first.len() > MOST
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.ids.remove(&oldest);
        }
    }

    pub(super) fn forget(&mut self, id: &str) {
        if self.ids.remove(id) {
            self.oldest_first.retain(|remembered| **remembered != *id);
        }
    }
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first_and_none_counts_twice() {
        let mut remembered = Remembered::default();
        for _ in 0..2 {
            for number in 0..MOST {
                remembered.add(&number.to_string());
            }
        }
        assert!(remembered.has("0"));
        remembered.add("one more");
        assert!(!remembered.has("0"));
        assert!(remembered.has("1") && remembered.has("one more"));
        remembered.forget("1");
        assert!(!remembered.has("1"));
        remembered.add("another");
        assert!(remembered.has("2") && remembered.has("another"));
    }
}
