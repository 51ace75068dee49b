//! What a backend wants to see again and a conversation has no place for.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many are kept; a turn has far fewer calls.
const MOST: usize = 512;

/// Things kept by the tool call they came with, the newest of them.
///
/// They live as long as the provider. A session that is resumed continues without them.
pub struct Recollection<T>(Mutex<VecDeque<(String, T)>>);

impl<T: Clone> Recollection<T> {
    /// Keeps something.
    pub fn keep(&self, call_id: &str, thing: T) {
        let mut kept = self.lock();
        if kept.len() >= MOST {
            kept.pop_front();
        }
        kept.push_back((call_id.to_owned(), thing));
    }

    /// What was kept with a call.
    pub fn find(&self, call_id: &str) -> Option<T> {
        let kept = self.lock();
        let mut newest = kept.iter().rev();
        let found = newest.find(|(id, _)| id == call_id);
        found.map(|(_, thing)| thing.clone())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, T)>> {
        // The list stays whole whatever panicked while it was held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for Recollection<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> fmt::Debug for Recollection<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recollection").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept() {
        let kept = Recollection::default();
        for n in 0..MOST + 2 {
            kept.keep(&n.to_string(), n);
        }
        kept.keep("5", 0);
        assert_eq!(kept.find("1"), None);
        assert_eq!(kept.find("5"), Some(0));
        assert_eq!(kept.find("513"), Some(513));
    }
}
