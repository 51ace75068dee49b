//! From the bytes of the terminal to keys, pastes and answers.
//!
//! A sequence may come in any number of pieces. What is no key is never given out as text: an answer of the terminal
//! that comes late stays an answer.

use super::key::{Code, Input, Key, Report};

/// A longer paste is refused.
pub(crate) const LONGEST_PASTE: usize = 1 << 20;

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Takes bytes and gives what they mean.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    pending: Vec<u8>,
    paste: Option<Paste>,
}

#[derive(Debug, Default)]
struct Paste {
    bytes: Vec<u8>,
    too_long: bool,
}

/// What the beginning of the pending bytes is.
enum Step {
    /// Something, and how many bytes it took.
    Done(Option<Input>, usize),
    /// A paste begins after so many bytes.
    Paste(usize),
    More,
}

impl Decoder {
    /// Takes bytes as they were read.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        self.pending.extend_from_slice(bytes);
        let mut inputs = Vec::new();
        let mut at = 0;
        loop {
            if self.paste.is_some() {
                let Some((input, next)) = self.take_paste(at) else {
                    at = 0;
                    break;
                };
                inputs.push(input);
                at = next;
                continue;
            }
            match step(&self.pending[at..]) {
                Step::Done(input, taken) => {
                    inputs.extend(input);
                    at += taken;
                }
                Step::Paste(taken) => {
                    at += taken;
                    self.paste = Some(Paste::default());
                }
                Step::More => break,
            }
        }
        self.pending.drain(..at);
        inputs
    }

    /// Whether a sequence has begun and not ended. An Escape key looks like that until some time has passed.
    pub(crate) fn is_unfinished(&self) -> bool {
        !self.pending.is_empty() || self.paste.is_some()
    }

    /// Whether a paste has begun and not ended.
    pub(crate) fn is_pasting(&self) -> bool {
        self.paste.is_some()
    }

    /// Enough time has passed: what is unfinished is an Escape key, or no longer of use.
    pub(crate) fn time_out(&mut self) -> Vec<Input> {
        if let Some(paste) = self.paste.take() {
            let mut paste = paste;
            paste.add(&std::mem::take(&mut self.pending));
            return vec![paste.finish()];
        }
        let pending = std::mem::take(&mut self.pending);
        match pending.as_slice() {
            [0x1b] => vec![Input::Key(Key::plain(Code::Esc))],
            [0x1b, 0x1b] => vec![Input::Key(Key::plain(Code::Esc)); 2],
            [0x1b, letter @ (b'[' | b'O' | b']' | b'P')] => {
                vec![alt(char::from(*letter))]
            }
            _ => Vec::new(),
        }
    }

    /// Moves what was pasted out of the pending bytes. The paste and where it ended, once it has.
    fn take_paste(&mut self, from: usize) -> Option<(Input, usize)> {
        let paste = self.paste.as_mut()?;
        let rest = &self.pending[from..];
        if let Some(end) = find(rest, PASTE_ENDS) {
            paste.add(&rest[..end]);
            let paste = self.paste.take()?;
            return Some((paste.finish(), from + end + PASTE_ENDS.len()));
        }
        // The end mark may have begun.
        let kept = (1..PASTE_ENDS.len())
            .rev()
            .find(|kept| rest.ends_with(&PASTE_ENDS[..*kept]))
            .unwrap_or(0);
        let taken = from + rest.len() - kept;
        paste.add(&self.pending[from..taken]);
        self.pending.drain(..taken);
        None
    }
}

