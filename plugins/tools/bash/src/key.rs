//! What an approval of a command line covers, and which lines are never run.
//!
//! A person who approves `git` wants to be asked no more about `git status` and `git log`.
//! So the key of a command is its name.
//! That holds for one command that does no more than its name says.
//! `ls; rm -rf ~`, `PATH=. ls`, `ls > .git/hooks/pre-commit` and `find -exec` begin with a harmless name too, and an
//! approval of that name must not reach them.
//! The key of a line with more than one command, an assignment, an expansion, a redirection that writes, or a program
//! that runs others is therefore the line itself, and so is that of a line that is not fully understood.
//!
//! Two readers must agree about a line: the grammar of `stud-shell`, and the narrow one of [`Line`].

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::line::{Line, suspects};

/// The longest key there may be.
const LONGEST: usize = 1024;

/// The approval key of a command line.
pub(crate) fn approval_key(line: &str) -> String {
    // A longer name would be no key, and the whole line has a way to be one.
    name(line)
        .filter(|name| name.len() <= LONGEST)
        .unwrap_or_else(|| whole(line.trim_matches([' ', '\t', '\n'])))
}

/// The name of the only command of a line that an approval of the name may cover.
fn name(line: &str) -> Option<String> {
    let Line::Simple(mut words) = Line::read(line) else {
        return None;
    };
    let commands = stud_shell::read(line)?;
    let [command] = &commands[..] else {
        return None;
    };
    let agree = command.words.iter().map(|word| &word.text).eq(&words);
    let is_plain = command.writes.is_empty() && !stud_shell::runs_others(&command.words);
    (agree && is_plain).then(|| words.swap_remove(0))
}

/// A line as a key.
///
/// A key has no control characters and an end. Where that takes something away from the line, the digest of the line
/// stands behind it: `echo a; b` and the same with a line break in it are two lines, and so have two keys.
fn whole(line: &str) -> String {
    let mut key = line.replace(|letter: char| letter.is_control(), " ");
    if key == line && key.len() <= LONGEST {
        return key;
    }
    let digest = format!("#{}", HEXLOWER.encode(&Sha256::digest(line)));
    let room = LONGEST - digest.len();
    if key.len() > room {
        let end = (0..=room).rev().find(|at| key.is_char_boundary(*at));
        key.truncate(end.unwrap_or(0));
    }
    key + &digest
}

/// The first of `blocked` that a line begins with, or that something in it begins with.
///
/// An entry is a word, or several with a space between them. A command that is named by its path is the same command.
pub(crate) fn blocked<'a>(line: &str, blocked: &'a [String]) -> Option<&'a str> {
    if blocked.is_empty() {
        return None;
    }
    let commands = match Line::read(line) {
        Line::Simple(words) => vec![words],
        Line::Compound => suspects(line),
    };
    let begins = |entry: &str| commands.iter().any(|words| begins_with(words, entry));
    let entries = blocked.iter().map(String::as_str);
    entries
        .filter(|entry| !entry.trim().is_empty())
        .find(|entry| begins(entry))
}

fn begins_with(words: &[String], entry: &str) -> bool {
    let mut entry = entry.split_whitespace();
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let is_named = entry
        .next()
        .is_some_and(|name| first == name || first.rsplit('/').next() == Some(name));
    let mut rest = rest.iter();
    is_named && entry.all(|word| rest.next().is_some_and(|next| next == word))
}

#[cfg(test)]
mod tests;
