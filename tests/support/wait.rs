//! Waiting for what another thread will do.

use std::time::{Duration, Instant};

/// More than anything takes on a machine that is busy with other things.
const LIMIT: Duration = Duration::from_secs(60);

/// What `look` finds, as soon as it finds something.
///
/// # Panics
///
/// When it has found nothing for a minute; `what` says in the message what was waited for.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < LIMIT, "{what}: nothing for {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
