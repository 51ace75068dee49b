use stud_sdk::json;

use form_values::{empty_value, fits, flaw};
use stud_sdk::interaction::Choice;

use super::*;

fn field(field_type: FieldType) -> Field {
    let choice = |value: &str, label: &str| Choice {
        value: value.into(),
        label: label.into(),
    };
    Field {
        options: field_type
            .chooses()
            .then(|| vec![choice("f", "Free"), choice("p", "Pro, paid")]),
        ..Field::new("id", field_type, "Label")
    }
}

fn required(field_type: FieldType) -> Field {
    Field {
        required: true,
        ..field(field_type)
    }
}

const TEXTS: [FieldType; 5] = [
    FieldType::Text,
    FieldType::Textarea,
    FieldType::Date,
    FieldType::Time,
    FieldType::Datetime,
];

#[test]
fn what_is_typed_becomes_the_fields_type() {
    let check = |field_type, typed: &str, value: Value| {
        let field = field(field_type);
        let read = read(&field, typed);
        assert!(
            read.as_ref().is_ok_and(|read| fits(&field, read)),
            "{typed} {read:?}"
        );
        assert_eq!(read, Ok(value), "{typed}");
    };
    check(FieldType::Text, " a b ", json!(" a b "));
    check(FieldType::Date, " 2026-01-31 ", json!("2026-01-31"));
    check(FieldType::Number, "42", json!(42));
    check(FieldType::Number, " -1 ", json!(-1));
    check(FieldType::Number, "18446744073709551615", json!(u64::MAX));
    check(FieldType::Number, "1.5e3", json!(1500.0));
    check(FieldType::Checkbox, "Yes", json!(true));
    check(FieldType::Boolean, "n", json!(false));
    check(FieldType::Select, "2", json!("p"));
    check(FieldType::Radio, "Free", json!("f"));
    check(FieldType::Radio, "p", json!("p"));
    check(FieldType::Multiselect, "2, 1, Free,", json!(["p", "f"]));
    check(FieldType::Multiselect, "Pro, paid", json!(["p"]));
}

#[test]
fn what_makes_no_sense_is_said() {
    let cases = [
        (FieldType::Number, "ten"),
        (FieldType::Number, "inf"),
        (FieldType::Number, "NaN"),
        (FieldType::Boolean, "maybe"),
        (FieldType::Select, "3"),
        (FieldType::Multiselect, "1, x"),
    ];
    for (field_type, typed) in cases {
        assert!(read(&field(field_type), typed).is_err(), "{typed}");
    }
}

#[test]
fn only_values_of_its_type_stand_in_a_field() {
    let fits = |field_type, value: Value| fits(&field(field_type), &value);
    assert!(fits(FieldType::Select, json!("f")));
    assert!(!fits(FieldType::Select, json!("Free")));
    assert!(fits(FieldType::Multiselect, json!([])));
    assert!(!fits(FieldType::Multiselect, json!(["f", 1])));
    assert!(!fits(FieldType::Number, json!("1")));
    assert!(!fits(FieldType::Boolean, json!("true")));
    for field_type in TEXTS {
        assert!(fits(field_type, json!("x")));
        assert!(!fits(field_type, json!(1)));
    }
}

#[test]
fn required_means_filled_in_and_for_a_box_ticked() {
    let all = TEXTS.into_iter().chain([
        FieldType::Number,
        FieldType::Select,
        FieldType::Radio,
        FieldType::Multiselect,
        FieldType::Checkbox,
        FieldType::Boolean,
    ]);
    for field_type in all {
        let empty = empty_value(&field(field_type));
        assert!(
            flaw(&required(field_type), empty.as_ref()).is_some(),
            "{field_type:?}"
        );
        assert_eq!(flaw(&field(field_type), empty.as_ref()), None);
        let unchecked = Field {
            validate_on_client: false,
            ..required(field_type)
        };
        assert_eq!(flaw(&unchecked, empty.as_ref()), None);
    }
    let ticked = required(FieldType::Checkbox);
    assert_eq!(flaw(&ticked, Some(&json!(true))), None);
    assert_eq!(
        flaw(&ticked, Some(&json!(false))).as_deref(),
        Some("this has to be a yes")
    );
}

#[test]
fn numbers_have_bounds() {
    let field = Field {
        min: Some(1.into()),
        max: Some(9.into()),
        ..field(FieldType::Number)
    };
    let flaw = |value: Value| flaw(&field, Some(&value));
    assert_eq!(flaw(json!(0.5)).as_deref(), Some("the least is 1"));
    assert_eq!(flaw(json!(10)).as_deref(), Some("the most is 9"));
    assert_eq!(flaw(json!(9)), None);
    assert_eq!(flaw(json!(1)), None);
}

#[test]
fn texts_have_lengths_and_patterns() {
    let field = Field {
        min_length: Some(2),
        max_length: Some(4),
        pattern: Some(r"\d\u{e9}?$".into()),
        ..field(FieldType::Text)
    };
    let flaw = |field: &Field, text: &str| flaw(field, Some(&text.into()));
    assert!(flaw(&field, "1").is_some_and(|why| why.contains("at least 2")));
    assert!(flaw(&field, "12345").is_some_and(|why| why.contains("at most 4")));
    assert!(flaw(&field, "ab").is_some_and(|why| why.contains("match")));
    assert_eq!(flaw(&field, "éé1"), None);

    let other_dialect = Field {
        pattern: Some("(?=x)".into()),
        ..field.clone()
    };
    assert_eq!(flaw(&other_dialect, "abc"), None);
    let unchecked = Field {
        validate_on_client: false,
        ..field
    };
    assert_eq!(flaw(&unchecked, "far too long"), None);
}

#[test]
fn the_invitation_shows_what_enter_stands_for() {
    let shown = |field_type, value: Option<Value>| invitation(&field(field_type), value.as_ref());
    assert_eq!(shown(FieldType::Text, None), "  > ");
    assert_eq!(shown(FieldType::Text, Some(json!("a\nb"))), "  [a\\nb] ");
    assert_eq!(
        shown(FieldType::Radio, Some(json!("p"))),
        "  (number or text) [Pro, paid] "
    );
    assert_eq!(shown(FieldType::Number, Some(json!(3))), "  (number) [3] ");
    assert_eq!(shown(FieldType::Boolean, Some(json!(true))), "  [Y/n] ");
    assert_eq!(shown(FieldType::Checkbox, None), "  [y/N] ");
    let several = shown(FieldType::Multiselect, Some(json!(["f", "p"])));
    assert!(several.ends_with("[Free, Pro, paid] "), "{several}");
}
