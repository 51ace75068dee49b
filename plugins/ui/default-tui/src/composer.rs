//! Where the person writes: the draft, earlier inputs, and the search in them.

use crate::field::{Atom, Edited, Field};
use crate::terminal::key::{Code, Key};
use crate::text::escape;
use crate::text::row::{Look, Row, joined, piece};

/// The composer never has more rows.
const MOST_ROWS: usize = 10;

/// What stands before the first row of the draft.
const MARK: &str = "> ";

/// The draft and everything around it.
#[derive(Debug)]
pub(crate) struct Composer {
    field: Field,
    /// What was sent before, the oldest first.
    history: Vec<String>,
    /// The input that is shown in place of the draft.
    browsing: Option<Browsing>,
    search: Option<Search>,
}

#[derive(Debug)]
struct Browsing {
    at: usize,
    draft: Vec<Atom>,
}

#[derive(Debug)]
struct Search {
    word: Field,
    /// How many hits are passed over.
    skip: usize,
    draft: Vec<Atom>,
}

/// What the composer takes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It was for the draft.
    Edited,
    /// The draft is to be sent.
    Submit,
    /// It means nothing to the draft.
    Nothing,
}

impl Default for Composer {
    fn default() -> Self {
        Self {
            field: Field::multiline(),
            history: Vec::new(),
            browsing: None,
            search: None,
        }
    }
}

impl Composer {
    pub(crate) fn is_empty(&self) -> bool {
        self.field.is_empty()
    }

    /// Whether earlier inputs are being searched.
    pub(crate) fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    pub(crate) fn text(&self) -> String {
        self.field.text()
    }

    pub(crate) fn before_caret(&self) -> String {
        self.field.before_caret()
    }

    pub(crate) fn set(&mut self, text: &str) {
        self.browsing = None;
        self.field.set(text);
    }

    pub(crate) fn replace_before_caret(&mut self, from: usize, with: &str) {
        self.field.replace_before_caret(from, with);
    }

    pub(crate) fn paste(&mut self, text: &str) {
        self.end_search(true);
        self.field.paste(text);
    }

    /// Empties the draft; Ctrl-Y brings it back.
    pub(crate) fn clear(&mut self) {
        self.browsing = None;
        self.field.kill_all();
    }

    /// Takes the draft out, to send it.
    pub(crate) fn submit(&mut self) -> String {
        self.browsing = None;
        let text = self.field.take();
        if self.history.last() != Some(&text) {
            self.history.push(text.clone());
        }
        text
    }

    /// Puts an input of an earlier run of the session into the history.
    pub(crate) fn remember(&mut self, text: &str) {
        self.history.push(text.to_owned());
    }

    /// Takes a key. `columns` is the width the draft is laid out in.
    pub(crate) fn key(&mut self, key: Key, columns: usize) -> Taken {
        if self.search.is_some() {
            return self.search_key(key);
        }
        let columns = columns.saturating_sub(MARK.len() + 1);
        match key.code {
            Code::Enter if key.alt || key.shift || key.ctrl => self.field.break_line(),
            Code::Char('j') if key.is_ctrl('j') => self.field.break_line(),
            Code::Enter => {
                if self.field.before_caret().ends_with('\\') {
                    self.field.edit(Key::plain(Code::Backspace));
                    self.field.break_line();
                    return Taken::Edited;
                }
                return Taken::Submit;
            }
            Code::Up => {
                if !self.field.move_row(true, columns) {
                    self.browse(true);
                }
            }
            Code::Down => {
                if !self.field.move_row(false, columns) {
                    self.browse(false);
                }
            }
            Code::Char('r') if key.is_ctrl('r') => {
                let draft = self.field.atoms().to_vec();
                self.search = Some(Search {
                    word: Field::single(),
                    skip: 0,
                    draft,
                });
            }
            _ => {
                return match self.field.edit(key) {
                    Edited::No => Taken::Nothing,
                    Edited::Yes | Edited::Nothing => Taken::Edited,
                };
            }
        }
        Taken::Edited
    }

    fn browse(&mut self, up: bool) {
        let at = match (&self.browsing, up) {
            (None, true) => self.history.len().checked_sub(1),
            (Some(browsing), true) => browsing.at.checked_sub(1),
            (Some(browsing), false) if browsing.at + 1 < self.history.len() => {
                Some(browsing.at + 1)
            }
            (Some(_), false) => {
                if let Some(browsing) = self.browsing.take() {
                    self.field.restore(browsing.draft);
                }
                return;
            }
            (None, false) => return,
        };
        let Some(at) = at else { return };
        let draft = match self.browsing.take() {
            Some(browsing) => browsing.draft,
            None => self.field.atoms().to_vec(),
        };
        self.field.set(&self.history[at]);
        self.browsing = Some(Browsing { at, draft });
    }

