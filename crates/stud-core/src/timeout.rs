//! Waiting for a while.

use std::time::Duration;

use stud_abi::CancellationSource;

use crate::executor::unless;
use crate::timer::Timer;

/// Waits for `work`, but not longer than `limit`.
pub(crate) async fn in_time<T>(
    timer: &dyn Timer,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    let over = CancellationSource::new();
    let ring = over.clone();
    let _alarm = timer.after(limit, Box::new(move || ring.cancel()));
    unless(&over.token(), work).await
}

/// Waits until `time` has passed.
pub(crate) async fn rest(timer: &dyn Timer, time: Duration) {
    let _ = in_time(timer, time, std::future::pending::<()>()).await;
}
