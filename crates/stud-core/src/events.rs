//! The event bus of one session: one stream, the same for every subscriber.
//!
//! Publishing puts an event into the stream and returns; it never waits for a subscriber. Subscribers are served by
//! lanes. Almost always one lane serves them all, one call after the other, which is what makes an event cheap. A
//! subscriber that takes long is given a lane of its own and falls behind by itself; one that does not return at all
//! keeps the lane it is stuck in, and the others move to a new one. Each continues exactly where it was.
//!
//! The stream keeps what the slowest subscriber has not heard, up to a bound. Beyond it the subscriber is moved
//! forward, and all subscribers are told which events it missed.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::SystemTime;

use serde::Serialize;
use stud_contract_meta::{Error, Result};
use stud_host_api::events::{CoreEvent, EventsSkipped, SubscriberLagged, SuppressedError};

use crate::executor;
use crate::ids;
use crate::limits::Limits;
use crate::platform;
use crate::redact::Redactor;
use crate::sync::{Mutex, lock};
use crate::timer::Timer;

mod lane;

use lane::{Lane, Subscription};

/// Something that happened.
pub struct Event {
    /// Its place in the session's stream, from 1.
    pub seq: u64,
    /// What happened.
    pub name: Box<str>,
    /// The turn it belongs to.
    pub correlation_id: Box<str>,
    /// The facts, as JSON. It is written once for all subscribers.
    pub payload: Box<str>,
    /// When it was put into the stream; never before the event that precedes it.
    pub at: SystemTime,
}

/// Hears events.
pub trait Subscriber: Send + Sync {
    /// The plugin behind it.
    fn ext_id(&self) -> &str;

    /// The delivery thread was woken and has not delivered an event yet.
    fn roused(&self) {}

    /// Takes one event.
    fn hear(&self, event: &Event) -> Result<()>;

    /// Whether this subscriber handles events of this name. An event that no subscriber handles is not published; an event
    /// that one subscriber handles is delivered to all.
    fn hears(&self, _name: &str) -> bool {
        true
    }
}

/// How a subscriber is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// In the lane that serves all those who return at once.
    Shared,
    /// By itself from the start, for those who are known to take their time.
    Apart,
}

/// The stream of one session.
pub struct Bus {
    stream: Mutex<Stream>,
    timer: Arc<dyn Timer>,
    limits: Limits,
    /// Who is told of subscribers that fail or fall behind, besides the other subscribers.
    trouble: OnceLock<FailureReport>,
    /// What must not be in what subscribers say when they fail.
    redactor: OnceLock<Arc<Redactor>>,
    this: Weak<Self>,
}

type FailureReport = Box<dyn Fn(&SubscriberFailure) + Send + Sync>;

/// A subscriber that fails or falls behind.
#[derive(Debug)]
pub struct SubscriberFailure {
    /// The plugin.
    pub ext_id: String,
    /// What happened in.
    pub correlation_id: String,
    /// What it does not do.
    pub reason: String,
    /// Why, as records have it.
    pub cause: String,
    /// Both, for a person.
    pub message: String,
}

/// An error as records have it: its class, code, message and facts as JSON text.
pub(crate) fn cause(error: &Error) -> String {
    // Maps with text keys cannot fail to become JSON.
    serde_json::to_string(error).unwrap_or_else(|_| error.to_string())
}

struct Stream {
    /// The number of the next event.
    next: u64,
    /// When the last event was put into it.
    last_at: SystemTime,
    /// Events not yet delivered to all subscribers; the last one is `next - 1`.
    kept: VecDeque<Arc<Event>>,
    /// What `kept` weighs.
    bytes: usize,
    lanes: Vec<Arc<Lane>>,
    closed: bool,
}

/// What a subscriber may leave unheard before it is moved forward.
const BACKLOG_BYTES: usize = 64 << 20;

/// How far behind a subscriber is when it is reported.
const BEHIND: u64 = 1024;

