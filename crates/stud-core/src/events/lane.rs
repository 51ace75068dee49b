//! Serving subscribers, one call after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64 as Number, Ordering};

use stud_host_api::events::EventsSkipped;

use super::{BEHIND, Bus, Event, Subscriber};
use crate::executor;
use crate::fault_injection::{Fault, planted};
use crate::platform;
use crate::sync::{AtomicBool, AtomicU64, Mutex, lock};

/// How many events a lane takes at a time.
const BATCH: usize = 256;

/// How many of them a subscriber hears before the next one does. Going from one library to another is what costs most
/// of a call, so those that wait are best heard in one go.
const RUN: usize = 32;

/// A subscriber that takes this many nanoseconds of a lane's time is given one of its own.
const SLOW: u64 = 20_000_000;

/// A subscriber's place in the stream.
pub(super) struct Subscription {
    /// Which seat this is, in all lanes of the process.
    number: u64,
    subscriber: Arc<dyn Subscriber>,
    /// The last event it was given, or is about to be.
    heard: AtomicU64,
    gone: AtomicBool,
    reported: AtomicBool,
}

impl Subscription {
    pub(super) fn new(subscriber: Arc<dyn Subscriber>, heard: u64) -> Self {
        // A number of the process, not of a model, so it is not one that a model checks.
        static NEXT: Number = Number::new(1);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            subscriber,
            heard: AtomicU64::new(heard),
            gone: AtomicBool::new(false),
            reported: AtomicBool::new(false),
        }
    }

    fn heard(&self) -> u64 {
        self.heard.load(Ordering::Acquire)
    }

    fn ext_id(&self) -> &str {
        self.subscriber.ext_id()
    }
}

/// Some subscribers, served one after the other.
pub(super) struct Lane {
    seats: Mutex<Arc<Vec<Arc<Subscription>>>>,
    /// Whether `seats` changed since the lane last looked. No subscriber is called before it has looked again.
    changed: AtomicBool,
    shared: AtomicBool,
    running: AtomicBool,
    watched: AtomicBool,
    /// How many calls were begun. One that does not return makes it stand still.
    calls: AtomicU64,
    /// The seat that is being called.
    called: AtomicU64,
    /// Whether a call has run for too long.
    stuck: AtomicBool,
}

impl Lane {
    pub(super) fn shared(seats: Vec<Arc<Subscription>>) -> Arc<Self> {
        Self::new(seats, true)
    }

    pub(super) fn apart(seat: Arc<Subscription>) -> Arc<Self> {
        Self::new(vec![seat], false)
    }

    fn new(seats: Vec<Arc<Subscription>>, shared: bool) -> Arc<Self> {
        Arc::new(Self {
            seats: Mutex::new(Arc::new(seats)),
            changed: AtomicBool::new(false),
            shared: AtomicBool::new(shared),
            running: AtomicBool::new(false),
            watched: AtomicBool::new(false),
            calls: AtomicU64::new(0),
            called: AtomicU64::new(0),
            stuck: AtomicBool::new(false),
        })
    }

