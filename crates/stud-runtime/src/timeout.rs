//! Waiting for a while.

use std::time::Duration;

use stud_abi::CancellationSource;

use crate::executor::or_cancelled;
use crate::timer::Timer;

/// Waits for `work`, but not longer than `limit`.
pub async fn with_timeout<T>(
    timer: &dyn Timer,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    let over = CancellationSource::new();
    let ring = over.clone();
    let _alarm = timer.after(limit, Box::new(move || ring.cancel()));
    or_cancelled(&over.token(), work).await
}

/// Waits until `time` has passed.
pub async fn sleep(timer: &dyn Timer, time: Duration) {
    let _ = with_timeout(timer, time, std::future::pending::<()>()).await;
}
