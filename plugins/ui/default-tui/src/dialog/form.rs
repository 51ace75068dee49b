//! The form of a tool: fields from top to bottom, and two buttons.

use std::collections::BTreeMap;

use form_values::{Values, choices, empty_value, filled_in, flaw, is_empty, number, shown};
use stud_sdk::Value;
use stud_sdk::interaction::{Field as Described, FieldType, ToolInput};

use crate::field::{Edited, Field};
use crate::terminal::key::{Code, Key};
use crate::text::row::{Look, Row, joined, piece, row};
use crate::text::{escape, wrap};

/// A form that is being filled in.
#[derive(Debug)]
pub(crate) struct Form {
    controls: Vec<Control>,
    /// A control, or the button behind the last of them.
    focus: usize,
    submit: String,
    cancel: String,
    /// Sections that may be left out as a whole, by the controls they have.
    optional: Vec<std::ops::Range<usize>>,
    headings: BTreeMap<usize, Vec<Row>>,
}

#[derive(Debug)]
struct Control {
    field: Described,
    state: State,
    error: Option<String>,
}

/// What is filled in.
#[derive(Debug)]
enum State {
    Text(Field),
    /// One of the options.
    One(Option<usize>),
    /// Some of the options, and the one the cursor is on.
    Some(Vec<bool>, usize),
    Switch(bool),
}

/// What became of a key.
#[derive(Debug)]
pub(crate) enum Pressed {
    Nothing,
    Taken,
    Cancel,
    Submit(Values),
}

impl Form {
    pub(crate) fn new(input: &ToolInput) -> Self {
        let schema = &input.input_schema;
        let mut form = Self {
            controls: Vec::new(),
            focus: 0,
            submit: schema
                .submit_label
                .clone()
                .unwrap_or_else(|| "Submit".to_owned()),
            cancel: schema
                .cancel_label
                .clone()
                .unwrap_or_else(|| "Cancel".to_owned()),
            optional: Vec::new(),
            headings: BTreeMap::new(),
        };
        for field in schema.fields.iter().flatten() {
            form.add(input, field);
        }
        for section in schema.sections.iter().flatten() {
            let from = form.controls.len();
            let mut heading = Vec::new();
            let title = section.title.as_deref().unwrap_or(&section.id);
            let left_out = if section.optional {
                "  (may be left empty)"
            } else {
                ""
            };
            heading.push(joined([
                piece(format!("  {}", escape::line(title)), Look::Bold),
                piece(left_out, Look::Dim),
            ]));
            if let Some(text) = &section.description {
                heading.extend(
                    text.lines()
                        .map(|line| row(format!("│ {}", escape::line(line)), Look::Dim)),
                );
            }
            form.headings.insert(from, heading);
            for field in &section.fields {
                form.add(input, field);
            }
            if section.optional {
                form.optional.push(from..form.controls.len());
            }
        }
        let wrong = form
            .controls
            .iter()
            .position(|control| control.error.is_some());
        form.focus = wrong.unwrap_or(0);
        form
    }

    fn add(&mut self, input: &ToolInput, field: &Described) {
        let value = filled_in(input, field);
        let is_chosen = |value: &Value, index: usize| {
            choices(field)
                .get(index)
                .is_some_and(|choice| *value == choice.value)
        };
        let count = choices(field).len();
        let state = match field.field_type {
            FieldType::Select | FieldType::Radio => State::One(
                value.and_then(|value| (0..count).find(|index| is_chosen(value, *index))),
            ),
            FieldType::Multiselect => {
                let items = value.and_then(Value::as_array).cloned().unwrap_or_default();
                let ticked =
                    (0..count).map(|index| items.iter().any(|item| is_chosen(item, index)));
                State::Some(ticked.collect(), 0)
            }
            FieldType::Checkbox | FieldType::Boolean => {
                State::Switch(value == Some(&Value::Bool(true)))
            }
            FieldType::Textarea => State::Text(
                Field::multiline()
                    .with(&value.map(|value| shown(field, value)).unwrap_or_default()),
            ),
            _ => State::Text(
                Field::single().with(&value.map(|value| shown(field, value)).unwrap_or_default()),
            ),
        };
        self.controls.push(Control {
            field: field.clone(),
            state,
            error: input.field_errors.get(&field.id).cloned(),
        });
    }