    /// Whether new subscribers may join.
    pub(super) fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Acquire)
    }

    pub(super) fn is_stuck(&self) -> bool {
        self.stuck.load(Ordering::Acquire)
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.seats).is_empty()
    }

    pub(super) fn seat(&self, seat: Arc<Subscription>) {
        self.change(|seats| seats.push(seat));
    }

    pub(super) fn unseat(&self, ext_id: &str) {
        self.change(|seats| {
            seats.retain(|seat| {
                let stays = seat.ext_id() != ext_id;
                if !stays {
                    seat.gone.store(true, Ordering::Release);
                }
                stays
            });
        });
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<Subscription>>)) {
        let mut seats = lock(&self.seats);
        // Set first: from now on subscribers are called by the new list.
        self.changed.store(true, Ordering::SeqCst);
        change(Arc::make_mut(&mut seats));
    }

    /// Whether any subscriber in it handles events of this name.
    pub(super) fn hears(&self, name: &str) -> bool {
        let seats = self.seats();
        seats.iter().any(|seat| seat.subscriber.hears(name))
    }

    fn seats(&self) -> Arc<Vec<Arc<Subscription>>> {
        lock(&self.seats).clone()
    }

    /// The seats that this lane's thread serves from now on.
    fn look(&self) -> Arc<Vec<Arc<Subscription>>> {
        let seats = lock(&self.seats);
        self.changed.store(false, Ordering::SeqCst);
        seats.clone()
    }

    /// Begins a call, unless the seats have changed.
    ///
    /// The thread that moves seats sets the flag and then checks the running call. Here the order is reversed, so one of the
    /// two sees the other: no subscriber is called by the lane it was in and by the one it was moved to.
    fn begin(&self, seat: &Subscription) -> bool {
        self.called.store(seat.number, Ordering::SeqCst);
        !self.changed.load(Ordering::SeqCst) || planted(Fault::MovedAndCalled)
    }

    /// What all of its subscribers have heard.
    pub(super) fn heard(&self) -> u64 {
        let heard = lock(&self.seats).iter().map(|seat| seat.heard()).min();
        heard.unwrap_or(u64::MAX)
    }

    pub(super) fn all_heard(&self, last: u64) -> bool {
        // A call that has begun counts as heard, and is over when the lane rests.
        self.heard() >= last && !self.running.load(Ordering::Acquire)
    }

    /// Whether the caller has to run it now.
    pub(super) fn rouse(&self) -> bool {
        !self.running.swap(true, Ordering::AcqRel)
    }

    /// Moves every subscriber forward and says what each missed.
    pub(super) fn skip_to(&self, last: u64) -> Vec<EventsSkipped> {
        let seats = self.seats();
        let skipped = seats.iter().map(|seat| {
            let heard = seat.heard.swap(last, Ordering::AcqRel);
            EventsSkipped {
                count: last - heard,
                ext_id: seat.ext_id().to_owned(),
                from_seq: heard + 1,
                to_seq: last,
            }
        });
        skipped.collect()
    }
}

/// Delivers until there is nothing left.
pub(super) fn serve(bus: &Arc<Bus>, lane: &Arc<Lane>) {
    serve_through(bus, lane, u64::MAX);
}

/// Delivers what there is up to this event, for one who has something else to do then. What has come since is another
/// thread's.
pub(super) fn serve_through(bus: &Arc<Bus>, lane: &Arc<Lane>, last: u64) {
    for seat in lane.seats().iter() {
        seat.subscriber.roused();
    }
    loop {
        let mut batch = {
            let mut stream = lock(&bus.stream);
            stream.forget_heard();
            let batch = stream.after(lane.heard(), BATCH);
            if batch.is_empty() {
                if planted(Fault::RestsUnseen) {
                    drop(stream);
                }
                // The next publisher finds the lane idle, because both hold the stream lock.
                lane.stuck.store(false, Ordering::Release);
                lane.running.store(false, Ordering::Release);
                return;
            }
            batch
        };
        batch.truncate(batch.partition_point(|event| event.seq <= last));
        if batch.is_empty() {
            let (bus, lane) = (bus.clone(), lane.clone());
            return executor::spawn(move || serve(&bus, &lane));
        }
        let began = platform::ticks();
        deliver(bus, lane, &batch);
        lane.stuck.store(false, Ordering::Release);
        if platform::ticks() - began > SLOW {
            part_with_the_slow(bus, lane, &batch);
        }
        report_lag(bus, lane);
    }
}

fn deliver(bus: &Bus, lane: &Lane, batch: &[Arc<Event>]) {
    let mut seats = lane.look();
    for run in batch.chunks(RUN) {
        let mut place = 0;
        while let Some(seat) = seats.get(place) {
            if lane.begin(seat) {
                call(bus, lane, seat, run);
                place += 1;
            } else {
                // Some were moved to another lane or have left. No subscriber receives an event twice: each tracks its position.
                seats = lane.look();
                place = 0;
            }
        }
    }
}

/// Lets a subscriber that the lane has begun to call hear a run of events.
fn call(bus: &Bus, lane: &Lane, seat: &Subscription, run: &[Arc<Event>]) {
    let Some(last) = run.last() else { return };
    // All of them count as received from here on. Moving a subscriber forward takes effect immediately as well, so an event with
    // a lower number has been skipped or heard.
    let heard = seat.heard.fetch_max(last.seq, Ordering::AcqRel);
    for event in run.iter().filter(|event| event.seq > heard) {
        if seat.gone.load(Ordering::Acquire) {
            return;
        }
        // Only this thread counts, so it need not add and look in one step.
        let calls = lane.calls.load(Ordering::Relaxed);
        lane.calls.store(calls + 1, Ordering::Release);
        if let Err(error) = seat.subscriber.hear(event) {
            bus.suppress(event, seat.ext_id(), &error);
        }
    }
}

