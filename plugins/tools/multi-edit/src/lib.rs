//! `multi-edit`: replaces several texts in files of the workspace, all of them or none.
//!
//! The edits are made in order, each in what the ones before it left. Nothing is written before all of them fit; then
//! the files are replaced one after the other, and put back if one of them cannot be.
#![forbid(unsafe_code)]

use stud_sdk::prelude::*;
use workspace_files::{
    Change, Files, Replacement, Target, Workspace, invalid, lock, replace, replace_all,
};

/// How many bytes all files of a call may have together, in files of the largest size.
const MOST_LARGE_FILES: u64 = 4;

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
    /// The file of those edits that name none, relative to the workspace.
    #[stud(min_length = 1)]
    path: Option<String>,
    /// The edits, in order.
    #[stud(min_items = 1, max_items = 1000)]
    edits: Vec<Edit>,
}

/// One text to be replaced by another.
#[derive(Schema)]
struct Edit {
    /// The file, relative to the workspace.
    #[stud(min_length = 1)]
    path: Option<String>,
    /// The text that stands there, exactly once; with what is around it if it would be there more often.
    old_string: String,
    /// The text that is to stand there.
    new_string: String,
}

/// What was changed.
#[derive(Schema)]
struct Edited {
    /// The files, in the order of their first edit.
    files: Vec<File>,
    /// How many texts were replaced in all of them.
    replacements_made: usize,
}

/// A file that was changed.
#[derive(Schema)]
struct File {
    /// The file.
    path: String,
    /// How many texts were replaced in it.
    replacements_made: usize,
}

/// Replaces several texts in one or more files of the workspace, all of them or none. Each text must stand in its file
/// exactly once, after the edits before it.
#[tool(
    id = "multi-edit",
    name = "multi-edit",
    title = "Multi-edit",
    config = Options,
    init = MultiEdit::new,
    covers = "pathSet",
    output = Edited
)]
struct MultiEdit {
    files: Files,
    options: Options,
}

impl Input {
    /// The file of the edit at `index`.
    fn path_of<'a>(&'a self, index: usize, edit: &'a Edit) -> Result<&'a str> {
        edit.path
            .as_deref()
            .or(self.path.as_deref())
            .ok_or_else(|| {
                let why = format!(
                    "`/edits/{index}` names no file: give it a `path`, or give one for all"
                );
                Error::invalid_input(why).with("edit", index)
            })
    }

    fn paths(&self) -> impl Iterator<Item = Result<&str>> {
        let edits = self.edits.iter().enumerate();
        edits.map(|(index, edit)| self.path_of(index, edit))
    }
}

impl MultiEdit {
    const fn new(host: Host, options: Options) -> Self {
        Self {
            files: Files::new(host),
            options,
        }
    }

    fn edit(&self, input: &Input, cx: &Cx) -> Result<Edited> {
        let workspace = self.files.begin(cx)?;
        let (targets, target_of) = targets(workspace, input)?;
        let _held = lock(&targets, cx)?;
        let mut changes = self.begin(&targets, cx)?;
        let mut counts = vec![0; targets.len()];
        for (index, (edit, at)) in input.edits.iter().zip(target_of).enumerate() {
            if cx.is_cancelled() {
                return Err(Error::cancelled());
            }
            self.make(&mut changes[at], edit, targets[at].path())
                .map_err(|error| error.with("edit", index))?;
            counts[at] += 1;
        }
        replace_all(&changes, cx)?;
        let files = targets.iter().zip(counts).map(|(target, count)| File {
            path: target.path().to_owned(),
            replacements_made: count,
        });
        Ok(Edited {
            files: files.collect(),
            replacements_made: input.edits.len(),
        })
    }

    fn begin<'t>(&self, targets: &'t [Target], cx: &Cx) -> Result<Vec<Change<'t>>> {
        let each = self.options.max_file_bytes;
        let most = each.saturating_mul(MOST_LARGE_FILES);
        let mut size = 0_u64;
        let mut changes = Vec::with_capacity(targets.len());
        for target in targets {
            let change = Change::begin(target, each, cx)?;
            size += change.text().len() as u64;
            if size > most {
                let why = format!(
                    "the files have more than {most} bytes together: edit them in several calls"
                );
                return Err(invalid(target.path(), why));
            }
            changes.push(change);
        }
        Ok(changes)
    }

    fn make(&self, change: &mut Change<'_>, edit: &Edit, path: &str) -> Result<()> {
        let replacement = Replacement {
            old: &edit.old_string,
            new: &edit.new_string,
        };
        let text = replace(path, change.text(), replacement)?;
        let most = self.options.max_file_bytes;
        if text.len() as u64 > most {
            let why = format!(
                "`{path}` would have {} bytes, and may have {most}",
                text.len()
            );
            return Err(invalid(path, why).with("maxFileBytes", most));
        }
        change.set(text);
        Ok(())
    }
}

/// The files, each once however often and by whatever path it is named, and which of them each edit is about.
fn targets(workspace: &Workspace, input: &Input) -> Result<(Vec<Target>, Vec<usize>)> {
    let mut targets: Vec<Target> = Vec::new();
    let mut target_of = Vec::with_capacity(input.edits.len());
    for (index, path) in input.paths().enumerate() {
        let path = path?;
        let known = targets.iter().position(|target| target.path() == path);
        let at = if let Some(at) = known {
            at
        } else {
            let found = workspace
                .place(path)
                .and_then(|place| workspace.target(&place, false))
                .map_err(|error| error.with("edit", index))?;
            let same = targets.iter().position(|target| target.is_same(&found));
            same.unwrap_or_else(|| {
                targets.push(found);
                targets.len() - 1
            })
        };
        target_of.push(at);
    }
    Ok((targets, target_of))
}

impl Tool for MultiEdit {
    type Args = Input;

    async fn execute(&self, input: Input, cx: &Cx) -> Result<Output> {
        Output::json(self.edit(&input, cx)?)
    }

    fn approval_key(&self, input: &Input) -> Result<String> {
        let paths = input.paths().collect::<Result<Vec<_>>>()?;
        self.files.workspace()?.files_key(paths.into_iter())
    }
}

#[cfg(test)]
mod tests;
