//! Calls into a plugin in a library, each beside the same thing done in process.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use stud_abi::{BoxFuture, CallContext, EventHeader, Fault};
use stud_core::activate::Running;
use stud_core::executor::block_on;

use crate::home::Home;
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

/// The in-process twin of an interactor: the same call with the same owners, and no boundary.
trait Interactor {
    fn on_interaction(
        self: Arc<Self>,
        subject: String,
        payload: String,
        cx: CallContext,
    ) -> BoxFuture<Result<String, Fault>>;
}

impl Interactor for Ignores {
    #[inline(never)]
    fn on_interaction(
        self: Arc<Self>,
        _subject: String,
        payload: String,
        _cx: CallContext,
    ) -> BoxFuture<Result<String, Fault>> {
        Box::pin(async move {
            black_box(&self);
            Ok(payload)
        })
    }
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

    let cx = CallContext::detached();
    let local: Arc<dyn Interactor> = black_box(Arc::new(Ignores));
    let boxed_call = best(500_000, || {
        let call =
            local
                .clone()
                .on_interaction(String::new(), black_box(String::new()), cx.clone());
        ready(call)
    });
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
            "an async call answered at once, beside a `dyn` call that gives a `BoxFuture`",
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
