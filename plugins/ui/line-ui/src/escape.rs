//! Text from models, tools, files and prompts, made safe to show on a terminal.

use std::fmt::Write as _;

/// Text of several lines: line breaks and tabs stay, and whatever else a terminal might obey is written out.
pub(crate) fn text(text: &str) -> String {
    written_out(text, |character| matches!(character, '\n' | '\t'))
}

/// Text on one line: a value can never look like two lines of ours.
pub(crate) fn line(text: &str) -> String {
    written_out(text, |_| false)
}

fn written_out(text: &str, stays: fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
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

/// Whether a terminal might move its cursor, reorder a line or hide something because of this character.
fn is_hostile(character: char) -> bool {
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

#[cfg(test)]
mod tests {
    use super::{line, text};

    #[test]
    fn plain_text_stays_as_it_is() {
        assert_eq!(text("naïve 工具 🦀\n\tdone"), "naïve 工具 🦀\n\tdone");
        assert_eq!(line("naïve 工具 🦀"), "naïve 工具 🦀");
    }

    #[test]
    fn one_line_stays_one_line() {
        assert_eq!(line("a\nb\r\tc"), "a\\nb\\r\\tc");
    }

    #[test]
    fn nothing_a_terminal_obeys_comes_through() {
        let controls = (0..0x20).chain(0x7f..0xa0);
        let hidden = [0x200b..=0x200f, 0x202a..=0x202e, 0x2060..=0x2069];
        let others = [0x61c, 0xfeff, 0xad, 0x2028, 0xe0041];
        let all = controls.chain(hidden.into_iter().flatten()).chain(others);
        for character in all.filter_map(char::from_u32) {
            let shown = text(&format!("a{character}b"));
            if !matches!(character, '\n' | '\t') {
                assert!(!shown.contains(character), "{shown:?}");
            }
            assert!(!line(&format!("a{character}b")).contains(character));
        }
        assert_eq!(text("\u{1b}[31mred\u{9b}2J"), "\\u{1b}[31mred\\u{9b}2J");
    }
}
