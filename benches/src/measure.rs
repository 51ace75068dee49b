//! Timing small things on a noisy machine: many rounds, and the best one counts.

use std::hint::black_box;
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