    pub(crate) fn paste(&mut self, text: &str) -> bool {
        match self
            .controls
            .get_mut(self.focus)
            .map(|control| &mut control.state)
        {
            Some(State::Text(field)) => {
                field.paste(text);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn key(&mut self, key: Key) -> Pressed {
        let last = self.controls.len() + 1;
        match key.code {
            Code::Esc => return Pressed::Cancel,
            Code::Char('c') if key.is_ctrl('c') => return Pressed::Cancel,
            Code::Tab if key.shift => {
                self.focus = self.focus.checked_sub(1).unwrap_or(last);
                return Pressed::Taken;
            }
            Code::Tab => {
                self.focus = if self.focus == last {
                    0
                } else {
                    self.focus + 1
                };
                return Pressed::Taken;
            }
            _ => {}
        }
        if self.focus >= self.controls.len() {
            return self.button_key(key);
        }
        if key.code == Code::Enter {
            self.focus += 1;
            return Pressed::Taken;
        }
        let control = &mut self.controls[self.focus];
        control.error = None;
        if control.key(key) {
            return Pressed::Taken;
        }
        match key.code {
            Code::Up => self.focus = self.focus.saturating_sub(1),
            Code::Down => self.focus = (self.focus + 1).min(last),
            // What is typed into a form stays in it.
            _ if key.letter().is_some() => {}
            _ => return Pressed::Nothing,
        }
        Pressed::Taken
    }

    fn button_key(&mut self, key: Key) -> Pressed {
        let is_submit = self.focus == self.controls.len();
        match key.code {
            Code::Enter if is_submit => match self.values() {
                Some(values) => Pressed::Submit(values),
                None => Pressed::Taken,
            },
            Code::Enter => Pressed::Cancel,
            Code::Up => {
                self.focus = self.controls.len().saturating_sub(1);
                Pressed::Taken
            }
            Code::Left | Code::Right | Code::Down => {
                self.focus = self.controls.len() + usize::from(is_submit);
                Pressed::Taken
            }
            _ if key.letter().is_some() => Pressed::Taken,
            _ => Pressed::Nothing,
        }
    }

    /// All values, or nothing if one of them will not do; then the first such field has the focus.
    fn values(&mut self) -> Option<Values> {
        let skipped: Vec<usize> = self
            .optional
            .iter()
            .filter(|section| {
                (*section)
                    .clone()
                    .all(|at| is_empty(self.controls[at].value().ok().flatten().as_ref()))
            })
            .flat_map(Clone::clone)
            .collect();
        let mut values = Values::new();
        let mut wrong = None;
        for (at, control) in self.controls.iter_mut().enumerate() {
            if skipped.contains(&at) {
                continue;
            }
            let value = match control.value() {
                Ok(value) => value,
                Err(why) => {
                    control.error = Some(why.to_owned());
                    wrong = wrong.or(Some(at));
                    continue;
                }
            };
            if let Some(why) = flaw(&control.field, value.as_ref()) {
                control.error = Some(why);
                wrong = wrong.or(Some(at));
                continue;
            }
            let value = match value {
                Some(value) if !is_empty(Some(&value)) => Some(value),
                _ => empty_value(&control.field),
            };
            values.extend(value.map(|value| (control.field.id.clone(), value)));
        }
        match wrong {
            Some(at) => {
                self.focus = at;
                None
            }
            None => Some(values),
        }
    }

    /// The rows, no more than `height`, around the field that has the focus.
    pub(crate) fn rows(
        &mut self,
        columns: usize,
        height: usize,
    ) -> (Vec<Row>, Option<(usize, usize)>) {
        let mut rows: Vec<Row> = Vec::new();
        let mut caret = None;
        for (at, control) in self.controls.iter().enumerate() {
            if let Some(heading) = self.headings.get(&at) {
                rows.extend(heading.iter().cloned());
            }
            let own = control.rows(columns, at == self.focus);
            if at == self.focus {
                caret = Some((rows.len() + own.1.0, own.1.1));
            }
            rows.extend(own.0);
        }
        let button = |label: &str, focus: bool| {
            let text = format!("[ {} ]", escape::line(label));
            piece(text, if focus { Look::Selected } else { Look::Plain })
        };
        let count = self.controls.len();
        if self.focus >= count {
            let column = if self.focus == count {
                2
            } else {
                escape::line(&self.submit).chars().count() + 9
            };
            caret = Some((rows.len(), column));
        }
        rows.push(joined([
            piece("  ", Look::Plain),
            button(&self.submit, self.focus == count),
            piece("   ", Look::Plain),
            button(&self.cancel, self.focus == count + 1),
        ]));
        let height = height.max(1);
        if rows.len() > height
            && let Some((row, column)) = caret
        {
            let first = (row + 2).saturating_sub(height).min(rows.len() - height);
            let first = first.min(row);
            let rows = rows.into_iter().skip(first).take(height).collect();
            return (rows, Some((row - first, column)));
        }
        (rows, caret)
    }
}

impl Control {
    fn key(&mut self, key: Key) -> bool {
        let count = choices(&self.field).len();
        match &mut self.state {
            State::Text(field) => {
                if self.field.field_type == FieldType::Number
                    && matches!(key.code, Code::Up | Code::Down)
                {
                    let step = self.field.step.as_ref().and_then(serde_step).unwrap_or(1.0);
                    let now = field.text().trim().parse::<f64>().unwrap_or(0.0);
                    let next = if key.code == Code::Up {
                        now + step
                    } else {
                        now - step
                    };
                    field.set(&next.to_string());
                    return true;
                }
                match key.code {
                    Code::Char('j') if key.is_ctrl('j') => field.break_line(),
                    _ => return field.edit(key) != Edited::No,
                }
                true
            }
            State::One(chosen) => {
                let letter = key.letter();
                let next = match key.code {
                    Code::Left => chosen.map_or(0, |at| at.saturating_sub(1)),
                    Code::Right | Code::Char(' ') => chosen.map_or(0, |at| (at + 1).min(count - 1)),
                    _ => match letter.and_then(|letter| letter.to_digit(10)) {
                        Some(digit) if (1..=count).contains(&(digit as usize)) => {
                            digit as usize - 1
                        }
                        _ => return false,
                    },
                };
                *chosen = Some(next);
                true
            }
            State::Some(ticked, at) => {
                match key.code {
                    Code::Left => *at = at.saturating_sub(1),
                    Code::Right => *at = (*at + 1).min(count - 1),
                    Code::Char(' ') => ticked[*at] = !ticked[*at],
                    _ => match key.letter().and_then(|letter| letter.to_digit(10)) {
                        Some(digit) if (1..=count).contains(&(digit as usize)) => {
                            *at = digit as usize - 1;
                            ticked[*at] = !ticked[*at];
                        }
                        _ => return false,
                    },
                }
                true
            }
            State::Switch(on) => match key.code {
                Code::Char(' ') | Code::Left | Code::Right => {
                    *on = !*on;
                    true
                }
                Code::Char('y') => {
                    *on = true;
                    true
                }
                Code::Char('n') => {
                    *on = false;
                    true
                }
                _ => false,
            },
        }
    }

    /// The value, none where nothing was filled in.
    fn value(&self) -> Result<Option<Value>, &'static str> {
        let options = choices(&self.field);
        let value_of = |index: usize| {
            options
                .get(index)
                .map(|choice| Value::from(choice.value.clone()))
        };
        Ok(match &self.state {
            State::Text(field) => {
                let text = field.text();
                match self.field.field_type {
                    _ if text.trim().is_empty() => None,
                    FieldType::Number => Some(number(text.trim()).map_err(|_| "type a number")?),
                    FieldType::Date | FieldType::Time | FieldType::Datetime => {
                        Some(text.trim().into())
                    }
                    _ => Some(text.into()),
                }
            }
            State::One(chosen) => chosen.and_then(value_of),
            State::Some(ticked, _) => {
                let chosen = (0..ticked.len()).filter(|index| ticked[*index]);
                Some(Value::Array(chosen.filter_map(value_of).collect()))
            }
            State::Switch(on) => Some(Value::Bool(*on)),
        })
    }

    fn rows(&self, columns: usize, focus: bool) -> (Vec<Row>, (usize, usize)) {
        let mark = if focus { "> " } else { "  " };
        let label = escape::line(&self.field.label);
        let look = if focus { Look::Bold } else { Look::Plain };
        let lead = vec![piece(format!("{mark}{label:<10} "), look)];
        let indent = crate::text::row::width_of(&joined(lead.clone()));
        let mut caret = (0, indent);
        let mut rows = Vec::new();
        match &self.state {
            State::Text(field) => {
                let (lines, (caret_row, caret_column)) =
                    field.rows(columns.saturating_sub(indent).max(8));
                let hint = if field.is_empty() {
                    self.hint()
                } else {
                    String::new()
                };
                for (at, line) in lines.into_iter().enumerate() {
                    let mut spans = if at == 0 {
                        lead.clone()
                    } else {
                        vec![piece(" ".repeat(indent), look)]
                    };
                    spans.extend(line);
                    if at == 0 {
                        spans.push(piece(hint.clone(), Look::Dim));
                    }
                    rows.push(joined(spans));
                }
                caret = (caret_row, indent + caret_column);
            }
            State::One(chosen) => {
                let mut spans = lead;
                for (index, choice) in choices(&self.field).iter().enumerate() {
                    let mark = if *chosen == Some(index) { "(*)" } else { "( )" };
                    let text = format!("{mark} {} {}  ", index + 1, escape::line(&choice.label));
                    spans.push(piece(
                        text,
                        if *chosen == Some(index) {
                            Look::Bold
                        } else {
                            Look::Plain
                        },
                    ));
                }
                rows = wrap::wrap(
                    &joined(spans),
                    columns,
                    &Row::default(),
                    &Row::from(" ".repeat(indent)),
                );
            }
            State::Some(ticked, at) => {
                let mut spans = lead;
                for (index, choice) in choices(&self.field).iter().enumerate() {
                    let mark = if ticked[index] { "[x]" } else { "[ ]" };
                    let look = if focus && index == *at {
                        Look::Bold
                    } else {
                        Look::Plain
                    };
                    spans.push(piece(
                        format!("{mark} {} {}  ", index + 1, escape::line(&choice.label)),
                        look,
                    ));
                }
                rows = wrap::wrap(
                    &joined(spans),
                    columns,
                    &Row::default(),
                    &Row::from(" ".repeat(indent)),
                );
            }
            State::Switch(on) => {
                let mut spans = lead;
                spans.push(piece(if *on { "[x] yes" } else { "[ ] no" }, Look::Plain));
                rows.push(joined(spans));
            }
        }
        if self.field.required
            && let Some(first) = rows.first_mut()
        {
            first.spans.push(piece("  required", Look::Dim));
        }
        if focus && let Some(text) = &self.field.description {
            rows.push(row(format!("│ {}", escape::line(text)), Look::Dim));
        }
        if let Some(error) = &self.error {
            let text = format!("! {}: {}", label, escape::line(error));
            rows.push(row(text, Look::Bad));
        }
        (rows, caret)
    }

    /// What stands in an empty field.
    fn hint(&self) -> String {
        if let Some(placeholder) = &self.field.placeholder {
            return escape::line(placeholder).into_owned();
        }
        match self.field.field_type {
            FieldType::Date => "YYYY-MM-DD",
            FieldType::Time => "HH:MM",
            FieldType::Datetime => "YYYY-MM-DDTHH:MM",
            _ => "",
        }
        .to_owned()
    }
}

/// The distance between two numbers of a stepper.
fn serde_step(step: &impl ToString) -> Option<f64> {
    step.to_string().parse().ok()
}
