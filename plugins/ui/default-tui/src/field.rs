//! A text that is typed: grapheme by grapheme, with pastes as single tokens, one kill ring, and undo.

use zeroize::Zeroize as _;

use crate::terminal::key::{Code, Key};
use crate::text::row::{Look, Piece, piece};
use crate::text::{escape, width};

/// A paste of so many characters becomes a token.
const TOKEN_CHARS: usize = 200;

/// As many steps as can be undone.
const UNDO: usize = 200;

/// One thing that Backspace removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Atom {
    /// A grapheme cluster or a line feed.
    Text(String),
    /// A long paste, by its number.
    Paste(usize, String),
}

/// A text with a caret.
#[derive(Debug, Default)]
pub(crate) struct Field {
    atoms: Vec<Atom>,
    caret: usize,
    killed: Vec<Atom>,
    undo: Vec<(Vec<Atom>, usize)>,
    /// Whether the last change was a typed letter, which is undone together with those before it.
    was_letter: bool,
    pastes: usize,
    /// Whether it is a secret: it is shown as marks, and no copy of it is kept.
    secret: bool,
    multiline: bool,
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edited {
    /// The text or the caret changed.
    Yes,
    /// The key means something, and there was nothing to do.
    Nothing,
    /// The key means nothing here.
    No,
}

impl Field {
    pub(crate) fn multiline() -> Self {
        let mut field = Self::default();
        field.multiline = true;
        field
    }

    pub(crate) fn single() -> Self {
        Self::default()
    }

    pub(crate) fn secret() -> Self {
        let mut field = Self::default();
        field.secret = true;
        field
    }

