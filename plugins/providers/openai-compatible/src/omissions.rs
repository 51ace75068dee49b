//! Members that a backend may not know, and can do without.

use std::sync::atomic::{AtomicBool, Ordering};

use model_http::REQUEST_REJECTED;
use serde_json::Value;
use stud_sdk::Error;

/// The members.
const OPTIONAL: [&str; 2] = ["prompt_cache_key", "stream_options"];

/// Which of them this backend has refused.
#[derive(Debug, Default)]
pub(crate) struct Omissions([AtomicBool; OPTIONAL.len()]);

impl Omissions {
    /// Takes out of a request what the backend has refused before.
    pub(crate) fn apply(&self, body: &mut Value) {
        let Value::Object(body) = body else {
            return;
        };
        for (name, refused) in OPTIONAL.into_iter().zip(&self.0) {
            if refused.load(Ordering::Relaxed) {
                body.remove(name);
            }
        }
    }

    /// Whether the error complains of a member that was sent and can be left out; it is, from now on.
    pub(crate) fn learn(&self, error: &Error, body: &Value) -> bool {
        if !error.is(REQUEST_REJECTED.class, REQUEST_REJECTED.name) {
            return false;
        }
        let named = |name: &str| !body[name].is_null() && error.message().contains(name);
        let mut learned = false;
        for (name, refused) in OPTIONAL.into_iter().zip(&self.0) {
            if named(name) {
                refused.store(true, Ordering::Relaxed);
                learned = true;
            }
        }
        learned
    }
}
