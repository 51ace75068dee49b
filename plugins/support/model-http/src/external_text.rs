//! Words of a stranger, made fit to be shown.

/// What is longer is cut.
const MOST_CHARS: usize = 300;

/// One line without anything that moves a cursor or turns text around, and not too much of it.
pub(crate) fn fit(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(MOST_CHARS));
    let mut kept = 0;
    for word in text.split_whitespace() {
        let mut shown = word.chars().filter(|letter| !is_unfit(*letter)).peekable();
        if shown.peek().is_none() {
            continue;
        }
        if kept > 0 {
            line.push(' ');
            kept += 1;
        }
        for letter in shown {
            if kept >= MOST_CHARS {
                line.push('…');
                return line;
            }
            line.push(letter);
            kept += 1;
        }
    }
    line
}

fn is_unfit(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_it_acts_on_a_terminal() {
        let text = "a\u{1b}[31mred\u{7}\r\n\tb \u{202e}c\u{0} \u{feff} d";
        assert_eq!(fit(text), "a[31mred b c d");
        assert_eq!(fit(" \n\u{1b} "), "");
    }

    #[test]
    fn what_is_long_is_cut_between_characters() {
        let cut = fit(&"ä".repeat(10_000));
        assert_eq!(cut.chars().count(), MOST_CHARS + 1);
        assert!(cut.ends_with("ä…"));
        let whole = "ä".repeat(MOST_CHARS);
        assert_eq!(fit(&whole), whole);
    }
}
