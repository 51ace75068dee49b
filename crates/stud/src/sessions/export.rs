//! `stud sessions export`: a session as a document.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use stud_core::platform::{self, Durability};
use stud_core::session::archive::{messages, records, summarize};
use stud_core::stored_sessions::StoredSessions;
use stud_diagnostics::{Diagnostic, codes};

use super::list;
use super::speech::{Speech, conversation};
use crate::cli::ExportFormat;
use crate::output::{Outcome, Output, Verdict, escaped, told};

pub(super) fn run(
    shelf: &StoredSessions,
    word: &str,
    format: Option<ExportFormat>,
    file: Option<&Path>,
    output: &Output,
) -> Verdict {
    let id = shelf.find(word)?;
    let format = match format {
        Some(format) => format,
        None if output.is_json() => ExportFormat::Json,
        None => ExportFormat::Markdown,
    };
    let text = match format {
        ExportFormat::Markdown => markdown(shelf, &id)?,
        ExportFormat::Json => escaped(&document(shelf, &id)?.to_string()) + "\n",
    };
    match file {
        None => {
            output.words(text.trim_end_matches('\n'));
        }
        Some(file) => {
            write(file, &text)?;
            if output.is_json() {
                output.document(&json!({"sessionId": id, "file": file.to_string_lossy()}))?;
            }
        }
    }
    Ok(Outcome::Done)
}

fn document(shelf: &StoredSessions, id: &str) -> Result<Value, Diagnostic> {
    let store = &**shelf.store();
    let summary = summarize(id, store).map_err(told)?;
    let mut document = json!({
        "session": list::document(&summary, shelf.is_running(id)),
        "messages": messages(id, store).map_err(told)?,
    });
    if store.journals() {
        let records: Result<Vec<_>, _> = records(id, store).collect();
        document["records"] = json!(records.map_err(told)?);
    }
    Ok(document)
}

fn markdown(shelf: &StoredSessions, id: &str) -> Result<String, Diagnostic> {
    let summary = summarize(id, &**shelf.store()).map_err(told)?;
    let project = summary.project_root.parent();
    let project = project.unwrap_or(&summary.project_root).display();
    let mode = json!(summary.mode);
    let mut text = format!(
        "# Session {id}\n\n- project: `{project}`\n- begun: {}\n- mode: {}\n",
        summary.created_at,
        mode.as_str().unwrap_or_default()
    );
    for speech in conversation(shelf, id).map_err(told)? {
        add(&mut text, &speech.map_err(told)?);
    }
    Ok(text)
}

fn add(text: &mut String, speech: &Speech) {
    let Speech {
        who, text: said, ..
    } = speech;
    let seq = speech
        .seq
        .map_or_else(String::new, |seq| format!(" (#{seq})"));
    // Writing to a string cannot fail.
    let _ = if speech.is_data {
        let fence = fence(said);
        write!(text, "\n## {who}{seq}\n\n{fence}json\n{said}\n{fence}\n")
    } else {
        write!(text, "\n## {who}{seq}\n\n{said}\n")
    };
}

/// A fence that nothing inside can close.
fn fence(inside: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for character in inside.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(3.max(longest + 1))
}

/// A regular file is replaced as a whole; a pipe or a device is written to.
fn write(file: &Path, text: &str) -> Result<(), Diagnostic> {
    let special = std::fs::metadata(file).is_ok_and(|found| !found.is_file());
    let written = if special {
        std::fs::write(file, text)
    } else {
        platform::replace_file(file, text.as_bytes(), 0o600, Durability::Written)
    };
    written.map_err(|error| {
        let message = format!("the session cannot be written there: {error}");
        Diagnostic::error(&codes::STARTUP_FAILURE, message)
            .file(file)
            .help("name another file with `-o`")
    })
}

#[cfg(test)]
mod tests {
    use super::fence;

    #[test]
    fn no_result_ends_its_own_fence() {
        assert_eq!(fence("a `b` c"), "```");
        assert_eq!(fence("````rust\n````"), "`````");
    }
}