    fn search_key(&mut self, key: Key) -> Taken {
        let Some(search) = &mut self.search else {
            return Taken::Nothing;
        };
        match key.code {
            Code::Esc => self.end_search(false),
            Code::Char('c') if key.is_ctrl('c') => self.end_search(false),
            Code::Enter | Code::Tab => self.end_search(true),
            Code::Char('r') if key.is_ctrl('r') => {
                search.skip += 1;
                self.show_hit();
            }
            _ => {
                if search.word.edit(key) == Edited::Yes {
                    search.skip = 0;
                    self.show_hit();
                }
            }
        }
        Taken::Edited
    }

    fn show_hit(&mut self) {
        let Some(search) = &mut self.search else {
            return;
        };
        let word = search.word.text();
        let mut hits = self
            .history
            .iter()
            .rev()
            .filter(|input| input.contains(&word));
        match hits.nth(search.skip) {
            Some(hit) if !word.is_empty() => self.field.set(hit),
            _ => {
                search.skip = search.skip.saturating_sub(1);
            }
        }
    }

    fn end_search(&mut self, keep: bool) {
        if let Some(search) = self.search.take()
            && !keep
        {
            self.field.restore(search.draft);
        }
    }

    /// The rows of the draft, no more than the screen has room for, and the caret in them.
    pub(crate) fn rows(&self, columns: usize, screen_rows: usize) -> (Vec<Row>, (usize, usize)) {
        let room = columns.saturating_sub(MARK.len() + 1);
        let (all, (caret_row, caret_column)) = self.field.rows(room);
        let most = MOST_ROWS.min((screen_rows / 3).max(1));
        let first = if all.len() <= most {
            0
        } else {
            caret_row.saturating_sub(most - 1).min(all.len() - most)
        };
        let mut rows: Vec<Row> = Vec::new();
        for (at, pieces) in all.into_iter().enumerate().skip(first).take(most) {
            let mark = if at == 0 { MARK } else { "  " };
            let mut row = vec![piece(mark, Look::Accent)];
            row.extend(pieces);
            rows.push(joined(row));
        }
        if let Some(search) = &self.search {
            let word = escape::line(&search.word.text()).into_owned();
            rows.insert(
                0,
                joined([piece("search: ", Look::Dim), piece(word, Look::Bold)]),
            );
            return (rows, (caret_row - first + 1, caret_column + MARK.len()));
        }
        (rows, (caret_row - first, caret_column + MARK.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(composer: &mut Composer, text: &str) {
        for letter in text.chars() {
            composer.key(Key::plain(Code::Char(letter)), 80);
        }
    }

    fn press(composer: &mut Composer, code: Code) -> Taken {
        composer.key(Key::plain(code), 80)
    }

    #[test]
    fn tui_51_the_keys_for_a_new_line() {
        let mut composer = Composer::default();
        typed(&mut composer, "a");
        composer.key(Key::ctrl('j'), 80);
        typed(&mut composer, "b");
        composer.key(
            Key {
                alt: true,
                ..Key::plain(Code::Enter)
            },
            80,
        );
        typed(&mut composer, "c\\");
        assert_eq!(press(&mut composer, Code::Enter), Taken::Edited);
        composer.key(
            Key {
                shift: true,
                ..Key::plain(Code::Enter)
            },
            80,
        );
        assert_eq!(composer.text(), "a\nb\nc\n\n");
        assert_eq!(press(&mut composer, Code::Enter), Taken::Submit);
    }

    #[test]
    fn tui_54_earlier_inputs_come_back_and_the_draft_is_unharmed() {
        let mut composer = Composer::default();
        for input in ["first", "second"] {
            composer.set(input);
            composer.submit();
        }
        typed(&mut composer, "draft");
        press(&mut composer, Code::Up);
        assert_eq!(composer.text(), "second");
        press(&mut composer, Code::Up);
        press(&mut composer, Code::Up);
        assert_eq!(composer.text(), "first");
        press(&mut composer, Code::Down);
        press(&mut composer, Code::Down);
        assert_eq!(composer.text(), "draft");
        composer.key(Key::ctrl('r'), 80);
        typed(&mut composer, "fir");
        assert_eq!(composer.text(), "first");
        press(&mut composer, Code::Esc);
        assert_eq!(composer.text(), "draft");
    }

    #[test]
    fn tui_52_it_grows_to_ten_rows_or_a_third_of_the_screen() {
        let mut composer = Composer::default();
        for _ in 0..30 {
            composer.key(Key::ctrl('j'), 80);
        }
        let (rows, caret) = composer.rows(80, 24);
        assert_eq!((rows.len(), caret.0), (8, 7));
        assert_eq!(composer.rows(80, 60).0.len(), 10);
    }

    #[test]
    fn a_cleared_draft_can_be_brought_back() {
        let mut composer = Composer::default();
        typed(&mut composer, "long thought");
        composer.clear();
        assert!(composer.is_empty());
        composer.key(Key::ctrl('y'), 80);
        assert_eq!(composer.text(), "long thought");
    }
}
