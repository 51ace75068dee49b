//! The time of day, in the zone of this machine.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Hours and minutes in one zone.
#[derive(Debug)]
pub(crate) struct Clock(TimeZone);

impl Clock {
    /// The clock of this machine; UTC where its zone cannot be read.
    pub(crate) fn local() -> Self {
        Self(TimeZone::try_system().unwrap_or(TimeZone::UTC))
    }

    /// Hours and minutes of now.
    pub(crate) fn now(&self) -> String {
        self.at(Timestamp::now())
    }

    /// Hours and minutes of a moment as the session writes it.
    pub(crate) fn of_record(&self, timestamp: &str) -> String {
        let moment = timestamp.parse::<Timestamp>();
        moment.map_or_else(|_| String::new(), |moment| self.at(moment))
    }

    fn at(&self, moment: Timestamp) -> String {
        let moment = moment.to_zoned(self.0.clone());
        format!("{:02}:{:02}", moment.hour(), moment.minute())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_records_are_read() {
        assert_eq!(
            Clock::default().of_record("2026-11-18T20:30:00.000Z"),
            "20:30"
        );
        assert_eq!(Clock::default().of_record("nonsense"), "");
        let east = Clock(TimeZone::fixed(jiff::tz::offset(2)));
        assert_eq!(east.of_record("2026-11-18T23:30:00.000Z"), "01:30");
    }
}
