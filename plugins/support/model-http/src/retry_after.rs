//! When a backend wants to be asked again.

use std::time::{SystemTime, UNIX_EPOCH};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// The wait in milliseconds: `retry-after-ms`, or else `retry-after` in seconds or as a date.
pub(crate) fn read(headers: &HeaderMap) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| scaled(text, 1.0)) {
        return Some(millis);
    }
    let wait = text(RETRY_AFTER.as_str())?;
    if let Some(millis) = scaled(wait, 1000.0) {
        return Some(millis);
    }
    let until = seconds_of_date(wait)?;
    // The backend's own clock is the one its date was made with.
    let now = text(DATE.as_str()).and_then(seconds_of_date).or_else(now)?;
    Some(until.saturating_sub(now).saturating_mul(1000))
}

/// A wait such as `17s` or `1.5s`.
pub(crate) fn of_duration(text: &str) -> Option<u64> {
    scaled(text.trim().strip_suffix('s')?, 1000.0)
}

fn scaled(number: &str, by: f64) -> Option<u64> {
    let plain = |letter: u8| letter.is_ascii_digit() || letter == b'.';
    if number.is_empty() || !number.bytes().all(plain) {
        return None;
    }
    let millis = (number.parse::<f64>().ok()? * by).ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number has no sign, and what is too large becomes the largest"
    )]
    Some(millis as u64)
}

fn now() -> Option<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_secs())
}

/// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`.
fn seconds_of_date(text: &str) -> Option<u64> {
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(UNIX_EPOCH).ok()?.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_of(headers: &[(&'static str, &'static str)]) -> Option<u64> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        read(&map)
    }

    #[test]
    fn seconds() {
        assert_eq!(read_of(&[("retry-after", "20")]), Some(20_000));
        assert_eq!(read_of(&[("retry-after", " 0 ")]), Some(0));
        assert_eq!(read_of(&[("retry-after", "1.5")]), Some(1500));
        assert_eq!(
            read_of(&[("retry-after", "9".repeat(40).leak())]),
            Some(u64::MAX)
        );
    }

    #[test]
    fn milliseconds_are_more_exact() {
        let both = [("retry-after", "2"), ("retry-after-ms", "1250")];
        assert_eq!(read_of(&both), Some(1250));
    }

    #[test]
    fn a_date_counts_from_the_backends_own() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        let wait = |until| read_of(&[date, ("retry-after", until)]);
        assert_eq!(wait("Sun, 06 Nov 1994 08:50:07 GMT"), Some(30_000));
        assert_eq!(wait("Mon, 07 Nov 1994 08:49:37 GMT"), Some(86_400_000));
        assert_eq!(wait("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
    }

    #[test]
    fn a_date_without_one_to_count_from_counts_from_now() {
        let wait = read_of(&[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")]).unwrap();
        assert!(wait > 1000 * 365 * 86_400, "{wait}");
        assert_eq!(
            read_of(&[("retry-after", "Thu, 01 Jan 1970 00:00:01 GMT")]),
            Some(0)
        );
    }

    #[test]
    fn days_are_counted_over_leap_years() {
        let seconds = |text| seconds_of_date(text).unwrap();
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), 784_111_777);
        assert_eq!(seconds("Thu, 01 Jan 1970 00:00:00 GMT"), 0);
        assert_eq!(seconds("Tue, 29 Feb 2000 00:00:00 GMT"), 951_782_400);
        assert_eq!(seconds("Fri, 01 Mar 2024 00:00:00 GMT"), 1_709_251_200);
    }

    #[test]
    fn anything_else_says_nothing() {
        for wrong in [
            "",
            "soon",
            "-1",
            "1e3",
            "inf",
            "Sun, 06 Nov 1994",
            "Sun, 06 Nov 1994 25:00:00 GMT",
            "Sun, 06 Non 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 40 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT!",
        ] {
            assert_eq!(read_of(&[("retry-after", wrong)]), None, "{wrong}");
        }
        assert_eq!(read_of(&[]), None);
    }

    #[test]
    fn durations() {
        assert_eq!(of_duration("17s"), Some(17_000));
        assert_eq!(of_duration("0.25s"), Some(250));
        for wrong in ["17", "s", "1m", "-1s"] {
            assert_eq!(of_duration(wrong), None, "{wrong}");
        }
    }
}
