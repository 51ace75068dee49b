//! A prompt on the screen: what it shows, and which keys answer it.

mod choices;
mod form;
mod heading;
mod view;

use std::time::{Duration, Instant};

use stud_sdk::interaction::{
    Action, Answer, AskAnswer, AuthAnswer, EnvelopeAnswer, GrantAnswer, Payload, Request, Secret,
    SelectAnswer, Timeout, UserResponse,
};

use crate::field::{Edited, Field};
use crate::terminal::key::{Code, Key};
use crate::text::escape;
use crate::text::row::Row;

use choices::{Act, Choice};
use form::Form;
pub(crate) use heading::{diff_line, one_line};

/// A list shows no more entries at a time.
const MOST_CHOICES: usize = 8;

/// How long no key may have been pressed before keys become answers.
pub(crate) const QUIET: Duration = Duration::from_millis(500);

/// A prompt, as it is shown and answered here.
#[derive(Debug)]
pub(crate) struct Dialog {
    pub(crate) request: Request,
    /// The row that says who asks for what.
    heading: Row,
    /// What others say, line by line.
    body: Vec<Row>,
    choices: Vec<Choice>,
    selected: Option<usize>,
    /// What filters a list.
    filter: Option<Field>,
    entry: Option<Entry>,
    form: Option<Form>,
    note: Option<String>,
    /// The first row of the body that is shown.
    scroll: usize,
    page: usize,
    hidden: usize,
    /// Whether the last row of the body has been on the screen.
    seen: bool,
    error: Option<String>,
    expires: Option<Instant>,
    /// When its rows were written.
    pub(crate) shown_at: Option<Instant>,
    pub(crate) armed: bool,
}

/// A text that is typed as an answer or for one.
#[derive(Debug)]
struct Entry {
    purpose: Purpose,
    field: Field,
    label: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Answer,
    Secret,
    Reason,
    Note,
}

/// What became of a key.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The key means nothing to this prompt.
    Nothing,
    /// It was taken.
    Taken,
    Accept(Answer),
    Reject(Option<String>),
    /// The text is to be put on the clipboard.
    Copy(String),
    /// The text of the entry is to be edited outside.
    Edit(String),
}

