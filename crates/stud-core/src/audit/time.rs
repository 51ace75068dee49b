//! Times as people write them, in the one form that records have.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::platform;

/// A date, or a time with its zone as RFC 3339 has it, written as records write theirs: UTC with milliseconds.
///
/// `2026-01-05`, `2026-01-05T09:30Z` and `2026-01-05T10:30:00.25+01:00` are all understood. Nothing if it is no time.
pub fn moment(text: &str) -> Option<String> {
    let since_epoch = Duration::from_millis(millis_of(text)?);
    Some(platform::rfc3339(SystemTime::UNIX_EPOCH + since_epoch))
}

/// How long it took from one time to another, in milliseconds; nothing if it went backward or either is no time.
pub(crate) fn millis_between(from: &str, to: &str) -> u64 {
    let between = millis_of(from).zip(millis_of(to));
    between.map_or(0, |(from, to)| to.saturating_sub(from))
}

/// Milliseconds since 1970 of such a time; nothing if it is none.
pub fn millis_of(text: &str) -> Option<u64> {
    let time = match text.parse::<Date>() {
        Ok(date) if text.len() == "2026-01-05".len() => {
            date.to_zoned(TimeZone::UTC).ok()?.timestamp()
        }
        _ => text.parse::<Timestamp>().ok()?,
    };
    u64::try_from(time.as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn times_are_written_as_records_write_them() {
        let check =
            |text: &str, form: &str| assert_eq!(moment(text).as_deref(), Some(form), "{text}");
        check("2026-01-05", "2026-01-05T00:00:00.000Z");
        check("2026-01-05T09:30Z", "2026-01-05T09:30:00.000Z");
        check("2026-01-05T10:30:00.25+01:00", "2026-01-05T09:30:00.250Z");
        check("2026-01-01 00:30:00-00:45", "2026-01-01T01:15:00.000Z");
        check("2026-01-01t00:30:00+00:45", "2025-12-31T23:45:00.000Z");
        check("2000-02-29T12:34:56.7891234z", "2000-02-29T12:34:56.789Z");
        check("1970-01-01", "1970-01-01T00:00:00.000Z");
        check("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.000Z");
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "",
            "yesterday",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "2026-1-5",
            "2026-01-05T",
            "2026-01-05T09:30",
            "2026-01-05T24:00Z",
            "2026-01-05T09:60Z",
            "2026-01-05T09:30:00.Z",
            "2026-01-05T09:30+1:00",
            "1969-12-31",
            "1970-01-01T00:00+01:00",
            "2026-01-05T09:30:00:00Z",
            "２０２６-01-05",
            "2026-01-05-06",
            "2026-01-05T09:30Zé",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
