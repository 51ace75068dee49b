//! Waiting for a plugin, without the time in which it waits for the user.

use std::time::Duration;

use super::Session;
use crate::timeout::with_timeout;

impl Session {
    /// Waits for a plugin's work, but not longer than `limit`. Time spent waiting for the user is excluded, and work
    /// whose prompt has just been answered has all of its time before it.
    pub(crate) async fn patiently<T>(
        &self,
        ext_id: &str,
        limit: Duration,
        running: impl Future<Output = T>,
    ) -> Option<T> {
        let (prompts, timer) = (self.prompts(), self.timer());
        let mut running = std::pin::pin!(running);
        loop {
            let before = prompts.settled_of(ext_id);
            let done = with_timeout(&**timer, limit, running.as_mut()).await;
            let has_waited = || prompts.is_asking(ext_id) || prompts.settled_of(ext_id) != before;
            if done.is_some() || !has_waited() {
                return done;
            }
        }
    }
}
