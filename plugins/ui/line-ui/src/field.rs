//! One field of a form: from what was typed to its value, and whether that will do.

use form_values::{choices, number, shown};
use stud_sdk::Value;
use stud_sdk::interaction::{Field, FieldType};

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

#[cfg(test)]
mod tests;
