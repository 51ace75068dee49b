//! `grep`: finds lines in files of the workspace.
//!
//! The pattern is matched in time that grows with the text alone, whatever the pattern. What the project leaves out by
//! `.gitignore` or `.ignore` is left out here, and so are `.git`, binary files and what symbolic links lead to; a file or
//! directory that the call names is searched all the same.
#![forbid(unsafe_code)]

mod filter;
mod search;

use std::ops::ControlFlow;

use stud_sdk::prelude::*;
use workspace_files::{Files, Kind, Look, Place, Workspace, shown};

use filter::Filter;
use search::Search;

/// The most that could not be searched and is told of.
const MOST_FAULTS: usize = 20;

/// How files are searched.
#[derive(Config)]
struct Options {
    /// How many lines are given at most, whatever the call says.
    #[stud(default = 1000, min = 1)]
    max_results: usize,
    /// How many bytes of a line are shown.
    #[stud(default = 500, min = 1)]
    max_line_bytes: usize,
}

/// What the model sends.
#[derive(Args)]
struct Input {
    /// The regular expression that a line has in it. Expressions across lines, backreferences and lookaround do not
    /// exist.
    #[stud(min_length = 1, max_length = 10000)]
    pattern: String,
    /// The directory or file to search, relative to the workspace.
    #[stud(default = ".", min_length = 1)]
    path: String,
    /// Only files whose name fits this, such as `*.rs`; with a `/` in it, whose path below `path` does.
    #[stud(min_length = 1, max_length = 1000)]
    glob: Option<String>,
    /// Whether `a` also finds `A`.
    #[stud(default = false)]
    case_insensitive: bool,
    /// How many lines to give at most.
    #[stud(min = 1)]
    max_results: Option<usize>,
}

/// What was found.
#[derive(Schema)]
struct Found {
    /// The pattern.
    pattern: String,
    /// Where it was looked for.
    path: String,
    /// The lines, in the order of their files and numbers.
    matches: Vec<Match>,
    /// Whether there are more.
    truncated: bool,
    /// How many files were searched.
    files_searched: usize,
}

/// A line that was found.
#[derive(Debug, Schema)]
struct Match {
    /// Its file, relative to the workspace.
    path: String,
    /// Its number, from one.
    line: u64,
    /// Its text, or the beginning of it.
    text: String,
    /// Present if the line was truncated.
    cut: Option<bool>,
    /// Present if path or text are no UTF-8 on the disk, and `�` stands for what cannot be shown.
    lossy: Option<bool>,
}

/// Finds lines in files of the workspace by a regular expression. Files that the project ignores and binary files are
/// left out.
#[tool(
    id = "grep",
    name = "grep",
    title = "Grep",
    config = Options,
    init = Grep::new,
    covers = "path",
    output = Found
)]
struct Grep {
    files: Files,
    options: Options,
}

impl Grep {
    const fn new(host: Host, options: Options) -> Self {
        Self {
            files: Files::new(host),
            options,
        }
    }

    fn grep(&self, input: Input, cx: &Cx) -> Result<(Found, Vec<Error>)> {
        let workspace = self.files.begin(cx)?;
        let most = self.options.max_results;
        let most = input.max_results.map_or(most, |asked| asked.min(most));
        let filter = input.glob.as_deref().map(Filter::read).transpose()?;
        let mut search = Search::new(&input.pattern, input.case_insensitive)?;
        search.limit(most, self.options.max_line_bytes);
        let place = workspace.place(&input.path)?;
        let run = match run(workspace, &place, filter.as_ref(), &mut search, cx) {
            // Not a directory: then it is a file, or not there.
            Err(error) if error.is(Class::ToolTerminal, "NotFound") => {
                let contents = workspace.open(&place)?;
                search.file(contents, (place.key(), true), cx)?;
                Run::default()
            }
            run => run?,
        };
        let found = Found {
            pattern: input.pattern,
            path: input.path,
            truncated: search.is_full() || run.too_deep,
            files_searched: search.files(),
            matches: search.into_matches(),
        };
        Ok((found, run.faults))
    }
}

/// How searching a directory ended.
#[derive(Default)]
struct Run {
    too_deep: bool,
    faults: Vec<Error>,
}

fn run(
    workspace: &Workspace,
    place: &Place,
    filter: Option<&Filter>,
    search: &mut Search,
    cx: &Cx,
) -> Result<Run> {
    let tree = workspace.tree(place)?;
    let look = Look {
        max_depth: usize::MAX,
        hidden: true,
        project_rules: true,
    };
    let prefix = match place.key() {
        workspace if workspace == "." => String::new(),
        directory => directory + "/",
    };
    let mut faults = Vec::new();
    let looked = tree.look(look, cx, |entry| {
        if entry.kind != Kind::File || filter.is_some_and(|filter| !filter.lets(entry.path)) {
            return Ok(ControlFlow::Continue(()));
        }
        let (path, is_as_on_disk) = shown(entry.path.as_os_str());
        let path = (format!("{prefix}{path}"), is_as_on_disk);
        let searched = entry
            .open()
            .and_then(|contents| search.file(contents, path, cx));
        match searched {
            Err(error) if error.class() == Class::Cancellation.as_str() => return Err(error),
            // It was there a moment ago.
            Err(error) if error.is(Class::ToolTerminal, "NotFound") => {
                return Ok(ControlFlow::Continue(()));
            }
            // It may not be read: the others are still worth finding.
            Err(error) if faults.len() < MOST_FAULTS => faults.push(error),
            Ok(()) | Err(_) => {}
        }
        Ok(if search.is_full() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    faults.extend(looked.faults);
    Ok(Run {
        too_deep: looked.too_deep,
        faults,
    })
}

impl Tool for Grep {
    type Args = Input;

    async fn execute(&self, input: Input, cx: &Cx) -> Result<Output> {
        let (found, faults) = self.grep(input, cx)?;
        let output = Output::json(found)?;
        Ok(faults.into_iter().fold(output, Output::with_error))
    }

    fn approval_key(&self, input: &Input) -> Result<String> {
        self.files.workspace()?.directory_key(&input.path)
    }
}

#[cfg(test)]
mod tests;
