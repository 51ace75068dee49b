use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex as StdMutex, mpsc};
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::timer;

/// Writes down what it hears, and may be held at the door.
struct Ear {
    id: &'static str,
    heard: mpsc::Sender<(u64, String)>,
    door: Arc<Door>,
}

/// Closed while a subscriber is held.
#[derive(Default)]
struct Door {
    closed: StdMutex<bool>,
    opened: Condvar,
}

impl Door {
    fn set(&self, closed: bool) {
        *self.closed.lock().unwrap() = closed;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let closed = self.closed.lock().unwrap();
        drop(self.opened.wait_while(closed, |closed| *closed).unwrap());
    }
}

impl Subscriber for Ear {
    fn ext_id(&self) -> &str {
        self.id
    }

    fn hear(&self, event: &Event) -> Result<()> {
        self.door.pass();
        let _ = self.heard.send((event.seq, event.name.to_string()));
        Ok(())
    }
}

fn ear(id: &'static str) -> (Arc<Ear>, mpsc::Receiver<(u64, String)>, Arc<Door>) {
    let (heard, receiver) = mpsc::channel();
    let door = Arc::new(Door::default());
    let ear = Ear {
        id,
        heard,
        door: door.clone(),
    };
    (Arc::new(ear), receiver, door)
}

fn bus(event: Duration) -> Arc<Bus> {
    let limits = Limits {
        event,
        ..Limits::default()
    };
    Bus::new(timer::system(), limits)
}

fn next(receiver: &mpsc::Receiver<(u64, String)>) -> (u64, String) {
    receiver.recv_timeout(Duration::from_secs(10)).unwrap()
}

#[test]
fn every_subscriber_hears_the_same_in_the_same_order() {
    let bus = bus(Duration::from_secs(5));
    let ears: Vec<_> = ["a", "b", "c"].into_iter().map(ear).collect();
    for (ear, ..) in &ears {
        bus.subscribe(ear.clone(), Service::Shared);
    }
    let publishers: Vec<_> = (0..4)
        .map(|_| {
            let bus = bus.clone();
            std::thread::spawn(move || {
                for _ in 0..500 {
                    bus.publish("Tick", "t", &json!({}));
                }
            })
        })
        .collect();
    for publisher in publishers {
        publisher.join().unwrap();
    }
    for (_, heard, _) in &ears {
        let seqs: Vec<u64> = (0..2000).map(|_| next(heard).0).collect();
        assert!(seqs.iter().copied().eq(1..=2000));
    }
}

#[test]
fn what_waits_for_an_event_to_be_heard_holds_up_no_other() {
    let bus = bus(Duration::from_secs(5));
    let (ear, heard, _) = ear("ear");
    bus.subscribe(ear, Service::Shared);
    let (begun, beginning) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let told = bus.place_text("Tick", "t", "{}".to_owned());
    // It is in the stream already, and not what is waited for.
    bus.publish("Tock", "t", &json!({}));
    let may_wait = told.and_then(move || {
        begun.send(()).unwrap();
        let _ = ended.recv();
    });
    assert!(may_wait);
    beginning.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(heard.try_recv(), Ok((1, "Tick".to_owned())));
    assert_eq!(next(&heard), (2, "Tock".to_owned()));
    bus.publish("Tick", "t", &json!({}));
    assert_eq!(next(&heard), (3, "Tick".to_owned()));
    // Subscribers that have left need not be waited for.
    drop(end);
    bus.unsubscribe("ear");
    let (done, doing) = mpsc::channel();
    let told = bus.place_text("Tick", "t", "{}".to_owned());
    assert!(!told.and_then(move || done.send(()).unwrap()));
    doing.recv_timeout(Duration::from_secs(10)).unwrap();
}

#[test]
fn one_that_comes_late_starts_at_the_present() {
    let bus = bus(Duration::from_secs(5));
    bus.publish("Before", "t", &json!({}));
    let (late, heard, _) = ear("late");
    bus.subscribe(late, Service::Shared);
    bus.publish("After", "t", &json!({}));
    assert_eq!(next(&heard), (2, "After".to_owned()));
}

#[test]
fn one_that_is_stuck_is_named_and_keeps_nobody_waiting() {
    let bus = bus(Duration::from_millis(30));
    let (stuck, late, door) = ear("stuck");
    let (other, heard, _) = ear("other");
    door.set(true);
    bus.subscribe(stuck, Service::Shared);
    bus.subscribe(other, Service::Shared);
    for _ in 0..3 {
        bus.publish("Tick", "t", &json!({}));
    }
    let names: Vec<String> = (0..4).map(|_| next(&heard).1).collect();
    assert_eq!(names, ["Tick", "Tick", "Tick", "SubscriberLagged"]);
    // It has missed nothing when it comes back.
    door.set(false);
    let names: Vec<String> = (0..4).map(|_| next(&late).1).collect();
    assert_eq!(names, ["Tick", "Tick", "Tick", "SubscriberLagged"]);
}

