//! Text from models, tools, files and prompts, made safe to show.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Text of several lines: line feeds stay, a tab becomes blanks, and whatever else a terminal might obey is written out.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    let safe = stud_sdk::printable_text(text);
    if safe.contains('\t') {
        Cow::Owned(safe.replace('\t', "    "))
    } else {
        safe
    }
}

/// Text on one line: no value can look like two lines of the screen.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    stud_sdk::printable(text)
}

/// What is to be allowed, on one line: every invisible character and every right-to-left letter is written out.
pub(crate) fn exact(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in stud_sdk::printable_exact(text).chars() {
        if is_right_to_left(character) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Output of a tool: complete color sequences are left out, every other sequence is written out.
pub(crate) fn tool_output(output: &str) -> String {
    let mut kept = String::with_capacity(output.len());
    let mut rest = output;
    while let Some(at) = rest.find("\u{1b}[") {
        kept.push_str(&rest[..at]);
        let inner = &rest[at + 2..];
        let end = inner.find(|c: char| !(c.is_ascii_digit() || c == ';' || c == ':'));
        match end {
            Some(end) if inner[end..].starts_with('m') => rest = &inner[end + 1..],
            _ => {
                kept.push_str(&rest[at..at + 2]);
                rest = inner;
            }
        }
    }
    kept.push_str(rest);
    text(&kept.replace("\r\n", "\n")).into_owned()
}

/// Letters of Hebrew, Arabic and their neighbors, which some terminals would reorder.
fn is_right_to_left(character: char) -> bool {
    matches!(
        character,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tui_20_what_a_terminal_would_obey_is_written_out() {
        assert_eq!(
            text("a\u{1b}[2Jb\u{9b}c\u{202e}d"),
            "a\\u{1b}[2Jb\\u{9b}c\\u{202e}d"
        );
        assert_eq!(line("a\nb\u{2028}c\u{e0041}"), "a\\nb\\u{2028}c\\u{e0041}");
    }

    #[test]
    fn tui_21_colors_of_tool_output_are_left_out_and_nothing_else_is() {
        assert_eq!(
            tool_output("\u{1b}[1;31mred\u{1b}[m\u{1b}[2J"),
            "red\\u{1b}[2J"
        );
        assert_eq!(tool_output("\u{1b}[31"), "\\u{1b}[31");
    }

    #[test]
    fn tui_80_right_to_left_letters_are_written_out_in_what_is_to_be_allowed() {
        assert_eq!(exact("rm \u{5d0}\u{a0}x"), "rm \\u{5d0}\\u{a0}x");
    }
}
