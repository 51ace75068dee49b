//! What a draft could become. Nothing is run for it.

use stud_contract_command::Draft;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::commands::Completion;

use super::Commands;
use super::catalog::{Catalog, Offer};
use crate::executor::within;
use crate::ids;
use crate::sync::lock;

/// How many names are suggested.
const NAMES: usize = 8;

/// How many suggestions of a plugin are passed on.
const ARGUMENTS: usize = 100;

impl Commands {
    /// Suggestions for a draft; `cursor` is a byte offset into it.
    pub(crate) fn complete(
        &self,
        catalog: &Catalog,
        input: &str,
        cursor: usize,
    ) -> Vec<Completion> {
        let cursor = settle(input, cursor);
        let Some(typed) = input[..cursor].strip_prefix('/') else {
            return Vec::new();
        };
        match typed.split_once(char::is_whitespace) {
            None => names(catalog, typed),
            Some((name, _)) => match catalog.find(name) {
                Ok(offer) => self.arguments(offer, input, cursor),
                Err(_) => Vec::new(),
            },
        }
    }

    /// What the command itself suggests. One that fails suggests nothing, and the failure is told.
    fn arguments(&self, offer: &Offer, input: &str, cursor: usize) -> Vec<Completion> {
        let handler = offer.handler();
        let asked = (handler.ext_id().to_owned(), handler.generation());
        if lock(&self.stuck).contains(&asked) {
            return Vec::new();
        }
        let suggested = self.ask(offer, input, cursor).unwrap_or_else(|| {
            lock(&self.stuck).insert(asked);
            Err(self.late(handler.ext_id()))
        });
        match suggested {
            Ok(mut suggestions) => {
                suggestions.retain(|suggestion| !self.gives_away(suggestion));
                suggestions.truncate(ARGUMENTS);
                suggestions
            }
            Err(error) => {
                let reason = format!("`{}` failed to suggest completions", offer.name());
                self.books.suppress(&reason, &ids::fresh(), &error);
                Vec::new()
            }
        }
    }

    /// Asks on a thread that can be abandoned, because the user is typing. `None` on a timeout.
    fn ask(&self, offer: &Offer, input: &str, cursor: usize) -> Option<Result<Vec<Completion>>> {
        let (handler, name) = (offer.handler().clone(), offer.name().to_owned());
        let draft = Draft {
            draft: input.to_owned(),
            cursor,
        };
        within(self.patience, move || handler.complete(&name, &draft))
    }

    fn late(&self, ext_id: &str) -> Error {
        let code = &codes::EXECUTION_TIMEOUT;
        let limit = u64::try_from(self.patience.as_millis()).unwrap_or(u64::MAX);
        let message =
            format!("`{ext_id}` gave no suggestions within {limit} ms and is not asked again");
        Error::new(code.class, code.name, message)
            .with("extId", ext_id)
            .with("call", "complete")
            .with("timeoutMs", limit)
    }

    /// A suggestion is visible on screen.
    fn gives_away(&self, suggestion: &Completion) -> bool {
        let redactor = &self.books.redactor;
        redactor.finds(&suggestion.label)
            || redactor.finds(&suggestion.replacement)
            || suggestion
                .description
                .as_deref()
                .is_some_and(|text| redactor.finds(text))
    }
}

/// The cursor inside the text and between two characters.
fn settle(input: &str, cursor: usize) -> usize {
    let mut cursor = cursor.min(input.len());
    while !input.is_char_boundary(cursor) {
        cursor -= 1;
    }
    cursor
}

/// The commands that a name could become: those that begin with it first, then those that have it in them.
fn names(catalog: &Catalog, typed: &str) -> Vec<Completion> {
    let typed = typed.to_ascii_lowercase();
    let mut found = Vec::new();
    for (offer, aliases) in catalog.listed() {
        // A command is suggested once: by its name, or by the alias that was meant.
        let words = std::iter::once(offer.name().to_owned()).chain(aliases);
        let best = words
            .filter_map(|word| {
                let at = word.to_ascii_lowercase().find(&typed)?;
                Some((at > 0, word))
            })
            .min_by_key(|(inside, _)| *inside);
        if let Some((inside, word)) = best {
            found.push((inside, word, offer));
        }
    }
    found.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    let suggestions = found.into_iter().take(NAMES);
    suggestions
        .map(|(_, word, offer)| suggestion(&word, offer))
        .collect()
}

fn suggestion(word: &str, offer: &Offer) -> Completion {
    Completion {
        label: format!("/{word}"),
        replacement: format!("/{word} "),
        description: Some(offer.declaration().description.clone()),
    }
}
