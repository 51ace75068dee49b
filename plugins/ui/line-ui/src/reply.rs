//! Making sense of a short answer.

use crate::escape;

/// `y`, `yes`, `n` or `no`, in any case.
pub(crate) fn yes_or_no(typed: &str) -> Option<bool> {
    match typed.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}

/// The first word, in lower case, and what comes after it.
pub(crate) fn word_and_note(typed: &str) -> (String, Option<String>) {
    let typed = typed.trim();
    let (word, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let rest = rest.trim_start();
    (
        word.to_lowercase(),
        (!rest.is_empty()).then(|| rest.to_owned()),
    )
}

/// A list to choose from: what the person may type for each entry besides its number.
pub(crate) struct Menu<'a> {
    entries: Vec<Vec<&'a str>>,
}

impl<'a> Menu<'a> {
    /// Each entry by the texts it is known by; the first of them is shown.
    pub(crate) fn new(entries: impl IntoIterator<Item = Vec<&'a str>>) -> Self {
        Self {
            entries: entries.into_iter().collect(),
        }
    }

    /// The entries on lines of their own, numbered from one.
    pub(crate) fn lines(&self) -> String {
        let lines = self.entries.iter().enumerate().map(|(index, names)| {
            let shown = names.first().copied().unwrap_or_default();
            format!("\n  {}. {}", index + 1, escape::line(shown))
        });
        lines.collect()
    }

    /// The index of the entry that is meant: `2` or `#2` for the second, or one of its texts.
    ///
    /// What could mean two entries means none.
    pub(crate) fn find(&self, typed: &str) -> Result<usize, String> {
        let typed = typed.trim();
        let count = self.entries.len();
        let by_number = |text: &str| {
            let number = text.parse::<usize>().ok()?;
            (1..=count).contains(&number).then(|| number - 1)
        };
        if let Some(index) = typed.strip_prefix('#').and_then(by_number) {
            return Ok(index);
        }
        // Enter alone chooses nothing, even where an entry has no text.
        let is_meant = |name: &&str| !typed.is_empty() && name.trim() == typed;
        let named = (0..count).filter(|&index| self.entries[index].iter().any(is_meant));
        let mut meant: Vec<usize> = named.chain(by_number(typed)).collect();
        meant.sort_unstable();
        meant.dedup();
        match meant[..] {
            [index] => Ok(index),
            [] => Err(format!(
                "type a number from 1 to {count}, or the text of an entry"
            )),
            _ => Err(format!(
                "that fits several entries; type # and a number from 1 to {count}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_in_any_case() {
        for (typed, meant) in [("y", true), (" YES ", true), ("N", false), ("no", false)] {
            assert_eq!(yes_or_no(typed), Some(meant), "{typed}");
        }
        for typed in ["", "yess", "ja", "y n", "1"] {
            assert_eq!(yes_or_no(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_note_follows_the_word() {
        let note = |text: &str| Some(text.to_owned());
        assert_eq!(
            word_and_note(" Deny  not today "),
            ("deny".into(), note("not today"))
        );
        assert_eq!(word_and_note("approve"), ("approve".into(), None));
        assert_eq!(word_and_note(""), (String::new(), None));
    }

    #[test]
    fn an_entry_is_found_by_number_or_text() {
        let menu = Menu::new([vec!["main"], vec!["next ", "n"], vec!["1.0"], vec![""]]);
        assert_eq!(menu.lines(), "\n  1. main\n  2. next \n  3. 1.0\n  4. ");
        for (typed, index) in [("1", 0), ("#3", 2), (" next ", 1), ("n", 1), ("1.0", 2)] {
            assert_eq!(menu.find(typed), Ok(index), "{typed}");
        }
        for typed in ["", "0", "5", "Main", "-1", "#", "#x", "ne"] {
            assert!(menu.find(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn what_fits_two_entries_is_asked_again() {
        let menu = Menu::new([vec!["2"], vec!["1"], vec!["twin"], vec!["twin"]]);
        for typed in ["1", "2", "twin"] {
            assert!(menu.find(typed).unwrap_err().contains('#'), "{typed}");
        }
        assert_eq!(menu.find("#1"), Ok(0));
        assert_eq!(menu.find("3"), Ok(2));
    }
}
