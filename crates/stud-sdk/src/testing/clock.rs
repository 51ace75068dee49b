//! Time that moves when the test says so.

use jiff::Timestamp;

/// 2026-01-01T00:00:00.000Z, where every test begins.
pub(crate) const START_MS: u64 = 1_767_225_600_000;

/// Milliseconds since 1970 as RFC 3339 in UTC.
pub(crate) fn text(millis: u64) -> String {
    let millis = i64::try_from(millis).ok();
    let time = millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
    format!("{:.3}", time.unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times() {
        assert_eq!(text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(START_MS), "2026-01-01T00:00:00.000Z");
        assert_eq!(text(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(text(START_MS + 3_723_004), "2026-01-01T01:02:03.004Z");
    }
}
