//! A form, filled in field by field.

use form_values::Values;
use stud_sdk::interaction::{Field, FieldType, Section, ToolInput};
use zeroize::Zeroizing;

use crate::field;
use crate::question::{Stop, Talk};
use crate::{escape, prompt_heading};

/// What leaves out a section that may be left out.
const SKIP: &str = ".skip";

/// What empties a field that was filled in from the start.
const CLEAR: &str = ".clear";

/// What ends a text of several lines.
const LAST_LINE: &str = ".";

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
            self.lead.push_str(&prompt_heading::quoted(description));
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
        let filled_in = form_values::filled_in(self.input, field);
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
            if let Some(why) = form_values::flaw(field, value.as_ref()) {
                self.talk.correct(&why);
                continue;
            }
            let value = match value {
                Some(value) if !form_values::is_empty(Some(&value)) => Some(value),
                _ => form_values::empty_value(field),
            };
            let value = value.map(|value| (field.id.clone(), value));
            return Ok(Some(value.into_iter().collect()));
        }
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
