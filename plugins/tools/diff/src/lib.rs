//! `diff`: shows how two texts differ.
//!
//! Each side is a file of the workspace or a text in the call.
#![forbid(unsafe_code)]

mod unified;

use stud_sdk::prelude::*;
use workspace_files::{Files, Workspace};

use unified::{Side, unified};

/// The key of a call that touches no file.
const NO_FILE: &str = "content";

/// How texts are compared.
#[derive(Config)]
struct Options {
    /// How many bytes each side, and what is shown, may have.
    #[stud(default = 1_048_576, min = 1)]
    max_bytes: usize,
}

/// What the model sends: one of `oldPath` and `oldText`, and one of `newPath` and `newText`.
#[derive(Args)]
struct Input {
    /// The file with the old text, relative to the workspace.
    #[stud(min_length = 1)]
    old_path: Option<String>,
    /// The file with the new text, relative to the workspace.
    #[stud(min_length = 1)]
    new_path: Option<String>,
    /// The old text.
    old_text: Option<String>,
    /// The new text.
    new_text: Option<String>,
    /// How many lines to show around each change.
    #[stud(default = 3, min = 0, max = 100)]
    context_lines: usize,
}

/// How two texts differ.
#[derive(Schema)]
struct Difference {
    /// The difference in the unified format; empty if there is none.
    diff: String,
    /// Whether the texts are the same.
    identical: bool,
    /// How many lines only the new text has.
    lines_added: usize,
    /// How many lines only the old text has.
    lines_removed: usize,
    /// Whether changes at the end are not shown.
    truncated: bool,
}

/// Shows how two texts differ, in the unified format. Each side is a file of the workspace (`oldPath`, `newPath`) or a
/// text (`oldText`, `newText`).
#[tool(
    id = "diff",
    name = "diff",
    title = "Diff",
    config = Options,
    init = Diff::new,
    covers = "pathSet",
    output = Difference
)]
struct Diff {
    files: Files,
    options: Options,
}

impl Diff {
    const fn new(host: Host, options: Options) -> Self {
        Self {
            files: Files::new(host),
            options,
        }
    }

    fn compare(&self, input: Input, cx: &Cx) -> Result<Difference> {
        let workspace = self.files.begin(cx)?;
        let old = self.side(workspace, "old", input.old_path, input.old_text, cx)?;
        let new = self.side(workspace, "new", input.new_path, input.new_text, cx)?;
        unified(&old, &new, input.context_lines, self.options.max_bytes, cx)
    }

    fn side(
        &self,
        workspace: &Workspace,
        which: &str,
        path: Option<String>,
        text: Option<String>,
        cx: &Cx,
    ) -> Result<Side> {
        let most = self.options.max_bytes;
        match (path, text) {
            (Some(path), None) => {
                let place = workspace.place(&path)?;
                let text = workspace.open(&place)?.whole(most as u64, cx)?;
                Ok(Side { label: path, text })
            }
            (None, Some(text)) if text.len() > most => {
                let why = format!(
                    "`{which}Text` has {} bytes, and may have {most}",
                    text.len()
                );
                Err(Error::invalid_input(why).with("maxBytes", most))
            }
            (None, Some(text)) => Ok(Side {
                label: which.to_owned(),
                text,
            }),
            (None, None) => {
                let why = format!("give `{which}Path` or `{which}Text`");
                Err(Error::invalid_input(why))
            }
            (Some(_), Some(_)) => {
                let why = format!("give `{which}Path` or `{which}Text`, not both");
                Err(Error::invalid_input(why))
            }
        }
    }
}

impl Tool for Diff {
    type Args = Input;

    async fn execute(&self, input: Input, cx: &Cx) -> Result<Output> {
        Output::json(self.compare(input, cx)?)
    }

    fn approval_key(&self, input: &Input) -> Result<String> {
        let paths: Vec<_> = [&input.old_path, &input.new_path]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        if paths.is_empty() {
            return Ok(NO_FILE.to_owned());
        }
        self.files.workspace()?.files_key(paths.into_iter())
    }
}

#[cfg(test)]
mod tests;
