//! Who hears events, and swears to what was heard.

use std::sync::Arc;

use serde_json::Value;
use shuttle::sync::{Condvar, Mutex};
use stud_contract_meta::Result;
use stud_core::events::{Bus, Event, Service, Subscriber};

/// An event as it was heard.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Heard {
    pub(crate) seq: u64,
    pub(crate) name: String,
    pub(crate) payload: Value,
}

impl Heard {
    /// The prompt it is about.
    pub(crate) fn prompt(&self) -> &str {
        self.payload["interactionId"].as_str().unwrap_or_default()
    }
}

/// A subscriber that remembers.
pub(crate) struct Witness {
    id: String,
    heard: Mutex<Vec<Heard>>,
    more: Condvar,
    /// Whether an event is being heard. Another one must not come meanwhile.
    hearing: Mutex<bool>,
}

impl Witness {
    pub(crate) fn new(id: &str) -> Arc<Self> {
        Arc::new(Self {
            id: id.to_owned(),
            heard: Mutex::default(),
            more: Condvar::new(),
            hearing: Mutex::new(false),
        })
    }

    /// One that listens from now on.
    pub(crate) fn of(bus: &Bus, id: &str, service: Service) -> Arc<Self> {
        let witness = Self::new(id);
        bus.subscribe(witness.clone(), service);
        witness
    }

    /// Waits until the event `last` was heard, and gives all up to it.
    ///
    /// A model in which it never is ends in a deadlock, which is how a lost event shows.
    pub(crate) fn heard_through(&self, last: u64) -> Vec<Heard> {
        let mut heard = self.heard.lock().unwrap();
        while heard.last().map_or(0, |event| event.seq) < last {
            heard = self.more.wait(heard).unwrap();
        }
        let until = heard.partition_point(|event| event.seq <= last);
        heard[..until].to_vec()
    }

    /// What was heard so far.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }
}

impl Subscriber for Witness {
    fn ext_id(&self) -> &str {
        &self.id
    }

    fn hear(&self, event: &Event) -> Result<()> {
        let before = std::mem::replace(&mut *self.hearing.lock().unwrap(), true);
        assert!(!before, "`{}` was given two events at once", self.id);
        let mut heard = self.heard.lock().unwrap();
        if let Some(last) = heard.last() {
            assert!(last.seq < event.seq, "{event:?} came after #{}", last.seq);
        }
        heard.push(Heard {
            seq: event.seq,
            name: event.name.to_string(),
            payload: serde_json::from_str(&event.payload).unwrap(),
        });
        drop(heard);
        self.more.notify_all();
        *self.hearing.lock().unwrap() = false;
        Ok(())
    }
}

/// Checks that nothing is missing between the first event that was heard and the last one.
pub(crate) fn without_gaps(heard: &[Heard]) {
    for pair in heard.windows(2) {
        assert_eq!(pair[0].seq + 1, pair[1].seq, "an event was lost");
    }
}
