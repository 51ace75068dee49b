//! Times as the protocol writes them.

use std::time::SystemTime;

use stud_core::audit::millis_of;
use stud_core::platform;

/// Milliseconds since 1970 of a time as RFC 3339 has it: date, time with seconds, and zone.
pub(crate) fn parse(text: &str) -> Option<u64> {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'd' => byte.is_ascii_digit(),
        b'T' => byte.eq_ignore_ascii_case(shape),
        _ => byte == shape,
    };
    let is_complete = text.len() > SHAPE.len()
        && text
            .bytes()
            .zip(SHAPE)
            .all(|(byte, shape)| fits((&byte, shape)));
    is_complete.then(|| millis_of(text)).flatten()
}

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since_epoch = platform::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since_epoch.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

/// Now, as the protocol writes it.
pub(crate) fn now_text() -> String {
    platform::rfc3339(platform::now())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn tcp_19_only_complete_times_are_times() {
        assert_eq!(parse("1970-01-01T00:00:01Z"), Some(1000));
        assert_eq!(parse("1970-01-01T01:00:01.5+01:00"), Some(1500));
        for text in [
            "",
            "now",
            "2026-01-05",
            "2026-01-05T09:30Z",
            "2026-01-05T09:30:00",
            "2026-01-05 09:30:00Z",
            "2026-13-05T09:30:00Z",
            "1771622100",
            "2026-01-05T09:30:00Zx",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
