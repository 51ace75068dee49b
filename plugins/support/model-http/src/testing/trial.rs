//! What every provider of a real model has to stand, tried over real connections.
//!
//! Nothing here panics: a trial gives back what went wrong, and the test that ran it says so.

mod key;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stud_sdk::host::cancellation::Scope;
use stud_sdk::provider::Request;
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Class, Error, Plugin};

use super::{Server, Step, Told, chunked, open_stream, response, stream};
use crate::sse::MAX_FRAME_BYTES;

/// What went wrong.
pub type Outcome = Result<(), String>;

/// Long enough for the slowest machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A key that must be seen nowhere but in its header.
const CANARY: &str = "sk-canary-0123456789abcdef";

/// A provider, and how its backend speaks.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The plugin.
    pub plugin: fn() -> Plugin,
    /// Its config, without an address and a key.
    pub config: Value,
    /// A request.
    pub request: Request,
    /// The events of a whole answer, with line feeds.
    pub answer: String,
    /// What that answer comes to.
    pub told: Told,
    /// What comes before the first text of an answer.
    pub opening: String,
    /// One event with this text.
    pub delta: fn(&str) -> String,
    /// What comes after the last.
    pub closing: String,
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn io<T>(done: std::io::Result<T>) -> Result<T, String> {
    done.map_err(|error| error.to_string())
}

impl Trial {
    /// The plugin with its backend at this server, and a key.
    pub fn harness(&self, server: &Server) -> Harness {
        self.harness_with(server, &json!({}))
    }

    /// The same with more in its config.
    pub fn harness_with(&self, server: &Server, more: &Value) -> Harness {
        let mut config = self.config.clone();
        if let Value::Object(config) = &mut config {
            config.insert("baseURL".to_owned(), server.url().into());
            config.insert(
                "apiKeyRef".to_owned(),
                json!({"kind": "env", "name": "TRIAL_KEY"}),
            );
            config.extend(more.as_object().cloned().unwrap_or_default());
        }
        let host = FakeHost::new().env("TRIAL_KEY", CANARY).config(config);
        Harness::new((self.plugin)(), host)
    }

    fn ask(&self, harness: &Harness) -> Result<Told, Error> {
        harness.request(&self.request).map(Told::of)
    }

    fn ask_of(&self, bytes: Vec<u8>) -> Result<Result<Told, Error>, String> {
        let server = io(Server::start(move |_| {
            vec![Step::Send(bytes.clone()), Step::Close]
        }))?;
        Ok(self.ask(&self.harness(&server)))
    }

    /// The answer is the same over a connection that delivers these bytes.
    fn holds(&self, bytes: Vec<u8>) -> Outcome {
        let told = self.ask_of(bytes)?;
        ensure(told.as_ref() == Ok(&self.told), || format!("{told:#?}"))
    }

    fn fails(&self, bytes: Vec<u8>, class: Class, code: &str) -> Result<Error, String> {
        match self.ask_of(bytes)? {
            Err(error) if error.is(class, code) => Ok(error),
            other => Err(format!("{code} expected, not {other:#?}")),
        }
    }

    /// The answer does not depend on where it is cut: in two at every byte, head included, and byte by byte.
    pub fn any_cut(&self) -> Outcome {
        let parts = self.answer.split_inclusive("\n\n");
        let bytes = Arc::new(chunked(parts));
        let cut = Arc::new(AtomicUsize::new(0));
        let (all, at) = (bytes.clone(), cut.clone());
        let server = io(Server::start(move |_| match at.load(Ordering::Relaxed) {
            0 => vec![Step::Trickle(all.to_vec())],
            at => {
                let (left, right) = all.split_at(at);
                let pause = Step::Pause(Duration::from_micros(100));
                vec![Step::Send(left.to_vec()), pause, Step::Send(right.to_vec())]
            }
        }))?;
        let harness = self.harness(&server);
        for at in 0..bytes.len() {
            cut.store(at, Ordering::Relaxed);
            let told = self.ask(&harness);
            ensure(told.as_ref() == Ok(&self.told), || {
                format!("cut at {at}: {told:#?}")
            })?;
        }
        // A connection is used again unless the next request comes before the last byte of the answer.
        let connections = server.connections();
        ensure(connections <= bytes.len() / 10, || {
            format!("{connections} connections")
        })
    }

