//! Command lines on the allowlist.

use std::path::Path;

use stud_shell::{Command, Word, quoted, read, runs_others};

use super::{SHELL, fits, fits_path, what_of};
use crate::approvals::Asked;
use crate::settings::entry::Entry;

/// The tool that writes files: its entries say where commands may send their output.
const WRITER: &str = "write";

/// Whether every command of a line is on the list, and every file it writes.
pub(super) fn allowed(entries: &[Entry<'_>], asked: Asked<'_>) -> bool {
    let listed: Vec<&str> = what_of(entries, SHELL).collect();
    if listed.is_empty() {
        return false;
    }
    let Some(commands) = asked.text("command").and_then(read) else {
        return false;
    };
    let stays = stays(&commands, asked);
    let writers: Vec<&str> = what_of(entries, WRITER).collect();
    let may_write = |file: &Word| {
        let file = file.text.strip_prefix("./").unwrap_or(&file.text);
        let is_listed = |what: &&str| *what == "*" || fits_path(what, file);
        stays && writers.iter().any(is_listed) && is_plainly_inside(asked.workspace, file)
    };
    commands.iter().all(|command| {
        command.writes.iter().all(may_write) && listed.iter().any(|what| is_listed(what, command))
    })
}

/// One entry for each command of a line, and for each file it writes. None for a line that is not fully understood.
pub(super) fn wanted(asked: Asked<'_>) -> Vec<String> {
    let commands = asked.text("command").and_then(read).unwrap_or_default();
    let mut entries = Vec::new();
    for command in &commands {
        entries.push(format!("{SHELL}({})", quoted(&command.words)));
        let files = command.writes.iter();
        entries.extend(files.map(|file| format!("{WRITER}({})", file.text)));
    }
    entries.sort_unstable();
    entries.dedup();
    entries
}

/// Whether the line runs where paths of entries start from, and goes nowhere else on its way.
fn stays(commands: &[Command], asked: Asked<'_>) -> bool {
    let moves = |command: &Command| matches!(&*command.words[0].text, "cd" | "pushd" | "popd");
    let begins_here = asked.text("cwd").is_none_or(|folder| folder == ".");
    begins_here && !commands.iter().any(moves)
}

/// Whether a file lies in the workspace without any link on the way, and decides nothing about later calls.
fn is_plainly_inside(workspace: Option<&Path>, file: &str) -> bool {
    let Some(workspace) = workspace else {
        return false;
    };
    if file.starts_with(['/', '~']) || file.split('/').any(is_kept) {
        return false;
    }
    let mut at = workspace.to_owned();
    for name in file.split('/') {
        at.push(name);
        match std::fs::symlink_metadata(&at) {
            Ok(found) if found.is_symlink() => return false,
            Ok(_) => {}
            // What is not there yet is no link; what cannot be looked at may be one.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return true,
            Err(_) => return false,
        }
    }
    true
}

/// Names that decide over later calls, or that only seem to be inside.
fn is_kept(name: &str) -> bool {
    name == ".." || name.eq_ignore_ascii_case(".stud") || name.eq_ignore_ascii_case(".git")
}

/// Whether an entry fits a command, word by word. A star that is the last word is any number of words, and one within a
/// word any run of letters, unless it is quoted.
fn is_listed(what: &str, command: &Command) -> bool {
    if what == "*" {
        return true;
    }
    let Some(entry) = read(what).filter(|entry| entry.len() == 1 && entry[0].writes.is_empty())
    else {
        return false;
    };
    let mut words = &entry[0].words[..];
    let is_open = words
        .last()
        .is_some_and(|last| last.text == "*" && last.is_pattern);
    if is_open {
        words = &words[..words.len() - 1];
    }
    let (has, wants) = (command.words.len(), words.len());
    if has < wants || has > wants && !is_open {
        return false;
    }
    let fits_word = |(pattern, word): (&Word, &Word)| {
        if pattern.is_pattern {
            fits(&pattern.text, &word.text)
        } else {
            pattern.text == word.text
        }
    };
    // A star does not stand for what makes a harmless program run another one; an entry that names it does.
    words.iter().zip(&command.words).all(fits_word)
        && (!runs_others(&command.words) || runs_others(words))
}