impl Dialog {
    pub(crate) fn new(
        request: Request,
        chip: Option<String>,
        layer: Option<&str>,
        now: Instant,
    ) -> Self {
        let heading = heading::of(&request.payload, chip.as_deref(), layer);
        let body = heading::body(&request.payload);
        let (choices, selected) = choices::of(&request.payload);
        let entry = match &request.payload {
            Payload::Ask(ask) => Some(Entry {
                purpose: Purpose::Answer,
                field: Field::multiline().with(ask.default_value.as_deref().unwrap_or_default()),
                label: "answer",
            }),
            Payload::AuthPassword(_) => Some(Entry {
                purpose: Purpose::Secret,
                field: Field::secret(),
                label: "secret",
            }),
            _ => None,
        };
        let form = match &request.payload {
            Payload::ToolInput(input) => Some(Form::new(input)),
            _ => None,
        };
        let limit = match &request.payload {
            Payload::ToolInput(input) => input.timeout_ms,
            Payload::ToolApproval(approval) => approval.timeout_ms,
            _ => None,
        };
        let limit = limit
            .and_then(Timeout::as_millis)
            .map(Duration::from_millis);
        Self {
            request,
            heading,
            body,
            choices,
            selected,
            filter: None,
            entry,
            form,
            note: None,
            scroll: 0,
            page: 1,
            hidden: 0,
            seen: false,
            error: None,
            expires: limit.and_then(|limit| now.checked_add(limit)),
            shown_at: None,
            armed: false,
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.request.interaction_id
    }

    /// Says what is wrong with what was answered.
    pub(crate) fn complain(&mut self, why: &str) {
        self.error = Some(escape::line(why).into_owned());
    }

    /// When its time is over.
    pub(crate) fn expires(&self) -> Option<Instant> {
        self.expires
    }

    /// Takes a paste: into a text, and never as an answer.
    pub(crate) fn paste(&mut self, text: &str) -> bool {
        if let Some(entry) = &mut self.entry {
            entry.field.paste(text);
            return true;
        }
        match &mut self.form {
            Some(form) => form.paste(text),
            None => false,
        }
    }

    /// Takes the text that was edited outside.
    pub(crate) fn edited(&mut self, text: &str) {
        if let Some(entry) = &mut self.entry {
            entry.field.set(text);
        }
    }

    /// Takes a key of an armed dialog.
    pub(crate) fn key(&mut self, key: Key) -> Reply {
        self.error = None;
        if self.turn_page(key) {
            return Reply::Taken;
        }
        if self.entry.is_some() {
            return self.entry_key(key);
        }
        if let Some(form) = &mut self.form {
            return match form.key(key) {
                form::Pressed::Nothing => Reply::Nothing,
                form::Pressed::Taken => Reply::Taken,
                form::Pressed::Cancel => self.refusal(),
                form::Pressed::Submit(values) => Reply::Accept(Answer::ToolInput(UserResponse {
                    input: Some(values.into_iter().collect()),
                    ..UserResponse::new(Action::Submit)
                })),
            };
        }
        self.choice_key(key)
    }

    /// The person's no to the whole prompt.
    pub(crate) fn refusal(&self) -> Reply {
        let no = self
            .choices
            .iter()
            .find(|choice| choice.letter == Some('n'));
        match (&self.request.payload, no) {
            (Payload::ToolInput(_), _) => {
                Reply::Accept(Answer::ToolInput(UserResponse::new(Action::Cancel)))
            }
            (
                _,
                Some(Choice {
                    act: Act::Give(answer),
                    ..
                }),
            ) => Reply::Accept(self.with_note(answer.clone())),
            _ => Reply::Reject(Some("cancelled at the prompt".to_owned())),
        }
    }

    fn turn_page(&mut self, key: Key) -> bool {
        let most = self.hidden;
        self.scroll = match key.code {
            Code::PageUp => self.scroll.saturating_sub(self.page),
            Code::PageDown => (self.scroll + self.page).min(most),
            Code::Home if self.entry.is_none() && self.form.is_none() => 0,
            Code::End if self.entry.is_none() && self.form.is_none() => most,
            _ => return false,
        };
        true
    }

    fn entry_key(&mut self, key: Key) -> Reply {
        let Some(entry) = &mut self.entry else {
            return Reply::Nothing;
        };
        let is_back = matches!(entry.purpose, Purpose::Reason | Purpose::Note);
        match key.code {
            Code::Esc if is_back => {
                self.entry = None;
                Reply::Taken
            }
            Code::Esc => Reply::Reject(Some("cancelled at the prompt".to_owned())),
            Code::Char('c') if key.is_ctrl('c') => self.refusal(),
            Code::Char('g') if key.is_ctrl('g') && entry.purpose == Purpose::Answer => {
                Reply::Edit(entry.field.text())
            }
            Code::Char('j') if key.is_ctrl('j') => {
                entry.field.break_line();
                Reply::Taken
            }
            Code::Enter if key.alt || key.shift => {
                entry.field.break_line();
                Reply::Taken
            }
            Code::Enter => self.finish_entry(),
            // Nothing that is typed here goes anywhere else.
            _ => match entry.field.edit(key) {
                Edited::Yes | Edited::Nothing => Reply::Taken,
                Edited::No if key.letter().is_some() => Reply::Taken,
                Edited::No => Reply::Nothing,
            },
        }
    }

    fn finish_entry(&mut self) -> Reply {
        let Some(mut entry) = self.entry.take() else {
            return Reply::Nothing;
        };
        if entry.purpose == Purpose::Secret && entry.field.is_empty() {
            self.error = Some("nothing was typed; Esc calls it off".to_owned());
            self.entry = Some(entry);
            return Reply::Taken;
        }
        let text = entry.field.take();
        match entry.purpose {
            Purpose::Answer => Reply::Accept(AskAnswer { text }.into()),
            Purpose::Secret => {
                let secret = Secret::new(text.as_str());
                let _wiped = zeroize::Zeroizing::new(text);
                Reply::Accept(Answer::AuthPassword(AuthAnswer::Secret(secret)))
            }
            Purpose::Reason => match &self.request.payload {
                Payload::ToolApproval(_) => Reply::Accept(Answer::ToolApproval(UserResponse {
                    reason: Some(text),
                    ..UserResponse::new(Action::Deny)
                })),
                _ => Reply::Reject(Some(text)),
            },
            Purpose::Note => {
                self.note = (!text.is_empty()).then_some(text);
                Reply::Taken
            }
        }
    }

    fn choice_key(&mut self, key: Key) -> Reply {
        if let Some(filter) = &mut self.filter {
            match key.code {
                Code::Esc => {
                    self.filter = None;
                    return Reply::Taken;
                }
                Code::Up | Code::Down | Code::Enter => {}
                _ => {
                    if filter.edit(key) != Edited::No {
                        self.selected = self.visible().first().copied();
                        return Reply::Taken;
                    }
                }
            }
        }
        if let Some(letter) = key.letter()
            && self.filter.is_none()
        {
            return self.letter(letter);
        }
        match key.code {
            Code::Up => self.move_selection(false),
            Code::Down => self.move_selection(true),
            Code::Tab => self.move_selection(!key.shift),
            Code::Enter if self.choices.is_empty() => self.done(),
            Code::Enter => match self.selected {
                Some(selected) => self.choose(selected),
                None => Reply::Taken,
            },
            Code::Esc => self.refusal(),
            Code::Char('c') if key.is_ctrl('c') => self.refusal(),
            _ => Reply::Nothing,
        }
    }

    fn letter(&mut self, letter: char) -> Reply {
        if let Payload::AuthDeviceCode(login) = &self.request.payload {
            return match letter {
                'y' => Reply::Copy(login.url.clone()),
                _ => Reply::Nothing,
            };
        }
        if let Some(number) = letter.to_digit(10).map(|number| number as usize)
            && (1..=self.choices.len()).contains(&number)
        {
            self.selected = Some(number - 1);
            return Reply::Taken;
        }
        if matches!(self.request.payload, Payload::Select(_)) {
            return match letter {
                'j' => self.move_selection(true),
                'k' => self.move_selection(false),
                '/' => {
                    self.filter = Some(Field::single());
                    Reply::Taken
                }
                _ => Reply::Nothing,
            };
        }
        match self
            .choices
            .iter()
            .position(|choice| choice.letter == Some(letter))
        {
            Some(index) => self.choose(index),
            None => Reply::Nothing,
        }
    }

    /// The entries that the filter leaves.
    fn visible(&self) -> Vec<usize> {
        let word = self
            .filter
            .as_ref()
            .map(|filter| filter.text().to_lowercase());
        let fits = |choice: &Choice| {
            word.as_ref()
                .is_none_or(|word| choice.label.to_lowercase().contains(word))
        };
        (0..self.choices.len())
            .filter(|index| fits(&self.choices[*index]))
            .collect()
    }

    fn move_selection(&mut self, down: bool) -> Reply {
        let visible = self.visible();
        if visible.is_empty() {
            return Reply::Taken;
        }
        let at = self
            .selected
            .and_then(|selected| visible.iter().position(|index| *index == selected));
        let next = match (at, down) {
            (None, true) => 0,
            (None, false) => visible.len() - 1,
            (Some(at), true) => (at + 1).min(visible.len() - 1),
            (Some(at), false) => at.saturating_sub(1),
        };
        self.selected = Some(visible[next]);
        Reply::Taken
    }

    fn choose(&mut self, index: usize) -> Reply {
        let Some(choice) = self.choices.get(index) else {
            return Reply::Taken;
        };
        self.selected = Some(index);
        if choice.allows && !self.seen {
            self.error = Some("read to the end first: PgDn".to_owned());
            return Reply::Taken;
        }
        match &choice.act {
            Act::Give(answer) => Reply::Accept(self.with_note(answer.clone())),
            Act::Index(index) => Reply::Accept(SelectAnswer { index: *index }.into()),
            Act::Reason => {
                self.entry = Some(Entry {
                    purpose: Purpose::Reason,
                    field: Field::single(),
                    label: "reason",
                });
                Reply::Taken
            }
            Act::Note => {
                let before = self.note.take().unwrap_or_default();
                let field = Field::single().with(&before);
                self.entry = Some(Entry {
                    purpose: Purpose::Note,
                    field,
                    label: "note",
                });
                Reply::Taken
            }
        }
    }

    fn done(&self) -> Reply {
        match &self.request.payload {
            Payload::AuthDeviceCode(_) => {
                Reply::Accept(Answer::AuthDeviceCode(AuthAnswer::Completed))
            }
            _ => Reply::Taken,
        }
    }

    fn with_note(&self, answer: Answer) -> Answer {
        match answer {
            Answer::GrantStageTool(grant) => GrantAnswer {
                note: self.note.clone(),
                ..grant
            }
            .into(),
            Answer::ApproveSubagentEnvelope(envelope) => EnvelopeAnswer {
                note: self.note.clone(),
                ..envelope
            }
            .into(),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
