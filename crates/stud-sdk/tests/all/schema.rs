//! What the derives make of a type.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use stud_sdk::schema::value;
use stud_sdk::tool::Args;
use stud_sdk::{Config, Schema, Value, json};

/// One of three.
#[derive(Debug, PartialEq, Schema)]
enum Kind {
    Text,
    TextArea,
    #[stud(rename = "SELECT")]
    Select,
}

/// A place.
#[derive(Debug, PartialEq, Schema)]
struct Point {
    /// From the left.
    x_pos: f64,
}

#[derive(Debug, PartialEq, Args)]
struct Everything {
    /// A text.
    #[stud(min_length = 1, max_length = 9, pattern = "^a")]
    text: String,
    /// A flag.
    flag: bool,
    /// A number.
    #[stud(min = -3, max = 3)]
    signed: i32,
    /// A count.
    count: u8,
    /// A count from one.
    #[stud(min = 1)]
    positive: u64,
    /// A ratio.
    #[stud(default = 0.5)]
    ratio: f64,
    /// A word.
    #[stud(default = "a", values("a", "b"))]
    word: String,
    /// A kind.
    kind: Option<Kind>,
    /// Points.
    #[stud(min_items = 1)]
    points: Vec<Point>,
    /// By name.
    by_name: BTreeMap<String, u32>,
    /// By another name.
    #[stud(rename = "by_other", default)]
    by_other_name: HashMap<String, bool>,
    /// Anything.
    anything: Option<Value>,
    /// A path.
    r#path: Option<PathBuf>,
}

#[test]
fn every_type_has_its_schema() {
    let point = json!({
        "description": "A place.",
        "type": "object",
        "properties": {"xPos": {"description": "From the left.", "type": "number"}},
        "required": ["xPos"],
        "additionalProperties": false,
    });
    let expected = json!({
        "text": {"description": "A text.", "type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a"},
        "flag": {"description": "A flag.", "type": "boolean"},
        "signed": {"description": "A number.", "type": "integer", "minimum": -3, "maximum": 3},
        "count": {"description": "A count.", "type": "integer", "minimum": 0},
        "positive": {"description": "A count from one.", "type": "integer", "minimum": 1},
        "ratio": {"description": "A ratio.", "type": "number", "default": 0.5},
        "word": {"description": "A word.", "type": "string", "enum": ["a", "b"], "default": "a"},
        "kind": {"description": "A kind.", "type": "string", "enum": ["text", "textArea", "SELECT"]},
        "points": {"description": "Points.", "type": "array", "items": point, "minItems": 1},
        "byName": {
            "description": "By name.",
            "type": "object",
            "additionalProperties": {"type": "integer", "minimum": 0},
        },
        "by_other": {
            "description": "By another name.",
            "type": "object",
            "additionalProperties": {"type": "boolean"},
        },
        "anything": {"description": "Anything."},
        "path": {"description": "A path.", "type": "string"},
    });
    let schema = value::<Everything>();
    assert_eq!(schema["properties"], expected);
    assert_eq!(
        schema["required"],
        json!([
            "text", "flag", "signed", "count", "positive", "points", "byName"
        ])
    );
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema.get("description").is_none());
}

fn least() -> Value {
    json!({"text": "a", "flag": true, "signed": -1, "count": 0, "positive": 1, "points": [{"xPos": 1.0}], "byName": {}})
}

#[test]
fn what_is_left_out_has_its_default() {
    let read: Everything = serde_json::from_value(least()).unwrap();
    assert_eq!((read.ratio, read.word.as_str()), (0.5, "a"));
    assert_eq!((read.kind, read.path), (None, None));
    assert!(read.by_other_name.is_empty());
    assert_eq!(read.points, [Point { x_pos: 1.0 }]);
}

#[test]
fn what_is_not_described_is_refused() {
    let mut more = least();
    more["more"] = json!(1);
    assert!(serde_json::from_value::<Everything>(more).is_err());
    let mut wrong = least();
    wrong["kind"] = json!("select");
    assert!(serde_json::from_value::<Everything>(wrong).is_err());
}

#[test]
fn what_is_written_is_what_the_schema_says() {
    assert_eq!(
        serde_json::to_value(Point { x_pos: 2.0 }).unwrap(),
        json!({"xPos": 2.0})
    );
    assert_eq!(serde_json::to_value(Kind::TextArea).unwrap(), "textArea");
}

#[derive(Config)]
struct Own {
    /// A better description.
    #[stud(default = true)]
    enabled: bool,
}

mod described {
    use super::Own;
    use stud_sdk::prelude::*;

    /// Knows whether it is on.
    #[context_provider(config = Own)]
    struct Described;

    impl ContextProvider for Described {
        async fn provide(
            &self,
            cx: &Cx,
        ) -> Result<Vec<stud_sdk::context_provider::ContextFragment>> {
            assert!(cx.config::<Own>()?.enabled);
            Ok(vec![])
        }
    }
}

#[test]
fn an_author_may_describe_a_base_member_better() {
    use stud_sdk::testing::{FakeHost, Harness};
    let harness = Harness::new(described::stud_plugin(), FakeHost::new());
    assert_eq!(
        harness.manifest()["configSchema"]["properties"],
        json!({"enabled": {"description": "A better description.", "type": "boolean", "default": true}})
    );
    harness.provide().unwrap();
}

/// What may be missing.
#[derive(Debug, PartialEq, Schema)]
struct Gaps {
    /// A number.
    number: Option<u8>,
    /// A place.
    place: Box<Option<Point>>,
    /// A text.
    #[stud(default)]
    text: Option<String>,
    /// A count.
    #[stud(default)]
    count: u8,
}

#[test]
fn what_is_missing_is_left_out_and_never_null() {
    let gaps = Gaps {
        number: None,
        place: Box::new(None),
        text: None,
        count: 0,
    };
    let written = serde_json::to_value(&gaps).unwrap();
    assert_eq!(written, json!({"count": 0}));
    assert_eq!(serde_json::from_value::<Gaps>(written).unwrap(), gaps);
    let full = json!({"number": 1, "place": {"xPos": 2.0}, "text": "a", "count": 2});
    let gaps: Gaps = serde_json::from_value(full.clone()).unwrap();
    assert_eq!(serde_json::to_value(&gaps).unwrap(), full);
}
