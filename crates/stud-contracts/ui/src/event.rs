//! One event, as a subscriber gets it.

use serde::Deserialize;
use stud_abi::EventHeader;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

/// What happened.
///
/// The payload is text until [`Event::parse`] is asked for, so that a subscriber that filters by name parses nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Place in the stream; strictly increasing.
    pub seq: u64,
    /// The event's name.
    pub name: &'a str,
    /// The turn it belongs to.
    pub correlation_id: &'a str,
    /// The payload, as JSON text.
    pub payload: &'a str,
}

impl<'a> Event<'a> {
    /// An event from the two parts it crosses the boundary in.
    pub const fn new(header: &EventHeader<'a>, payload: &'a str) -> Self {
        Self {
            seq: header.seq,
            name: header.name,
            correlation_id: header.correlation_id,
            payload,
        }
    }

    /// The payload in its type.
    ///
    /// Fails with `Validation/EventPayloadInvalid`, whose context names the `event`.
    pub fn parse<T: Deserialize<'a>>(&self) -> Result<T> {
        serde_json::from_str(self.payload).map_err(|error| {
            Error::new(
                codes::EVENT_PAYLOAD_INVALID.class,
                codes::EVENT_PAYLOAD_INVALID.name,
                format!("the payload of `{}` does not fit: {error}", self.name),
            )
            .with("event", self.name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_diagnostics::Class;

    const HEADER: EventHeader<'static> = EventHeader {
        seq: 7,
        name: "TokenDelta",
        correlation_id: "t1",
    };

    #[derive(Debug, PartialEq, Deserialize)]
    struct Delta<'a> {
        delta: &'a str,
    }

    #[test]
    fn a_payload_is_parsed_when_asked_for() {
        let event = Event::new(&HEADER, r#"{"delta":"hi","later":1}"#);
        assert_eq!(
            (event.seq, event.name, event.correlation_id),
            (7, "TokenDelta", "t1")
        );
        assert_eq!(event.parse(), Ok(Delta { delta: "hi" }));
    }

    #[test]
    fn a_payload_of_another_shape_is_a_typed_error() {
        let error = Event::new(&HEADER, "{}").parse::<Delta<'_>>().unwrap_err();
        assert!(
            error.is(Class::Validation, "EventPayloadInvalid"),
            "{error}"
        );
        assert_eq!(error.context()["event"], "TokenDelta");
    }
}
