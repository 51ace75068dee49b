//! `list`: lists a directory of the workspace.
//!
//! The entries are in the order of the bytes of their paths, so that what is cut off depends on nothing but the names.
//! Symbolic links are told of and never followed.
#![forbid(unsafe_code)]

use std::ops::ControlFlow;

use stud_sdk::prelude::*;
use workspace_files::{Entry as Found, Files, Kind as FoundKind, Look, shown};

/// How directories are listed.
#[derive(Config)]
struct Options {
    /// How far down to look if the call does not say.
    #[stud(default = 1, min = 0)]
    default_max_depth: usize,
    /// How many entries are given at most.
    #[stud(default = 1000, min = 1)]
    max_entries: usize,
}

/// What the model sends.
#[derive(Args)]
struct Input {
    /// The directory, relative to the workspace; `.` is the workspace.
    #[stud(min_length = 1)]
    path: String,
    /// How far down to look: 1 is what is in the directory itself, 0 is nothing.
    #[stud(min = 0)]
    max_depth: Option<usize>,
    /// Whether to give names that begin with a dot.
    #[stud(default = false)]
    include_hidden: bool,
}

/// What is in a directory.
#[derive(Schema)]
struct Listing {
    /// The directory.
    path: String,
    /// What is in it, in order.
    entries: Vec<Entry>,
    /// Whether there is more.
    truncated: bool,
}

/// Something in a directory.
#[derive(Schema)]
struct Entry {
    /// Its name.
    name: String,
    /// Its path, seen from the directory that was listed.
    rel_path: String,
    /// What it is.
    kind: Kind,
    /// How many bytes a file has.
    size_bytes: Option<u64>,
    /// Present if the name on the disk is no UTF-8 and `�` stands for what cannot be shown.
    lossy: Option<bool>,
}

/// What an entry is.
#[derive(Schema)]
enum Kind {
    File,
    Directory,
    Symlink,
    Other,
}

/// Lists a directory of the workspace, and with `maxDepth` what is further down.
#[tool(
    id = "list",
    name = "list",
    title = "List",
    config = Options,
    init = List::new,
    covers = "path",
    output = Listing
)]
struct List {
    files: Files,
    options: Options,
}

impl List {
    const fn new(host: Host, options: Options) -> Self {
        Self {
            files: Files::new(host),
            options,
        }
    }

    fn list(&self, input: Input, cx: &Cx) -> Result<(Listing, Vec<Error>)> {
        let workspace = self.files.begin(cx)?;
        let place = workspace.place(&input.path)?;
        let look = Look {
            max_depth: input.max_depth.unwrap_or(self.options.default_max_depth),
            hidden: input.include_hidden,
            project_rules: false,
        };
        let mut entries = Vec::new();
        let mut truncated = false;
        let looked = workspace.tree(&place)?.look(look, cx, |found| {
            truncated = entries.len() == self.options.max_entries;
            if truncated {
                return Ok(ControlFlow::Break(()));
            }
            entries.push(Entry::of(found));
            Ok(ControlFlow::Continue(()))
        })?;
        let listing = Listing {
            path: input.path,
            entries,
            truncated: truncated || looked.too_deep,
        };
        Ok((listing, looked.faults))
    }
}

impl Entry {
    fn of(found: &Found<'_>) -> Self {
        let (name, _) = shown(found.name());
        let (rel_path, is_as_on_disk) = shown(found.path.as_os_str());
        let (kind, size_bytes) = match found.kind {
            FoundKind::File => (Kind::File, found.size()),
            FoundKind::Directory => (Kind::Directory, None),
            FoundKind::Symlink => (Kind::Symlink, None),
            FoundKind::Other => (Kind::Other, None),
        };
        Self {
            name,
            rel_path,
            kind,
            size_bytes,
            lossy: (!is_as_on_disk).then_some(true),
        }
    }
}

impl Tool for List {
    type Args = Input;

    async fn execute(&self, input: Input, cx: &Cx) -> Result<Output> {
        let (listing, faults) = self.list(input, cx)?;
        let output = Output::json(listing)?;
        Ok(faults.into_iter().fold(output, Output::with_error))
    }

    fn approval_key(&self, input: &Input) -> Result<String> {
        self.files.workspace()?.directory_key(&input.path)
    }
}

#[cfg(test)]
mod tests;
