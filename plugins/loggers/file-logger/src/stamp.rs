//! The time in the name of a file that was set aside.

use std::fmt;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// What stands for RFC 3339 in a file name, where neither `:` nor `.` should be.
const FORM: &str = "%Y-%m-%dT%H-%M-%S-%3fZ";

/// A time in UTC with milliseconds, as `2026-01-01T00-00-00-000Z`. The texts sort as the times do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(Timestamp);

impl Stamp {
    /// A clock that stands before 1970 is taken to stand there.
    pub(crate) fn of(time: SystemTime) -> Self {
        let time = time.max(SystemTime::UNIX_EPOCH);
        let time = Timestamp::try_from(time).unwrap_or(Timestamp::MAX);
        // The texts have no more than milliseconds, and what is written must read back as the same.
        let whole = Timestamp::from_millisecond(time.as_millisecond());
        Self(whole.unwrap_or(time))
    }

    /// One millisecond later.
    pub(crate) fn next(self) -> Self {
        Self(
            self.0
                .saturating_add(Duration::from_millis(1))
                .unwrap_or(Timestamp::MAX),
        )
    }

    /// Reads a text that [`Stamp`] would write, and no other.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let time = DateTime::strptime(FORM, text).ok()?;
        let stamp = Self(time.to_zoned(TimeZone::UTC).ok()?.timestamp());
        (stamp.0 >= Timestamp::UNIX_EPOCH && stamp.to_string() == text).then_some(stamp)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.strftime(FORM).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn known_times_are_written_and_read() {
        for (unix_ms, text) in [
            (0, "1970-01-01T00-00-00-000Z"),
            (951_782_400_000, "2000-02-29T00-00-00-000Z"),
            (1_767_225_599_999, "2025-12-31T23-59-59-999Z"),
            (1_767_229_323_004, "2026-01-01T01-02-03-004Z"),
            (4_107_542_400_000, "2100-03-01T00-00-00-000Z"),
        ] {
            let stamp = Stamp::of(UNIX_EPOCH + Duration::from_millis(unix_ms));
            assert_eq!(stamp.to_string(), text);
            assert_eq!(Stamp::parse(text), Some(stamp));
        }
    }

    #[test]
    fn the_next_one_sorts_behind() {
        let stamp = Stamp::parse("2025-12-31T23-59-59-999Z").unwrap();
        assert_eq!(stamp.next().to_string(), "2026-01-01T00-00-00-000Z");
        assert!(stamp < stamp.next());
    }

    #[test]
    fn nothing_else_is_read() {
        for text in [
            "",
            "bak",
            "2026-01-01T01:02:03.004Z",
            "2026-01-01T01-02-03-004Z.gz",
            "2026-01-01T01-02-03-004",
            "2026-13-01T01-02-03-004Z",
            "2026-00-01T01-02-03-004Z",
            "2026-01-00T01-02-03-004Z",
            "2026-02-29T01-02-03-004Z",
            "2026-01-01T24-02-03-004Z",
            "1969-01-01T01-02-03-004Z",
            "2026-01-01T+1-02-03-004Z",
            "2026-01-01é1-02-03-004Z",
        ] {
            assert_eq!(Stamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_clock_before_1970_is_no_panic() {
        let early = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(Stamp::of(early).to_string(), "1970-01-01T00-00-00-000Z");
    }
}
