use super::*;
use serde_json::json;

fn parsed(line: &str) -> Value {
    serde_json::to_value(RawArgs::parse(line)).unwrap()
}

#[test]
fn words_and_flags_are_told_apart() {
    assert_eq!(
        parsed("  a --force b --depth=2\t--name=x=y  "),
        json!({
            "raw": "a --force b --depth=2\t--name=x=y",
            "positional": ["a", "b"],
            "flags": {"force": true, "depth": "2", "name": "x=y"},
        })
    );
}

#[test]
fn nothing_typed_is_nothing_given() {
    for line in ["", "   ", "\t\n"] {
        assert_eq!(RawArgs::parse(line), RawArgs::default(), "{line:?}");
    }
}

#[test]
fn the_last_flag_of_a_name_counts() {
    assert_eq!(parsed("--a=1 --a --a=2")["flags"], json!({"a": "2"}));
}

#[test]
fn an_empty_value_is_a_text() {
    assert_eq!(parsed("--a=")["flags"], json!({"a": ""}));
}

#[test]
fn what_only_looks_like_a_flag_is_a_word() {
    assert_eq!(
        parsed("-a --=x - ---")["positional"],
        json!(["-a", "--=x", "-"])
    );
    assert_eq!(parsed("---")["flags"], json!({"-": true}));
}

#[test]
fn a_bare_double_dash_ends_the_flags() {
    let args = RawArgs::parse("a --x -- --y -- b");
    assert_eq!(args.positional, ["a", "--y", "--", "b"]);
    assert_eq!(args.flags, BTreeMap::from([("x".to_owned(), json!(true))]));
}

#[test]
fn the_three_members_round_trip_and_may_be_left_out() {
    let args = RawArgs::parse("a --b");
    let json = serde_json::to_value(&args).unwrap();
    assert_eq!(serde_json::from_value::<RawArgs>(json).unwrap(), args);
    let short: RawArgs = serde_json::from_value(json!({"raw": ""})).unwrap();
    assert_eq!(short, RawArgs::default());
}

#[test]
fn a_schema_that_names_nothing_gets_the_members_as_they_are() {
    let raw = parsed("a --b");
    for schema in [
        json!({}),
        json!(true),
        json!({"type": "object", "properties": {}}),
        json!({"properties": {"positional": {"type": "array"}, "flags": {}}}),
    ] {
        assert_eq!(RawArgs::parse("a --b").fit(&schema), raw, "{schema}");
    }
}

fn fitted(line: &str) -> Value {
    RawArgs::parse(line).fit(&json!({
        "properties": {
            "zone": {"type": "string"},
            "count": {"type": "integer"},
            "exact": {"type": ["boolean", "null"]},
            "files": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["zone", "count", "missing"],
    }))
}

#[test]
fn required_properties_are_filled_first_and_in_their_order() {
    assert_eq!(fitted("north 3"), json!({"zone": "north", "count": 3}));
}

#[test]
fn flags_come_before_words() {
    assert_eq!(
        fitted("3 --zone=north"),
        json!({"zone": "north", "count": 3})
    );
}

#[test]
fn a_list_takes_what_is_left() {
    assert_eq!(
        fitted("north 3 true a b"),
        json!({"zone": "north", "count": 3, "exact": true, "files": ["a", "b"]})
    );
}

#[test]
fn text_that_is_no_number_stays_text_for_the_schema_to_refuse() {
    assert_eq!(
        fitted("north many --exact=maybe"),
        json!({"zone": "north", "count": "many", "exact": "maybe"})
    );
    assert_eq!(
        fitted("12 3 --exact"),
        json!({"zone": "12", "count": 3, "exact": true})
    );
}

#[test]
fn what_no_property_takes_is_not_lost() {
    let schema = json!({"properties": {"name": {"type": "string"}}});
    assert_eq!(
        RawArgs::parse("a b --c").fit(&schema),
        json!({"name": "a", "c": true, "positional": ["b"]})
    );
}
