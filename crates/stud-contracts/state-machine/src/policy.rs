//! What becomes of a stage that does not go through at once.

use serde::{Deserialize, Serialize};

/// How often a stage may be tried, and how long to wait in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RetryPolicy {
    /// How many attempts there are, the first one counted.
    pub max_attempts: u32,
    /// How long to wait before the next.
    pub backoff: Backoff,
}

/// How long to wait before the next attempt.
///
/// `"none"`, `{"kind":"fixed","ms":100}` or `{"kind":"exponential","ms":100,"maxMs":5000}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Wire", into = "Wire")]
#[cfg_attr(feature = "schema", schemars(with = "Wire"))]
pub enum Backoff {
    /// Not at all.
    #[default]
    None,
    /// Always as long.
    Fixed {
        /// Milliseconds.
        ms: u64,
    },
    /// Twice as long each time.
    Exponential {
        /// Milliseconds before the second attempt.
        ms: u64,
        /// Never longer than this.
        max_ms: u64,
    },
}

impl Backoff {
    /// How many milliseconds to wait after `failed` attempts, counted from one.
    pub fn delay_ms(self, failed: u32) -> u64 {
        match self {
            Self::None => 0,
            Self::Fixed { ms } => ms,
            Self::Exponential { ms, max_ms } => {
                let factor = 2_u64.saturating_pow(failed.saturating_sub(1));
                ms.saturating_mul(factor).min(max_ms)
            }
        }
    }
}

/// What to do when the gate of a stage does not let it proceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ResolutionPolicy {
    /// Try the gate again later.
    RetryLater,
    /// Go on without the stage.
    Skip,
    /// Give up.
    Fail,
}

/// A backoff is a word or an object, which one derive cannot say.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Wire {
    Word(Word),
    Timed(Timed),
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Word {
    None,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    tag = "kind",
    rename_all = "lowercase",
    rename_all_fields = "camelCase"
)]
enum Timed {
    Fixed { ms: u64 },
    Exponential { ms: u64, max_ms: u64 },
}

impl From<Wire> for Backoff {
    fn from(wire: Wire) -> Self {
        match wire {
            Wire::Word(Word::None) => Self::None,
            Wire::Timed(Timed::Fixed { ms }) => Self::Fixed { ms },
            Wire::Timed(Timed::Exponential { ms, max_ms }) => Self::Exponential { ms, max_ms },
        }
    }
}

impl From<Backoff> for Wire {
    fn from(backoff: Backoff) -> Self {
        match backoff {
            Backoff::None => Self::Word(Word::None),
            Backoff::Fixed { ms } => Self::Timed(Timed::Fixed { ms }),
            Backoff::Exponential { ms, max_ms } => Self::Timed(Timed::Exponential { ms, max_ms }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(backoff: Backoff, json: Value) {
        assert_eq!(serde_json::to_value(backoff).unwrap(), json);
        assert_eq!(serde_json::from_value::<Backoff>(json).unwrap(), backoff);
    }

    #[test]
    fn a_backoff_is_a_word_or_an_object() {
        check(Backoff::None, json!("none"));
        check(
            Backoff::Fixed { ms: 100 },
            json!({"kind": "fixed", "ms": 100}),
        );
        check(
            Backoff::Exponential {
                ms: 100,
                max_ms: 5000,
            },
            json!({"kind": "exponential", "ms": 100, "maxMs": 5000}),
        );
        for wrong in [
            json!("fixed"),
            json!({"kind": "none"}),
            json!({"kind": "fixed"}),
            json!(null),
        ] {
            assert!(
                serde_json::from_value::<Backoff>(wrong.clone()).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn waiting_doubles_up_to_its_limit() {
        let growing = Backoff::Exponential {
            ms: 100,
            max_ms: 350,
        };
        assert_eq!(
            [1, 2, 3, 200].map(|n| growing.delay_ms(n)),
            [100, 200, 350, 350]
        );
        assert_eq!(growing.delay_ms(0), 100);
        assert_eq!([1, 9].map(|n| Backoff::Fixed { ms: 7 }.delay_ms(n)), [7, 7]);
        assert_eq!(Backoff::None.delay_ms(3), 0);
    }

    #[test]
    fn words_of_the_resolution_policy() {
        use ResolutionPolicy::{Fail, RetryLater, Skip};
        assert_eq!(
            serde_json::to_value([RetryLater, Skip, Fail]).unwrap(),
            json!(["retry-later", "skip", "fail"])
        );
    }
}
