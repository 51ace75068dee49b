//! Text from a manifest or a file name, made safe to show on a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Shows `text` with every character that could move the cursor, reorder the line or hide
/// itself written out, as in `\u{202e}`.
///
/// Line breaks are written out too: one value can never look like two lines of ours.
pub fn printable(text: &str) -> Cow<'_, str> {
    written_out(text, |_| false)
}

/// The same for text of several lines, in which line breaks and tabs stay, and so do the joiners and soft hyphens that
/// ordinary writing needs.
pub fn printable_text(text: &str) -> Cow<'_, str> {
    written_out(text, |character| {
        matches!(character, '\n' | '\t' | '\u{ad}' | '\u{200c}' | '\u{200d}')
    })
}

/// Shows `text` for a decision: besides what [`printable`] writes out, every character that is drawn as nothing or as a
/// space other than U+0020, and all of them as in `\u{a0}`.
pub fn printable_exact(text: &str) -> Cow<'_, str> {
    let is_unseen = |character| is_hostile(character) || is_blank(character);
    if !text.chars().any(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_unseen(character) {
            // Writing to a `String` cannot fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Whether this character is drawn as nothing, or as a space that is not the usual one. With [`is_hostile`] these are
/// all that Unicode calls default-ignorable, and all its spaces.
fn is_blank(character: char) -> bool {
    matches!(
        character,
        '\u{a0}'
            | '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{1680}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2000}'..='\u{200a}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{2800}'
            | '\u{3000}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

fn written_out(text: &str, stays: fn(char) -> bool) -> Cow<'_, str> {
    if text
        .chars()
        .any(|character| is_hostile(character) && !stays(character))
    {
        Cow::Owned(escape(text, stays))
    } else {
        Cow::Borrowed(text)
    }
}

/// Like [`printable`], cut to `limit` characters of the original with `…` in place of the rest.
pub fn printable_within(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        Some((end, _)) => Cow::Owned(escape(&text[..end], |_| false) + "…"),
        None => printable(text),
    }
}

/// Whether a terminal might do anything with this character but draw it.
pub(crate) fn is_hostile(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

fn escape(text: &str, stays: fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            _ if stays(character) => shown.push(character),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if is_hostile(character) => {
                // Writing to a `String` cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{printable, printable_exact, printable_text, printable_within};

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(printable("naïve 工具 🦀"), Cow::Borrowed(_)));
    }

    #[test]
    fn whatever_could_steer_a_terminal_is_written_out() {
        let check = |text: &str, shown: &str| assert_eq!(printable(text), shown);
        check("\u{1b}[31mred", "\\u{1b}[31mred");
        check("a\u{202e}b", "a\\u{202e}b");
        check("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}");
        check("a\u{200b}\u{feff}", "a\\u{200b}\\u{feff}");
        check("a\nb\r\tc\u{7f}\u{9b}", "a\\nb\\r\\tc\\u{7f}\\u{9b}");
        check("\u{2028}\u{e0041}", "\\u{2028}\\u{e0041}");
    }

    #[test]
    fn text_of_several_lines_keeps_them() {
        assert!(matches!(printable_text("a\n\tb"), Cow::Borrowed(_)));
        assert_eq!(printable_text("a\r\n\u{1b}[2J"), "a\\r\n\\u{1b}[2J");
    }

    #[test]
    fn ordinary_text_keeps_its_joiners() {
        let text = "a\u{ad}b \u{200c}\u{200d}";
        assert_eq!(printable_text(text), text);
    }

    #[test]
    fn nothing_is_unseen_in_what_is_decided_about() {
        let unseen = "\u{0}\t\n\r\u{1b}\u{7f}\u{85}\u{a0}\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{180e}\u{2003}\u{200b}\
                      \u{200c}\u{200d}\u{202e}\u{202f}\u{2060}\u{2066}\u{2800}\u{3000}\u{3164}\u{fe0f}\u{feff}\u{ffa0}\
                      \u{e0001}\u{e0041}\u{e0100}";
        for character in unseen.chars() {
            let expected = format!("ls\\u{{{:x}}}", u32::from(character));
            assert_eq!(printable_exact(&format!("ls{character}")), expected);
        }
        let plain = "cp a\\ b 'naïve 工具 🦀'";
        assert!(matches!(printable_exact(plain), Cow::Borrowed(_)));
    }

    #[test]
    fn long_text_is_cut_on_a_character() {
        assert_eq!(printable_within("ééé", 2), "éé…");
        assert_eq!(printable_within("ééé", 3), "ééé");
        assert_eq!(printable_within("a\u{1b}b", 2), "a\\u{1b}…");
    }
}
