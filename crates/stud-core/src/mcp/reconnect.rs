//! When a connection that broke is tried again.

use std::time::Duration;

/// How often, and with which pauses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// How many attempts.
    pub attempts: u32,
    /// The pause before the second attempt; each further one is twice as long. The first attempt comes at once.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// By which part a pause may be longer or shorter.
    pub jitter: f64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            attempts: 5,
            first: Duration::from_millis(250),
            longest: Duration::from_secs(4),
            jitter: 0.2,
        }
    }
}

impl Policy {
    /// The pause before this attempt, counted from 1. `chance` is between 0 and 1.
    pub(super) fn pause(&self, attempt: u32, chance: f64) -> Duration {
        if attempt < 2 {
            return Duration::ZERO;
        }
        let doubled = self.first.saturating_mul(1 << (attempt - 2).min(16));
        let sway = 1.0 + self.jitter * (2.0 * chance - 1.0);
        doubled.min(self.longest).mul_f64(sway)
    }
}

/// A number between 0 and 1, from the low digits of the clock.
pub(super) fn chance(ticks: u64) -> f64 {
    // Spread, because clocks count in steps.
    let spread = ticks.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    f64::from(u32::try_from(spread).unwrap_or_default()) / f64::from(1u32 << 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_attempt_comes_at_once_and_each_pause_is_twice_the_last() {
        let policy = Policy::default();
        let pauses =
            [1, 2, 3, 4, 5, 6, 7, 40].map(|attempt| policy.pause(attempt, 0.5).as_millis());
        assert_eq!(pauses, [0, 250, 500, 1000, 2000, 4000, 4000, 4000]);
    }

    #[test]
    fn a_pause_strays_by_a_fifth_at_most() {
        let policy = Policy::default();
        assert_eq!(policy.pause(2, 0.0).as_millis(), 200);
        assert_eq!(policy.pause(2, 1.0).as_millis(), 300);
        for ticks in 0..10_000 {
            let chance = chance(ticks * 977);
            assert!((0.0..1.0).contains(&chance), "{chance}");
        }
    }
}
