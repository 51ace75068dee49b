//! A clock that never goes back. A model has one of its own.

use std::time::Duration;

/// Measures how long something takes.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    started_at: u64,
}

impl Stopwatch {
    /// Starts to measure.
    pub fn start() -> Self {
        Self {
            started_at: ticks(),
        }
    }

    /// The time since the start.
    pub fn elapsed(self) -> Duration {
        Duration::from_nanos(ticks().saturating_sub(self.started_at))
    }

    /// The same in whole milliseconds.
    pub fn millis(self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Nanoseconds since some moment in the life of this process. They never go back.
#[cfg(not(shuttle))]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the clock that everything else reads"
)]
pub fn ticks() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;

    static BEGAN: OnceLock<Instant> = OnceLock::new();
    let passed = BEGAN.get_or_init(Instant::now).elapsed();
    u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(shuttle)]
pub use model::{pass, ticks};

/// Time in a model: it passes when it is told to, so that a schedule can be repeated.
#[cfg(shuttle)]
mod model {
    use std::cell::Cell;
    use std::time::Duration;

    thread_local! {
        // All threads of a model are one thread of the system, and other models run beside it on others.
        static TICKS: Cell<u64> = const { Cell::new(0) };
    }

    /// Nanoseconds of the model's time. No two moments are the same.
    pub fn ticks() -> u64 {
        pass(Duration::from_nanos(1));
        TICKS.get()
    }

    /// Lets time pass.
    pub fn pass(time: Duration) {
        let passed = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        TICKS.set(TICKS.get().saturating_add(passed));
    }
}