    /// The answer does not depend on line ends, comments, a byte order mark, or how its length is known.
    pub fn any_form(&self) -> Outcome {
        self.holds(stream(&self.answer))?;
        for end in ["\r\n", "\r"] {
            self.holds(stream(&self.answer.replace('\n', end)))?;
        }
        let marked = format!("\u{feff}: hello\n\n{}", self.answer);
        self.holds(stream(&marked))?;
        let lively = self.answer.replace("\n\n", "\n\n: keep-alive\n\n");
        self.holds(stream(&lively))?;
        let to_the_end = format!(
            "HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{}",
            self.answer
        );
        self.holds(to_the_end.into_bytes())?;
        // JSON may have a line break between any two of its tokens.
        let lines = self.answer.replace("data: {", "data: {\ndata: ");
        self.holds(stream(&lines))
    }

    /// Each status has its error, and the wait that goes with it.
    pub fn any_status(&self) -> Outcome {
        use Class::{ProviderCapability, ProviderTransient};
        for (status, class, code) in [
            ("400 Bad Request", ProviderCapability, "RequestRejected"),
            ("401 Unauthorized", ProviderTransient, "Unauthorized"),
            ("403 Forbidden", ProviderTransient, "Unauthorized"),
            ("404 Not Found", ProviderTransient, "EndpointNotFound"),
            (
                "307 Temporary Redirect",
                ProviderTransient,
                "EndpointNotFound",
            ),
            ("429 Too Many Requests", ProviderTransient, "RateLimited"),
            (
                "500 Internal Server Error",
                ProviderTransient,
                "Provider5xx",
            ),
            ("529 Overloaded", ProviderTransient, "Provider5xx"),
        ] {
            let body = json!({"error": {"message": format!("no\u{1b}[31m {CANARY}"), "type": "x"}});
            let headers = [
                ("content-type", "application/json"),
                ("location", "/elsewhere"),
            ];
            let bytes = response(status, &headers, &body.to_string());
            let error = self.fails(bytes, class, code)?;
            let number: u16 = status[..3].parse().unwrap_or(0);
            ensure(error.context()["status"] == number, || format!("{error:?}"))?;
            ensure(!error.context().contains_key("retryAfterMs"), || {
                format!("{error:?}")
            })?;
            ensure(!format!("{error:?}").contains("canary"), || {
                format!("{error:?}")
            })?;
            ensure(!error.message().contains('\u{1b}'), || format!("{error:?}"))?;
        }
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        for (wait, millis) in [("20", 20_000), ("Sun, 06 Nov 1994 08:50:37 GMT", 60_000)] {
            for (status, code) in [
                ("429 Too Many Requests", "RateLimited"),
                ("503 Busy", "Provider5xx"),
            ] {
                let bytes = response(status, &[date, ("retry-after", wait)], "{}");
                let error = self.fails(bytes, ProviderTransient, code)?;
                ensure(error.context()["retryAfterMs"] == millis, || {
                    format!("{error:?}")
                })?;
            }
        }
        Ok(())
    }

    /// A connection that breaks is not an answer, wherever it breaks.
    pub fn any_break(&self) -> Outcome {
        let network = |bytes: Vec<u8>| {
            self.fails(bytes, Class::ProviderTransient, "NetworkTimeout")
                .map(drop)
        };
        network(Vec::new())?;
        network(b"HTTP/1.1 200 OK\r\ncontent-ty".to_vec())?;
        let in_event = open_stream([&self.answer[..self.answer.len() / 2]]);
        network(in_event)?;
        let first = self
            .answer
            .split_inclusive("\n\n")
            .next()
            .unwrap_or_default();
        network(open_stream([first]))?;
        // The last event of an answer may say that it is whole; what is before it does not.
        let before_last = self.answer.trim_end().rfind("\n\n").map_or(0, |at| at + 2);
        network(open_stream([&self.answer[..before_last]]))?;
        let malformed = |body: &str| {
            self.fails(stream(body), Class::ProviderCapability, "OutputMalformed")
                .map(drop)
        };
        malformed("")?;
        malformed(": only a comment\n\n")?;
        malformed(first)?;
        malformed("data: {\"broken\n\n")?;
        malformed("data: <html>\n\n")?;
        Ok(())
    }

