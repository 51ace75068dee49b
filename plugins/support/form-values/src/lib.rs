//! The values of a form's fields: what fits into one, what is missing, and how a value is shown.
//!
//! Every screen that fills in forms uses the same rules, so that a form behaves the same on all of them.
#![forbid(unsafe_code)]

use regex::Regex;
use stud_sdk::interaction::{Choice, CompletedView, Field, FieldType, ToolInput};
use stud_sdk::{Value, printable};

/// The values by field id.
pub type Values = Vec<(String, Value)>;

/// What can be chosen in a field.
pub fn choices(field: &Field) -> &[Choice] {
    let options = field.options.as_deref().unwrap_or_default();
    if field.field_type.chooses() {
        options
    } else {
        &[]
    }
}

/// A value as the person knows it.
pub fn shown(field: &Field, value: &Value) -> String {
    let label = |value: &str| {
        let choice = choices(field).iter().find(|choice| choice.value == value);
        choice.map_or(value, |choice| &*choice.label).to_owned()
    };
    match value {
        Value::String(text) if field.field_type.chooses() => label(text),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let labels = items.iter().filter_map(Value::as_str).map(label);
            labels.collect::<Vec<_>>().join(", ")
        }
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => String::new(),
        Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// Whether a value is of the field's type, so that it can stand in it from the start.
pub fn fits(field: &Field, value: &Value) -> bool {
    let is_choice = |value: &Value| choices(field).iter().any(|choice| *value == choice.value);
    match field.field_type {
        FieldType::Number => value.is_number(),
        FieldType::Checkbox | FieldType::Boolean => value.is_boolean(),
        FieldType::Select | FieldType::Radio => is_choice(value),
        FieldType::Multiselect => {
            let items = value.as_array();
            items.is_some_and(|items| items.iter().all(is_choice))
        }
        FieldType::Text
        | FieldType::Textarea
        | FieldType::Date
        | FieldType::Time
        | FieldType::Datetime => value.is_string(),
    }
}

/// A number as JSON knows it, whole where it was typed whole.
pub fn number(typed: &str) -> Result<Value, String> {
    let whole = typed.parse::<i64>().map(Value::from);
    let whole = whole.or_else(|_| typed.parse::<u64>().map(Value::from));
    let read = whole.ok().or_else(|| {
        let number = typed.parse::<f64>().ok()?;
        // An infinity or a NaN has no JSON form.
        number.is_finite().then(|| Value::from(number))
    });
    read.ok_or_else(|| "type a number".to_owned())
}

/// Whether nothing was filled in. A box that is not ticked counts as empty, and so does an empty selection.
pub fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Bool(true) | Value::Number(_) | Value::Object(_)) => false,
    }
}

/// What stands in the answer for a field that was left empty, if anything does.
pub fn empty_value(field: &Field) -> Option<Value> {
    match field.field_type {
        FieldType::Number => Some(Value::Null),
        FieldType::Checkbox | FieldType::Boolean => Some(false.into()),
        FieldType::Multiselect => Some(Value::Array(Vec::new())),
        // None of the options is a choice of nothing.
        FieldType::Select | FieldType::Radio => None,
        FieldType::Text
        | FieldType::Textarea
        | FieldType::Date
        | FieldType::Time
        | FieldType::Datetime => Some("".into()),
    }
}

/// What is wrong with a value, if the form wants it checked before it is sent.
pub fn flaw(field: &Field, value: Option<&Value>) -> Option<String> {
    if !field.validate_on_client {
        return None;
    }
    let Some(value) = value.filter(|value| !is_empty(Some(value))) else {
        return field.required.then(|| match field.field_type {
            FieldType::Checkbox | FieldType::Boolean => "this has to be a yes".to_owned(),
            _ => "this has to be filled in".to_owned(),
        });
    };
    match (value, field.field_type) {
        (Value::Number(number), _) => out_of_bounds(field, number.as_f64()?),
        (Value::String(text), FieldType::Text | FieldType::Textarea) => wrong_text(field, text),
        _ => None,
    }
}

fn out_of_bounds(field: &Field, number: f64) -> Option<String> {
    if let Some(min) = &field.min
        && min.as_f64().is_some_and(|min| number < min)
    {
        return Some(format!("the least is {min}"));
    }
    if let Some(max) = &field.max
        && max.as_f64().is_some_and(|max| number > max)
    {
        return Some(format!("the most is {max}"));
    }
    None
}

fn wrong_text(field: &Field, text: &str) -> Option<String> {
    let count = text.chars().count() as u64;
    if let Some(least) = field.min_length.filter(|least| count < *least) {
        return Some(format!("this needs at least {least} characters"));
    }
    if let Some(most) = field.max_length.filter(|most| count > *most) {
        return Some(format!("this may have at most {most} characters"));
    }
    let pattern = field.pattern.as_deref()?;
    // A pattern of another dialect is left to the tool, which checks in any case.
    let fits = Regex::new(pattern).map_or(true, |pattern| pattern.is_match(text));
    (!fits).then(|| format!("this has to match {}", printable(pattern)))
}

/// The line a tool wants shown once its prompt is answered.
pub fn summary(view: Option<&CompletedView>, action: &str, shown: &Values) -> Option<String> {
    let template = view?.summary_template.as_deref()?;
    let mut rest = template;
    let mut summary = String::new();
    while let Some((before, from)) = rest.split_once("{{") {
        summary.push_str(before);
        let Some((name, after)) = from.split_once("}}") else {
            rest = from;
            summary.push_str("{{");
            break;
        };
        match name.trim() {
            "action" => summary.push_str(action),
            id => {
                let value = shown.iter().find(|(name, _)| name == id);
                let value = value.and_then(|(_, value)| value.as_str());
                summary.push_str(value.unwrap_or_default());
            }
        }
        rest = after;
    }
    Some(summary + rest)
}

/// The values as a person reads them.
pub fn readable(input: &ToolInput, values: &Values) -> Values {
    let readable = values.iter().filter_map(|(id, value)| {
        let mut fields = input.input_schema.all_fields();
        let field = fields.find(|field| field.id == *id)?;
        Some((id.clone(), shown(field, value).into()))
    });
    readable.collect()
}

/// What stands in a field from the start: what the person typed before, or else the field's own default.
pub fn filled_in<'a>(input: &'a ToolInput, field: &'a Field) -> Option<&'a Value> {
    let before = input.input_schema.initial_values.as_ref();
    let value = before
        .and_then(|values| values.get(&field.id))
        .or(field.default_value.as_ref());
    value.filter(|value| fits(field, value) && !is_empty(Some(value)))
}
