//! One entry of an allowlist, as it is written.

use std::path::Path;

use serde_json::Value;
use stud_diagnostics::{Diagnostic, codes};

/// The tool whose calls are command lines.
pub const SHELL: &str = "bash";

/// Tools that stud carries. The name of one is an entry for all of its calls; any other word alone could be a command.
const BUNDLED: [&str; 14] = [
    "ask-user",
    "bash",
    "catalog",
    "context-compaction",
    "delegate",
    "diff",
    "edit",
    "glob",
    "grep",
    "list",
    "multi-edit",
    "read",
    "web-fetch",
    "write",
];

/// What an entry allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry<'a> {
    /// What one tool may do.
    Tool {
        /// The tool.
        tool: &'a str,
        /// What it may do; `*` for everything.
        what: &'a str,
    },
    /// Tools of an MCP server, by the pattern of their approval keys.
    Remote(&'a str),
}

/// Why a text is no entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryFlaw {
    /// What is wrong with it, after the entry itself.
    pub what: &'static str,
    /// An entry that was probably meant.
    pub meant: String,
}

/// Reads `tool(what)`, the name of a bundled tool, or `mcp:server:tool`. Gives nothing for what names no tool.
pub fn read(text: &str) -> Option<Entry<'_>> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("mcp:") {
        let (server, tool) = rest.split_once(':')?;
        let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
        return (is_name(server) && is_name(tool)).then_some(Entry::Remote(text));
    }
    if BUNDLED.contains(&text) {
        return Some(Entry::Tool {
            tool: text,
            what: "*",
        });
    }
    let (tool, what) = text.strip_suffix(')')?.split_once('(')?;
    let is_letter =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let is_tool = !tool.is_empty() && tool.chars().all(is_letter);
    let what = what.trim();
    (is_tool && !what.is_empty()).then_some(Entry::Tool { tool, what })
}

/// Why a text cannot be an entry of an allowlist; nothing if it can.
pub fn entry_flaw(text: &str) -> Option<EntryFlaw> {
    let Some(entry) = read(text) else {
        return Some(EntryFlaw {
            what: "names no tool, and so allows nothing",
            meant: meant(text),
        });
    };
    let Entry::Tool { tool: SHELL, what } = entry else {
        return None;
    };
    match stud_shell::read(what).as_deref() {
        _ if what == "*" => None,
        Some([command]) if command.writes.is_empty() => None,
        Some([_]) => Some(EntryFlaw {
            what: "redirects its output: an entry for `write` says which files commands may write",
            meant: "write(out/**)".to_owned(),
        }),
        Some([first, ..]) => Some(EntryFlaw {
            what: "is more than one command: each command of a line has an entry of its own",
            meant: format!("{SHELL}({})", stud_shell::quoted(&first.words)),
        }),
        _ => Some(EntryFlaw {
            what: "is not one plain command, without assignments, substitutions and other expansions",
            meant: "bash(git status)".to_owned(),
        }),
    }
}

/// The entry that was probably meant by one of the old form, which had no tool.
fn meant(text: &str) -> String {
    let text = text.trim();
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let meant = match text {
        _ if text.contains('/') && !text.contains(' ') => format!("read({text})"),
        _ if !text.is_empty() && text.chars().all(is_word) => format!("{SHELL}({text} *)"),
        _ => format!("{SHELL}({})", text.replace(['(', ')'], "")),
    };
    match entry_flaw(&meant) {
        None if text != "*" => meant,
        _ => "bash(git status)".to_owned(),
    }
}

/// An entry that cannot be understood says nothing about what may run.
pub(super) fn check<'a>(
    path: &Path,
    pointer: &str,
    entries: impl Iterator<Item = &'a Value>,
) -> Result<(), Diagnostic> {
    for (at, text) in entries.filter_map(Value::as_str).enumerate() {
        if let Some(flaw) = entry_flaw(text) {
            let message = format!("`{text}` {}", flaw.what);
            let wrong = Diagnostic::error(&codes::ALLOWLIST_ENTRY_INVALID, message);
            return Err(wrong
                .file(path)
                .field(format!("{pointer}/{at}"))
                .with("path", path.display().to_string())
                .with("entry", text)
                .help(format!(
                    "name the tool and what it may do, such as `{}`",
                    flaw.meant
                )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_names_a_tool() {
        let tool = |tool, what| Some(Entry::Tool { tool, what });
        assert_eq!(read("bash(git log *)"), tool("bash", "git log *"));
        assert_eq!(read("bash(echo (a))"), tool("bash", "echo (a)"));
        assert_eq!(read("read"), tool("read", "*"));
        assert_eq!(read("fx_gate(a key)"), tool("fx_gate", "a key"));
        assert_eq!(read("mcp:s:t"), Some(Entry::Remote("mcp:s:t")));
        for text in [
            "", "*", "git *", "git", "bash()", "(x)", "bash(x", "mcp:s", "mcp::t", "a b(c)",
            "src/**",
        ] {
            assert_eq!(read(text), None, "{text}");
            assert!(entry_flaw(text).is_some(), "{text}");
        }
    }

    #[test]
    fn an_entry_for_commands_is_one_plain_command() {
        for text in [
            "bash",
            "bash(*)",
            "bash(git *)",
            "bash(find . -exec *)",
            "bash(grep 'a b' *.rs)",
        ] {
            assert_eq!(entry_flaw(text), None, "{text}");
        }
        for text in [
            "bash(a; b)",
            "bash(a | b)",
            "bash(A=1 b)",
            "bash(echo $HOME)",
            "bash(ls > x)",
            "bash(ls &)",
            "bash(git*)",
            "bash((ls))",
            "bash('ls)",
        ] {
            assert!(entry_flaw(text).is_some(), "{text}");
        }
    }

    #[test]
    fn what_is_suggested_is_an_entry() {
        for text in [
            "",
            "*",
            "git *",
            "src/**",
            "ls",
            "a (b",
            "npm run x",
            "a; b",
            "$(x)",
            "bash(a; b)",
        ] {
            let meant = entry_flaw(text).unwrap().meant;
            assert_eq!(entry_flaw(&meant), None, "{text}: {meant}");
        }
        assert_eq!(meant("git *"), "bash(git *)");
        assert_eq!(meant("ls"), "bash(ls *)");
    }
}
