//! One field of a form: from what was typed to its value, and whether that will do.

use regex::Regex;
use stud_sdk::Value;
use stud_sdk::interaction::{Choice, Field, FieldType};

use crate::escape;
use crate::reply::{Menu, yes_or_no};

/// What can be chosen: by label or by value.
fn menu(field: &Field) -> Menu<'_> {
    Menu::new(
        choices(field)
            .iter()
            .map(|choice| vec![&*choice.label, &*choice.value]),
    )
}

fn choices(field: &Field) -> &[Choice] {
    let options = field.options.as_deref().unwrap_or_default();
    if field.field_type.chooses() {
        options
    } else {
        &[]
    }
}

/// The field's own lines above the place where it is filled in.
pub(crate) fn heading(field: &Field, error: Option<&str>) -> String {
    let mut heading = format!("  {}", escape::line(&field.label));
    if field.required {
        heading.push_str(" (required)");
    }
    for more in [&field.description, &field.placeholder]
        .into_iter()
        .flatten()
    {
        heading.push_str("\n  | ");
        heading.push_str(&escape::line(more));
    }
    if let Some(error) = error {
        heading.push_str("\n  ! ");
        heading.push_str(&escape::line(error));
    }
    heading + &menu(field).lines()
}

/// What to type, with what Enter alone stands for in brackets.
pub(crate) fn invitation(field: &Field, filled_in: Option<&Value>) -> String {
    let hint = match field.field_type {
        FieldType::Text => "",
        FieldType::Textarea => "lines, then a line with only a dot",
        FieldType::Select | FieldType::Radio => "number or text",
        FieldType::Multiselect => "numbers or texts, with commas between them",
        FieldType::Number => "number",
        FieldType::Checkbox | FieldType::Boolean => {
            return match filled_in {
                Some(Value::Bool(true)) => "  [Y/n] ".to_owned(),
                _ => "  [y/N] ".to_owned(),
            };
        }
        FieldType::Date => "YYYY-MM-DD",
        FieldType::Time => "HH:MM",
        FieldType::Datetime => "YYYY-MM-DDTHH:MM",
    };
    let hint = if hint.is_empty() {
        String::new()
    } else {
        format!("({hint}) ")
    };
    match filled_in {
        Some(value) => format!("  {hint}[{}] ", escape::line(&shown(field, value))),
        None => format!("  {hint}> "),
    }
}

/// A value as the person knows it.
pub(crate) fn shown(field: &Field, value: &Value) -> String {
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
pub(crate) fn fits(field: &Field, value: &Value) -> bool {
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

/// The value of what was typed, which is not blank. The error says what to type instead.
pub(crate) fn read(field: &Field, typed: &str) -> Result<Value, String> {
    match field.field_type {
        FieldType::Number => number(typed.trim()),
        FieldType::Checkbox | FieldType::Boolean => yes_or_no(typed)
            .map(Value::from)
            .ok_or_else(|| "type y or n".to_owned()),
        FieldType::Select | FieldType::Radio => {
            let index = menu(field).find(typed)?;
            Ok(choices(field)[index].value.clone().into())
        }
        FieldType::Multiselect => several(field, typed),
        FieldType::Date | FieldType::Time | FieldType::Datetime => Ok(typed.trim().into()),
        FieldType::Text | FieldType::Textarea => Ok(typed.into()),
    }
}

/// A number as JSON knows it, whole where it was typed whole.
fn number(typed: &str) -> Result<Value, String> {
    let whole = typed.parse::<i64>().map(Value::from);
    let whole = whole.or_else(|_| typed.parse::<u64>().map(Value::from));
    let read = whole.ok().or_else(|| {
        let number = typed.parse::<f64>().ok()?;
        // An infinity or a NaN has no JSON form.
        number.is_finite().then(|| Value::from(number))
    });
    read.ok_or_else(|| "type a number".to_owned())
}

fn several(field: &Field, typed: &str) -> Result<Value, String> {
    let menu = menu(field);
    // The text of one entry may have commas of its own.
    let indexes = if let Ok(index) = menu.find(typed) {
        vec![index]
    } else {
        let pieces = typed.split(',').filter(|piece| !piece.trim().is_empty());
        let found = pieces.map(|piece| menu.find(piece));
        found.collect::<Result<_, _>>()?
    };
    let mut values: Vec<Value> = Vec::new();
    for index in indexes {
        let value = Value::from(choices(field)[index].value.clone());
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(values.into())
}

/// Whether nothing was filled in. A box that is not ticked counts as empty, and so does an empty selection.
pub(crate) fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Bool(true) | Value::Number(_) | Value::Object(_)) => false,
    }
}

/// What stands in the answer for a field that was left empty, if anything does.
pub(crate) fn empty_value(field: &Field) -> Option<Value> {
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
pub(crate) fn flaw(field: &Field, value: Option<&Value>) -> Option<String> {
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
    (!fits).then(|| format!("this has to match {}", escape::line(pattern)))
}

#[cfg(test)]
mod tests;