#[test]
fn one_that_is_slow_falls_behind_by_itself() {
    struct Slow(AtomicBool);
    impl Subscriber for Slow {
        fn ext_id(&self) -> &'static str {
            "slow"
        }

        fn hear(&self, _: &Event) -> Result<()> {
            std::thread::sleep(Duration::from_millis(if self.0.load(Ordering::Relaxed) {
                0
            } else {
                5
            }));
            Ok(())
        }
    }
    let bus = bus(Duration::from_secs(5));
    let slow = Arc::new(Slow(AtomicBool::new(false)));
    let (fast, heard, _) = ear("fast");
    bus.subscribe(slow.clone(), Service::Shared);
    bus.subscribe(fast, Service::Shared);
    for _ in 0..2000 {
        bus.publish("Tick", "t", &json!({}));
    }
    // Two thousand events take the slow one ten seconds, and the fast one does not wait for that.
    let mut ticks = 0;
    while ticks < 2000 {
        if next(&heard).1 == "Tick" {
            ticks += 1;
        }
    }
    assert!(!bus.is_quiet());
    slow.0.store(true, Ordering::Relaxed);
}

#[test]
fn a_failure_is_told_once_and_stops_nothing() {
    struct Broken;
    impl Subscriber for Broken {
        fn ext_id(&self) -> &'static str {
            "broken"
        }

        fn hear(&self, _: &Event) -> Result<()> {
            Err(Error::new(
                stud_diagnostics::Class::ExtensionHost,
                "CallPanicked",
                "no",
            ))
        }
    }
    let bus = bus(Duration::from_secs(5));
    let (other, heard, _) = ear("other");
    bus.subscribe(Arc::new(Broken), Service::Shared);
    bus.subscribe(other, Service::Shared);
    bus.publish("Tick", "t", &json!({}));
    assert_eq!(next(&heard).1, "Tick");
    assert_eq!(next(&heard).1, "SuppressedError");
    bus.publish("Tock", "t", &json!({}));
    assert_eq!(next(&heard).1, "Tock");
}

#[test]
fn what_is_skipped_is_told() {
    let bus = bus(Duration::from_secs(60));
    let (held, late, door) = ear("held");
    let (other, heard, _) = ear("other");
    door.set(true);
    bus.subscribe(held, Service::Apart);
    bus.subscribe(other, Service::Shared);
    let payload = json!({"text": "x".repeat(1 << 20)});
    let mut names = Vec::new();
    for _ in 0..80 {
        bus.publish("Large", "t", &payload);
        names.push(next(&heard).1);
    }
    assert!(
        names.iter().any(|name| name == "EventsSkipped"),
        "{names:?}"
    );
    door.set(false);
    let seqs: Vec<u64> = std::iter::from_fn(|| late.recv_timeout(Duration::from_secs(1)).ok())
        .map(|(seq, _)| seq)
        .collect();
    assert!(seqs.is_sorted());
    assert!(seqs.len() < 80, "{}", seqs.len());
}

#[test]
fn one_that_left_hears_no_more() {
    let bus = bus(Duration::from_secs(5));
    let (gone, heard, _) = ear("gone");
    bus.subscribe(gone, Service::Shared);
    bus.publish("Tick", "t", &json!({}));
    assert_eq!(next(&heard).1, "Tick");
    bus.unsubscribe("gone");
    bus.publish("Tock", "t", &json!({}));
    assert!(heard.recv_timeout(Duration::from_millis(50)).is_err());
}

#[test]
fn an_event_has_the_time_at_which_it_was_put_into_the_stream() {
    struct Late(mpsc::Sender<SystemTime>, Arc<Door>);
    impl Subscriber for Late {
        fn ext_id(&self) -> &'static str {
            "late"
        }

        fn hear(&self, event: &Event) -> Result<()> {
            self.1.pass();
            let _ = self.0.send(event.at);
            Ok(())
        }
    }
    let bus = bus(Duration::from_secs(60));
    let (times, heard) = mpsc::channel();
    let door = Arc::new(Door::default());
    door.set(true);
    bus.subscribe(Arc::new(Late(times, door.clone())), Service::Apart);
    let before = platform::now();
    bus.publish("Tick", "t", &json!({}));
    bus.publish("Tock", "t", &json!({}));
    let after = platform::now();
    door.set(false);
    let next = || heard.recv_timeout(Duration::from_secs(60)).unwrap();
    let (first, second) = (next(), next());
    assert!(before <= first && first <= second && second <= after);
}