impl Bus {
    /// An empty stream.
    pub fn new(timer: Arc<dyn Timer>, limits: Limits) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            stream: Mutex::new(Stream {
                next: 1,
                last_at: SystemTime::UNIX_EPOCH,
                kept: VecDeque::new(),
                bytes: 0,
                lanes: Vec::new(),
                closed: false,
            }),
            timer,
            limits,
            trouble: OnceLock::new(),
            redactor: OnceLock::new(),
            this: this.clone(),
        })
    }

    /// Names who is told of subscribers that fail or fall behind. Only the first one named is.
    pub fn on_trouble(&self, told: impl Fn(&SubscriberFailure) + Send + Sync + 'static) {
        let _ = self.trouble.set(Box::new(told));
    }

    /// Keeps secrets out of what subscribers say when they fail. Other events come without any.
    pub(crate) fn redact_with(&self, redactor: &Arc<Redactor>) {
        let _ = self.redactor.set(redactor.clone());
    }

    fn tell(&self, trouble: &SubscriberFailure) {
        if let Some(told) = self.trouble.get() {
            told(trouble);
        }
    }

    /// Publishes to all subscribers. The payload is serialized once.
    pub fn publish(&self, name: &str, correlation_id: &str, payload: &impl Serialize) {
        // What core and plugins publish are maps with text keys, which cannot fail to become JSON.
        let payload = serde_json::to_string(payload).unwrap_or_else(|_| "null".to_owned());
        self.publish_text(name, correlation_id, payload);
    }

    /// Publishes an already serialized payload to all subscribers.
    pub fn publish_text(&self, name: &str, correlation_id: &str, payload: String) {
        drop(self.place_text(name, correlation_id, payload));
    }

    /// The same, and those who deliver it set off when what this gives is dropped: to wake them takes time that
    /// another thread may be waiting for.
    pub(crate) fn place_text(
        &self,
        name: &str,
        correlation_id: &str,
        payload: String,
    ) -> PendingDelivery {
        self.put(name, correlation_id, payload.into_boxed_str())
    }

    fn put(&self, name: &str, correlation_id: &str, payload: Box<str>) -> PendingDelivery {
        let (seq, lanes, skipped) = {
            let mut stream = lock(&self.stream);
            if stream.closed {
                return PendingDelivery::default();
            }
            let seq = stream.next;
            stream.next += 1;
            if stream.lanes.is_empty() {
                return PendingDelivery::default();
            }
            // A clock that was set back does not turn the order of events around.
            stream.last_at = stream.last_at.max(platform::now());
            let event = Event {
                seq,
                name: name.into(),
                correlation_id: correlation_id.into(),
                payload,
                at: stream.last_at,
            };
            stream.bytes += event.weight();
            stream.kept.push_back(Arc::new(event));
            let skipped = if stream.bytes > BACKLOG_BYTES {
                stream.skip_the_slowest()
            } else {
                Vec::new()
            };
            (seq, stream.idle_lanes(), skipped)
        };
        for skipped in skipped {
            self.publish(EventsSkipped::NAME, correlation_id, &skipped);
        }
        PendingDelivery {
            bus: self.this.clone(),
            seq,
            lanes,
        }
    }

    /// Adds a subscriber, from the next event on.
    pub fn subscribe(&self, subscriber: Arc<dyn Subscriber>, service: Service) {
        let mut stream = lock(&self.stream);
        if stream.closed {
            return;
        }
        let seat = Arc::new(Subscription::new(subscriber, stream.next - 1));
        let shared = stream.lanes.iter().find(|lane| lane.is_shared());
        match (service, shared) {
            (Service::Shared, Some(lane)) => lane.seat(seat),
            (Service::Shared, None) => stream.lanes.push(Lane::shared(vec![seat])),
            (Service::Apart, _) => stream.lanes.push(Lane::apart(seat)),
        }
    }

    /// Takes a subscriber out. It may still be hearing an event, and hears no other.
    pub fn unsubscribe(&self, ext_id: &str) {
        let mut stream = lock(&self.stream);
        for lane in &stream.lanes {
            lane.unseat(ext_id);
        }
        stream.lanes.retain(|lane| !lane.is_empty());
        stream.forget_heard();
    }

    /// Whether any subscriber handles events of this name.
    pub(crate) fn is_heard(&self, name: &str) -> bool {
        let stream = lock(&self.stream);
        let mut lanes = stream.lanes.iter();
        lanes.any(|lane| lane.hears(name))
    }

    /// The number of the last event.
    pub fn last_seq(&self) -> u64 {
        lock(&self.stream).next - 1
    }

    /// Whether all subscribers that are not stuck have received everything.
    pub fn is_quiet(&self) -> bool {
        let stream = lock(&self.stream);
        let last = stream.next - 1;
        stream
            .lanes
            .iter()
            .all(|lane| lane.is_stuck() || lane.all_heard(last))
    }

    /// Takes no more events. What was published before is still delivered.
    pub fn close(&self) {
        lock(&self.stream).closed = true;
    }

    fn run(&self, lane: Arc<Lane>) {
        let Some(bus) = self.this.upgrade() else {
            return;
        };
        lane::watch(&bus, &lane);
        executor::spawn(move || lane::serve(&bus, &lane));
    }

    /// A handler failed. It is reported once, and a failure to take that report is not.
    fn suppress(&self, event: &Event, ext_id: &str, error: &Error) {
        if &*event.name == SuppressedError::NAME {
            return;
        }
        let reason = format!("`{ext_id}` failed to take `{}`", event.name);
        let (mut cause, mut words) = (cause(error), error.to_string());
        if let Some(redactor) = self.redactor.get() {
            cause = redactor.json(&cause).into_owned();
            words = redactor.text(&words).into_owned();
        }
        self.tell(&SubscriberFailure {
            ext_id: ext_id.to_owned(),
            correlation_id: event.correlation_id.to_string(),
            message: format!("{reason}: {words}"),
            reason: reason.clone(),
            cause: cause.clone(),
        });
        let suppressed = SuppressedError {
            at: platform::rfc3339(platform::now()),
            cause,
            event: Some(event.name.to_string()),
            ext_id: Some(ext_id.to_owned()),
            reason,
            kind: SuppressedError::NAME.to_owned(),
        };
        self.publish(SuppressedError::NAME, &event.correlation_id, &suppressed);
    }

    fn lagged(&self, ext_id: &str, behind: u64, stuck: bool) {
        let correlation_id = ids::fresh();
        let (reason, cause) = if stuck {
            let reason = format!("`{ext_id}` does not come back from an event");
            (reason, format!("{behind} wait for it"))
        } else {
            let reason = format!("`{ext_id}` does not keep up with events");
            (reason, format!("it is {behind} behind"))
        };
        self.tell(&SubscriberFailure {
            ext_id: ext_id.to_owned(),
            correlation_id: correlation_id.clone(),
            message: format!("{reason}; {cause}"),
            reason,
            cause,
        });
        let lagged = SubscriberLagged {
            behind,
            ext_id: ext_id.to_owned(),
            stuck,
        };
        self.publish(SubscriberLagged::NAME, &correlation_id, &lagged);
    }
}

