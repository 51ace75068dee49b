//! Timing small things on a noisy machine: many rounds, and the best one counts.

use std::hint::black_box;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: u32 = 40;

/// The best time of one call, in nanoseconds.
pub(crate) fn best<T>(iterations: u32, mut call: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for _ in 0..iterations {
            black_box(call());
        }
        let each = started.elapsed().as_secs_f64() * 1e9 / f64::from(iterations);
        best = best.min(each);
    }
    best
}

/// How long something took, once.
pub(crate) fn once<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let value = work();
    (value, started.elapsed())
}

/// How times of the same thing lie, in microseconds.
pub(crate) struct Spread {
    pub(crate) median: f64,
    /// Only one of a hundred takes longer.
    pub(crate) worst_but_one_percent: f64,
}

impl Spread {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |place: usize| {
            let time = times.get(place).copied().unwrap_or_default();
            time.as_secs_f64() * 1e6
        };
        Self {
            median: at(times.len() / 2),
            worst_but_one_percent: at(times.len() * 99 / 100),
        }
    }
}

/// Microseconds to wake a thread that waits: what anything costs that is done on another thread.
pub(crate) fn wake() -> f64 {
    let (to, from_here) = mpsc::channel::<Instant>();
    let (back, woken) = mpsc::channel();
    let sleeper = thread::spawn(move || {
        while let Ok(sent) = from_here.recv() {
            let _ = back.send(sent.elapsed());
        }
    });
    let times = (0..1_000)
        .map(|_| {
            let _ = to.send(Instant::now());
            woken.recv().unwrap_or_default()
        })
        .collect();
    drop(to);
    let _ = sleeper.join();
    Spread::of(times).median
}
