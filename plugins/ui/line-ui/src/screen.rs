//! What a person sees: the assistant's text on one stream, everything else on the other.

use std::fmt;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::escape;

/// One of the two streams.
pub(crate) struct Output {
    pub(crate) writer: Box<dyn Write + Send>,
    pub(crate) is_terminal: bool,
}

/// How things are to look.
#[derive(Debug)]
pub(crate) struct Look {
    /// What invites a person to type.
    pub(crate) prompt: String,
    /// Whether there is a person to invite.
    pub(crate) invites: bool,
    pub(crate) color: bool,
}

/// What kind of remark something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// By the way.
    Faint,
    /// Look here.
    Strong,
    /// Something went wrong.
    Alarm,
}

/// Why a person is not invited to type just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Busy {
    /// The session works on what was typed.
    Turn,
    /// A slash command runs.
    Command,
    /// A question is on the screen.
    Question,
    /// Nothing that is typed will be read any more.
    Over,
}

/// Both streams. All that is written goes through [`escape`] here, so that no caller can forget it.
pub(crate) struct Screen {
    look: Look,
    /// Whether both streams end on the same rows.
    shares_rows: bool,
    notes_are_seen: bool,
    state: Mutex<ScreenState>,
}

struct ScreenState {
    text: Output,
    notes: Output,
    /// Whether the assistant's last line still has to be ended.
    text_is_open: bool,
    text_is_lost: bool,
    row: Row,
    invited: bool,
    busy: Vec<Busy>,
}

/// Who has written on the last row of the screen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    Nobody,
    Text,
    Notes,
}

impl Screen {
    pub(crate) fn new(text: Output, notes: Output, look: Look) -> Self {
        Self {
            look,
            shares_rows: text.is_terminal && notes.is_terminal,
            notes_are_seen: notes.is_terminal,
            state: Mutex::new(ScreenState {
                text,
                notes,
                text_is_open: false,
                text_is_lost: false,
                row: Row::Nobody,
                invited: false,
                busy: Vec::new(),
            }),
        }
    }

    /// Whether a person at a terminal sees notes and questions.
    pub(crate) fn notes_are_seen(&self) -> bool {
        self.notes_are_seen
    }

    /// Shows a piece of the assistant's text.
    pub(crate) fn text(&self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let mut state = self.lock();
        if self.shares_rows && state.row == Row::Notes {
            state.end_row();
        }
        state.write_text(&escape::text(piece));
        state.text_is_open = !piece.ends_with('\n');
        if self.shares_rows {
            state.row = if state.text_is_open {
                Row::Text
            } else {
                Row::Nobody
            };
        }
    }

    /// Ends the assistant's last line, if that has not happened.
    pub(crate) fn end_text(&self) {
        let mut state = self.lock();
        // On a shared screen a note may have ended the row already.
        if state.text_is_open && (!self.shares_rows || state.row == Row::Text) {
            state.write_text("\n");
        }
        state.text_is_open = false;
        if state.row == Row::Text {
            state.row = Row::Nobody;
        }
    }

    /// Says something on lines of its own.
    pub(crate) fn note(&self, tone: Tone, note: &str) {
        let mut state = self.lock();
        let was_invited = state.invited;
        state.end_row();
        state.write_note(&format!("{}\n", self.painted(tone, note)));
        if was_invited {
            self.invite_in(&mut state);
        }
    }

    /// Shows a question and leaves the cursor behind the invitation to answer it.
    pub(crate) fn ask(&self, heading: &str, invitation: &str) {
        let mut state = self.lock();
        state.end_row();
        if !heading.is_empty() {
            state.write_note(&format!("{}\n", self.painted(Tone::Strong, heading)));
        }
        state.write_note(&escape::text(invitation));
        state.row = Row::Notes;
    }

    /// Shows the input prompt, unless the session is busy.
    pub(crate) fn invite(&self) {
        self.invite_in(&mut self.lock());
    }

    /// Enter was pressed on a terminal, which has shown it.
    pub(crate) fn entered(&self) {
        let mut state = self.lock();
        (state.row, state.invited) = (Row::Nobody, false);
    }

    /// Leaves the row, so that what comes next begins at its start.
    pub(crate) fn end_row(&self) {
        self.lock().end_row();
    }

    /// There is a new desk: what is typed will be read.
    pub(crate) fn reopen(&self) {
        self.end(Busy::Over);
    }

    pub(crate) fn begin(&self, busy: Busy) {
        let mut state = self.lock();
        if !state.busy.contains(&busy) {
            state.busy.push(busy);
        }
    }

    /// One reason less not to invite the person.
    pub(crate) fn end(&self, busy: Busy) {
        let mut state = self.lock();
        state.busy.retain(|other| *other != busy);
        self.invite_in(&mut state);
    }

    fn invite_in(&self, state: &mut ScreenState) {
        if !self.look.invites || state.invited || !state.busy.is_empty() {
            return;
        }
        state.end_row();
        state.write_note(&escape::line(&self.look.prompt));
        (state.row, state.invited) = (Row::Notes, true);
    }

    fn painted(&self, tone: Tone, text: &str) -> String {
        let text = escape::text(text);
        let paint = match tone {
            Tone::Plain => return text,
            Tone::Faint => "2",
            Tone::Strong => "1",
            Tone::Alarm => "31",
        };
        if self.look.color {
            format!("\u{1b}[{paint}m{text}\u{1b}[0m")
        } else {
            text
        }
    }

    fn lock(&self) -> MutexGuard<'_, ScreenState> {
        // A panic while it was held can only have left a row unfinished.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScreenState {
    /// Writes and flushes, so that a reader gets each piece whole and at once.
    fn write_text(&mut self, text: &str) {
        let writer = &mut self.text.writer;
        let written = writer
            .write_all(text.as_bytes())
            .and_then(|()| writer.flush());
        if let Err(error) = written
            && !self.text_is_lost
        {
            // Reported once: the reader of the output is gone.
            self.text_is_lost = true;
            self.write_note(&format!(
                "the assistant's text cannot be written: {error}\n"
            ));
        }
    }

    fn write_note(&mut self, note: &str) {
        let writer = &mut self.notes.writer;
        // There is nowhere left to say that this stream is broken.
        let _ = writer
            .write_all(note.as_bytes())
            .and_then(|()| writer.flush());
    }

    fn end_row(&mut self) {
        if self.row != Row::Nobody {
            self.write_note("\n");
        }
        (self.row, self.invited) = (Row::Nobody, false);
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen")
            .field("look", &self.look)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
