//! A connection that broke, and the attempts to have another one.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stud_contract_meta::{Error, Result};
use stud_host_api::metrics::McpStatus;

use super::{Link, Server};
use crate::executor::{block_on, or_cancelled, spawn};
use crate::ledger::closed;
use crate::mcp::connection::Connection;
use crate::mcp::reconnect::chance;
use crate::mcp::sanitize::shown;
use crate::platform;
use crate::sync::lock;
use crate::timeout::sleep;

/// A connection that held for so long counts as one, and the attempts begin anew after it. In nanoseconds.
const HELD: u64 = 5_000_000_000;

impl Server {
    /// A connection is gone. The first task that notices starts the reconnection attempts.
    pub(in crate::mcp) fn lost(&self, generation: u64, why: &str) {
        let why = self.means.books.redactor.text(why).into_owned();
        {
            let mut state = lock(&self.state);
            let current = state.link.take_if(|link| link.generation == generation);
            let Some(link) = current else { return };
            state.broken = Some(link.connection);
        }
        let facts = json!({"serverId": self.id(), "reason": shown(&why)});
        self.means.audit("MCPServerDisconnected", facts);
        self.set_status(McpStatus::Connecting, Some(&why));
        if let Some(server) = self.this.upgrade() {
            spawn(move || drop(block_on(server.relink())));
        }
    }

    /// Tries to have another connection in the place of one that broke. Trust is not asked about again.
    ///
    /// A server that comes up and breaks again at once uses up the same attempts.
    pub(super) async fn mend(&self, old: Arc<dyn Connection>) -> Result<Link> {
        let means = &self.means;
        let policy = &self.terms().reconnect;
        let used = {
            let mut state = lock(&self.state);
            if platform::ticks().saturating_sub(state.connected_at) > HELD {
                state.attempts = 0;
            }
            state.attempts
        };
        old.close().await;
        let mut waited = Duration::ZERO;
        let mut last = None;
        for attempt in used + 1..=policy.attempts {
            // In whole milliseconds, so that what is put on record adds up.
            let pause = millis(policy.pause(attempt, chance(platform::ticks())));
            let pause = Duration::from_millis(pause);
            waited += pause;
            let facts = json!({
                "serverId": self.id(),
                "attempt": attempt,
                "delayMs": millis(pause),
            });
            means.audit("MCPReconnectAttempt", facts);
            if !pause.is_zero() {
                let rested = or_cancelled(&means.over, sleep(&*means.timer, pause)).await;
                rested.ok_or_else(closed)?;
            }
            lock(&self.state).attempts = attempt;
            match self.connect().await {
                Ok(link) => {
                    let facts = json!({
                        "serverId": self.id(),
                        "attempts": attempt,
                        "totalDelayMs": millis(waited),
                    });
                    means.audit("MCPServerReconnected", facts);
                    return Ok(link);
                }
                Err(error) if error.class() == "ProviderTransient" => last = Some(error),
                // Another attempt would change nothing.
                Err(error) => return Err(self.given_up(error)),
            }
        }
        let why = match &last {
            Some(error) => error.message().to_owned(),
            None => "it breaks as soon as it is there".to_owned(),
        };
        let error = self
            .connection_lost(&format!("{} attempts were in vain; {why}", policy.attempts))
            .with("attempts", policy.attempts)
            .with("totalDelayMs", millis(waited));
        Err(self.given_up(error))
    }

    /// All waiters get the same error. Later callers may try again.
    fn given_up(&self, error: Error) -> Error {
        {
            let mut state = lock(&self.state);
            state.vain += 1;
            state.failure = Some(error.clone());
        }
        self.failed(&error);
        error
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
