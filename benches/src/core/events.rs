//! Events to subscribers in libraries, beside the same stream with subscribers in process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stud_abi::CallContext;
use stud_contract_interaction::{Ask, Request};
use stud_contract_meta::{Kind, Result};
use stud_core::events::{Bus, Event, Service, Subscriber};
use stud_core::executor::block_on;
use stud_core::limits::Limits;
use stud_core::registry::Registry;
use stud_core::timer;

use crate::home::{Home, fail};
use crate::measure::{Spread, wake};
use crate::table::Row;

/// How many events come at once.
const BURST: u32 = 10_000;
const BURSTS: u32 = 15;
const SINGLES: u32 = 1_000;

pub(crate) fn rows() -> Vec<Row> {
    let payload = json!({"toolCallId": "c1", "text": "x".repeat(165)});
    let mut growth = Vec::new();
    let mut rows = Vec::new();
    for count in [1, 8, 64, 256] {
        let home = Home::empty().and_uis(count);
        let launched = home.session(Vec::new(), None);
        let plugins = launched.session.plugins();
        let audience = Visibility::of(launched.session.bus(), &payload);
        // They still hear of one another's coming up.
        audience.settle();
        let (before, first) = (heard(&plugins), audience.bus.last_seq());
        let each = audience.burst();
        growth.push(format!("{count}: {each:.2} µs"));
        if count == 64 {
            rows.push(Row::limit(
                "an event to 64 subscribers, each in a library of its own, of 10,000 at once",
                each,
                3.0,
                "µs",
            ));
            rows.push(in_process(&payload));
            rows.push(alone(&audience));
        }
        audience.settle();
        let expected = audience.bus.last_seq() - first;
        let now = heard(&plugins);
        let missed = before
            .iter()
            .zip(&now)
            .find(|(before, now)| *before + expected != **now);
        if now.len() != count || missed.is_some() {
            fail(&format!(
                "{count} subscribers were to hear {expected} events each: {before:?}, {now:?}"
            ));
        }
    }
    rows.push(Row::fact(
        "the same, as the number of subscribers grows",
        growth.join(", "),
    ));
    rows
}

fn in_process(payload: &Value) -> Row {
    let bus = Bus::new(timer::system(), Limits::default());
    for _ in 0..64 {
        bus.subscribe(Arc::new(Counter::default()), Service::Shared);
    }
    let each = Visibility::of(&bus, payload).burst();
    Row::fact(
        "the same to 64 subscribers in process",
        format!("{each:.2} µs"),
    )
}

/// An event that arrives while the bus is idle.
fn alone(audience: &Visibility<'_>) -> Row {
    let waits: Vec<Duration> = (0..SINGLES).map(|_| audience.single()).collect();
    let spread = Spread::of(waits);
    let wake = wake();
    Row::fact(
        "a single event, from its publisher to the last of the 64",
        format!(
            "median {:.1} µs, 99th of 100 {:.1} µs; waking a thread takes {wake:.1} µs here",
            spread.median, spread.worst_but_one_percent
        ),
    )
}

/// How many events each of the UIs has heard, as it says itself.
fn heard(plugins: &Registry) -> Vec<u64> {
    let question = Ask {
        prompt: "How many?".to_owned(),
        ..Ask::default()
    };
    let request = Request::new("i1", "t1", "2026-01-01T00:00:00.000Z", question);
    let uis = plugins.of_kind(Kind::Ui).into_iter();
    uis.map(|ui| {
        let answer = block_on(ui.interact(&request, CallContext::detached()));
        let value = answer.ok().and_then(|answer| answer.value);
        let count = value.and_then(|value| value["text"].as_str()?.parse().ok());
        count.unwrap_or_else(|| fail("a UI does not say how many events it has heard"))
    })
    .collect()
}

/// Subscribers, and the last of them, who knows when the others have heard.
struct Visibility<'a> {
    bus: Arc<Bus>,
    payload: &'a Value,
    done: mpsc::Receiver<Instant>,
}

impl<'a> Visibility<'a> {
    fn of(bus: &Arc<Bus>, payload: &'a Value) -> Self {
        let (sender, done) = mpsc::channel();
        let last = Arc::new(Last(Mutex::new(sender)));
        bus.subscribe(last, Service::Shared);
        Self {
            bus: bus.clone(),
            payload,
            done,
        }
    }

    /// Microseconds for each event of the best burst.
    fn burst(&self) -> f64 {
        let bursts = (0..BURSTS).map(|_| {
            self.settle();
            let began = Instant::now();
            for _ in 1..BURST {
                self.bus.publish("Tick", "t1", self.payload);
            }
            self.end(began).as_secs_f64() * 1e6 / f64::from(BURST)
        });
        bursts.fold(f64::INFINITY, f64::min)
    }

    fn single(&self) -> Duration {
        self.settle();
        self.end(Instant::now())
    }

    /// Publishes the last event, and waits until all subscribers have received it.
    fn end(&self, began: Instant) -> Duration {
        self.bus.publish(LAST, "t1", self.payload);
        match self.done.recv() {
            Ok(heard) => heard - began,
            Err(error) => fail(&error.to_string()),
        }
    }

    fn settle(&self) {
        while !self.bus.is_quiet() {
            std::thread::yield_now();
        }
    }
}

const LAST: &str = "Last";

/// Joined last, so it hears last, and tells when it has heard the last event.
struct Last(Mutex<mpsc::Sender<Instant>>);

impl Subscriber for Last {
    fn ext_id(&self) -> &'static str {
        "last"
    }

    fn hear(&self, event: &Event) -> Result<()> {
        if &*event.name == LAST {
            let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = sender.send(Instant::now());
        }
        Ok(())
    }
}

/// The in-process twin of a UI that counts.
#[derive(Default)]
struct Counter(AtomicU64);

impl Subscriber for Counter {
    fn ext_id(&self) -> &'static str {
        "counter"
    }

    fn hear(&self, _: &Event) -> Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}
