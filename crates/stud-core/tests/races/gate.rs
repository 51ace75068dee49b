//! Something to wait at.

use shuttle::sync::{Condvar, Mutex};

/// Closed until it is opened.
#[derive(Default)]
pub(crate) struct FifoLock {
    open: Mutex<bool>,
    changed: Condvar,
}

impl FifoLock {
    pub(crate) fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }

    pub(crate) fn pass(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.changed.wait(open).unwrap();
        }
    }
}
