//! Calls into a plugin in a library, each beside the same thing done in process.

use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use stud_abi::{CallContext, EventHeader};
use stud_core::activate::Running;
use stud_core::watch::block_on;

use super::loading::Home;
use crate::measure::best;
use crate::table::Row;

/// The in-process twin of a subscriber.
trait Subscriber {
    fn on_event(&self, seq: u64, name: &str, payload: &str) -> Result<(), String>;
}

struct Ignores;

impl Subscriber for Ignores {
    #[inline(never)]
    fn on_event(&self, _seq: u64, name: &str, _payload: &str) -> Result<(), String> {
        black_box(name);
        Ok(())
    }
}

/// The in-process twin of an async call.
#[inline(never)]
fn boxed(payload: String) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send>> {
    Box::pin(async move { Ok(payload) })
}

/// Polls a future that is ready at once.
fn ready<T>(future: impl Future<Output = T>) -> Poll<T> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

pub(crate) fn rows() -> Vec<Row> {
    let home = Home::with(&[("tools", "bench-plugin"), ("ui", "bench-raw")]);
    let started = home.start();
    let ui = started
        .registry
        .get("bench-raw")
        .map(|plugin| plugin.running());
    let tool = started
        .registry
        .get("bench-plugin")
        .map(|plugin| plugin.running());
    let (Some(Running::Ui(ui)), Some(Running::Tool(tool))) = (ui, tool) else {
        return vec![Row::limit(
            "the benchmark plugins load",
            1.0,
            0.0,
            "failure",
        )];
    };

    let local: Box<dyn Subscriber> = black_box(Box::new(Ignores));
    let baseline = best(2_000_000, || {
        local.on_event(black_box(1), "SomethingElse", "{}")
    });
    let header = EventHeader {
        seq: 1,
        name: "SomethingElse",
        correlation_id: "0",
    };
    let event = best(2_000_000, || ui.on_event(black_box(header), "{}"));

    let boxed_call = best(500_000, || ready(boxed(black_box(String::new()))));
    let cx = CallContext::detached();
    let async_call = best(500_000, || {
        ready(ui.on_interaction("", String::new(), cx.clone()))
    });

    let payload = serde_json::json!({ "text": "x".repeat(1000) }).to_string();
    let json = best(50_000, || {
        block_on(tool.execute("repeat", payload.clone(), cx.clone()))
    });

    vec![
        Row::ratio(
            "an event a subscriber ignores, beside a `dyn` call",
            event,
            baseline,
            3.0,
        ),
        Row::ratio(
            "an async call answered at once, beside a `BoxFuture`",
            async_call,
            boxed_call,
            3.0,
        ),
        Row::limit(
            "a tool called with 1 KiB of JSON that gives it back",
            json / 1000.0,
            6.0,
            "µs",
        ),
    ]
}
