//! Text from models, tools, files and prompts, made safe to show on a terminal.

/// Text of several lines: line breaks and tabs stay, and whatever else a terminal might obey is written out.
pub(crate) fn text(text: &str) -> String {
    stud_sdk::printable_text(text).into_owned()
}

/// Text on one line: a value can never look like two lines of ours.
pub(crate) fn line(text: &str) -> String {
    stud_sdk::printable(text).into_owned()
}

/// What is to be allowed, on one line: nothing in it is left invisible.
pub(crate) fn exact(text: &str) -> String {
    stud_sdk::printable_exact(text).into_owned()
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
            if !matches!(character, '\n' | '\t' | '\u{ad}' | '\u{200c}' | '\u{200d}') {
                assert!(!shown.contains(character), "{shown:?}");
            }
            assert!(!line(&format!("a{character}b")).contains(character));
        }
        assert_eq!(text("\u{1b}[31mred\u{9b}2J"), "\\u{1b}[31mred\\u{9b}2J");
    }
}
