//! The events on the wire.

use super::*;
use serde_json::json;
use stud_contract_interaction::{InteractionAnswered, InteractionCancelled, InteractionRaised};

#[test]
fn names_are_in_byte_order_and_unique() {
    assert!(CORE_EVENTS.is_sorted_by(|a, b| a < b));
}

#[test]
fn core_names_are_known_and_others_are_not() {
    for name in [
        InteractionRaised::NAME,
        InteractionAnswered::NAME,
        InteractionCancelled::NAME,
        "SessionTurnStart",
        "SuppressedError",
        "SMAttached",
    ] {
        assert!(is_core_event(name), "{name}");
    }
    for name in ["sessionTurnStart", "SessionTurnStart2", "MyEvent", ""] {
        assert!(!is_core_event(name), "{name}");
    }
}

#[test]
fn an_event_round_trips() {
    let json = json!({"name": "IndexBuilt", "payload": {"files": 3}});
    let event: Event = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(event).unwrap(), json);
}

/// Payloads as core publishes them, and at the end those it has not published so far: a name and its payload in a line.
const WIRE: &str = include_str!("wire.txt");

fn wire() -> impl Iterator<Item = (&'static str, &'static str)> {
    WIRE.lines().map(|line| line.split_once(' ').unwrap())
}

#[test]
fn every_payload_is_written_as_it_always_was() {
    for (name, payload) in wire() {
        let event = core_events().find(|event| event.name == name).unwrap();
        let rewritten = (event.rewritten)(payload);
        assert_eq!(rewritten.unwrap(), payload, "{name}");
    }
}

#[test]
fn every_event_has_a_line_on_the_wire() {
    for event in core_events() {
        assert!(wire().any(|(name, _)| name == event.name), "{}", event.name);
    }
}

/// The order in which the members of one JSON object stand.
fn members(payload: &str) -> Vec<&str> {
    let (mut members, mut depth, mut rest) = (Vec::new(), 0, payload);
    while let Some(at) = rest.find(['"', '{', '[', '}', ']']) {
        let after = &rest[at..];
        match after.as_bytes()[0] {
            b'"' => {
                let text = &after[1..];
                let mut end = text.find('"').unwrap();
                while text[..end].ends_with('\\') {
                    end += 1 + text[end + 1..].find('"').unwrap();
                }
                if depth == 1 && text[end + 1..].starts_with(':') {
                    members.push(&text[..end]);
                }
                rest = &text[end + 1..];
            }
            b'{' | b'[' => {
                depth += 1;
                rest = &after[1..];
            }
            _ => {
                depth -= 1;
                rest = &after[1..];
            }
        }
    }
    members
}

#[test]
fn members_are_published_in_byte_order() {
    for (name, payload) in wire() {
        // The Interaction Protocol has an order of its own.
        if ![
            "InteractionRaised",
            "InteractionAnswered",
            "InteractionCancelled",
        ]
        .contains(&name)
        {
            assert!(members(payload).is_sorted(), "{name} {payload}");
        }
    }
}

#[test]
fn the_severity_is_that_of_the_declaration_and_of_the_name_elsewhere() {
    for (name, expected) in [
        ("TokenEmitted", Severity::Trace),
        ("StagePostFired", Severity::Debug),
        ("SessionTurnEnd", Severity::Info),
        ("EventsSkipped", Severity::Warn),
        ("ContextProviderFailed", Severity::Error),
        ("IndexFailed", Severity::Error),
        ("IndexBuilt", Severity::Info),
    ] {
        assert_eq!(severity(name), expected, "{name}");
    }
    for event in core_events() {
        let has_failed = event.name.ends_with("Failed");
        assert_eq!(
            has_failed,
            event.severity == Severity::Error,
            "{}",
            event.name
        );
    }
}

#[cfg(feature = "schema")]
#[test]
fn every_payload_fits_its_schema_and_every_member_is_described() {
    for event in core_events() {
        let schema = (event.schema)();
        assert!(schema.get("description").is_some(), "{}", event.name);
        let properties = schema.get("properties").and_then(Value::as_object).unwrap();
        for (member, schema) in properties {
            assert!(
                schema.get("description").is_some(),
                "{}.{member}",
                event.name
            );
        }
        let lines = wire().filter(|(name, _)| *name == event.name);
        for member in lines.flat_map(|(_, payload)| members(payload)) {
            assert!(properties.contains_key(member), "{}.{member}", event.name);
        }
    }
}

#[test]
fn every_core_event_has_its_schema_in_the_registry() {
    let types = core_event_types();
    assert_eq!(types.len(), CORE_EVENTS.len());
    for event in types {
        assert_eq!(event.schema["title"], event.name, "{}", event.name);
        assert!(event.schema["description"].is_string(), "{}", event.name);
    }
}

#[cfg(feature = "schema")]
#[test]
fn the_registry_has_the_schemas_that_the_types_have() {
    for event in core_event_types() {
        let declared = core_events().find(|core| core.name == event.name).unwrap();
        assert_eq!(
            event.schema,
            Value::from((declared.schema)()),
            "{}",
            event.name
        );
    }
}
