//! Times as people write them, in the one form that records have.

use std::time::{Duration, SystemTime};

use crate::platform;

/// A date, or a time with its zone as RFC 3339 has it, written as records write theirs: UTC with milliseconds.
///
/// `2026-01-05`, `2026-01-05T09:30Z` and `2026-01-05T10:30:00.25+01:00` are all understood. Nothing if it is no time.
pub fn moment(text: &str) -> Option<String> {
    let since_epoch = Duration::from_millis(millis(text)?);
    Some(platform::rfc3339(SystemTime::UNIX_EPOCH + since_epoch))
}

/// How long it took from one time to another, in milliseconds; nothing if it went backward or either is no time.
pub(crate) fn millis_between(from: &str, to: &str) -> u64 {
    let between = millis(from).zip(millis(to));
    between.map_or(0, |(from, to)| to.saturating_sub(from))
}

/// Milliseconds since 1970.
fn millis(text: &str) -> Option<u64> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.splitn(3, '-');
    let year = digits(parts.next()?, 4)?;
    let month = digits(parts.next()?, 2)?;
    let day = digits(parts.next()?, 2)?;
    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    let midnight = days_before(year, month, day)? * 86_400_000;
    let offset = time.map_or(Some(0), since_midnight)?;
    u64::try_from(i64::try_from(midnight).ok()? + offset).ok()
}

/// Milliseconds from midnight UTC; a zone may put it on the day before or after.
fn since_midnight(time: &str) -> Option<i64> {
    let zone_at = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at(zone_at);
    let mut parts = clock.splitn(3, ':');
    let hour = digits(parts.next()?, 2).filter(|hour| *hour < 24)?;
    let minute = digits(parts.next()?, 2).filter(|minute| *minute < 60)?;
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(seconds) => {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
            // A leap second is the last moment of its minute.
            let whole = digits(whole, 2).filter(|second| *second <= 60)?.min(59);
            (whole, thousandths(fraction)?)
        }
    };
    let local = i64::try_from(((hour * 60 + minute) * 60 + second) * 1000 + fraction).ok()?;
    Some(local - east_of_utc(zone)?)
}

/// How far a zone is ahead, in milliseconds.
fn east_of_utc(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let hours = digits(hours, 2).filter(|hours| *hours < 24)?;
    let minutes = digits(minutes, 2).filter(|minutes| *minutes < 60)?;
    Some(sign * i64::try_from((hours * 60 + minutes) * 60_000).ok()?)
}

fn thousandths(fraction: &str) -> Option<u64> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits: String = fraction.chars().chain("00".chars()).take(3).collect();
    digits.parse().ok()
}

fn digits(text: &str, count: usize) -> Option<u64> {
    let fits = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok())?
}

const fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01; no record is older.
fn days_before(year: u64, month: u64, day: u64) -> Option<u64> {
    if year < 1970 {
        return None;
    }
    let years: u64 = (1970..year)
        .map(|year| 365 + u64::from(is_leap(year)))
        .sum();
    let months: u64 = (1..month).map(|month| days_in(year, month)).sum();
    Some(years + months + day - 1)
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
            "2026-01-05T09:30+0100",
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