/// Lanes that count as at work and have not set off yet. They do when this is dropped.
#[derive(Default)]
#[must_use = "dropping it wakes threads"]
pub(crate) struct PendingDelivery {
    bus: Weak<Bus>,
    /// The event they set off for.
    seq: u64,
    lanes: Vec<Arc<Lane>>,
}

impl PendingDelivery {
    /// Starts delivery, and runs `job` on a thread of its own once all subscribers that return immediately have received the
    /// event. It is the thread that let them hear it if they are at rest, because to wake another one takes longer than
    /// all of that; only then may `job` be kept waiting, which is what this gives.
    pub(crate) fn and_then(mut self, job: impl FnOnce() + Send + 'static) -> bool {
        let shared = self.lanes.iter().position(|lane| lane.is_shared());
        let (Some(place), Some(bus)) = (shared, self.bus.upgrade()) else {
            executor::spawn(job);
            return false;
        };
        let lane = self.lanes.swap_remove(place);
        let (watched, seq) = ((bus.clone(), lane.clone()), self.seq);
        executor::spawn(move || {
            lane::serve_through(&bus, &lane, seq);
            drop((bus, lane));
            job();
        });
        lane::watch(&watched.0, &watched.1);
        true
    }
}

impl Drop for PendingDelivery {
    fn drop(&mut self) {
        if let Some(bus) = self.bus.upgrade() {
            for lane in self.lanes.drain(..) {
                bus.run(lane);
            }
        }
    }
}

impl Event {
    fn weight(&self) -> usize {
        self.payload.len() + self.name.len() + self.correlation_id.len() + size_of::<Self>()
    }
}

impl Stream {
    /// Lanes that have something to do and are not at it. They count as at it from now on.
    fn idle_lanes(&self) -> Vec<Arc<Lane>> {
        self.lanes
            .iter()
            .filter(|lane| lane.rouse())
            .cloned()
            .collect()
    }

    /// What comes after `heard`, not too much at a time.
    fn after(&self, heard: u64, at_most: usize) -> Vec<Arc<Event>> {
        let first = self.next - self.kept.len() as u64;
        let skip =
            usize::try_from(heard.saturating_add(1).saturating_sub(first)).unwrap_or(usize::MAX);
        let events = self.kept.iter().skip(skip).take(at_most);
        events.cloned().collect()
    }

    /// Drops the events that all subscribers have received.
    fn forget_heard(&mut self) {
        let heard = self.lanes.iter().map(|lane| lane.heard()).min();
        let heard = heard.unwrap_or(self.next - 1);
        while let Some(event) = self.kept.front()
            && event.seq <= heard
        {
            self.bytes -= event.weight();
            self.kept.pop_front();
        }
    }

    /// Moves the subscribers that are furthest behind to the present.
    fn skip_the_slowest(&mut self) -> Vec<EventsSkipped> {
        let last = self.next - 1;
        let slowest = self.lanes.iter().map(|lane| lane.heard()).min();
        let behind = self
            .lanes
            .iter()
            .filter(|lane| Some(lane.heard()) == slowest);
        let skipped = behind.flat_map(|lane| lane.skip_to(last)).collect();
        self.forget_heard();
        skipped
    }
}

impl fmt::Debug for Bus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bus")
            .field("last_seq", &self.last_seq())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {} {}", self.seq, self.name, self.payload)
    }
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests;
