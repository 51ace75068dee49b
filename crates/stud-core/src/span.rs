//! Spans: how long a piece of core's own work took, and whether it succeeded.

use std::sync::Arc;
use std::time::SystemTime;

use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::events::{CoreEvent, SpanEnd, SpanOutcome, SpanStart};

use crate::platform;
use crate::recorder::Recorder;

/// A piece of work that has begun. One that is dropped without an end has failed.
#[derive(Debug)]
pub(crate) struct Span {
    /// `None` once it has ended, and if its start was not published.
    open: Option<OpenSpan>,
}

/// A published span.
#[derive(Debug)]
struct OpenSpan {
    books: Arc<Recorder>,
    name: &'static str,
    correlation_id: String,
    started_at: SystemTime,
}

impl Span {
    /// Tells that the work begins.
    ///
    /// # Errors
    ///
    /// `Validation/SpanWithoutCorrelation` for a blank correlation id.
    pub(crate) fn begin(
        books: &Arc<Recorder>,
        name: &'static str,
        correlation_id: &str,
    ) -> Result<Self> {
        if correlation_id.trim().is_empty() {
            let code = &codes::SPAN_WITHOUT_CORRELATION;
            let message = format!("the span `{name}` has no correlation id");
            return Err(Error::new(code.class, code.name, message).with("name", name));
        }
        if !books.bus.is_heard(SpanStart::NAME) {
            return Ok(Self { open: None });
        }
        let started_at = platform::now();
        let started = SpanStart {
            name: name.to_owned(),
            started_at: platform::rfc3339(started_at),
        };
        books.publish(correlation_id, &started);
        Ok(Self {
            open: Some(OpenSpan {
                books: books.clone(),
                name,
                correlation_id: correlation_id.to_owned(),
                started_at,
            }),
        })
    }

    /// Tells that the work is over. Only the first end counts.
    pub(crate) fn end(&mut self, has_succeeded: bool) {
        let Some(span) = self.open.take() else {
            return;
        };
        let ended = SpanEnd {
            ended_at: platform::rfc3339(platform::now()),
            name: span.name.to_owned(),
            outcome: if has_succeeded {
                SpanOutcome::Ok
            } else {
                SpanOutcome::Error
            },
            started_at: platform::rfc3339(span.started_at),
        };
        span.books.publish(&span.correlation_id, &ended);
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        self.end(false);
    }
}

/// Does work in a span of its own.
pub(crate) async fn over<T>(
    books: &Arc<Recorder>,
    name: &'static str,
    correlation_id: &str,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let mut span = Span::begin(books, name, correlation_id)?;
    let done = work.await;
    span.end(done.is_ok());
    done
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::events::{Bus, Event, Service, Subscriber};
    use crate::executor::{block_on, pause};
    use crate::ledger::{Draft, Ledger};
    use crate::limits::Limits;
    use crate::redact::Redactor;
    use crate::store::MemoryStore;
    use crate::sync::{Mutex, lock};
    use crate::timer;

    #[derive(Default)]
    struct Heard(Mutex<Vec<(String, String, Value)>>);

    impl Subscriber for Heard {
        fn ext_id(&self) -> &'static str {
            "test"
        }

        fn hear(&self, event: &Event) -> Result<()> {
            let payload = serde_json::from_str(&event.payload).unwrap();
            let (name, id) = (event.name.to_string(), event.correlation_id.to_string());
            lock(&self.0).push((name, id, payload));
            Ok(())
        }
    }

    fn books() -> (Arc<Recorder>, Arc<Heard>) {
        let (timer, redactor) = (timer::system(), Arc::new(Redactor::new()));
        let bus = Bus::new(timer.clone(), Limits::default());
        let heard = Arc::new(Heard::default());
        bus.subscribe(heard.clone(), Service::Shared);
        let store = Arc::new(MemoryStore::default());
        let ledger = Ledger::new("s", 0, Draft::default(), store, redactor.clone(), timer);
        let books = Recorder::new("s".to_owned(), ledger, bus, None, redactor);
        (Arc::new(books), heard)
    }

    fn all(books: &Recorder, heard: &Heard) -> Vec<(String, String, Value)> {
        while !books.bus.is_quiet() {
            pause(std::time::Duration::from_micros(100));
        }
        lock(&heard.0).clone()
    }

    #[test]
    fn a_span_belongs_to_something() {
        let (books, heard) = books();
        for blank in ["", " \t"] {
            let error = Span::begin(&books, "work", blank).unwrap_err();
            assert_eq!(error.class(), "Validation");
            stud_observed::covers!(SPAN_WITHOUT_CORRELATION, error);
        }
        assert_eq!(all(&books, &heard), []);
    }

    #[test]
    fn a_span_ends_once() {
        let (books, heard) = books();
        let mut span = Span::begin(&books, "work", "t1").unwrap();
        span.end(true);
        span.end(false);
        drop(span);
        let told = all(&books, &heard);
        let [(start, of_start, started), (end, of_end, ended)] = &told[..] else {
            panic!("{told:#?}");
        };
        assert_eq!((&**start, &**end), ("SpanStart", "SpanEnd"));
        assert_eq!((&**of_start, &**of_end), ("t1", "t1"));
        let at = &started["startedAt"];
        assert_eq!(*started, json!({"name": "work", "startedAt": at}));
        let until = &ended["endedAt"];
        assert!(until.as_str() >= at.as_str());
        assert_eq!(
            *ended,
            json!({"name": "work", "startedAt": at, "endedAt": until, "outcome": "ok"})
        );
    }

    #[test]
    fn work_that_fails_or_is_left_ends_as_an_error() {
        let (books, heard) = books();
        let failed = block_on(over(&books, "failing", "t1", async {
            let code = &codes::CONTEXT_OVERFLOW;
            Err::<(), _>(Error::new(code.class, code.name, "too much"))
        }));
        assert!(failed.is_err());
        drop(Span::begin(&books, "left", "t1").unwrap());
        let told = all(&books, &heard);
        let outcomes: Vec<&Value> = told
            .iter()
            .filter(|(name, ..)| name == "SpanEnd")
            .map(|(_, _, payload)| &payload["outcome"])
            .collect();
        assert_eq!(outcomes, ["error", "error"]);
    }
}
