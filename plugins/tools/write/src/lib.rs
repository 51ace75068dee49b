//! `write`: writes a text file of the workspace.
//!
//! The text is written beside the file, synced, and then replaces it: a reader sees the old text or
//! the new one, also after a crash. A file that was there keeps its mode, a new one gets what the umask says.
//! The file is another one afterwards, so a second name that it had by a hard link keeps the old text.
#![forbid(unsafe_code)]

use stud_sdk::prelude::*;
use workspace_files::{Change, Files, invalid, lock, replace_all};

/// How files are written.
#[derive(Config)]
struct Options {
    /// How many bytes are written at most.
    #[stud(default = 1_048_576, min = 1)]
    max_bytes: usize,
}

/// What the model sends.
#[derive(Args)]
struct Input {
    /// The file, relative to the workspace.
    #[stud(min_length = 1)]
    path: String,
    /// All that the file is to have in it.
    content: String,
    /// Whether to make the directories that are not there.
    #[stud(default = false)]
    create_parents: bool,
}

/// What was written.
#[derive(Schema)]
struct Receipt {
    /// The file.
    path: String,
    /// How many bytes it has.
    bytes_written: usize,
    /// Whether it is new; otherwise what was there is gone.
    created: bool,
}

/// Writes a text file of the workspace, in the place of what is there. It is written as a whole or not at all.
#[tool(
    id = "write",
    name = "write",
    title = "Write",
    config = Options,
    init = Write::new,
    covers = "path",
    output = Receipt
)]
struct Write {
    files: Files,
    options: Options,
}

impl Write {
    const fn new(host: Host, options: Options) -> Self {
        Self {
            files: Files::new(host),
            options,
        }
    }

    fn write(&self, input: Input, cx: &Cx) -> Result<Receipt> {
        let workspace = self.files.begin(cx)?;
        let place = workspace.place(&input.path)?;
        let bytes_written = input.content.len();
        if bytes_written > self.options.max_bytes {
            let most = self.options.max_bytes;
            let why =
                format!("`content` has {bytes_written} bytes, and at most {most} are written");
            return Err(invalid(&input.path, why).with("maxBytes", most));
        }
        let target = workspace.target(&place, input.create_parents)?;
        let _held = lock([&target], cx)?;
        let created = !target.exists()?;
        replace_all(&[Change::overwrite(&target, input.content)], cx)?;
        Ok(Receipt {
            path: input.path,
            bytes_written,
            created,
        })
    }
}

impl Tool for Write {
    type Args = Input;

    async fn execute(&self, input: Input, cx: &Cx) -> Result<Output> {
        Output::json(self.write(input, cx)?)
    }

    fn approval_key(&self, input: &Input) -> Result<String> {
        self.files.workspace()?.file_key(&input.path)
    }
}

#[cfg(test)]
mod tests;
