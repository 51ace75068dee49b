//! The time in the name of a file that was set aside.

use std::fmt;
use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

const DAY_MS: u64 = 86_400_000;

/// A time in UTC, as `2026-01-01T00-00-00-000Z`: of the signs in RFC 3339, a file name should have neither `:` nor `.`.
///
/// The texts sort as the times do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    unix_ms: u64,
}

impl Stamp {
    /// A clock that stands before 1970 is taken to stand there.
    pub(crate) fn of(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            unix_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// One millisecond later.
    pub(crate) fn next(self) -> Self {
        Self {
            unix_ms: self.unix_ms.saturating_add(1),
        }
    }

    /// Reads a text that [`Stamp`] would write, and no other.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let number = |range: Range<usize>| text.get(range)?.parse::<u64>().ok();
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        let milli = number(20..23)?;

        let months_before = usize::try_from(month).ok()?.checked_sub(1)?;
        let days = (1970..year).map(days_of_year).sum::<u64>()
            + months(year).iter().take(months_before).sum::<u64>()
            + day.checked_sub(1)?;
        let stamp = Self {
            unix_ms: days * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + milli,
        };
        // Whatever was out of bounds or in the wrong place shows in what would be written.
        (stamp.to_string() == text).then_some(stamp)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, ms) = (self.unix_ms / DAY_MS, self.unix_ms % DAY_MS);
        let (year, month, day) = date(days);
        let (hour, minute) = (ms / 3_600_000, ms / 60_000 % 60);
        let (second, milli) = (ms / 1000 % 60, ms % 1000);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}-{minute:02}-{second:02}-{milli:03}Z"
        )
    }
}

/// Year, month and day of a day counted from the first of 1970.
fn date(mut days: u64) -> (u64, usize, u64) {
    let mut year = 1970;
    while days >= days_of_year(year) {
        days -= days_of_year(year);
        year += 1;
    }
    let mut month = 1;
    for length in months(year) {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

fn days_of_year(year: u64) -> u64 {
    months(year).iter().sum()
}

fn months(year: u64) -> [u64; 12] {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let february = if is_leap { 29 } else { 28 };
    [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
