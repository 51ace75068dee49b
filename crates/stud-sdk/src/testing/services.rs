//! The thirteen services over one record.

mod asking;
mod deciding;
mod looking;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stud_contract_meta::Result;
use stud_host_api::BoxFuture;
use stud_host_api::refusal::{self, Phase};

use super::record::Record;

/// A host over a shared record.
#[derive(Clone)]
pub(crate) struct Services(pub(crate) Arc<Mutex<Record>>);

impl Services {
    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        // A test that panicked while it held the record has failed already.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The record, as long as the plugin may use `service`.
    fn open(&self, service: &str) -> Result<MutexGuard<'_, Record>> {
        let record = self.record();
        if record.plugin.disposed {
            return Err(refusal::not_ready(service, Phase::Disposed));
        }
        Ok(record)
    }
}

/// A reply that is there at once.
fn ready<'a, T: Send + 'a>(reply: Result<T>) -> BoxFuture<'a, Result<T>> {
    Box::pin(std::future::ready(reply))
}
