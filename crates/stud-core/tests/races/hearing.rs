//! The event bus: one stream, the same for every subscriber, whether others join, leave, are slow or get stuck.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use shuttle::thread;
use stud_contract_meta::{Error, Result};
use stud_core::events::{Bus, Event, Service, Subscriber};
use stud_core::limits::Limits;
use stud_core::platform;
use stud_diagnostics::codes;

use crate::clock::Clock;
use crate::explore::explore;
use crate::gate::FifoLock;
use crate::witness::{Witness, without_gaps};

fn publish_from_two_threads(bus: &Arc<Bus>, each: u64) {
    let publishers = ["left", "right"].map(|name| {
        let bus = bus.clone();
        thread::spawn(move || {
            for number in 0..each {
                bus.publish(name, "t1", &json!({"number": number}));
            }
        })
    });
    for publisher in publishers {
        publisher.join().unwrap();
    }
}

#[test]
fn everybody_hears_the_same_in_the_same_order() {
    explore(everybody);
}

pub(crate) fn everybody() {
    let bus = Bus::new(Clock::silent(), Limits::default());
    let witnesses = [
        Witness::of(&bus, "ann", Service::Shared),
        Witness::of(&bus, "bob", Service::Shared),
        Witness::of(&bus, "log", Service::Apart),
    ];
    publish_from_two_threads(&bus, 3);
    let [ann, bob, log] = witnesses.map(|witness| witness.heard_through(6));
    without_gaps(&ann);
    assert_eq!(ann.len(), 6);
    assert_eq!(ann, bob);
    assert_eq!(ann, log);
    for name in ["left", "right"] {
        let told = ann.iter().filter(|event| event.name == name);
        let numbers: Vec<_> = told.map(|event| event.payload["number"].as_u64()).collect();
        assert_eq!(
            numbers,
            [Some(0), Some(1), Some(2)],
            "in the order they were published"
        );
    }
}

#[test]
fn whoever_subscribes_late_starts_at_the_present() {
    explore(|| {
        let bus = Bus::new(Clock::silent(), Limits::default());
        let ann = Witness::of(&bus, "ann", Service::Shared);
        let joining = {
            let bus = bus.clone();
            thread::spawn(move || {
                [Service::Shared, Service::Apart].map(|service| {
                    let before = bus.last_seq();
                    (before, Witness::of(&bus, "late", service), bus.last_seq())
                })
            })
        };
        publish_from_two_threads(&bus, 2);
        let late = joining.join().unwrap();
        bus.publish("last", "t1", &json!({}));
        let all = ann.heard_through(5);
        for (before, witness, after) in late {
            let heard = witness.heard_through(5);
            without_gaps(&heard);
            let first = heard[0].seq;
            assert!(
                before < first && first <= after + 1,
                "from the next event on"
            );
            assert_eq!(heard[..], all[all.len() - heard.len()..]);
        }
    });
}

#[test]
fn whoever_unsubscribes_hears_nothing_more() {
    explore(unsubscribing);
}

pub(crate) fn unsubscribing() {
    let bus = Bus::new(Clock::silent(), Limits::default());
    let ann = Witness::of(&bus, "ann", Service::Shared);
    let bob = Witness::of(&bus, "bob", Service::Shared);
    let log = Witness::of(&bus, "log", Service::Apart);
    let leaving = {
        let (bus, bob, log) = (bus.clone(), bob.clone(), log.clone());
        thread::spawn(move || {
            [("bob", bob), ("log", log)].map(|(id, witness)| {
                bus.unsubscribe(id);
                let last = bus.last_seq();
                (witness, last)
            })
        })
    };
    publish_from_two_threads(&bus, 2);
    let left = leaving.join().unwrap();
    bus.publish("last", "t1", &json!({}));
    let all = ann.heard_through(5);
    without_gaps(&all);
    for (witness, last) in left {
        let heard = witness.heard();
        without_gaps(&heard);
        assert!(
            heard.last().is_none_or(|event| event.seq <= last),
            "an event after it left"
        );
        assert_eq!(heard[..], all[..heard.len()]);
    }
}

