//! The last prompts that were settled.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// How many are remembered.
const MOST: usize = 1024;

/// The last prompts that were settled: their ids, and what each belonged to. The table is locked while they are looked through, so that is not done
/// one by one.
#[derive(Default)]
pub(super) struct Remembered {
    correlations: BTreeMap<Arc<str>, Box<str>>,
    oldest_first: VecDeque<Arc<str>>,
}

impl Remembered {
    /// The correlation id of this prompt, if it is one of them.
    pub(super) fn find(&self, id: &str) -> Option<&str> {
        self.correlations.get(id).map(|found| &**found)
    }

    pub(super) fn add(&mut self, id: &str, correlation_id: &str) {
        let id: Arc<str> = id.into();
        let known = self.correlations.insert(id.clone(), correlation_id.into());
        if known.is_some() {
            return;
        }
        self.oldest_first.push_back(id);
        if self.oldest_first.len() > MOST
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.correlations.remove(&oldest);
        }
    }

    pub(super) fn forget(&mut self, id: &str) {
        if self.correlations.remove(id).is_some() {
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
                remembered.add(&number.to_string(), "turn");
            }
        }
        assert_eq!(remembered.find("0"), Some("turn"));
        remembered.add("one more", "another turn");
        assert_eq!(remembered.find("0"), None);
        assert_eq!(remembered.find("1"), Some("turn"));
        assert_eq!(remembered.find("one more"), Some("another turn"));
        remembered.forget("1");
        assert_eq!(remembered.find("1"), None);
        remembered.add("another", "another turn");
        assert!(remembered.find("2").is_some() && remembered.find("another").is_some());
    }
}
