//! Questions that are asked before there is a session, at a terminal or over a pipe.
//!
//! Questions go to standard error; answers are lines of standard input, read byte by byte, so that whatever comes after
//! the last answer is left for the next reader. At a terminal a wrong answer is asked for again. Over a pipe the user
//! would not see that, so it ends the questions.

use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

use rustix::io::{read, retry_on_intr};
use rustix::termios::{LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcsetattr};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;
use stud_diagnostics::render;
use stud_diagnostics::{Diagnostic, codes, printable};
use unicode_width::UnicodeWidthStr as _;

use crate::output::padded;

/// No answer is longer, in bytes.
const LONGEST: usize = 64 << 10;

/// A source of answers.
pub(crate) struct Person {
    at_terminal: bool,
}

/// Something to choose: what is typed for it, and what it means.
pub(crate) struct Choice {
    pub(crate) word: &'static str,
    pub(crate) meaning: &'static str,
}

impl Person {
    /// The user at the other end of standard input.
    pub(crate) fn present() -> Self {
        Self {
            at_terminal: isatty(io::stdin()),
        }
    }

    /// Whether questions are seen and answered by a person, rather than by a program.
    pub(crate) fn is_at_terminal(&self) -> bool {
        self.at_terminal && isatty(io::stderr())
    }

    /// One of several, by its number or its word.
    pub(crate) fn choose(
        &self,
        question: &str,
        choices: &[Choice],
        default: usize,
    ) -> Result<usize, Diagnostic> {
        let width = choices.iter().map(|choice| choice.word.width()).max();
        let width = width.unwrap_or(0);
        let mut text = format!("{question}\n");
        for (number, choice) in (1..).zip(choices) {
            let Choice { word, meaning } = choice;
            text += format!("  {number}  {}  {meaning}", padded(word, width)).trim_end();
            text += "\n";
        }
        say(&text);
        let default = choices.get(default).map(|choice| choice.word);
        self.text("Which", default, |answer| {
            let number = answer.parse::<usize>().ok();
            let by_number = number.and_then(|number| number.checked_sub(1));
            let by_word = || choices.iter().position(|choice| choice.word == answer);
            let chosen = by_number
                .filter(|place| *place < choices.len())
                .or_else(by_word);
            chosen.ok_or_else(|| {
                let words: Vec<&str> = choices.iter().map(|choice| choice.word).collect();
                let message = format!("`{answer}` is none of them");
                Diagnostic::error(&codes::INTERACTION_PAYLOAD_MISMATCH, message)
                    .with("answer", answer)
                    .with("expected", words)
                    .help(format!("answer with a number from 1 to {}", choices.len()))
            })
        })
    }

    /// A text that `read` makes sense of. An empty line stands for the default.
    pub(crate) fn text<T>(
        &self,
        question: &str,
        default: Option<&str>,
        read: impl Fn(&str) -> Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        let hint = default.map_or_else(String::new, |default| format!(" [{}]", printable(default)));
        loop {
            say(&format!("{question}{hint}: "));
            let line = self.line()?;
            let answer = match default {
                Some(default) if line.is_empty() => default,
                _ => line.trim(),
            };
            let refused = match read(answer) {
                Ok(answer) => return Ok(answer),
                Err(refused) => refused,
            };
            if !self.at_terminal {
                return Err(refused);
            }
            say(&format!("{}\n", render::concise(&refused)));
        }
    }

    /// A text that is not shown while it is typed.
    pub(crate) fn secret(&self, question: &str) -> Result<SecretString, Diagnostic> {
        loop {
            say(&format!("{question}: "));
            let line = if self.at_terminal {
                hidden_line()?
            } else {
                self.line()?
            };
            let secret = line.trim();
            if !secret.is_empty() {
                return Ok(SecretString::from(secret));
            }
            let blank = Diagnostic::error(&codes::ARGUMENT_MISSING, "the key is blank")
                .help("paste the key, or end the input to call it off");
            if !self.at_terminal {
                return Err(blank);
            }
            say(&format!("{}\n", render::concise(&blank)));
        }
    }

    /// A line as it is typed, for questions with words of their own.
    pub(crate) fn line(&self) -> Result<Zeroizing<String>, Diagnostic> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(256));
        loop {
            match next_byte()? {
                Some(b'\n') => break,
                Some(byte) if bytes.len() < LONGEST => bytes.push(byte),
                Some(_) => return Err(unfit("it is longer than any answer")),
                None if bytes.is_empty() => {
                    say("\n");
                    return Err(called_off());
                }
                None => break,
            }
        }
        if !self.at_terminal {
            // What was asked and what comes next stand on lines of their own, as at a terminal.
            say("\n");
        }
        text_of(&bytes)
    }
}

/// Reads a line with the terminal quiet, and with Ctrl-C as a key: a signal would leave the terminal that way.
fn hidden_line() -> Result<Zeroizing<String>, Diagnostic> {
    let _quiet = Quiet::terminal().map_err(|error| unfit(&error.to_string()))?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(4 << 10));
    let line = loop {
        match next_byte()? {
            Some(0x03) => break Err(called_off()),
            None | Some(0x04) if bytes.is_empty() => break Err(called_off()),
            None | Some(b'\n' | b'\r') => break text_of(&bytes),
            Some(0x7f | 0x08) => {
                // A character may be several bytes.
                while bytes.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
            }
            Some(0x15) => bytes.clear(),
            Some(byte) if bytes.len() < LONGEST && byte >= b' ' => bytes.push(byte),
            Some(_) => {}
        }
    };
    say("\n");
    line
}

/// How the terminal was before it was made quiet.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// A terminal that shows nothing and signals nothing. Dropped, it is as it was before.
struct Quiet;

impl Quiet {
    fn terminal() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut quiet = before.clone();
        quiet.local_modes -=
            LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG;
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        tcsetattr(io::stdin(), OptionalActions::Now, &quiet)?;
        Ok(Self)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Lets a quiet terminal show keys again, also where the program ends without coming back to the question.
pub(crate) fn restore_terminal() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        // A terminal that has gone away needs no restoring.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

fn next_byte() -> Result<Option<u8>, Diagnostic> {
    let mut byte = [0];
    match retry_on_intr(|| read(io::stdin(), &mut byte)) {
        Ok(0) => Ok(None),
        Ok(_) => Ok(Some(byte[0])),
        Err(error) => Err(unfit(&io::Error::from(error).to_string())),
    }
}

fn text_of(bytes: &[u8]) -> Result<Zeroizing<String>, Diagnostic> {
    let text = str::from_utf8(bytes).map_err(|_| unfit("it is not UTF-8"))?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// A terminal that has gone away hears nothing, and the next answer is the end of the input.
pub(crate) fn say(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// `Cancellation/TurnCancelled`: the person would rather not.
pub(crate) fn called_off() -> Diagnostic {
    let message = "the question was not answered, so nothing was changed";
    Diagnostic::error(&codes::TURN_CANCELLED, message)
        .help("`stud setup` asks again; `stud` uses the providers that are already configured")
}

fn unfit(why: &str) -> Diagnostic {
    let message = format!("the answer cannot be read: {why}");
    Diagnostic::error(&codes::INTERACTION_PAYLOAD_MISMATCH, message)
        .help("answer with one line of text")
}
