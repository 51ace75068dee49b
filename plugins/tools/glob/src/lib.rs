//! `glob`: finds files of the workspace by their paths.
//!
//! What the project leaves out by `.gitignore` or `.ignore` is left out here, and so is `.git`; a directory that the
//! pattern names without wildcards is looked into all the same. Symbolic links are found and never followed.
#![forbid(unsafe_code)]

mod pattern;

use std::ops::ControlFlow;

use stud_sdk::prelude::*;
use workspace_files::{Files, Kind, Look, Place, Tree, Workspace, shown};

use pattern::Pattern;

/// How files are found.
#[derive(Config)]
struct Options {
    /// How many paths are given at most.
    #[stud(default = 1000, min = 1)]
    max_results: usize,
}

/// What the model sends.
#[derive(Args)]
struct Input {
    /// The pattern, such as `src/**/*.rs`: `*` and `?` stay within a name, `**` crosses directories, `{a,b}` is one of
    /// them, `[a-z]` one letter.
    #[stud(min_length = 1, max_length = 1000)]
    pattern: String,
    /// The directory the pattern begins in, relative to the workspace.
    #[stud(default = ".", min_length = 1)]
    path: String,
}

/// What was found.
#[derive(Schema)]
struct Found {
    /// The pattern.
    pattern: String,
    /// The directory it began in.
    path: String,
    /// The files, relative to the workspace and in order.
    paths: Vec<String>,
    /// Whether there are more.
    truncated: bool,
    /// Those paths that are no UTF-8 on the disk, where `�` stands for what cannot be shown.
    lossy: Option<Vec<String>>,
}

/// Finds files of the workspace by their paths. Files that the project ignores are left out.
#[tool(
    id = "glob",
    name = "glob",
    title = "Glob",
    config = Options,
    init = Glob::new,
    covers = "path",
    output = Found
)]
struct Glob {
    files: Files,
    options: Options,
}

impl Glob {
    const fn new(host: Host, options: Options) -> Self {
        Self {
            files: Files::new(host),
            options,
        }
    }

    fn find(&self, input: Input, cx: &Cx) -> Result<(Found, Vec<Error>)> {
        let workspace = self.files.begin(cx)?;
        let pattern = Pattern::read(&input.pattern)?;
        let place = workspace.place(&input.path)?;
        let start = place.below(&pattern.start);
        let mut found = Found {
            pattern: input.pattern,
            path: input.path,
            paths: Vec::new(),
            truncated: false,
            lossy: None,
        };
        let Some(tree) = open(workspace, &place, &start)? else {
            return Ok((found, Vec::new()));
        };
        let look = Look {
            max_depth: pattern.depth,
            hidden: true,
            project_rules: true,
        };
        let prefix = match start.key() {
            workspace if workspace == "." => String::new(),
            start => start + "/",
        };
        let looked = tree.look(look, cx, |entry| {
            let wanted = matches!(entry.kind, Kind::File | Kind::Symlink);
            if !wanted || !pattern.matches(entry.path) {
                return Ok(ControlFlow::Continue(()));
            }
            found.truncated = found.paths.len() == self.options.max_results;
            if found.truncated {
                return Ok(ControlFlow::Break(()));
            }
            let (path, is_as_on_disk) = shown(entry.path.as_os_str());
            let path = format!("{prefix}{path}");
            if !is_as_on_disk {
                found.lossy.get_or_insert_default().push(path.clone());
            }
            found.paths.push(path);
            Ok(ControlFlow::Continue(()))
        })?;
        found.truncated |= looked.too_deep;
        Ok((found, looked.faults))
    }
}

/// The directory to look through. A directory that only the pattern names may be missing: then nothing matches.
fn open<'w>(workspace: &'w Workspace, place: &Place, start: &Place) -> Result<Option<Tree<'w>>> {
    let base = workspace.tree(place)?;
    if start == place {
        return Ok(Some(base));
    }
    match workspace.tree(start) {
        Ok(tree) => Ok(Some(tree)),
        Err(error) if error.is(Class::ToolTerminal, "NotFound") => Ok(None),
        Err(error) => Err(error),
    }
}

impl Tool for Glob {
    type Args = Input;

    async fn execute(&self, input: Input, cx: &Cx) -> Result<Output> {
        let (found, faults) = self.find(input, cx)?;
        let output = Output::json(found)?;
        Ok(faults.into_iter().fold(output, Output::with_error))
    }

    fn approval_key(&self, input: &Input) -> Result<String> {
        self.files.workspace()?.directory_key(&input.path)
    }
}

#[cfg(test)]
mod tests;
