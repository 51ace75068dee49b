//! What a form promises, where no tool is there to check it: patterns before it is shown, and values that come late.

use regex::RegexBuilder;
use serde_json::{Map, Number, Value, json};
use stud_contract_interaction::{Action, Answer, Choice, Field, FieldType, Form, Payload, Request};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

/// How large a pattern may become when it is compiled.
const LARGEST_PATTERN: usize = 1 << 20;

/// Whether every pattern of a form can be applied. Patterns are applied in time that grows with the text alone, so
/// those that look around or back are none.
pub(crate) fn check_patterns(asked: &Payload) -> Result<()> {
    let Payload::ToolInput(input) = asked else {
        return Ok(());
    };
    for field in input.input_schema.all_fields() {
        if let Some(pattern) = &field.pattern
            && compiled(pattern).is_none()
        {
            let message = format!(
                "the pattern of the field `{}` is not a regular expression of linear time",
                field.id
            );
            return Err(mismatch(message).with("fieldPath", format!("/inputSchema/{}", field.id)));
        }
    }
    Ok(())
}

fn compiled(pattern: &str) -> Option<regex::Regex> {
    RegexBuilder::new(pattern)
        .size_limit(LARGEST_PATTERN)
        .build()
        .ok()
}

/// Whether a form is filled in as it asks. While a tool waits, that is for the tool to say.
pub(super) fn check_late(asked: &Request, answer: &Answer) -> Result<()> {
    let (Payload::ToolInput(asked), Answer::ToolInput(answer)) = (&asked.payload, answer) else {
        return Ok(());
    };
    if answer.action != Action::Submit {
        return Ok(());
    }
    let none = Map::new();
    let errors = errors(&asked.input_schema, answer.input.as_ref().unwrap_or(&none));
    let Some((field, what)) = errors.first() else {
        return Ok(());
    };
    let fields: Map<String, Value> = errors
        .iter()
        .map(|(field, what)| (field.id.clone(), json!(what)))
        .collect();
    Err(mismatch(format!("`{}` {what}", field.label))
        .with("fieldPath", format!("/value/input/{}", field.id))
        .with("fieldErrors", fields))
}

/// What is wrong with each field. An optional section in which nothing was filled in does not count.
fn errors<'a>(form: &'a Form, input: &Map<String, Value>) -> Vec<(&'a Field, String)> {
    let is_empty = |field: &Field| is_empty(field, input.get(&field.id));
    let sections = form.sections.iter().flatten();
    let counting = sections
        .filter(|section| !(section.optional && section.fields.iter().all(is_empty)))
        .flat_map(|section| &section.fields);
    let fields = form.fields.iter().flatten().chain(counting);
    fields
        .filter_map(|field| Some((field, error(field, input.get(&field.id))?)))
        .collect()
}

/// Whether a control was left as it was. A box that is not ticked is empty; a no to a question is an answer.
fn is_empty(field: &Field, value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Bool(yes)) => field.field_type == FieldType::Checkbox && !yes,
        Some(Value::Number(_) | Value::Object(_)) => false,
    }
}

fn error(field: &Field, value: Option<&Value>) -> Option<String> {
    if is_empty(field, value) {
        return field.required.then(|| "has to be filled in".to_owned());
    }
    let choices = field.options.as_deref().unwrap_or_default();
    let is_choice = |value: &Value| choices.iter().any(|choice: &Choice| *value == choice.value);
    match (field.field_type, value?) {
        (FieldType::Text | FieldType::Textarea, Value::String(text)) => wrong_text(field, text),
        (FieldType::Number, Value::Number(number)) => out_of_bounds(field, number),
        (FieldType::Checkbox | FieldType::Boolean, Value::Bool(_))
        | (FieldType::Date | FieldType::Time | FieldType::Datetime, Value::String(_)) => None,
        (FieldType::Select | FieldType::Radio, value) => {
            (!is_choice(value)).then(|| "has to be one of its options".to_owned())
        }
        (FieldType::Multiselect, Value::Array(items)) => {
            (!items.iter().all(is_choice)).then(|| "has to be some of its options".to_owned())
        }
        (FieldType::Number, _) => Some("has to be a number".to_owned()),
        (FieldType::Checkbox | FieldType::Boolean, _) => Some("has to be true or false".to_owned()),
        (FieldType::Multiselect, _) => Some("has to be a list".to_owned()),
        (
            FieldType::Text
            | FieldType::Textarea
            | FieldType::Date
            | FieldType::Time
            | FieldType::Datetime,
            _,
        ) => Some("has to be a text".to_owned()),
    }
}

fn wrong_text(field: &Field, text: &str) -> Option<String> {
    let count = text.chars().count() as u64;
    if let Some(least) = field.min_length.filter(|least| count < *least) {
        return Some(format!("needs at least {least} characters"));
    }
    if let Some(most) = field.max_length.filter(|most| count > *most) {
        return Some(format!("may have at most {most} characters"));
    }
    let pattern = compiled(field.pattern.as_deref()?)?;
    (!pattern.is_match(text)).then(|| "does not have the form that it should have".to_owned())
}

