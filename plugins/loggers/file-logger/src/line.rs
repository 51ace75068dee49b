//! A record as one line of JSON.

use std::fmt::Write as _;

use stud_sdk::Value;
use stud_sdk::logger::Record;

/// Replaces what is in `line` by this record and a line feed.
///
/// JSON escapes control characters, so the line feed at the end is the only one.
pub(crate) fn write(line: &mut String, record: Record, session_id: Option<String>) {
    line.clear();
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        line,
        r#"{{"ts":{},"kind":"{}","sev":"{}","name":{},"sessionId":{},"correlationId":{},"payload":{}}}"#,
        Value::from(record.timestamp),
        record.kind,
        record.severity,
        Value::from(record.name),
        Value::from(session_id),
        Value::from(record.correlation_id),
        Value::from(record.payload),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_sdk::json;
    use stud_sdk::logger::{RecordKind, Severity};

    fn record() -> Record {
        let mut record = Record {
            name: "Turn\"1\"".into(),
            kind: RecordKind::Diagnostic,
            severity: Severity::Warn,
            correlation_id: "c\\1".into(),
            timestamp: "2026-01-01T00:00:00.000Z".into(),
            ..Record::default()
        };
        record
            .payload
            .insert("text".into(), "a\nb\u{1b}[2J é".into());
        record
    }

    #[test]
    fn a_line_is_exactly_this() {
        let mut line = "what was there before".to_owned();
        write(&mut line, record(), Some("s1".into()));
        let expected = concat!(
            r#"{"ts":"2026-01-01T00:00:00.000Z","kind":"diagnostic","sev":"warn","name":"Turn\"1\"","#,
            r#""sessionId":"s1","correlationId":"c\\1","payload":{"text":"a\nb\u001b[2J é"}}"#,
            "\n"
        );
        assert_eq!(line, expected);
    }

    #[test]
    fn outside_a_session_the_member_is_null() {
        let mut line = String::new();
        write(&mut line, record(), None);
        let value: Value = line.parse().unwrap();
        assert_eq!(value["sessionId"], Value::Null);
        assert_eq!(value["payload"], json!({"text": "a\nb\u{1b}[2J é"}));
    }
}
