//! Time in a model: an alarm rings whenever the schedule has it, or never.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use shuttle::sync::Mutex;
use shuttle::thread;
use stud_core::timer::{Alarm, Timer};

/// A timer for models. Alarms stay silent unless they were said to ring.
#[derive(Default)]
pub(crate) struct Clock {
    /// How many alarms of this delay may still ring.
    rings: Mutex<BTreeMap<Duration, usize>>,
}

impl Clock {
    /// Nothing ever rings.
    pub(crate) fn silent() -> Arc<Self> {
        Arc::default()
    }

    /// The first `times` alarms with this delay ring, at any moment from when they are set.
    pub(crate) fn ringing(delay: Duration, times: usize) -> Arc<Self> {
        let clock = Self::silent();
        clock.rings.lock().unwrap().insert(delay, times);
        clock
    }

    fn may_ring(&self, delay: Duration) -> bool {
        let mut rings = self.rings.lock().unwrap();
        match rings.get_mut(&delay) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }
}

impl Timer for Clock {
    fn after(&self, delay: Duration, job: Box<dyn FnOnce() + Send>) -> Alarm {
        if !self.may_ring(delay) {
            return Alarm::new(|| {});
        }
        let waiting = Arc::new(Mutex::new(Some(job)));
        let due = waiting.clone();
        thread::spawn(move || {
            let job = due.lock().unwrap().take();
            if let Some(job) = job {
                job();
            }
        });
        Alarm::new(move || drop(waiting.lock().unwrap().take()))
    }
}
