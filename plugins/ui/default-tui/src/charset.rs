//! Rows for terminals that do not show every character.

use ratatui_core::text::Span;

use crate::options::Charset as Wanted;
use crate::text::row::Row;

/// Which characters may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charset {
    /// All.
    Utf8,
    /// The screen's own marks are ASCII, and text is as it is.
    AsciiMarks,
    /// Nothing but ASCII.
    Ascii,
}

/// The screen's own marks, and what stands for each.
const MARKS: [(char, &str); 14] = [
    ('─', "-"),
    ('│', "|"),
    ('●', "*"),
    ('✓', "+"),
    ('✗', "x"),
    ('·', "-"),
    ('•', "*"),
    ('…', "..."),
    ('–', "-"),
    ('↑', "^"),
    ('↓', "v"),
    ('┐', "+"),
    ('┘', "+"),
    ('→', ">"),
];

impl Charset {
    /// As the settings say, or else the locale: the value of `LC_ALL`, `LC_CTYPE` or `LANG`.
    pub(crate) fn of(wanted: Wanted, locale: Option<&str>) -> Self {
        match (wanted, locale) {
            (Wanted::Utf8, _) => Self::Utf8,
            (Wanted::Ascii, _) => Self::Ascii,
            (Wanted::Auto, None | Some("" | "C" | "POSIX")) => Self::AsciiMarks,
            (Wanted::Auto, Some(locale)) => match locale.split_once('.') {
                Some((_, charset)) => {
                    let charset = charset
                        .split('@')
                        .next()
                        .unwrap_or_default()
                        .to_ascii_lowercase();
                    if matches!(charset.as_str(), "utf-8" | "utf8") {
                        Self::Utf8
                    } else {
                        Self::Ascii
                    }
                }
                None => Self::Utf8,
            },
        }
    }

    /// The row in characters that may be written.
    pub(crate) fn row(self, row: Row) -> Row {
        let is_fit = |row: &Row| row.spans.iter().all(|span| span.content.is_ascii());
        if self == Self::Utf8 || is_fit(&row) {
            return row;
        }
        let spans = row.spans.into_iter().map(|span| {
            let text: String = span
                .content
                .chars()
                .map(|letter| self.letter(letter))
                .collect();
            Span::styled(text, span.style)
        });
        spans.collect()
    }

    fn letter(self, letter: char) -> String {
        if letter.is_ascii() {
            return letter.to_string();
        }
        let mark = MARKS.iter().find(|(mark, _)| *mark == letter);
        match (mark, self) {
            (Some((_, ascii)), _) => (*ascii).to_owned(),
            (None, Self::Ascii) => format!("\\u{{{:x}}}", u32::from(letter)),
            (None, _) => letter.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::row::{Look, plain, row};

    #[test]
    fn tui_112_the_locale_decides_which_characters_are_written() {
        for (locale, charset) in [
            (Some("de_DE.UTF-8"), Charset::Utf8),
            (Some("en_US.utf8@euro"), Charset::Utf8),
            (Some("en_US"), Charset::Utf8),
            (Some("de_DE.ISO-8859-1"), Charset::Ascii),
            (Some("C"), Charset::AsciiMarks),
            (Some("POSIX"), Charset::AsciiMarks),
            (None, Charset::AsciiMarks),
        ] {
            assert_eq!(Charset::of(Wanted::Auto, locale), charset, "{locale:?}");
        }
        assert_eq!(
            Charset::of(Wanted::Ascii, Some("de_DE.UTF-8")),
            Charset::Ascii
        );
        let text = || row("─ ● 工", Look::Plain);
        assert_eq!(plain(&Charset::Ascii.row(text())), "- * \\u{5de5}");
        assert_eq!(plain(&Charset::AsciiMarks.row(text())), "- * 工");
    }
}