impl Paste {
    fn add(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > LONGEST_PASTE {
            self.too_long = true;
            self.bytes = Vec::new();
        }
        if !self.too_long {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn finish(self) -> Input {
        if self.too_long {
            return Input::PasteTooLong;
        }
        let text = String::from_utf8_lossy(&self.bytes);
        Input::Paste(text.replace("\r\n", "\n").replace('\r', "\n"))
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == wanted[0]) {
        let at = from + at;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

fn step(bytes: &[u8]) -> Step {
    let Some(&first) = bytes.first() else {
        return Step::More;
    };
    match first {
        0x1b => escape(bytes),
        b'\r' => key(Code::Enter, 1),
        b'\t' => key(Code::Tab, 1),
        0x7f | 0x08 => key(Code::Backspace, 1),
        0 => ctrl(' '),
        1..=26 => ctrl(char::from(b'a' + first - 1)),
        0x1c..=0x1f => ctrl(char::from(b'4' + first - 0x1c)),
        b' '..=b'~' => key(Code::Char(char::from(first)), 1),
        _ => utf8(bytes),
    }
}

fn key(code: Code, taken: usize) -> Step {
    Step::Done(Some(Input::Key(Key::plain(code))), taken)
}

fn ctrl(letter: char) -> Step {
    Step::Done(Some(Input::Key(Key::ctrl(letter))), 1)
}

fn alt(letter: char) -> Input {
    Input::Key(Key {
        alt: true,
        ..Key::plain(Code::Char(letter))
    })
}

fn utf8(bytes: &[u8]) -> Step {
    let length = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return key(Code::Char(char::REPLACEMENT_CHARACTER), 1),
    };
    let have = bytes.len().min(length);
    match std::str::from_utf8(&bytes[..have]) {
        Ok(text) => match text.chars().next() {
            Some(letter) => key(Code::Char(letter), length),
            None => Step::More,
        },
        Err(error) if error.error_len().is_none() && have < length => Step::More,
        Err(error) => key(
            Code::Char(char::REPLACEMENT_CHARACTER),
            error.error_len().unwrap_or(1),
        ),
    }
}

fn escape(bytes: &[u8]) -> Step {
    match bytes.get(1) {
        None => Step::More,
        Some(b'[') => control_sequence(bytes),
        Some(b'O') => match bytes.get(2) {
            None => Step::More,
            Some(last) => Step::Done(letter_key(*last, Mods::default()), 3),
        },
        Some(b']') => string(bytes, &|text| background(text)),
        Some(b'P' | b'_' | b'^' | b'X') => string(bytes, &|_| None),
        // Escape, and then something else that begins with one.
        Some(0x1b) => match escape(&bytes[1..]) {
            Step::More if bytes.len() == 2 => Step::More,
            _ => key(Code::Esc, 1),
        },
        Some(_) => match step(&bytes[1..]) {
            Step::Done(Some(Input::Key(key)), taken) => {
                let key = Key { alt: true, ..key };
                Step::Done(Some(Input::Key(key)), taken + 1)
            }
            Step::Done(other, taken) => Step::Done(other, taken + 1),
            Step::Paste(taken) => Step::Paste(taken + 1),
            Step::More => Step::More,
        },
    }
}

/// An OSC, DCS or the like, up to its terminator.
fn string(bytes: &[u8], read: &dyn Fn(&[u8]) -> Option<Input>) -> Step {
    /// No answer is longer.
    const LONGEST: usize = 4096;
    for (at, byte) in bytes.iter().enumerate().skip(2) {
        match byte {
            0x07 => return Step::Done(read(&bytes[2..at]), at + 1),
            0x1b => match bytes.get(at + 1) {
                Some(b'\\') => return Step::Done(read(&bytes[2..at]), at + 2),
                Some(_) => return Step::Done(None, at),
                None => return Step::More,
            },
            _ if at > LONGEST => return Step::Done(None, at),
            _ => {}
        }
    }
    Step::More
}

/// `11;rgb:RRRR/GGGG/BBBB`.
fn background(text: &[u8]) -> Option<Input> {
    let text = std::str::from_utf8(text).ok()?;
    let colors = text.strip_prefix("11;rgb:")?;
    let mut parts = colors.split('/').map(|part| {
        let digits = part.get(..2).unwrap_or(part);
        u8::from_str_radix(digits, 16).ok()
    });
    let color = Report::Background(parts.next()??, parts.next()??, parts.next()??);
    Some(Input::Report(color))
}

/// What was held with a key, as the second parameter says.
#[derive(Debug, Clone, Copy, Default)]
struct Mods {
    shift: bool,
    alt: bool,
    ctrl: bool,
}

impl Mods {
    fn of(parameter: Option<&u32>) -> Self {
        let bits = parameter.copied().unwrap_or(1).saturating_sub(1);
        Self {
            shift: bits & 1 != 0,
            alt: bits & 2 != 0,
            ctrl: bits & 4 != 0,
        }
    }

    fn key(self, code: Code) -> Key {
        Key {
            code,
            ctrl: self.ctrl,
            alt: self.alt,
            shift: self.shift,
        }
    }
}

fn control_sequence(bytes: &[u8]) -> Step {
    /// No sequence that means anything is longer.
    const LONGEST: usize = 64;
    let end = bytes[2..]
        .iter()
        .position(|byte| !matches!(byte, 0x20..=0x3f));
    let Some(end) = end.map(|end| end + 2) else {
        return if bytes.len() > LONGEST {
            Step::Done(None, bytes.len())
        } else {
            Step::More
        };
    };
    let last = bytes[end];
    if !(0x40..=0x7e).contains(&last) {
        // Broken off by something else.
        return Step::Done(None, end);
    }
    let body = &bytes[2..end];
    if last == b'M' && body.is_empty() {
        // A mouse report of the oldest kind has three bytes more.
        return if bytes.len() < end + 4 {
            Step::More
        } else {
            Step::Done(None, end + 4)
        };
    }
    if bytes.starts_with(PASTE_BEGINS) {
        return Step::Paste(PASTE_BEGINS.len());
    }
    Step::Done(read_control(body, last), end + 1)
}

fn read_control(body: &[u8], last: u8) -> Option<Input> {
    let text = std::str::from_utf8(body).ok()?;
    let (private, text) = match text.strip_prefix('?') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if text.starts_with(['<', '>', '=']) {
        return None;
    }
    let (text, is_mode) = match text.strip_suffix('$') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let first_of = |part: &str| part.split(':').next().unwrap_or_default().parse::<u32>();
    let numbers: Vec<u32> = text
        .split(';')
        .filter_map(|part| first_of(part).ok())
        .collect();
    let narrow = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
    let report = match (private, last, numbers.as_slice()) {
        (true, b'c', _) => Some(Report::Attributes),
        (true, b'u', _) => Some(Report::Keyboard),
        (true, b'y', [mode, value]) if is_mode => Some(Report::Mode {
            mode: narrow(*mode),
            known: matches!(value, 1 | 2),
        }),
        // F3 with something held looks the same; it has no meaning here.
        (false, b'R', [row, column]) => Some(Report::Cursor {
            row: narrow(*row),
            column: narrow(*column),
        }),
        _ => None,
    };
    if let Some(report) = report {
        return Some(Input::Report(report));
    }
    if private {
        return None;
    }
    let mods = Mods::of(numbers.get(1));
    match last {
        b'I' => Some(Input::Focus(true)),
        b'O' => Some(Input::Focus(false)),
        b'Z' => Some(Input::Key(Key {
            shift: true,
            ..Key::plain(Code::Tab)
        })),
        b'~' => numbered_key(*numbers.first()?, mods),
        b'u' => unicode_key(*numbers.first()?, mods),
        _ => letter_key(last, mods),
    }
}

fn letter_key(last: u8, mods: Mods) -> Option<Input> {
    let code = match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'M' => Code::Enter,
        b'P'..=b'S' => Code::F(last - b'P' + 1),
        _ => return None,
    };
    Some(Input::Key(mods.key(code)))
}

fn numbered_key(number: u32, mods: Mods) -> Option<Input> {
    let code = match number {
        1 | 7 => Code::Home,
        2 => Code::Insert,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        11..=15 => Code::F(u8::try_from(number - 10).ok()?),
        17..=21 => Code::F(u8::try_from(number - 11).ok()?),
        23 | 24 => Code::F(u8::try_from(number - 12).ok()?),
        _ => return None,
    };
    Some(Input::Key(mods.key(code)))
}

/// A key of the keyboard protocol: the character it stands for without Shift.
fn unicode_key(number: u32, mods: Mods) -> Option<Input> {
    let code = match number {
        9 => Code::Tab,
        13 => Code::Enter,
        27 => Code::Esc,
        8 | 127 => Code::Backspace,
        // Keys without a character: lock keys, keys of the media and so on.
        57344..=63743 => return None,
        _ => {
            let letter = char::from_u32(number)?;
            if mods.shift && !mods.ctrl {
                Code::Char(letter.to_uppercase().next().unwrap_or(letter))
            } else {
                Code::Char(letter)
            }
        }
    };
    Some(Input::Key(mods.key(code)))
}

#[cfg(test)]
mod tests;