    pub(crate) fn with(mut self, text: &str) -> Self {
        self.set(text);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// The text, pastes in full.
    pub(crate) fn text(&self) -> String {
        self.atoms.iter().map(Atom::text).collect()
    }

    /// The text up to the caret, if there is no paste in it.
    pub(crate) fn before_caret(&self) -> String {
        self.atoms[..self.caret].iter().map(Atom::text).collect()
    }

    /// Replaces everything, with the caret at the end.
    pub(crate) fn set(&mut self, text: &str) {
        self.remember(false);
        self.wipe();
        self.atoms = atoms_of(text);
        self.caret = self.atoms.len();
    }

    /// Replaces everything with what was taken before.
    pub(crate) fn restore(&mut self, atoms: Vec<Atom>) {
        self.remember(false);
        self.atoms = atoms;
        self.caret = self.atoms.len();
    }

    pub(crate) fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Takes everything out.
    pub(crate) fn take(&mut self) -> String {
        let text = self.text();
        self.wipe();
        self.atoms.clear();
        self.caret = 0;
        self.undo.clear();
        text
    }

    /// Takes everything out and keeps it for Ctrl-Y.
    pub(crate) fn kill_all(&mut self) {
        self.remember(false);
        self.caret = self.atoms.len();
        self.kill(0);
    }

    /// Replaces what is before the caret, from the character `from` on.
    pub(crate) fn replace_before_caret(&mut self, from: usize, with: &str) {
        self.remember(false);
        let mut at = 0;
        let mut first = 0;
        for atom in &self.atoms[..self.caret] {
            if at >= from {
                break;
            }
            at += atom.text().len();
            first += 1;
        }
        let atoms = atoms_of(with);
        let end = first + atoms.len();
        self.atoms.splice(first..self.caret, atoms);
        self.caret = end;
    }

    /// Inserts what was pasted.
    pub(crate) fn paste(&mut self, text: &str) {
        self.remember(false);
        let text = if self.multiline {
            text.to_owned()
        } else {
            text.replace('\n', " ")
        };
        let is_long = self.multiline && text.chars().nth(TOKEN_CHARS - 1).is_some();
        if is_long {
            self.pastes += 1;
            self.atoms
                .insert(self.caret, Atom::Paste(self.pastes, text));
            self.caret += 1;
            return;
        }
        let atoms = atoms_of(&text);
        let count = atoms.len();
        self.atoms.splice(self.caret..self.caret, atoms);
        self.caret += count;
    }

    /// Inserts a line feed.
    pub(crate) fn break_line(&mut self) {
        if self.multiline {
            self.remember(false);
            self.insert("\n");
        }
    }

    fn insert(&mut self, text: &str) {
        // A mark that belongs to the letter before it joins it.
        if let Some(Atom::Text(before)) = self
            .caret
            .checked_sub(1)
            .and_then(|at| self.atoms.get_mut(at))
        {
            let joined = format!("{before}{text}");
            if width::clusters(&joined).count() == 1 && text != "\n" && before != "\n" {
                *before = joined;
                return;
            }
        }
        self.atoms.insert(self.caret, Atom::Text(text.to_owned()));
        self.caret += 1;
    }

    /// Takes a key, if it edits.
    pub(crate) fn edit(&mut self, key: Key) -> Edited {
        if let Some(letter) = key.letter() {
            self.remember(true);
            self.insert(letter.encode_utf8(&mut [0; 4]));
            return Edited::Yes;
        }
        let before = self.caret;
        match key.code {
            Code::Char('a') if key.is_ctrl('a') => self.caret = self.line_start(),
            Code::Char('e') if key.is_ctrl('e') => self.caret = self.line_end(),
            Code::Home => self.caret = self.line_start(),
            Code::End => self.caret = self.line_end(),
            Code::Char('b') if key.is_alt('b') => self.caret = self.word_before(),
            Code::Char('f') if key.is_alt('f') => self.caret = self.word_after(),
            Code::Left if key.ctrl || key.alt => self.caret = self.word_before(),
            Code::Right if key.ctrl || key.alt => self.caret = self.word_after(),
            Code::Left => self.caret = before.saturating_sub(1),
            Code::Right => self.caret = (before + 1).min(self.atoms.len()),
            Code::Char('b') if key.is_ctrl('b') => self.caret = before.saturating_sub(1),
            Code::Char('f') if key.is_ctrl('f') => self.caret = (before + 1).min(self.atoms.len()),
            Code::Char('7') if key.is_ctrl('7') => return self.undo(),
            Code::Char('_') if key.ctrl => return self.undo(),
            _ => return self.edit_removing(key),
        }
        self.was_letter = false;
        if self.caret == before {
            Edited::Nothing
        } else {
            Edited::Yes
        }
    }

    fn edit_removing(&mut self, key: Key) -> Edited {
        let (from, to, kills) = match key.code {
            Code::Backspace if key.alt || key.ctrl => (self.word_before(), self.caret, true),
            Code::Backspace => (self.caret.saturating_sub(1), self.caret, false),
            Code::Char('h') if key.is_ctrl('h') => {
                (self.caret.saturating_sub(1), self.caret, false)
            }
            Code::Delete => (self.caret, (self.caret + 1).min(self.atoms.len()), false),
            Code::Char('d') if key.is_ctrl('d') => {
                (self.caret, (self.caret + 1).min(self.atoms.len()), false)
            }
            Code::Char('d') if key.is_alt('d') => (self.caret, self.word_after(), true),
            Code::Char('k') if key.is_ctrl('k') => {
                let end = self.line_end();
                let end = if end == self.caret {
                    (end + 1).min(self.atoms.len())
                } else {
                    end
                };
                (self.caret, end, true)
            }
            Code::Char('u') if key.is_ctrl('u') => (self.line_start(), self.caret, true),
            Code::Char('w') if key.is_ctrl('w') => (self.word_before(), self.caret, true),
            Code::Char('y') if key.is_ctrl('y') => {
                if self.killed.is_empty() {
                    return Edited::Nothing;
                }
                self.remember(false);
                let killed = self.killed.clone();
                let count = killed.len();
                self.atoms.splice(self.caret..self.caret, killed);
                self.caret += count;
                return Edited::Yes;
            }
            _ => return Edited::No,
        };
        if from == to {
            return Edited::Nothing;
        }
        self.remember(false);
        self.caret = to;
        if kills {
            self.kill(from);
        } else {
            for mut atom in self.atoms.drain(from..to) {
                atom.wipe_if(self.secret);
            }
            self.caret = from;
        }
        Edited::Yes
    }

    fn kill(&mut self, from: usize) {
        let killed: Vec<Atom> = self.atoms.drain(from..self.caret).collect();
        self.caret = from;
        if self.secret {
            for mut atom in killed {
                atom.wipe_if(true);
            }
        } else {
            self.killed = killed;
        }
    }

    /// Keeps the present state for Ctrl-_. Letters in a row are one step.
    fn remember(&mut self, letter: bool) {
        let goes_on = letter && self.was_letter;
        self.was_letter = letter;
        if self.secret || goes_on {
            return;
        }
        if self.undo.len() == UNDO {
            self.undo.remove(0);
        }
        self.undo.push((self.atoms.clone(), self.caret));
    }

    fn undo(&mut self) -> Edited {
        self.was_letter = false;
        match self.undo.pop() {
            Some((atoms, caret)) => {
                (self.atoms, self.caret) = (atoms, caret);
                Edited::Yes
            }
            None => Edited::Nothing,
        }
    }

    fn line_start(&self) -> usize {
        let before = self.atoms[..self.caret].iter();
        before
            .rev()
            .position(Atom::is_break)
            .map_or(0, |back| self.caret - back)
    }

    fn line_end(&self) -> usize {
        let after = self.atoms[self.caret..].iter();
        after
            .clone()
            .position(Atom::is_break)
            .map_or(self.atoms.len(), |ahead| self.caret + ahead)
    }

    fn word_before(&self) -> usize {
        let mut at = self.caret;
        while at > 0 && !self.atoms[at - 1].is_word() {
            at -= 1;
        }
        while at > 0 && self.atoms[at - 1].is_word() {
            at -= 1;
        }
        at
    }

    fn word_after(&self) -> usize {
        let mut at = self.caret;
        while at < self.atoms.len() && !self.atoms[at].is_word() {
            at += 1;
        }
        while at < self.atoms.len() && self.atoms[at].is_word() {
            at += 1;
        }
        at
    }

    /// Moves the caret a row up or down in the rows of `columns`; false at the first or the last.
    pub(crate) fn move_row(&mut self, up: bool, columns: usize) -> bool {
        let places = self.places(columns);
        let (row, column) = places[self.caret];
        let wanted = if up {
            row.checked_sub(1)
        } else {
            Some(row + 1)
        };
        let Some(wanted) = wanted else { return false };
        let best = places
            .iter()
            .enumerate()
            .filter(|(_, place)| place.0 == wanted)
            .min_by_key(|(_, place)| place.1.abs_diff(column));
        match best {
            Some((at, _)) => {
                self.caret = at;
                self.was_letter = false;
                true
            }
            None => false,
        }
    }

    /// Row and column of every place the caret can have.
    fn places(&self, columns: usize) -> Vec<(usize, usize)> {
        let columns = columns.max(2);
        let (mut row, mut column) = (0, 0);
        let mut places = Vec::with_capacity(self.atoms.len() + 1);
        for atom in &self.atoms {
            let width = self.width_of(atom);
            if !atom.is_break() && column + width > columns {
                (row, column) = (row + 1, 0);
            }
            places.push((row, column));
            if atom.is_break() {
                (row, column) = (row + 1, 0);
            } else {
                column += width;
            }
        }
        places.push((row, column));
        places
    }

    fn width_of(&self, atom: &Atom) -> usize {
        width::of(&self.shown(atom))
    }

    fn shown(&self, atom: &Atom) -> String {
        match atom {
            _ if self.secret => "•".to_owned(),
            Atom::Text(text) => escape::line(text).into_owned(),
            Atom::Paste(number, _) => format!("[pasted content #{number}]"),
        }
    }

    /// The rows in `columns`, and where the caret is in them.
    pub(crate) fn rows(&self, columns: usize) -> (Vec<Vec<Piece>>, (usize, usize)) {
        if self.secret {
            let marks = self.atoms.len().min(32);
            return (
                vec![vec![piece("•".repeat(marks), Look::Plain)]],
                (0, marks),
            );
        }
        let places = self.places(columns);
        let last = places.last().map_or(0, |place| place.0);
        let mut rows: Vec<Vec<Piece>> = vec![Vec::new(); last + 1];
        let mut open: Option<(usize, String)> = None;
        for (atom, (row, _)) in self.atoms.iter().zip(&places) {
            if atom.is_break() {
                continue;
            }
            let shown = self.shown(atom);
            if matches!(atom, Atom::Paste(..)) {
                if let Some((row, text)) = open.take() {
                    rows[row].push(piece(text, Look::Plain));
                }
                rows[*row].push(piece(shown, Look::Accent));
                continue;
            }
            match &mut open {
                Some((at, text)) if at == row => text.push_str(&shown),
                _ => {
                    if let Some((row, text)) = open.replace((*row, shown)) {
                        rows[row].push(piece(text, Look::Plain));
                    }
                }
            }
        }
        if let Some((row, text)) = open {
            rows[row].push(piece(text, Look::Plain));
        }
        (rows, places[self.caret])
    }

    fn wipe(&mut self) {
        if self.secret {
            for atom in &mut self.atoms {
                atom.wipe_if(true);
            }
        }
    }
}

impl Drop for Field {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl Atom {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Paste(_, text) => text,
        }
    }

