//! The form of a `ToolInput` prompt: a flat list of fields, or sections of them.

use std::collections::BTreeSet;
use std::ops::Not;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

/// What to fill in.
///
/// Exactly one of `fields` and `sections` is given, and it is not empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Form {
    /// Always `form`.
    #[serde(rename = "type", default)]
    pub form_type: FormType,
    /// Heading of the whole form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Text under the heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The fields of a form without sections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<Field>>,
    /// The fields in groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sections: Option<Vec<Section>>,
    /// Text of the submit button; `Submit` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit_label: Option<String>,
    /// Text of the cancel button; `Cancel` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_label: Option<String>,
    /// What to show filled in, by field id. It beats a field's own `defaultValue`, so that a second try starts from what
    /// the person typed the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_values: Option<Map<String, Value>>,
}

/// The kind of input schema. There is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum FormType {
    /// A form.
    #[default]
    Form,
}

/// A group of fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Section {
    /// Unique within the form.
    pub id: String,
    /// Heading of the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Text under the heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The fields of the group.
    pub fields: Vec<Field>,
    /// Whether the group may be left empty as a whole, its required fields included.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub optional: bool,
    /// Text of the button that ends this group, for clients that show one group at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit_label: Option<String>,
}

/// One thing to fill in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Field {
    /// Key of the value in the answer; unique within the form, across its sections.
    pub id: String,
    /// Which control to show.
    #[serde(rename = "type")]
    pub field_type: FieldType,
    /// Text beside the control.
    pub label: String,
    /// Longer help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether an empty value is refused. A required checkbox has to be ticked.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub required: bool,
    /// What to show filled in where the form's `initialValues` says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_value: Option<Value>,
    /// What can be chosen, for the types that choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<Choice>>,
    /// Gray text in an empty control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Whether the client should check before it submits. The tool must check in any case.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub validate_on_client: bool,
    /// Smallest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// Largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// Distance between two numbers of a stepper; a hint to the control, not a check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Number>,
    /// Fewest characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    /// Most characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// A regular expression that has to match somewhere in the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// A control, and with it the type of its value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FieldType {
    /// One line; a string.
    #[default]
    Text,
    /// Several lines; a string.
    Textarea,
    /// One of the options, from a menu; its `value`.
    Select,
    /// A box to tick; a boolean.
    Checkbox,
    /// One of the options, all in view; its `value`.
    Radio,
    /// A number, or null when left blank.
    Number,
    /// A switch; a boolean.
    Boolean,
    /// Some of the options; a list of their `value`s.
    Multiselect,
    /// A day; a string.
    Date,
    /// A time of day; a string.
    Time,
    /// A day and a time; a string.
    Datetime,
}

/// One option of a field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// What the answer carries.
    pub value: String,
    /// What the person sees.
    pub label: String,
}

impl Form {
    /// A form without sections.
    pub fn new(fields: Vec<Field>) -> Self {
        Self {
            fields: Some(fields),
            ..Self::default()
        }
    }

    /// Every field, section by section.
    pub fn all_fields(&self) -> impl Iterator<Item = &Field> {
        let loose = self.fields.iter().flatten();
        loose.chain(
            self.sections
                .iter()
                .flatten()
                .flat_map(|section| &section.fields),
        )
    }

    /// The first thing wrong with the form: where, and what belongs there.
    ///
    /// Patterns are left to the code that applies them, since only it knows the dialect.
    pub(crate) fn flaw(&self) -> Option<(String, &'static str)> {
        let groups: Vec<(String, &[Field])> = match (&self.fields, &self.sections) {
            (Some(fields), None) => vec![("inputSchema/fields".to_owned(), fields)],
            (None, Some(sections)) if !sections.is_empty() => sections
                .iter()
                .enumerate()
                .map(|(i, section)| (format!("inputSchema/sections/{i}/fields"), &*section.fields))
                .collect(),
            (None, Some(_)) => {
                return Some(("inputSchema/sections".to_owned(), "a non-empty list"));
            }
            (Some(_), Some(_)) | (None, None) => {
                return Some((
                    "inputSchema".to_owned(),
                    "an object with either `fields` or `sections`",
                ));
            }
        };
        let mut ids = BTreeSet::new();
        for (path, fields) in groups {
            if fields.is_empty() {
                return Some((path, "a non-empty list"));
            }
            for (i, field) in fields.iter().enumerate() {
                if field.id.is_empty() || !ids.insert(&field.id) {
                    return Some((format!("{path}/{i}/id"), "an id that no other field has"));
                }
                if field.field_type.chooses() && field.options.as_ref().is_none_or(Vec::is_empty) {
                    return Some((format!("{path}/{i}/options"), "a non-empty list"));
                }
            }
        }
        None
    }
}