fn out_of_bounds(field: &Field, number: &Number) -> Option<String> {
    let number = number.as_f64()?;
    let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
    if bound(&field.min).is_some_and(|min| number < min) {
        return Some("is too small".to_owned());
    }
    bound(&field.max)
        .is_some_and(|max| number > max)
        .then(|| "is too large".to_owned())
}

fn mismatch(message: String) -> Error {
    let code = &codes::INTERACTION_PAYLOAD_MISMATCH;
    Error::new(code.class, code.name, message)
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests {
    use super::*;

    fn form(json: Value) -> Form {
        serde_json::from_value(json).unwrap()
    }

    fn wrong(form: &Form, input: &Value) -> Vec<String> {
        let input = input.as_object().unwrap();
        let errors = errors(form, input).into_iter();
        errors.map(|(field, _)| field.id.clone()).collect()
    }

    #[test]
    fn cit_73_what_is_empty_depends_on_the_control() {
        let required = |kind: &str| {
            let options = json!([{"value": "a", "label": "A"}]);
            let field = json!({"id": "f", "type": kind, "label": "F", "required": true, "options": options});
            form(json!({"fields": [field]}))
        };
        for (kind, empty, filled) in [
            ("text", json!(" "), json!("x")),
            ("textarea", json!(null), json!("x\ny")),
            ("checkbox", json!(false), json!(true)),
            ("boolean", json!(null), json!(false)),
            ("number", json!(null), json!(0)),
            ("multiselect", json!([]), json!(["a"])),
            ("select", json!(""), json!("a")),
            ("date", json!(""), json!("2026-01-05")),
        ] {
            let form = required(kind);
            assert_eq!(wrong(&form, &json!({})), ["f"], "{kind}");
            assert_eq!(wrong(&form, &json!({"f": empty})), ["f"], "{kind}");
            assert!(wrong(&form, &json!({"f": filled})).is_empty(), "{kind}");
        }
    }

    #[test]
    fn cit_74_an_optional_section_may_be_left_empty_as_a_whole() {
        let fields = json!([
            {"id": "a", "type": "text", "label": "A", "required": true},
            {"id": "b", "type": "text", "label": "B"},
        ]);
        let form = form(json!({"sections": [{"id": "s", "optional": true, "fields": fields}]}));
        assert!(wrong(&form, &json!({})).is_empty());
        assert!(wrong(&form, &json!({"a": " ", "b": ""})).is_empty());
        assert_eq!(wrong(&form, &json!({"b": "x"})), ["a"]);
    }

    #[test]
    fn cit_75_values_have_to_fit_their_fields() {
        let options = json!([{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]);
        let form = form(json!({"fields": [
            {"id": "t", "type": "text", "label": "T", "minLength": 2, "maxLength": 4, "pattern": "[0-9]"},
            {"id": "n", "type": "number", "label": "N", "min": 1, "max": 3, "step": 1},
            {"id": "s", "type": "select", "label": "S", "options": options},
            {"id": "m", "type": "multiselect", "label": "M", "options": options},
            {"id": "c", "type": "checkbox", "label": "C"},
            {"id": "d", "type": "datetime", "label": "D"},
        ]}));
        let fitting = [
            json!({}),
            json!({"t": "é1", "n": 1.5, "s": "b", "m": ["a", "b"], "c": false, "d": "any text"}),
        ];
        for input in fitting {
            assert!(wrong(&form, &input).is_empty(), "{input}");
        }
        for (id, value) in [
            ("t", json!("1")),
            ("t", json!("12345")),
            ("t", json!("abc")),
            ("t", json!(7)),
            ("n", json!(0.5)),
            ("n", json!(4)),
            ("n", json!("2")),
            ("s", json!("c")),
            ("m", json!(["a", "c"])),
            ("m", json!("a")),
            ("c", json!("yes")),
            ("d", json!(5)),
        ] {
            assert_eq!(wrong(&form, &json!({id: value})), [id], "{id} {value}");
        }
    }

    #[test]
    fn cit_76_patterns_are_of_linear_time() {
        for (pattern, is_usable) in [
            ("^[a-z]+$", true),
            ("(", false),
            ("(?=x)", false),
            (r"(a)\1", false),
            ("(a{500}){500}", false),
        ] {
            let fields = json!([{"id": "t", "type": "text", "label": "T", "pattern": pattern}]);
            let asked = json!({"toolCallId": "c", "toolName": "t", "inputSchema": {"type": "form", "fields": fields}});
            let asked = Payload::read("ToolInput", asked).unwrap();
            assert_eq!(check_patterns(&asked).is_ok(), is_usable, "{pattern}");
        }
    }
}
