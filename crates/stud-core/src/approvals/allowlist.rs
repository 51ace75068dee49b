//! Entries that name a tool and what it may do without a question.
//!
//! ```text
//! bash(git status)    this command
//! bash(cargo test *)  this beginning of a command, with anything after it
//! read(docs/**)       files below a folder
//! web-fetch(docs.rs)  this approval key
//! mcp:server:tool     a tool of an MCP server
//! tool(*)             every call of a tool; for `bash`, every line that is fully understood
//! ```

use serde_json::Value;
use stud_contract_tool::{ApprovalCoverage, keys};

use super::Asked;
use crate::did_you_mean::nearest;
use crate::settings::entry::{self, Entry, SHELL};

mod command;

/// What stands before the name of each tool of an MCP server.
const REMOTE: &str = "mcp__";

/// Entries in byte order, each once. What is no entry was refused with the settings, and matches nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowlist(Vec<String>);

impl Allowlist {
    /// The union of what all scopes list.
    pub fn of(entries: impl IntoIterator<Item = String>) -> Self {
        let mut entries: Vec<String> = entries.into_iter().collect();
        entries.sort_unstable();
        entries.dedup();
        Self(entries)
    }

    /// All entries.
    pub fn patterns(&self) -> &[String] {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the entries let a call run.
    pub fn allows(&self, asked: Asked<'_>) -> bool {
        if self.is_empty() {
            return false;
        }
        let entries: Vec<Entry<'_>> = self.0.iter().filter_map(|text| entry::read(text)).collect();
        if asked.tool == SHELL {
            return command::allowed(&entries, asked);
        }
        let is_remote = |entry: &Entry<'_>| match entry {
            Entry::Remote(pattern) => asked.tool.starts_with(REMOTE) && fits(pattern, asked.key),
            Entry::Tool { .. } => false,
        };
        if entries.iter().any(is_remote) {
            return true;
        }
        let of_tool: Vec<&str> = what_of(&entries, asked.tool).collect();
        let is_listed = |path: &str| of_tool.iter().any(|what| fits_path(what, path));
        of_tool.contains(&"*")
            || match asked.coverage {
                ApprovalCoverage::Exact => of_tool.iter().any(|what| fits(what, asked.key)),
                ApprovalCoverage::Path | ApprovalCoverage::PathSet => {
                    paths(asked).iter().all(|path| is_listed(path))
                }
            }
    }

    /// The entry that comes nearest to allowing a call.
    pub fn near(&self, asked: Asked<'_>) -> Option<&str> {
        let wanted = wanted(asked);
        let is_of_tool = |text: &&str| matches!(entry::read(text), Some(Entry::Tool { tool, .. }) if tool == asked.tool);
        let entries = || self.0.iter().map(String::as_str);
        let near = wanted.iter().find_map(|wanted| nearest(wanted, entries()));
        near.or_else(|| entries().find(is_of_tool))
    }
}

/// The narrowest entries that together let a call run. None if no entries could.
pub fn wanted(asked: Asked<'_>) -> Vec<String> {
    let tool = asked.tool;
    let entries = match asked.coverage {
        _ if tool == SHELL => command::wanted(asked),
        _ if tool.starts_with(REMOTE) && asked.key.starts_with("mcp:") => {
            vec![asked.key.to_owned()]
        }
        ApprovalCoverage::Exact => vec![format!("{tool}({})", asked.key)],
        ApprovalCoverage::Path | ApprovalCoverage::PathSet => paths(asked)
            .iter()
            .map(|path| format!("{tool}({path})"))
            .collect(),
    };
    // What is said to help must help.
    let does_help = |entries: &Vec<String>| Allowlist::of(entries.clone()).allows(asked);
    let all = || vec![format!("{tool}(*)")];
    let narrow = Some(entries).filter(does_help);
    narrow
        .or_else(|| Some(all()).filter(does_help))
        .unwrap_or_default()
}

/// What the entries say a tool may do.
fn what_of<'a>(entries: &[Entry<'a>], wanted: &str) -> impl Iterator<Item = &'a str> {
    entries.iter().filter_map(move |entry| match entry {
        Entry::Tool { tool, what } if *tool == wanted => Some(*what),
        _ => None,
    })
}

impl<'a> Asked<'a> {
    fn text(&self, member: &str) -> Option<&'a str> {
        self.args?.get(member)?.as_str()
    }
}

/// The files that a call is about, where the keys were made of their folders; the keys otherwise.
fn paths(asked: Asked<'_>) -> Vec<String> {
    let keys: Vec<&str> = keys(asked.coverage, asked.key).collect();
    let edits = asked.args.and_then(|args| args.get("edits"));
    let edits = edits.and_then(Value::as_array).into_iter().flatten();
    let named = edits.map(|edit| edit.get("path").and_then(Value::as_str));
    let mut given: Vec<Option<&str>> = named
        .map(|path| path.or_else(|| asked.text("path")))
        .collect();
    if given.is_empty() {
        given.push(asked.text("path"));
    }
    let files: Option<Vec<String>> = given
        .into_iter()
        .map(|path| Some(plain(path?)?).filter(|path| is_of(path, &keys)))
        .collect();
    let covers_all = |files: &Vec<String>| {
        let is_there = |key: &&str| files.iter().any(|path| is_of(path, &[*key]));
        keys.iter().all(is_there)
    };
    files
        .filter(covers_all)
        .unwrap_or_else(|| keys.into_iter().map(str::to_owned).collect())
}

/// Whether one of the keys is a path or its folder.
fn is_of(path: &str, keys: &[&str]) -> bool {
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    keys.iter().any(|key| *key == path || *key == folder)
}

/// A path in the form that patterns are written in; nothing for one that may lead out of the workspace.
fn plain(given: &str) -> Option<String> {
    let leads_out = given.starts_with(['/', '~']) || given.split('/').any(|part| part == "..");
    let parts = given
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect::<Vec<_>>();
    (!leads_out && !parts.is_empty()).then(|| parts.join("/"))
}

/// Whether a pattern fits a path: `*` stays within a name, `**` is any number of names.
fn fits_path(pattern: &str, path: &str) -> bool {
    if path.split('/').any(|part| part == "..") {
        return false;
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = match path {
        "." => Vec::new(),
        path => path.split('/').collect(),
    };
    fits_names(&pattern, &path)
}

fn fits_names(pattern: &[&str], path: &[&str]) -> bool {
    // For each number of names of the path: whether the pattern so far fits exactly these.
    let mut fitted = vec![false; path.len() + 1];
    fitted[0] = true;
    for name in pattern {
        let mut next = vec![false; path.len() + 1];
        for at in 0..=path.len() {
            if *name == "**" {
                next[at] = fitted[at] || at > 0 && next[at - 1];
            } else if at > 0 {
                next[at] = fitted[at - 1] && fits(name, path[at - 1]);
            }
        }
        fitted = next;
    }
    fitted[path.len()]
}

/// Whether a pattern fits a whole text. Linear in both: after a star only the next literal piece matters.
fn fits(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        // Without a star the whole pattern is the first piece.
        return rest.is_empty();
    };
    for piece in pieces {
        let Some(place) = rest.find(piece) else {
            return false;
        };
        rest = &rest[place + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests;