impl Field {
    /// A field with nothing but the necessary.
    pub fn new(id: impl Into<String>, field_type: FieldType, label: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            field_type,
            label: label.into(),
            ..Self::default()
        }
    }
}

impl Default for Field {
    fn default() -> Self {
        Self {
            id: String::new(),
            field_type: FieldType::Text,
            label: String::new(),
            description: None,
            required: false,
            default_value: None,
            options: None,
            placeholder: None,
            validate_on_client: yes(),
            min: None,
            max: None,
            step: None,
            min_length: None,
            max_length: None,
            pattern: None,
        }
    }
}

impl FieldType {
    /// Whether the value comes from the field's `options`.
    pub const fn chooses(self) -> bool {
        matches!(self, Self::Select | Self::Radio | Self::Multiselect)
    }
}

const fn yes() -> bool {
    true
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
const fn is_yes(value: &bool) -> bool {
    *value
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn flaw(form: Value) -> Option<(String, &'static str)> {
        serde_json::from_value::<Form>(form).unwrap().flaw()
    }

    #[test]
    fn the_plain_form_round_trips() {
        let json = json!({
            "type": "form",
            "fields": [
                {"id": "email", "type": "text", "label": "E-mail", "required": true},
                {"id": "plan", "type": "radio", "label": "Plan", "description": "Can be changed later.",
                 "defaultValue": "free", "options": [{"value": "free", "label": "Free"}]},
            ],
        });
        let form: Form = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(form.flaw(), None);
        assert_eq!(serde_json::to_value(form).unwrap(), json);
    }

    #[test]
    fn the_questionnaire_round_trips() {
        let json = json!({
            "type": "form",
            "title": "Release",
            "description": "Before we tag.",
            "sections": [{
                "id": "what",
                "title": "What",
                "description": "The parts.",
                "fields": [
                    {"id": "n", "type": "number", "label": "Count", "min": 1, "max": 9.5, "step": 0.5,
                     "validateOnClient": false},
                    {"id": "note", "type": "textarea", "label": "Note", "placeholder": "optional",
                     "minLength": 2, "maxLength": 80, "pattern": "^[a-z]+"},
                    {"id": "on", "type": "datetime", "label": "When"},
                    {"id": "tags", "type": "multiselect", "label": "Tags",
                     "options": [{"value": "a", "label": "A"}]},
                ],
                "optional": true,
                "submitLabel": "Next",
            }],
            "submitLabel": "Tag",
            "cancelLabel": "Not now",
            "initialValues": {"n": 3},
        });
        let form: Form = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(form.flaw(), None);
        assert_eq!(form.all_fields().count(), 4);
        assert_eq!(serde_json::to_value(form).unwrap(), json);
    }

    #[test]
    fn flaws_are_found_where_they_are() {
        let field = json!({"id": "a", "type": "text", "label": "A"});
        let select = json!({"id": "s", "type": "select", "label": "S", "options": []});
        let at = |form| flaw(form).map(|(field, _)| field);

        assert_eq!(at(json!({})), Some("inputSchema".to_owned()));
        assert_eq!(
            at(json!({"fields": [], "sections": []})),
            Some("inputSchema".to_owned())
        );
        assert_eq!(
            at(json!({"fields": []})),
            Some("inputSchema/fields".to_owned())
        );
        assert_eq!(
            at(json!({"sections": []})),
            Some("inputSchema/sections".to_owned())
        );
        assert_eq!(
            at(json!({"fields": [select]})),
            Some("inputSchema/fields/0/options".to_owned())
        );
        assert_eq!(
            at(
                json!({"sections": [{"id": "x", "fields": [field]}, {"id": "y", "fields": [field]}]})
            ),
            Some("inputSchema/sections/1/fields/0/id".to_owned()),
        );
    }

    #[test]
    fn an_unknown_control_is_refused() {
        assert!(
            serde_json::from_value::<Field>(json!({"id": "a", "type": "slider", "label": "A"}))
                .is_err()
        );
        assert!(serde_json::from_value::<Form>(json!({"type": "page", "fields": []})).is_err());
    }
}
