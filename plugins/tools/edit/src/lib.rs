//! `edit`: replaces a text in a file of the workspace.
//!
//! The text must stand there exactly once, to the letter, line ends included. The file is replaced as by `write`.
#![forbid(unsafe_code)]

use stud_sdk::prelude::*;
use workspace_files::{Change, Files, Replacement, invalid, lock, replace, replace_all};

/// How files are edited.
#[derive(Config)]
struct Options {
    /// How many bytes a file may have, before and after.
    #[stud(default = 10_485_760, min = 1)]
    max_file_bytes: u64,
}

/// What the model sends.
#[derive(Args)]
struct Input {
    /// The file, relative to the workspace.
    #[stud(min_length = 1)]
    path: String,
    /// The text that stands there, exactly once; with what is around it if it would be there more often.
    old_string: String,
    /// The text that is to stand there.
    new_string: String,
}

/// What was changed.
#[derive(Schema)]
struct Edited {
    /// The file.
    path: String,
    /// How many texts were replaced: one.
    replacements_made: u32,
}

/// Replaces a text in a file of the workspace. The text must stand in the file exactly once.
#[tool(
    id = "edit",
    name = "edit",
    title = "Edit",
    config = Options,
    init = Edit::new,
    covers = "path",
    output = Edited
)]
struct Edit {
    files: Files,
    options: Options,
}

impl Edit {
    const fn new(host: Host, options: Options) -> Self {
        Self {
            files: Files::new(host),
            options,
        }
    }

    fn edit(&self, input: Input, cx: &Cx) -> Result<Edited> {
        let workspace = self.files.begin(cx)?;
        let replacement = Replacement {
            old: &input.old_string,
            new: &input.new_string,
        };
        replacement.check()?;
        let place = workspace.place(&input.path)?;
        let target = workspace.target(&place, false)?;
        let _held = lock([&target], cx)?;
        let most = self.options.max_file_bytes;
        let mut change = Change::begin(&target, most, cx)?;
        let text = replace(&input.path, change.text(), replacement)?;
        if text.len() as u64 > most {
            let why = format!(
                "`{}` would have {} bytes, and may have {most}",
                input.path,
                text.len()
            );
            return Err(invalid(&input.path, why).with("maxFileBytes", most));
        }
        change.set(text);
        replace_all(&[change], cx)?;
        Ok(Edited {
            path: input.path,
            replacements_made: 1,
        })
    }
}

impl Tool for Edit {
    type Args = Input;

    async fn execute(&self, input: Input, cx: &Cx) -> Result<Output> {
        Output::json(self.edit(input, cx)?)
    }

    fn approval_key(&self, input: &Input) -> Result<String> {
        self.files.workspace()?.file_key(&input.path)
    }
}

#[cfg(test)]
mod tests;
