//! Words that were meant as a verb of `stud` and would otherwise be sent to a model as a prompt.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _};
use stud_core::did_you_mean::slip;

use super::Cli;

/// Nouns that are verbs of other programs, and what does the same here. They may have an action behind them.
const NOUNS: &[(&str, &str)] = &[
    ("agents", "`stud plugin list` shows what is loaded"),
    ("auth", "`stud setup` chooses the model and its key"),
    (
        "config",
        "`stud doctor` shows every setting and its file, and `stud setup` chooses the model",
    ),
    ("extensions", "`stud plugin list` shows what is loaded"),
    ("history", "`stud sessions list` shows what was said"),
    (
        "mcp",
        "servers are named in `~/.stud/mcp.json`; in a session, `/trust` and `/tools` are about them too",
    ),
    ("models", "`stud setup` chooses the model"),
    (
        "permissions",
        "`stud grants list` shows what tools may always do",
    ),
    ("plugins", "`stud plugin list` shows what is loaded"),
    ("providers", "`stud setup` chooses the provider"),
    (
        "settings",
        "`stud doctor` shows every setting and its file, and `stud setup` chooses the model",
    ),
    ("tools", "`stud plugin list` shows what is loaded"),
];

/// Verbs of other programs, and what does the same here. Words behind one make an ordinary prompt, as in `run test`.
const VERBS: &[(&str, &str)] = &[
    ("chat", "`stud` alone begins a session"),
    ("configure", "`stud setup` chooses the model and its key"),
    ("continue", "`stud --continue` resumes the last session"),
    ("exec", "`stud --headless PROMPT` gives one answer"),
    ("init", "`stud setup` chooses the model and its key"),
    ("install", "`stud plugin --help` says what plugins take"),
    ("login", "`stud setup` chooses the model and its key"),
    ("logout", "`stud setup` chooses the model and its key"),
    ("resume", "`stud --resume SESSION` resumes a session"),
    ("run", "`stud --headless PROMPT` gives one answer"),
    (
        "serve",
        "there is no server; `stud --headless --json PROMPT` answers programs",
    ),
    (
        "status",
        "`stud doctor` shows settings, plugins and problems",
    ),
    ("uninstall", "`stud plugin --help` says what plugins take"),
    (
        "update",
        "stud does not update itself; `stud --version` shows which one this is",
    ),
    (
        "upgrade",
        "stud does not update itself; `stud --version` shows which one this is",
    ),
    ("version", "`stud --version` shows it"),
];

/// Words that follow a verb of the command line.
const ACTIONS: &[&str] = &[
    "add", "check", "delete", "disable", "edit", "enable", "export", "get", "info", "install",
    "list", "login", "logout", "ls", "new", "path", "prune", "remove", "rm", "set", "show",
    "start", "status", "stop", "test", "update", "verify",
];

/// A verb, an action, and what it is done to.
const MOST_WORDS: usize = 3;

impl Cli {
    /// Words that name a verb which does not exist: one word that is a verb but for a slip or is a verb elsewhere, or
    /// such a word with an action behind it, as in `plugins list`.
    ///
    /// `--headless` and `--json` say that a prompt follows, so nothing is held against one there.
    pub(crate) fn mistyped_verb(&self) -> Option<clap::Error> {
        if self.converse.headless || self.json || self.verb.is_some() {
            return None;
        }
        let words = &self.converse.prompt;
        let command = Self::command();
        let verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let tip = tip(words, &verbs)?;
        let mut error = clap::Error::new(ErrorKind::InvalidSubcommand).with_cmd(&command);
        let first = words.first()?.clone();
        error.insert(ContextKind::InvalidSubcommand, ContextValue::String(first));
        let quoted = words.join(" ").replace('\'', r"'\''");
        let tips = vec![
            StyledStr::from(tip),
            StyledStr::from(format!(
                "to say it to the model: stud --headless '{quoted}'"
            )),
        ];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        Some(error)
    }
}

/// What to use instead of these words; none if they are a prompt.
fn tip(words: &[String], verbs: &[&str]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let is_bare = first.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'-'));
    let is_action = |word: &String| ACTIONS.contains(&word.as_str());
    let is_command = rest.first().is_none_or(is_action) && words.len() <= MOST_WORDS;
    if !is_bare || !is_command {
        return None;
    }
    let known = |table: &[(&str, &'static str)]| {
        let entry = table.iter().find(|(word, _)| word == first);
        entry.map(|(_, tip)| *tip)
    };
    if let Some(tip) = known(VERBS) {
        return rest.is_empty().then(|| tip.to_owned());
    }
    if let Some(tip) = known(NOUNS) {
        return Some(tip.to_owned());
    }
    let meant = slip(first, verbs.iter().copied())?;
    Some(format!("the nearest is `stud {meant}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        tip(&words, &["doctor", "plugin", "sessions", "setup"])
    }

    #[test]
    fn what_looks_like_a_verb_is_told_what_to_use() {
        for (line, named) in [
            ("config", "stud doctor"),
            ("config set model", "stud setup"),
            ("mcp list", "mcp.json"),
            ("mcp", "mcp.json"),
            ("serve", "stud --headless --json"),
            ("plugins list", "stud plugin list"),
            ("sesions list", "stud sessions"),
            ("docotr", "stud doctor"),
        ] {
            let tip = told(line);
            assert!(tip.is_some_and(|tip| tip.contains(named)), "{line}");
        }
    }

    #[test]
    fn a_prompt_is_left_alone() {
        for line in [
            "config files are broken, why?",
            "config list is broken, why?",
            "mcp servers",
            "serve the docs folder",
            "run test",
            "update list of names",
            "install info",
            "man",
            "acp",
            "hello",
            "Config",
        ] {
            assert_eq!(told(line), None, "{line}");
        }
    }
}
