//! What keys do.

use std::time::Instant;

use stud_sdk::host::commands::Completion;

use super::view::SMALL;
use super::{AGAIN, App, Armed, Effect, Queued};
use crate::composer::Taken;
use crate::dialog::Reply;
use crate::palette::{Choice, Palette};
use crate::panels::Panel;
use crate::terminal::key::{Code, Input, Key};
use crate::text::row::Look;

impl App {
    /// Takes what came from the terminal.
    pub(crate) fn input(&mut self, input: Input, now: Instant) {
        self.show_next(now);
        self.arm(now);
        match input {
            Input::Key(key) => {
                self.key(key, now);
                self.last_key = Some(now);
            }
            Input::Paste(text) => {
                self.last_key = Some(now);
                let for_dialog = self
                    .dialog
                    .as_mut()
                    .is_some_and(|dialog| dialog.armed && dialog.paste(&text));
                if !for_dialog {
                    self.composer.paste(&text);
                    self.palette = None;
                    self.disarm();
                }
            }
            Input::PasteTooLong => {
                self.last_key = Some(now);
                self.note("the paste was refused: it has more than 1 MiB", Look::Warn);
            }
            Input::Focus(has_focus) => self.focused(has_focus),
            Input::Report(_) => {}
        }
    }

    /// Bytes came from the keyboard that are no whole key yet.
    pub(crate) fn key_began(&mut self, now: Instant) {
        self.last_key = Some(now);
    }

    fn disarm(&mut self) {
        self.dialog_focus = false;
        if let Some(dialog) = &mut self.dialog {
            dialog.armed = false;
        }
    }

    fn key(&mut self, key: Key, now: Instant) {
        let armed = self
            .armed
            .take()
            .filter(|(_, until)| now < *until)
            .map(|(what, _)| what);
        if key.is_ctrl('z') {
            return self.effects.push(Effect::Suspend);
        }
        if key.is_ctrl('l') {
            return self.effects.push(Effect::Redraw);
        }
        if key.is_ctrl('t') {
            return self.effects.push(Effect::Pager);
        }
        if let Some(dialog) = &mut self.dialog {
            let is_small = self.size.0 < SMALL.0 || self.size.1 < SMALL.1;
            let denies = matches!(key.code, Code::Esc | Code::Char('n')) || key.is_ctrl('c');
            if dialog.armed && is_small && denies {
                let reply = dialog.refusal();
                return self.reply(reply, now);
            }
            if dialog.armed && !is_small {
                let reply = dialog.key(key);
                if !matches!(reply, Reply::Nothing) {
                    return self.reply(reply, now);
                }
                if key.letter().is_some() {
                    // A word that is typed blindly goes where words go.
                    self.disarm();
                }
            } else if key.code == Code::Tab && !key.shift {
                self.dialog_focus = true;
                return;
            }
        }
        if key.is_ctrl('c') {
            return self.interrupt(armed, now);
        }
        match key.code {
            Code::Esc => return self.escape(armed, now),
            Code::F(2) => {
                self.panel = Panel::after(self.panel.take());
                return;
            }
            Code::F(4) => return self.say("the question can be answered in another screen", now),
            Code::F(8) => return self.effects.push(Effect::Command("continue".to_owned())),
            Code::Char('d') if key.is_ctrl('d') && self.composer.is_empty() => {
                return self.effects.push(Effect::Command("exit".to_owned()));
            }
            Code::Char('g') if key.is_ctrl('g') => {
                return self.effects.push(Effect::Editor(self.composer.text()));
            }
            _ => {}
        }
        if self.palette_key(key) {
            return;
        }
        match self.composer.key(key, usize::from(self.size.0)) {
            Taken::Submit => self.submit(),
            Taken::Edited => self.update_palette(),
            Taken::Nothing if key.code == Code::Tab => self.ask_for_completions(),
            Taken::Nothing => {}
        }
    }

    /// Ctrl-C: the nearest thing that can be ended.
    fn interrupt(&mut self, armed: Option<Armed>, now: Instant) {
        if self.palette.take().is_some() {
            return;
        }
        if self.composer.is_searching() {
            self.composer.key(Key::plain(Code::Esc), 80);
            return;
        }
        match &mut self.turn {
            Some(turn) if turn.cancelling => self.effects.push(Effect::Kill),
            Some(turn) => {
                turn.cancelling = true;
                self.effects.push(Effect::Command("cancel".to_owned()));
            }
            None if !self.composer.is_empty() => self.composer.clear(),
            None if armed == Some(Armed::Leave) => {
                self.effects.push(Effect::Command("exit".to_owned()));
            }
            None => {
                self.armed = Some((Armed::Leave, now + AGAIN));
                self.say("Ctrl-C again ends the session", now);
            }
        }
    }

