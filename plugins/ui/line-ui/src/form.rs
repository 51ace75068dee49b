//! A form, filled in field by field.

use stud_sdk::Value;
use stud_sdk::interaction::{CompletedView, Field, FieldType, Section, ToolInput};
use zeroize::Zeroizing;

use crate::field;
use crate::talk::{Stop, Talk};
use crate::{escape, heading};

/// What leaves out a section that may be left out.
const SKIP: &str = ".skip";

/// What empties a field that was filled in from the start.
const CLEAR: &str = ".clear";

/// What ends a text of several lines.
const LAST_LINE: &str = ".";

/// The values by field id.
pub(crate) type Values = Vec<(String, Value)>;

/// Goes through the form from top to bottom. `lead` stands above it.
pub(crate) async fn fill_in(
    talk: &mut Talk,
    lead: String,
    input: &ToolInput,
) -> Result<Values, Stop> {
    let form = &input.input_schema;
    let mut filling = Filling { talk, input, lead };
    filling.announce(form.title.as_deref(), form.description.as_deref());
    for error in [&input.error, &input.error_summary].into_iter().flatten() {
        filling.add(&format!("! {}", escape::line(error)));
    }
    let mut values = filling.fields(form.fields.iter().flatten()).await?;
    for section in form.sections.iter().flatten() {
        values.extend(filling.section(section).await?);
    }
    Ok(values)
}

/// The line a tool wants shown once its prompt is answered.
pub(crate) fn summary(
    view: Option<&CompletedView>,
    action: &str,
    shown: &Values,
) -> Option<String> {
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
pub(crate) fn shown(input: &ToolInput, values: &Values) -> Values {
    let shown = values.iter().filter_map(|(id, value)| {
        let field = input
            .input_schema
            .all_fields()
            .find(|field| field.id == *id)?;
        Some((id.clone(), field::shown(field, value).into()))
    });
    shown.collect()
}

struct Filling<'a> {
    talk: &'a mut Talk,
    input: &'a ToolInput,
    /// What is shown above the next question.
    lead: String,
}

impl Filling<'_> {
    /// Adds a line to what is shown above the next question.
    fn add(&mut self, line: &str) {
        if !self.lead.is_empty() {
            self.lead.push('\n');
        }
        self.lead.push_str(line);
    }

    fn announce(&mut self, title: Option<&str>, description: Option<&str>) {
        if let Some(title) = title {
            self.add(&escape::line(title));
        }
        if let Some(description) = description {
            self.lead.push_str(&heading::quoted(description));
        }
    }

    async fn section(&mut self, section: &Section) -> Result<Values, Stop> {
        self.announce(section.title.as_deref(), section.description.as_deref());
        if !section.optional {
            return self.fields(section.fields.iter()).await;
        }
        self.add(&format!("(This part may be left out: type {SKIP}.)"));
        let mut values = Values::new();
        for field in &section.fields {
            match self.field(field, true).await? {
                Some(filled_in) => values.extend(filled_in),
                None => return Ok(Values::new()),
            }
        }
        Ok(values)
    }

    async fn fields(&mut self, fields: impl Iterator<Item = &Field>) -> Result<Values, Stop> {
        let mut values = Values::new();
        for field in fields {
            values.extend(self.field(field, false).await?.unwrap_or_default());
        }
        Ok(values)
    }

    /// The field's value under its id, or no value where a blank control has none; nothing when its section is left out.
    async fn field(&mut self, field: &Field, may_skip: bool) -> Result<Option<Values>, Stop> {
        let filled_in = self.filled_in(field);
        let error = self.input.field_errors.get(&field.id);
        let own_heading = field::heading(field, error.map(String::as_str));
        self.add(&own_heading);
        let mut heading = std::mem::take(&mut self.lead);
        let invitation = field::invitation(field, filled_in);
        loop {
            let typed = self.typed(field, may_skip, &heading, &invitation).await?;
            heading.clear();
            let value = match typed.trim() {
                SKIP if may_skip => return Ok(None),
                CLEAR => None,
                "" => filled_in.cloned(),
                _ => match field::read(field, &typed) {
                    Ok(value) => Some(value),
                    Err(why) => {
                        self.talk.correct(&why);
                        continue;
                    }
                },
            };
            if let Some(why) = field::flaw(field, value.as_ref()) {
                self.talk.correct(&why);
                continue;
            }
            let value = match value {
                Some(value) if !field::is_empty(Some(&value)) => Some(value),
                _ => field::empty_value(field),
            };
            let value = value.map(|value| (field.id.clone(), value));
            return Ok(Some(value.into_iter().collect()));
        }
    }

    /// What stands in the field from the start: what the person typed before, or else the field's own default.
    fn filled_in<'f>(&self, field: &'f Field) -> Option<&'f Value>
    where
        Self: 'f,
    {
        let before = self.input.input_schema.initial_values.as_ref();
        let value = before
            .and_then(|values| values.get(&field.id))
            .or(field.default_value.as_ref());
        value.filter(|value| field::fits(field, value) && !field::is_empty(Some(value)))
    }

    async fn typed(
        &mut self,
        field: &Field,
        may_skip: bool,
        heading: &str,
        invitation: &str,
    ) -> Result<Zeroizing<String>, Stop> {
        let first = self.talk.ask(heading, invitation).await?;
        let is_command = match first.trim() {
            SKIP => may_skip,
            word => word == CLEAR,
        };
        if field.field_type != FieldType::Textarea || is_command {
            return Ok(first);
        }
        let mut lines = Vec::new();
        let mut line = first;
        while *line != LAST_LINE {
            lines.push(line);
            line = self.talk.ask("", "  | ").await?;
        }
        let lines: Vec<&str> = lines.iter().map(|line| line.as_str()).collect();
        Ok(Zeroizing::new(lines.join("\n")))
    }
}

#[cfg(test)]
mod tests;
