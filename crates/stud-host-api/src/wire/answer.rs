//! The host's half: operations in, calls of the services out.

use std::sync::Arc;

use stud_abi::host_handle::Guard;
use stud_abi::{BoxFuture, CancellationToken, Fault, HostService, Listener};
use stud_contract_meta::Error;

use super::json::{self, Part};
use super::operation::{self, Feed, MetricsSubscribe, MetricsSubscribeToTokens, Served};
use crate::HostApi;
use crate::cancellation::Scope;
use crate::metrics::Subscription;

/// Answers one plugin.
pub(super) struct Answering(Served);

impl Answering {
    pub(super) fn new(host: Arc<dyn HostApi>) -> Self {
        Self(Served {
            host,
            newest: Arc::default(),
        })
    }

    fn token_of(&self, scope: &str) -> Result<CancellationToken, Error> {
        let scope: Scope = scope.parse().map_err(|_| {
            let expected = "`session`, `turn` or `tool`";
            json::unreadable(operation::TOKEN, Part::Request, "/scope", expected)
        })?;
        self.0.host.cancellation().token(scope)
    }

    fn feed(&self, operation: &str, listener: Listener) -> Result<Subscription, Error> {
        let metrics = self.0.host.metrics();
        match operation {
            MetricsSubscribe::NAME => {
                let newest = Arc::clone(&self.0.newest);
                metrics.subscribe(Box::new(move |snapshot| {
                    tell::<MetricsSubscribe>(&listener, &newest.number(snapshot));
                }))
            }
            MetricsSubscribeToTokens::NAME => metrics.subscribe_to_tokens(Box::new(move |delta| {
                tell::<MetricsSubscribeToTokens>(&listener, &delta);
            })),
            _ => Err(json::not_implemented(operation)),
        }
    }
}

impl HostService for Answering {
    fn call(&self, operation: &str, payload: &str) -> Result<String, Fault> {
        Ok(operation::answer(&self.0, operation, payload)?)
    }

    fn call_async(&self, operation: &str, payload: String) -> BoxFuture<Result<String, Fault>> {
        let answer = operation::answer_in_time(self.0.clone(), operation, payload);
        Box::pin(async { Ok(answer.await?) })
    }

    fn token(&self, scope: &str) -> Result<CancellationToken, Fault> {
        Ok(self.token_of(scope)?)
    }

    fn subscribe(&self, operation: &str, listener: Listener) -> Result<Guard, Fault> {
        Ok(Box::new(self.feed(operation, listener)?))
    }
}

fn tell<F: Feed>(listener: &Listener, item: &F::Item) {
    // A listener that fails affects only itself: the boundary has caught its panic, and the next item may fare
    // better.
    if let Ok(text) = json::write(F::NAME, Part::Reply, item) {
        let _ = listener.hear(&text);
    }
}