/// Finds out who takes the time, by timing each subscriber's share of the next batch, and moves it out.
fn part_with_the_slow(bus: &Arc<Bus>, lane: &Arc<Lane>, last: &[Arc<Event>]) {
    let seats = lane.look();
    if seats.len() < 2 {
        return;
    }
    let heard = last.last().map_or(0, |event| event.seq);
    let next = lock(&bus.stream).after(heard, BATCH);
    let mut times = vec![0; seats.len()];
    for event in &next {
        for (seat, time) in seats.iter().zip(&mut times) {
            let began = platform::ticks();
            if !lane.begin(seat) {
                // Another thread has sorted them already.
                return;
            }
            call(bus, lane, seat, std::slice::from_ref(event));
            *time += platform::ticks() - began;
        }
    }
    for (seat, time) in seats.iter().zip(times) {
        if time > SLOW / 2 {
            move_apart(bus, lane, seat);
        }
    }
}

fn move_apart(bus: &Arc<Bus>, lane: &Arc<Lane>, seat: &Arc<Subscription>) {
    let apart = Lane::apart(seat.clone());
    let rouse = {
        let mut stream = lock(&bus.stream);
        let mut moved = false;
        lane.change(|seats| {
            let before = seats.len();
            seats.retain(|other| !Arc::ptr_eq(other, seat));
            moved = seats.len() < before;
        });
        if !moved {
            // It has left, or another thread has moved it.
            return;
        }
        stream.lanes.push(apart.clone());
        apart.rouse()
    };
    if rouse {
        bus.run(apart);
    }
}

fn report_lag(bus: &Bus, lane: &Lane) {
    let last = bus.last_seq();
    for seat in lane.seats().iter() {
        let behind = last.saturating_sub(seat.heard());
        if behind == 0 {
            seat.reported.store(false, Ordering::Release);
        } else if behind > BEHIND && !seat.reported.swap(true, Ordering::AcqRel) {
            bus.lagged(seat.ext_id(), behind, false);
        }
    }
}

/// Looks after a lane for as long as it runs.
pub(super) fn watch(bus: &Arc<Bus>, lane: &Arc<Lane>) {
    if lane.watched.swap(true, Ordering::AcqRel) {
        return;
    }
    look_again(bus, lane, lane.calls.load(Ordering::Acquire));
}

fn look_again(bus: &Arc<Bus>, lane: &Arc<Lane>, calls: u64) {
    let (weak, watched) = (Arc::downgrade(bus), lane.clone());
    let job = Box::new(move || {
        let Some(bus) = weak.upgrade() else {
            return;
        };
        let now = watched.calls.load(Ordering::Acquire);
        if !watched.running.load(Ordering::Acquire) {
            watched.watched.store(false, Ordering::Release);
            // It may have been roused in between, by one that saw it watched.
            if watched.running.load(Ordering::Acquire) {
                watch(&bus, &watched);
            }
            return;
        }
        if now == calls && now > 0 && !watched.is_stuck() {
            leave_to_the_stuck(&bus, &watched, calls);
        }
        look_again(&bus, &watched, now);
    });
    bus.timer.after(bus.limits.event, job).detach();
}

/// A call does not return. The lane stays with its subscriber, and everyone else gets a new one.
fn leave_to_the_stuck(bus: &Arc<Bus>, lane: &Arc<Lane>, calls: u64) {
    let roused = {
        let mut stream = lock(&bus.stream);
        if lane.calls.load(Ordering::Acquire) != calls || !lane.running.load(Ordering::Acquire) {
            // It has returned after all.
            return;
        }
        let mut others = Vec::new();
        lane.change(|seats| {
            let called = lane.called.load(Ordering::SeqCst);
            let all = std::mem::take(seats).into_iter();
            (*seats, others) = all.partition(|seat| seat.number == called);
        });
        lane.stuck.store(true, Ordering::Release);
        lane.shared.store(false, Ordering::Release);
        // The stuck subscriber may have left, and then the lane is empty.
        stream.lanes.retain(|lane| !lane.is_empty());
        if others.is_empty() {
            None
        } else {
            let next = Lane::shared(others);
            stream.lanes.push(next.clone());
            next.rouse().then_some(next)
        }
    };
    if let Some(next) = roused {
        bus.run(next);
    }
    for seat in lane.seats().iter() {
        let behind = bus.last_seq().saturating_sub(seat.heard());
        bus.lagged(seat.ext_id(), behind, true);
    }
}
