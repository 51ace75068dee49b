//! What a server says, made fit to be shown, told and kept.

use stud_diagnostics::printable_within;

/// The longest word of a server in a message.
const LONGEST: usize = 300;

/// A text of a server in a message: short, and with nothing that could steer a terminal.
pub(super) fn shown(text: &str) -> String {
    printable_within(text.trim(), LONGEST).into_owned()
}

/// As much of a text as fits, cut on a character.
pub(super) fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let cut = (0..=most).rev().find(|place| text.is_char_boundary(*place));
    &text[..cut.unwrap_or(0)]
}

/// A text of a server without invisible characters.
pub(super) fn visible(text: &str) -> String {
    let is_seen = |c: &char| {
        let mut buffer = [0; 4];
        let text: &str = c.encode_utf8(&mut buffer);
        matches!(c, '\n' | '\t') || stud_diagnostics::printable(text) == text
    };
    text.chars().filter(is_seen).collect()
}

/// Whether a name can be shown as it is: nothing in it is invisible, and nothing changes what stands beside it.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.len() <= 256 && stud_diagnostics::printable(name) == name
}

/// The name of a server's tool for a model, which knows tools by flat names.
pub(super) fn tool_name(server_id: &str, tool: &str) -> String {
    /// What providers take.
    const LONGEST: usize = 64;
    let flat = |text: &str| -> String {
        let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        text.chars()
            .map(|c| if keep(c) { c } else { '_' })
            .collect()
    };
    let whole = format!("mcp__{}__{}", flat(server_id), flat(tool));
    if whole.len() <= LONGEST {
        return whole;
    }
    // Two long names that begin alike stay two names.
    let mark = mark_of(&format!("{server_id}\0{tool}"));
    format!("{}_{mark:08x}", &whole[..LONGEST - 9])
}

/// The name of the slash command for a server's prompt.
pub(super) fn command_name(server_id: &str, prompt: &str) -> String {
    let mut name = "mcp".to_owned();
    let id = format!("{server_id}:{prompt}");
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for run in id.split(|c| !is_word(c)).filter(|run| !run.is_empty()) {
        name.push_str("__");
        name.push_str(run);
    }
    name
}

/// A number that is another one for another text, most of the time.
fn mark_of(text: &str) -> u32 {
    let mut sum: u32 = 0x811c_9dc5;
    for byte in text.bytes() {
        sum = (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_contract_tool::is_tool_name;

    #[test]
    fn tools_have_flat_names_that_say_where_they_come_from() {
        assert_eq!(tool_name("time", "get_time"), "mcp__time__get_time");
        assert_eq!(tool_name("my-server.1", "a/b.c"), "mcp__my-server_1__a_b_c");
        let (one, other) = ("x".repeat(200), format!("{}y", "x".repeat(200)));
        let (one, other) = (tool_name("s", &one), tool_name("s", &other));
        assert!(is_tool_name(&one) && is_tool_name(&other), "{one} {other}");
        assert_ne!(one, other);
    }

    #[test]
    fn prompts_are_commands_with_double_lines_between_words() {
        assert_eq!(command_name("s", "p"), "mcp__s__p");
        assert_eq!(
            command_name("git-hub", "re view/all"),
            "mcp__git__hub__re__view__all"
        );
    }

    #[test]
    fn what_could_deceive_is_no_name() {
        assert!(is_plain("get_time") && is_plain("größe"));
        for name in ["", "a\u{202e}b", "a\nb", "a\u{1b}[2J", "a\u{200b}b"] {
            assert!(!is_plain(name), "{name:?}");
        }
    }

    #[test]
    fn nothing_invisible_is_told() {
        assert_eq!(visible("a\u{e0041}\u{202e}b\n\tc\u{7}"), "ab\n\tc");
    }

    #[test]
    fn text_is_cut_on_a_character() {
        assert_eq!(
            (cut("abc", 3), cut("abcd", 3), cut("é", 1)),
            ("abc", "abc", "")
        );
    }
}
