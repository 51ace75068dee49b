//! `read`: reads a text file of the workspace.
#![forbid(unsafe_code)]

use stud_sdk::prelude::*;
use workspace_files::{Excerpt, Files};

/// How files are read.
#[derive(Config)]
struct Options {
    /// How many bytes of a file are shown at most.
    #[stud(default = 1_048_576, min = 1)]
    max_bytes: usize,
}

/// What the model sends.
#[derive(Args)]
struct Input {
    /// The file, relative to the workspace.
    #[stud(min_length = 1)]
    path: String,
    /// How the file is written; there is no other way than `utf-8`.
    #[stud(values("utf-8"))]
    encoding: Option<String>,
}

/// A file, or its beginning.
#[derive(Schema)]
struct Reading {
    /// The file that was read.
    path: String,
    /// Its text, or as much of it as fits.
    content: String,
    /// Whether the file continues after that.
    truncated: bool,
    /// How many bytes the whole file has.
    size_bytes: u64,
}

/// Reads a text file of the workspace. A long file is cut off, and `truncated` says so.
#[tool(
    id = "read",
    name = "read",
    title = "Read",
    config = Options,
    init = Read::new,
    covers = "path",
    output = Reading
)]
struct Read {
    files: Files,
    options: Options,
}

impl Read {
    const fn new(host: Host, options: Options) -> Self {
        Self {
            files: Files::new(host),
            options,
        }
    }

    fn read(&self, input: Input, cx: &Cx) -> Result<Reading> {
        let workspace = self.files.begin(cx)?;
        check_encoding(input.encoding.as_deref())?;
        let place = workspace.place(&input.path)?;
        let contents = workspace.open(&place)?;
        let Excerpt {
            text,
            truncated,
            size,
        } = contents.excerpt(self.options.max_bytes, cx)?;
        Ok(Reading {
            path: input.path,
            content: text,
            truncated,
            size_bytes: size,
        })
    }
}

impl Tool for Read {
    type Args = Input;

    async fn execute(&self, input: Input, cx: &Cx) -> Result<Output> {
        Output::json(self.read(input, cx)?)
    }

    fn approval_key(&self, input: &Input) -> Result<String> {
        self.files.workspace()?.file_key(&input.path)
    }
}

fn check_encoding(encoding: Option<&str>) -> Result<()> {
    match encoding {
        None | Some("utf-8") => Ok(()),
        Some(other) => {
            let why = format!("`encoding` is `{other}`, and only `utf-8` is read");
            Err(Error::invalid_input(why))
        }
    }
}

#[cfg(test)]
mod tests;
