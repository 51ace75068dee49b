//! What can be completed: commands, paths, and what a command offers.

use stud_sdk::host::commands::{CommandRef, Completion};

use crate::text::escape;
use crate::text::row::{Look, Row, cut, joined, piece};

/// No more rows are shown.
const MOST: usize = 8;

/// A list below the composer.
#[derive(Debug)]
pub(crate) struct Palette {
    entries: Vec<Entry>,
    selected: usize,
    /// The query that paths are looked for with.
    query: Option<(usize, String)>,
}

#[derive(Debug, Clone)]
struct Entry {
    label: String,
    hint: String,
    description: String,
    is_blocked: bool,
    choice: Choice,
}

/// What taking an entry means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Command { name: String, takes_arguments: bool },
    Path { from: usize, path: String },
    Completion { replacement: String },
}

impl Palette {
    /// The commands whose names have `word` in them, those that begin with it first.
    pub(crate) fn commands(
        commands: &[CommandRef],
        word: &str,
        busy: bool,
        before: Option<&Self>,
    ) -> Self {
        let word = word.to_lowercase();
        let mut fitting: Vec<(bool, Entry)> = Vec::new();
        for command in commands {
            let names = std::iter::once(&command.name).chain(&command.aliases);
            let Some(name) = names
                .clone()
                .find(|name| name.starts_with(&word))
                .or_else(|| names.clone().find(|name| name.contains(&word)))
            else {
                continue;
            };
            let is_blocked = busy && !command.turn_safe;
            let description = if is_blocked {
                format!("{} (not beside a turn)", command.description)
            } else {
                command.description.clone()
            };
            let entry = Entry {
                label: format!("/{}", escape::line(name)),
                hint: command.argument_hint.clone().unwrap_or_default(),
                description,
                is_blocked,
                choice: Choice::Command {
                    name: name.clone(),
                    takes_arguments: command.argument_hint.is_some(),
                },
            };
            fitting.push((!name.starts_with(&word), entry));
        }
        fitting.sort_by(|one, other| (one.0, &one.1.label).cmp(&(other.0, &other.1.label)));
        let entries: Vec<Entry> = fitting.into_iter().map(|(_, entry)| entry).collect();
        let kept = before.and_then(|before| before.entries.get(before.selected));
        let selected =
            kept.and_then(|kept| entries.iter().position(|entry| entry.label == kept.label));
        Self {
            selected: if word.is_empty() {
                selected.unwrap_or(0)
            } else {
                0
            },
            entries,
            query: None,
        }
    }

    /// Paths, once they are found. Those of the query before stand until then.
    pub(crate) fn files(from: usize, query: String, before: Option<Self>) -> Self {
        let entries = before
            .filter(|before| before.query.is_some())
            .map(|before| before.entries);
        Self {
            entries: entries.unwrap_or_default(),
            selected: 0,
            query: Some((from, query)),
        }
    }

    /// Takes the paths that were found for a query.
    pub(crate) fn take_files(&mut self, query: &str, paths: Vec<String>) {
        let Some((from, wanted)) = &self.query else {
            return;
        };
        if wanted != query {
            return;
        }
        let from = *from;
        let entries = paths.into_iter().take(MOST).map(|path| Entry {
            label: escape::line(&path).into_owned(),
            hint: String::new(),
            description: String::new(),
            is_blocked: false,
            choice: Choice::Path { from, path },
        });
        self.entries = entries.collect();
        self.selected = self.selected.min(self.entries.len().saturating_sub(1));
    }

    /// What a command offers.
    pub(crate) fn completions(completions: Vec<Completion>) -> Self {
        let entries = completions.into_iter().map(|completion| Entry {
            label: escape::line(&completion.label).into_owned(),
            hint: String::new(),
            description: completion.description.unwrap_or_default(),
            is_blocked: false,
            choice: Choice::Completion {
                replacement: completion.replacement,
            },
        });
        Self {
            entries: entries.collect(),
            selected: 0,
            query: None,
        }
    }

    pub(crate) fn move_selection(&mut self, down: bool) {
        let last = self.entries.len().saturating_sub(1);
        self.selected = if down {
            (self.selected + 1).min(last)
        } else {
            self.selected.saturating_sub(1)
        };
    }

    /// The entry that is selected.
    pub(crate) fn choice(&self) -> Option<Choice> {
        self.entries
            .get(self.selected)
            .map(|entry| entry.choice.clone())
    }

    pub(crate) fn rows(&self, columns: usize) -> Vec<Row> {
        let first = self.selected.saturating_sub(MOST - 1);
        let shown = self.entries.iter().enumerate().skip(first).take(MOST);
        shown
            .map(|(at, entry)| {
                let is_selected = at == self.selected;
                let look = match (entry.is_blocked, is_selected) {
                    (true, _) => Look::Dim,
                    (_, true) => Look::Bold,
                    _ => Look::Plain,
                };
                let mark = if is_selected { "> " } else { "  " };
                let mut pieces = vec![piece(format!("{mark}{}", entry.label), look)];
                if !entry.hint.is_empty() {
                    pieces.push(piece(format!(" {}", escape::line(&entry.hint)), Look::Dim));
                }
                if !entry.description.is_empty() {
                    pieces.push(piece(
                        format!("  {}", escape::line(&entry.description)),
                        Look::Dim,
                    ));
                }
                cut(&joined(pieces), columns.saturating_sub(1))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::row::plain;

    fn command(name: &str, turn_safe: bool) -> CommandRef {
        CommandRef {
            name: name.to_owned(),
            description: format!("About {name}."),
            turn_safe,
            ..CommandRef::default()
        }
    }

    #[test]
    fn tui_66_names_that_begin_with_the_word_come_first() {
        let commands = [
            command("compact", true),
            command("mcp", true),
            command("model", false),
        ];
        let palette = Palette::commands(&commands, "m", false, None);
        let rows: Vec<String> = palette.rows(80).iter().map(plain).collect();
        assert_eq!(
            rows,
            [
                "> /mcp  About mcp.",
                "  /model  About model.",
                "  /compact  About compact."
            ]
        );
    }

    #[test]
    fn tui_67_what_may_not_run_beside_a_turn_says_so() {
        let palette = Palette::commands(&[command("model", false)], "", true, None);
        assert!(plain(&palette.rows(80)[0]).contains("not beside a turn"));
    }

    #[test]
    fn paths_of_another_query_are_not_taken() {
        let mut palette = Palette::files(0, "ma".to_owned(), None);
        palette.take_files("m", vec!["other".to_owned()]);
        assert_eq!(palette.choice(), None);
        palette.take_files("ma", vec!["src/main.rs".to_owned()]);
        assert_eq!(
            palette.choice(),
            Some(Choice::Path {
                from: 0,
                path: "src/main.rs".to_owned()
            })
        );
    }
}