    fn is_break(&self) -> bool {
        matches!(self, Self::Text(text) if text == "\n")
    }

    fn is_word(&self) -> bool {
        match self {
            Self::Text(text) => text.chars().any(|c| c.is_alphanumeric() || c == '_'),
            Self::Paste(..) => true,
        }
    }

    fn wipe_if(&mut self, secret: bool) {
        if secret && let Self::Text(text) | Self::Paste(_, text) = self {
            text.zeroize();
        }
    }
}

fn atoms_of(text: &str) -> Vec<Atom> {
    width::clusters(text)
        .flat_map(|cluster| {
            // A CRLF would be one cluster.
            if cluster == "\r\n" {
                vec!["\n"]
            } else {
                vec![cluster]
            }
        })
        .map(|cluster| Atom::Text(cluster.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::row::{joined, plain};

    fn typed(field: &mut Field, text: &str) {
        for letter in text.chars() {
            field.edit(Key::plain(Code::Char(letter)));
        }
    }

    fn rows(field: &Field, columns: usize) -> Vec<String> {
        let (rows, _) = field.rows(columns);
        rows.into_iter().map(|row| plain(&joined(row))).collect()
    }

    #[test]
    fn tui_53_editing_goes_by_grapheme_and_is_undone_step_by_step() {
        let mut field = Field::multiline();
        typed(&mut field, "one two");
        field.edit(Key::ctrl('w'));
        assert_eq!(field.text(), "one ");
        field.edit(Key::ctrl('a'));
        field.edit(Key::ctrl('y'));
        assert_eq!(field.text(), "twoone ");
        for expected in ["one ", "one two", ""] {
            field.edit(Key::ctrl('7'));
            assert_eq!(field.text(), expected);
        }
        typed(&mut field, "e\u{301}x");
        field.edit(Key::plain(Code::Backspace));
        field.edit(Key::plain(Code::Backspace));
        assert!(field.is_empty());
    }

    #[test]
    fn tui_55_a_long_paste_is_one_token_and_comes_out_byte_for_byte() {
        let mut field = Field::multiline();
        let long = "line\n".repeat(100);
        typed(&mut field, "a");
        field.paste(&long);
        typed(&mut field, "b");
        assert_eq!(rows(&field, 80), ["a[pasted content #1]b"]);
        assert_eq!(field.text(), format!("a{long}b"));
        field.edit(Key::plain(Code::Left));
        field.edit(Key::plain(Code::Backspace));
        assert_eq!(field.text(), "ab");
        field.paste("short\npaste");
        assert_eq!(field.text(), "ashort\npasteb");
    }

    #[test]
    fn tui_89_a_secret_is_marks_and_leaves_nothing_to_undo_or_yank() {
        let mut field = Field::secret();
        typed(&mut field, &"x".repeat(40));
        assert_eq!(rows(&field, 80), ["•".repeat(32)]);
        field.edit(Key::ctrl('u'));
        assert!(field.is_empty());
        field.edit(Key::ctrl('y'));
        field.edit(Key::ctrl('7'));
        assert!(field.is_empty());
    }

    #[test]
    fn the_caret_moves_by_rows_and_keeps_to_them() {
        let mut field = Field::multiline();
        typed(&mut field, "abc");
        field.break_line();
        typed(&mut field, "工具x");
        assert_eq!(rows(&field, 10), ["abc", "工具x"]);
        assert_eq!(field.rows(10).1, (1, 5));
        assert!(field.move_row(true, 10));
        assert_eq!(field.rows(10).1, (0, 3));
        assert!(!field.move_row(true, 10));
        assert_eq!(rows(&field, 4), ["abc", "工具", "x"]);
    }

    #[test]
    fn what_is_before_the_caret_can_be_replaced() {
        let mut field = Field::multiline();
        typed(&mut field, "see @src rest");
        for _ in 0..5 {
            field.edit(Key::plain(Code::Left));
        }
        field.replace_before_caret(4, "src/main.rs");
        assert_eq!(field.text(), "see src/main.rs rest");
    }
}
