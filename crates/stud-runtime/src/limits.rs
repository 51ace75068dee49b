//! How long a plugin may take.

use std::time::Duration;

/// How long a plugin may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// For its entry and for each lifecycle phase.
    pub lifecycle: Duration,
    /// For one event, before its subscriber counts as stuck.
    pub event: Duration,
    /// For suggestions while the user types.
    pub completion: Duration,
    /// For what a context provider adds to a request.
    pub provide: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lifecycle: Duration::from_secs(5),
            event: Duration::from_secs(1),
            completion: Duration::from_secs(1),
            provide: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// The limit of an entry or a lifecycle phase, in milliseconds.
    pub fn lifecycle_ms(&self) -> u64 {
        u64::try_from(self.lifecycle.as_millis()).unwrap_or(u64::MAX)
    }
}
