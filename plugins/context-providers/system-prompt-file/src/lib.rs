//! Tells the model what a file of the project says.
#![forbid(unsafe_code)]

mod place;
mod reading;

use std::sync::{Mutex, PoisonError};

use stud_sdk::context_provider::{
    ContextFragment, ContextProvider, FragmentKind, context_provider,
};
use stud_sdk::{Config, Cx, Host, Result};

use place::Place;

/// What the user can set.
#[derive(Debug, Config)]
struct Options {
    /// Whether it is enabled; off by default.
    #[stud(default = false)]
    #[expect(dead_code, reason = "core reads it")]
    enabled: bool,
    /// The file: below the project's folder, and without `..`.
    #[stud(min_length = 1, max_length = 4096)]
    path: String,
    /// The most of it that the model is told.
    token_budget: u64,
    /// How it is written.
    #[stud(values("utf-8"))]
    #[expect(dead_code, reason = "there is one encoding, and it may be named")]
    encoding: Option<String>,
}

/// Tells the model what a file of the project says.
#[context_provider(
    id = "system-prompt-file",
    title = "System prompt file",
    config = Options,
    init = SystemPromptFile::new
)]
struct SystemPromptFile {
    place: Place,
    token_budget: u64,
    read: Mutex<Option<Read>>,
}

/// What was read in a turn.
struct Read {
    turn: String,
    text: String,
}

impl SystemPromptFile {
    /// Reads nothing yet: whether the file is there matters when it is asked for.
    fn new(host: Host, options: Options) -> Result<Self> {
        Ok(Self {
            place: Place::of(&options.path, &host.workspace().project_root()?)?,
            token_budget: options.token_budget,
            read: Mutex::default(),
        })
    }

    /// The text, read once in each turn.
    fn text(&self, turn: Option<&str>) -> Result<String> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = &*read
            && Some(&*read.turn) == turn
        {
            return Ok(read.text.clone());
        }
        let text = reading::read(&self.place, self.token_budget)?;
        *read = turn.map(|turn| Read {
            turn: turn.to_owned(),
            text: text.clone(),
        });
        Ok(text)
    }
}

impl ContextProvider for SystemPromptFile {
    async fn provide(&self, cx: &Cx) -> Result<Vec<ContextFragment>> {
        Ok(vec![ContextFragment {
            kind: FragmentKind::SystemMessage,
            content: self.text(cx.ids().correlation_id.as_deref())?,
            token_budget: self.token_budget,
            ..ContextFragment::default()
        }])
    }
}

#[cfg(test)]
mod tests;