    fn escape(&mut self, armed: Option<Armed>, now: Instant) {
        if self.palette.take().is_some() || self.panel.take().is_some() {
            return;
        }
        if self.composer.is_searching() {
            self.composer.key(Key::plain(Code::Esc), 80);
            return;
        }
        let Some(turn) = &mut self.turn else { return };
        if turn.cancelling {
            return;
        }
        if armed == Some(Armed::Interrupt) {
            turn.cancelling = true;
            self.effects.push(Effect::Command("cancel".to_owned()));
            return;
        }
        self.armed = Some((Armed::Interrupt, now + AGAIN));
        self.say("Esc again calls the turn off", now);
    }

    fn submit(&mut self) {
        self.palette = None;
        if self.composer.text().trim().is_empty() {
            return;
        }
        let text = self.composer.submit();
        self.dialog_focus = false;
        if let Some(command) = text.strip_prefix('/') {
            let command = command.trim().to_owned();
            if command == "cancel"
                && let Some(turn) = &mut self.turn
            {
                turn.cancelling = true;
            }
            self.effects.push(Effect::Command(command));
            return;
        }
        self.tickets += 1;
        self.effects
            .push(Effect::Submit(self.tickets, text.clone()));
        self.queue.push_back(Queued {
            ticket: self.tickets,
            seq: None,
            text,
        });
    }

    /// The editor gave a text, or did not.
    pub(crate) fn edited(&mut self, text: Option<String>) {
        let Some(text) = text else {
            self.note(
                "the editor changed nothing: it ended with an error",
                Look::Warn,
            );
            return;
        };
        match &mut self.dialog {
            Some(dialog) if dialog.armed => dialog.edited(&text),
            _ => self.composer.set(&text),
        }
    }

    fn palette_key(&mut self, key: Key) -> bool {
        let Some(palette) = &mut self.palette else {
            return false;
        };
        match key.code {
            Code::Up => palette.move_selection(false),
            Code::Down => palette.move_selection(true),
            Code::Enter | Code::Tab if !key.alt && !key.shift => {
                let Some(choice) = palette.choice() else {
                    self.palette = None;
                    return false;
                };
                return self.take_choice(choice, key.code == Code::Enter);
            }
            _ => return false,
        }
        true
    }

    fn take_choice(&mut self, choice: Choice, is_enter: bool) -> bool {
        match choice {
            Choice::Command {
                name,
                takes_arguments,
            } => {
                let typed = self.composer.text();
                let is_whole = typed.trim() == format!("/{name}");
                if is_enter && (is_whole || !takes_arguments) {
                    self.composer.set(&format!("/{name}"));
                    self.submit();
                } else {
                    self.composer.set(&format!("/{name} "));
                    self.palette = None;
                }
            }
            Choice::Path { from, path } => {
                self.composer
                    .replace_before_caret(from, &format!("{path} "));
                self.palette = None;
            }
            Choice::Completion { replacement } => {
                let before = self.composer.before_caret();
                let _ = before;
                self.composer.replace_before_caret(0, &replacement);
                self.palette = None;
            }
        }
        true
    }

    /// Opens, changes or closes the palette, as the draft says.
    pub(super) fn update_palette(&mut self) {
        let text = self.composer.text();
        let before = self.composer.before_caret();
        if let Some(word) = text.strip_prefix('/')
            && !word.contains(char::is_whitespace)
        {
            if self.commands.is_empty() {
                self.effects.push(Effect::Commands);
            }
            let selected = self.palette.as_ref();
            let palette = Palette::commands(&self.commands, word, self.turn.is_some(), selected);
            self.palette = Some(palette);
            return;
        }
        let at = before.rfind('@').filter(|at| {
            let word = &before[at + 1..];
            let starts = before[..*at]
                .chars()
                .next_back()
                .is_none_or(char::is_whitespace);
            starts && !word.is_empty() && !word.contains(char::is_whitespace)
        });
        match at {
            Some(at) => {
                let query = before[at + 1..].to_owned();
                self.effects.push(Effect::Files(query.clone()));
                self.palette = Some(Palette::files(at, query, self.palette.take()));
            }
            None => self.palette = None,
        }
    }

    fn ask_for_completions(&mut self) {
        let draft = self.composer.before_caret();
        if draft.starts_with('/') {
            self.effects.push(Effect::Complete(draft));
        }
    }

    pub(super) fn complete(&mut self, draft: &str, completions: Vec<Completion>) {
        // What was typed meanwhile is more than what was asked about.
        if self.composer.before_caret() != draft || completions.is_empty() {
            return;
        }
        if let [only] = completions.as_slice() {
            self.composer.replace_before_caret(0, &only.replacement);
            return;
        }
        self.palette = Some(Palette::completions(completions));
    }
}