#[test]
fn a_handler_that_fails_is_told_of_and_goes_on() {
    explore(|| {
        let bus = Bus::new(Clock::silent(), Limits::default());
        bus.subscribe(Arc::new(Clumsy), Service::Shared);
        let ann = Witness::of(&bus, "ann", Service::Shared);
        publish_from_two_threads(&bus, 1);
        let heard = ann.heard_through(4);
        without_gaps(&heard);
        let suppressed = heard.iter().filter(|event| event.name == "SuppressedError");
        assert_eq!(
            suppressed.count(),
            2,
            "one for each event, and none for each other"
        );
    });
}

/// Fails at everything.
struct Clumsy;

impl Subscriber for Clumsy {
    fn ext_id(&self) -> &'static str {
        "clumsy"
    }

    fn hear(&self, _: &Event) -> Result<()> {
        let code = &codes::LIFECYCLE_FAILURE;
        Err(Error::new(code.class, code.name, "dropped it"))
    }
}

/// A witness that waits for leave, or takes its time, before it hears its first event.
pub(crate) struct Slow {
    witness: Arc<Witness>,
    takes: Duration,
    pub(crate) gate: FifoLock,
}

impl Slow {
    pub(crate) fn new(id: &str, takes: Duration) -> Arc<Self> {
        Arc::new(Self {
            witness: Witness::new(id),
            takes,
            gate: FifoLock::default(),
        })
    }
}

impl Subscriber for Slow {
    fn ext_id(&self) -> &str {
        self.witness.ext_id()
    }

    fn hear(&self, event: &Event) -> Result<()> {
        self.gate.pass();
        platform::pass(self.takes);
        self.witness.hear(event)
    }
}

#[test]
fn whoever_is_slow_keeps_its_place_in_a_lane_of_its_own() {
    explore(|| {
        let bus = Bus::new(Clock::silent(), Limits::default());
        let ann = Witness::of(&bus, "ann", Service::Shared);
        let slow = Slow::new("slow", Duration::from_millis(30));
        slow.gate.open();
        bus.subscribe(slow.clone(), Service::Shared);
        let bob = Witness::of(&bus, "bob", Service::Shared);
        publish_from_two_threads(&bus, 4);
        let [ann, bob, slow] = [&ann, &bob, &slow.witness].map(|witness| witness.heard_through(8));
        without_gaps(&ann);
        assert_eq!(ann.len(), 8);
        assert_eq!(ann, bob);
        assert_eq!(ann, slow);
    });
}

#[test]
fn whoever_is_stuck_holds_up_nobody() {
    explore(stuck);
}

/// The watchdog fires at any moment, also when no subscriber is stuck.
pub(crate) fn stuck() {
    let limits = Limits::default();
    let bus = Bus::new(Clock::ringing(limits.event, 4), limits);
    let ann = Witness::of(&bus, "ann", Service::Shared);
    let stuck = Slow::new("stuck", Duration::ZERO);
    bus.subscribe(stuck.clone(), Service::Shared);
    let bob = Witness::of(&bus, "bob", Service::Shared);
    let opening = {
        let stuck = stuck.clone();
        thread::spawn(move || stuck.gate.open())
    };
    publish_from_two_threads(&bus, 3);
    opening.join().unwrap();
    let last = bus.last_seq();
    let [ann, bob, stuck] = [&ann, &bob, &stuck.witness].map(|witness| witness.heard_through(last));
    without_gaps(&ann);
    let same = |one: &[_], other: &[_]| {
        let both = one.len().min(other.len());
        one[..both] == other[..both]
    };
    assert!(
        same(&ann, &bob) && same(&ann, &stuck),
        "the same for everybody"
    );
}
