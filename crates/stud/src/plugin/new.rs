//! `stud plugin new`: a crate that builds, with a test that passes.

mod names;
mod sdk;
mod layout;
mod staging;

use std::path::{Path, PathBuf};

use serde_json::json;
use stud_contract_meta::{ExtId, Kind};
use stud_diagnostics::{Diagnostic, codes, printable};

use crate::cli::New;
use crate::output::{Outcome, Output, Verdict};

pub(crate) fn run(asked: &New, output: &Output) -> Verdict {
    let id = ExtId::parse(&asked.id).map_err(|_| wrong_id(&asked.id))?;
    let parent = asked.path.as_deref().unwrap_or(Path::new(""));
    let folder = absolute(&parent.join(id.as_str()))?;
    staging::check_free(&folder)?;
    if asked.role.is_some() && asked.kind != Kind::Ui {
        return Err(role_of_no_ui(asked.kind));
    }
    let sdk = sdk::choose(asked.sdk.as_deref())?;
    let plugin = layout::plugin(&id, asked.kind, asked.role, &sdk.dependency);
    staging::write(&folder, &plugin.files)?;

    let mut files: Vec<&str> = plugin.files.iter().map(|file| file.path).collect();
    files.sort_unstable();
    if output.is_json() {
        output.document(&json!({
            "path": folder.to_string_lossy(),
            "extId": id,
            "kind": asked.kind,
            "files": files,
            "sdk": {"kind": sdk.kind, "source": sdk.source},
        }))?;
    } else {
        let kind = asked.kind;
        output.line(format!("made the {kind} `{id}` of {}", files.join(", ")));
        output.line(format!("its `stud-sdk` is {}", printable(&sdk.told())));
        let place = folder.to_string_lossy();
        output.line(format!("\nNext, in {}:", printable(&place)));
        for command in plugin.next {
            output.line(format!("  {command}"));
        }
    }
    Ok(Outcome::Done)
}

fn role_of_no_ui(kind: Kind) -> Diagnostic {
    let message = format!("`--role` is for UIs, and this is a {kind}");
    Diagnostic::error(&codes::SHAPE_INVALID, message)
        .field("/roles")
        .help("add `--kind ui`, or leave `--role` out")
}

/// The id is the one member of the manifest that is chosen here.
fn wrong_id(id: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        &codes::SHAPE_INVALID,
        format!("`{id}` cannot be the id of a plugin"),
    )
    .field("/extId")
    .with("asked", id)
    .note("an id is lower-case letters, digits and `-`, starts with a letter or digit and has at most 64 characters");
    match names::nearest_id(id) {
        Some(near) => diagnostic.help(format!("`{near}` would do")),
        None => diagnostic.help("choose an id such as `line-count`"),
    }
}

fn absolute(folder: &Path) -> Result<PathBuf, Diagnostic> {
    std::path::absolute(folder).map_err(|error| staging::unwritable(folder, &error))
}
