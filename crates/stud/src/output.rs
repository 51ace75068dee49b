//! What the program says: text for people, JSON for programs, color only on a terminal.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use serde_json::{Map, Value, json};
use stud_contract_meta::Error;
use stud_core::platform;
use stud_diagnostics::render::{self, Color};
use stud_diagnostics::{Class, Code, Diagnostic, codes, printable, printable_text};
use unicode_width::UnicodeWidthStr as _;

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did what was asked.
    Done,
    /// It did, and the answer is no; a diagnostic said why.
    Refused,
    /// It could not, because a prompt had no interactor; a diagnostic said so.
    Halted,
    /// It was cancelled.
    Cancelled,
    /// The command line lacks what the verb needs; a diagnostic said so.
    Misused,
}

/// What every verb returns.
pub(crate) type Verdict = Result<Outcome, Diagnostic>;

/// Where and how to say things.
pub(crate) struct Output {
    json: bool,
    color: Color,
    out: io::Stdout,
    lost: RefCell<Option<io::Error>>,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        let plain = platform::env_value("NO_COLOR").is_some();
        let color = if io::stdout().is_terminal() && !plain && !json {
            Color::On
        } else {
            Color::Off
        };
        Self {
            json,
            color,
            out: io::stdout(),
            lost: RefCell::new(None),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Words of a model on standard output: as they are for a program, and written out for a terminal, which would obey
    /// them.
    pub(crate) fn words(&self, text: &str) {
        if self.out.is_terminal() {
            self.line(printable_text(text));
        } else {
            self.line(text);
        }
    }

    /// One line of text on standard output.
    pub(crate) fn line(&self, text: impl AsRef<str>) {
        match writeln!(self.out.lock(), "{}", text.as_ref()) {
            // A reader that closed the pipe has heard enough; that is no failure.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.lost.replace(Some(error));
            }
            _ => {}
        }
    }

    /// Fails if anything said so far did not arrive, as on a full disk: half an answer must not pass for one.
    pub(crate) fn check(&self) -> Result<(), Diagnostic> {
        match self.lost.take() {
            None => Ok(()),
            Some(error) => Err(unwritten(&error)),
        }
    }

    /// One JSON document on standard output.
    pub(crate) fn document(&self, value: &impl Serialize) -> Result<(), Diagnostic> {
        let text = serde_json::to_string(value).map_err(|error| {
            Diagnostic::error(
                &codes::INTERNAL_PIPELINE_FAILURE,
                format!("the answer is not JSON: {error}"),
            )
        })?;
        self.line(escaped(&text));
        Ok(())
    }

    /// A diagnostic among other output, in full.
    pub(crate) fn show(&self, diagnostic: &Diagnostic) {
        self.line(render::full(diagnostic, self.color));
    }

    /// A diagnostic that stops nothing, on standard error and in brief.
    pub(crate) fn warn(&self, diagnostic: &Diagnostic) {
        let text = if self.json {
            render::json(diagnostic)
        } else {
            render::concise(diagnostic)
        };
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// A diagnostic that ended the verb, on standard error.
    pub(crate) fn fail(&self, diagnostic: &Diagnostic) {
        let text = if self.json {
            render::json(diagnostic)
        } else {
            let color = if io::stderr().is_terminal() {
                self.color
            } else {
                Color::Off
            };
            render::full(diagnostic, color)
        };
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.styled("1", text)
    }

    pub(crate) fn green(&self, text: &str) -> String {
        self.styled("32", text)
    }

    pub(crate) fn red(&self, text: &str) -> String {
        self.styled("31", text)
    }

    pub(crate) fn dim(&self, text: &str) -> String {
        self.styled("2", text)
    }

    fn styled(&self, style: &str, text: &str) -> String {
        match self.color {
            Color::On => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
            Color::Off => text.to_owned(),
        }
    }
}

/// A cell of a column, as wide as a terminal shows it.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let gap = width.saturating_sub(text.width());
    format!("{text}{:gap$}", "")
}

/// What was said did not arrive.
pub(crate) fn unwritten(error: &io::Error) -> Diagnostic {
    let message = format!("the answer could not be written: {error}");
    Diagnostic::error(&codes::INTERNAL_PIPELINE_FAILURE, message)
}

/// An error of core, for people.
pub(crate) fn told(error: Error) -> Diagnostic {
    let known = codes::ALL
        .iter()
        .find(|code| code.class.as_str() == error.class() && code.name == error.code());
    let class = Class::ALL
        .into_iter()
        .find(|class| class.as_str() == error.class());
    let code = match (known, class) {
        (Some(known), _) => known,
        (None, Some(class)) => Code::of_plugin(class, error.code()),
        (None, None) => &codes::STARTUP_FAILURE,
    };
    let mut diagnostic = Diagnostic::error(code, error.message());
    for (key, value) in error.context() {
        diagnostic = diagnostic.with(key, value.clone());
    }
    diagnostic
}

/// One line for programs about what ended the program before a session could tell it.
pub(crate) fn surface(
    surface: &str,
    class: &str,
    code: &str,
    context: &Map<String, Value>,
) -> String {
    let error = json!({"class": class, "code": code, "context": context});
    json!({"surface": surface, "error": error}).to_string()
}

/// JSON in which no character can steer a terminal; it reads as the same value.
pub(crate) fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        // What may not be shown to a person as it is may not be shown to one here either.
        let is_plain = matches!(
            printable(character.encode_utf8(&mut [0; 4])),
            Cow::Borrowed(_)
        );
        if is_plain {
            text.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{escaped, padded};

    #[test]
    fn cells_are_padded_to_what_a_terminal_shows() {
        let cells = ["ab", "日本", "e\u{301}", "longer"].map(|text| padded(text, 4));
        assert_eq!(cells, ["ab  ", "日本", "e\u{301}   ", "longer"]);
    }

    #[test]
    fn hostile_characters_are_escaped_and_read_back() {
        let hostile = "é\u{9b}\u{61c}\u{202e}\u{2060}\u{e0041}";
        let json = serde_json::to_string(hostile).unwrap();
        let shown = escaped(&json);
        assert_eq!(shown, r#""é\u009b\u061c\u202e\u2060\udb40\udc41""#);
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), hostile);
    }
}