    /// What is no stream of events says what it is instead.
    pub fn any_other_body(&self) -> Outcome {
        let of = |kind: &str, body: &str| response("200 OK", &[("content-type", kind)], body);
        let whole = of("application/json; charset=utf-8", r#"{"choices":[]}"#);
        self.fails(whole, Class::ProviderCapability, "MissingStreaming")?;
        let complaint = of(
            "application/json",
            r#"{"error":{"message":"busy","code":503}}"#,
        );
        self.fails(complaint, Class::ProviderTransient, "Provider5xx")?;
        let page = of("text/html", "<html></html>");
        self.fails(page, Class::ProviderTransient, "EndpointNotFound")?;
        Ok(())
    }

    /// The timeout of the config applies to the first piece and to each next one.
    pub fn silence(&self) -> Outcome {
        for bytes in [Vec::new(), open_stream([&*self.opening])] {
            let server = io(Server::start(move |_| {
                vec![Step::Send(bytes.clone()), Step::AwaitClose]
            }))?;
            let harness = self.harness_with(&server, &json!({"timeoutMs": 100}));
            let begun = Instant::now();
            let asked = self.ask(&harness);
            let failed = asked
                .as_ref()
                .err()
                .is_some_and(|error| error.code() == "NetworkTimeout");
            ensure(failed, || format!("{asked:?}"))?;
            ensure(begun.elapsed() < PATIENCE, || "it waited".to_owned())?;
            ensure(server.await_close(PATIENCE), || {
                "the connection stayed open".to_owned()
            })?;
        }
        Ok(())
    }

    /// A cancelled turn closes its connection.
    pub fn calling_off(&self) -> Outcome {
        let bytes = open_stream([&*self.opening, &(self.delta)("so far")]);
        let server = io(Server::start(move |_| {
            vec![Step::Send(bytes.clone()), Step::AwaitClose]
        }))?;
        let harness = self.harness(&server);
        let host = harness.host().clone();
        let asked = thread::scope(|scope| {
            scope.spawn(|| {
                server.await_request(PATIENCE);
                thread::sleep(Duration::from_millis(20));
                host.cancel(Scope::Turn);
            });
            self.ask(&harness)
        });
        let called_off =
            matches!(&asked, Err(error) if error.is(Class::Cancellation, "TurnCancelled"));
        ensure(called_off, || format!("{asked:?}"))?;
        ensure(server.await_close(PATIENCE), || {
            "the connection stayed open".to_owned()
        })
    }

    /// An event may be as large as it may, and no larger.
    pub fn large_events(&self) -> Outcome {
        let empty = (self.delta)("");
        let around = empty.trim_end().len() - "data: ".len() - named(&empty);
        let text = "x".repeat(MAX_FRAME_BYTES - around);
        let body = format!("{}{}{}", self.opening, (self.delta)(&text), self.closing);
        let told = self.ask_of(stream(&body))?;
        let whole = told.as_ref().is_ok_and(|told| told.text == text);
        ensure(whole, || format!("{:?}", told.map(|told| told.text.len())))?;
        let body = format!("{}{}", self.opening, (self.delta)(&format!("{text}y")));
        self.fails(stream(&body), Class::ProviderCapability, "OutputMalformed")?;
        Ok(())
    }

    /// Very many small events come whole and in order; how long that took.
    pub fn flood(&self, count: usize) -> Result<Duration, String> {
        let words: Vec<String> = (0..count).map(|n| format!("w{n} ")).collect();
        let deltas = words.iter().map(|word| (self.delta)(word));
        let parts: Vec<String> = [self.opening.clone()]
            .into_iter()
            .chain(deltas)
            .chain([self.closing.clone()])
            .collect();
        let server = io(Server::always(chunked(parts.iter().map(String::as_str))))?;
        let harness = self.harness(&server);
        let begun = Instant::now();
        let told = self.ask(&harness).map_err(|error| error.to_string())?;
        let took = begun.elapsed();
        ensure(told.text == words.concat(), || {
            "the text is another".to_owned()
        })?;
        Ok(took)
    }
}

/// How long the lines before the data of an event are.
fn named(event: &str) -> usize {
    event.find("data: ").unwrap_or(0)
}
