//! What comes from the terminal: keys, pastes, and answers to questions.

/// One thing that the terminal said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    Key(Key),
    /// A paste, with CR and CRLF as LF.
    Paste(String),
    /// A paste that was too long, and was thrown away.
    PasteTooLong,
    /// Whether the terminal has the focus from here on.
    Focus(bool),
    Report(Report),
}

/// An answer of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// Where the cursor is, from one.
    Cursor { row: u16, column: u16 },
    /// What it is; always the last answer.
    Attributes,
    /// It knows the keyboard protocol.
    Keyboard,
    /// Whether it knows a private mode.
    Mode { mode: u16, known: bool },
    /// The color behind the text, as red, green and blue of 0 to 255.
    Background(u8, u8, u8),
}

/// A key, with what was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) code: Code,
    pub(crate) ctrl: bool,
    pub(crate) alt: bool,
    pub(crate) shift: bool,
}

/// Which key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Char(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Insert,
    Esc,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

impl Key {
    pub(crate) const fn plain(code: Code) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
            shift: false,
        }
    }

    pub(crate) const fn ctrl(letter: char) -> Self {
        Self {
            ctrl: true,
            ..Self::plain(Code::Char(letter))
        }
    }

    /// The letter of a key that types one.
    pub(crate) fn letter(self) -> Option<char> {
        match self.code {
            Code::Char(letter) if !self.ctrl && !self.alt => Some(letter),
            _ => None,
        }
    }

    /// Whether it is Ctrl and this letter.
    pub(crate) fn is_ctrl(self, letter: char) -> bool {
        self.ctrl && !self.alt && self.code == Code::Char(letter)
    }

    /// Whether it is Alt and this letter.
    pub(crate) fn is_alt(self, letter: char) -> bool {
        self.alt && !self.ctrl && self.code == Code::Char(letter)
    }
}
