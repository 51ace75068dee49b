//! Snapshots that stay the same object on both sides until something changes.
//!
//! The host's half numbers them, the plugin's half keeps the newest; only a change is sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::metrics::RuntimeSnapshot;

/// A snapshot with its number.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Revised {
    pub(super) revision: u64,
    #[serde(with = "shared")]
    pub(super) snapshot: Arc<RuntimeSnapshot>,
}

/// What the plugin already has.
#[derive(Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Known {
    /// The number of the snapshot that the plugin has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) revision: Option<u64>,
}

/// The newest snapshot that passed here: numbered in the host's half, kept in the plugin's.
#[derive(Default)]
pub(super) struct Newest(Mutex<Option<Revised>>);

impl Newest {
    /// Numbers what the host gave. The same object has the same number.
    ///
    /// Keeping the object also keeps its address from being used for another one.
    pub(super) fn number(&self, snapshot: Arc<RuntimeSnapshot>) -> Revised {
        let mut newest = self.lock();
        let revision = match &*newest {
            Some(last) if Arc::ptr_eq(&last.snapshot, &snapshot) => return last.clone(),
            Some(last) => last.revision + 1,
            None => 0,
        };
        newest.insert(Revised { revision, snapshot }).clone()
    }

    /// What to send of `snapshot` to someone who has `known`: nothing when it is that one.
    pub(super) fn unless(&self, known: &Known, snapshot: Arc<RuntimeSnapshot>) -> Option<Revised> {
        let current = self.number(snapshot);
        (known.revision != Some(current.revision)).then_some(current)
    }

    /// Keeps what the host sent, and gives the object to use for it.
    ///
    /// Two threads may have been sent the same one; both get the object that came first.
    pub(super) fn keep(&self, sent: Revised) -> Arc<RuntimeSnapshot> {
        let mut newest = self.lock();
        match &*newest {
            Some(last) if last.revision == sent.revision => last.snapshot.clone(),
            Some(last) if last.revision > sent.revision => sent.snapshot,
            _ => newest.insert(sent).snapshot.clone(),
        }
    }

    /// What was kept last.
    pub(super) fn last(&self) -> Option<Revised> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Revised>> {
        // Nothing here can fail half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        (**value).serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(deserializer).map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_object_keeps_its_number() {
        let newest = Newest::default();
        let (first, second) = (Arc::default(), Arc::default());
        let number = |snapshot: &Arc<_>| newest.number(Arc::clone(snapshot)).revision;
        assert_eq!(number(&first), number(&first));
        assert!(number(&first) < number(&second));
        assert!(number(&second) < number(&first));
    }

    #[test]
    fn the_first_object_of_a_revision_stays() {
        let newest = Newest::default();
        let sent = |revision| Revised {
            revision,
            snapshot: Arc::default(),
        };
        let kept = newest.keep(sent(4));
        assert!(Arc::ptr_eq(&kept, &newest.keep(sent(4))));
        assert!(!Arc::ptr_eq(&kept, &newest.keep(sent(3))));
        assert_eq!(newest.last().unwrap().revision, 4);
        newest.keep(sent(5));
        assert_eq!(newest.last().unwrap().revision, 5);
    }
}
