//! The words of the command line.

mod mistyped;
mod sessions;
mod usage;

pub(crate) use sessions::{ExportFormat, SessionsVerb};
pub(crate) use usage::{explain_usage, read, refuse_flag};

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand};
use serde_json::Value;
use stud_contract_meta::Kind;
use stud_core::audit::moment;
use stud_core::session::SecurityMode;

/// A plugin host for coding assistants.
///
/// Without a verb, `stud` begins a session: what you type is answered, and tools ask before they act.
/// Plugins are dynamic libraries below `~/.stud/<category>/` or, once a project is trusted, below `.stud/<category>/`.
/// Each is checked before any of its code runs; what fails is refused with a `Class/Code` that `stud explain` explains.
#[derive(Debug, Parser)]
#[command(
    name = "stud",
    version,
    args_conflicts_with_subcommands = false,
    args_override_self = true,
    arg_required_else_help = false
)]
#[command(after_help = "Examples:\n  \
    stud                                  talk, in this terminal\n  \
    stud --headless 'what is in src/?'    one answer, for scripts\n  \
    git diff | stud -p 'review this'      the same with text from a pipe\n  \
    stud --headless --json 'hello'        the answer as a stream of JSON lines\n  \
    stud --continue                       go on where the last session ended\n  \
    stud setup                            choose the model that answers\n  \
    stud doctor                           what is set, what runs, and what is wrong\n  \
    stud sessions list                    what was said, newest first\n  \
    stud plugin new line-count            start a plugin\n  \
    stud plugin check target/debug/libline_count.so\n  \
    stud plugin list                      what is loaded, and what was refused\n  \
    stud explain UIRoleHandlerMissing     what a refusal means and how to mend it\n  \
    stud audit verify                     whether any session's record was changed\n\n\
    Exit status: 0 done, 1 failed or refused, 2 wrong usage, 3 somebody had to be asked, 130 called off.")]
pub(crate) struct Cli {
    /// Print JSON for programs instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) converse: Converse,

    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// What `stud` without a verb takes: it begins a session.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own on the command line"
)]
pub(crate) struct Converse {
    /// What to say first. With `--headless` it is the only input; text that is piped in is added to it.
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// Use no terminal: one input, and its answer on standard output.
    #[arg(short = 'p', long)]
    pub(crate) headless: bool,
    /// Approve every tool call in advance. Guards still run.
    #[arg(long)]
    pub(crate) yolo: bool,
    /// How tool calls are gated: `ask`, `yolo` or `allowlist`.
    #[arg(long, value_name = "MODE", allow_hyphen_values = true, value_parser = mode_of)]
    pub(crate) mode: Option<SecurityMode>,
    /// Let these calls run unasked in this run, such as `bash(git status)`; may be given several times.
    #[arg(long = "allow-tool", value_name = "PATTERN", allow_hyphen_values = true, value_parser = allow_of)]
    pub(crate) allow_tools: Vec<String>,
    /// Go on with the session that was used last.
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) continue_: bool,
    /// Go on with this session; the beginning of its id is enough.
    #[arg(short = 'r', long, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
    /// Begin with this state machine.
    #[arg(long, value_name = "ID", allow_hyphen_values = true, value_parser = machine_of)]
    pub(crate) sm: Option<String>,
    /// Set a parameter of the provider, such as `temperature=0.2`; may be given several times.
    #[arg(long = "param", value_name = "PATH=VALUE", allow_hyphen_values = true, value_parser = param_of)]
    pub(crate) params: Vec<(String, Value)>,
    /// Do not start when a plugin was refused.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Use only the plugins that stud carries: none of yours and none of the project's.
    #[arg(long)]
    pub(crate) safe_mode: bool,
    /// Keys are never given on the command line, where every process can read them.
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "", value_parser = refuse_key)]
    pub(crate) api_key: Option<String>,
}

/// The words of [`param_of`]'s error, by which its code is found.
const NO_PARAM: &str = "write it as path=value";

/// The words of the error for a value that is the next flag, by which its code is found.
const NO_VALUE: &str = "a value is needed, and this is the next flag";

/// The words of [`refuse_key`]'s error, by which its code is found.
const NO_KEY: &str = "name the key in settings as `apiKeyRef`, such as {\"kind\": \"env\", \"name\": \"OPENAI_API_KEY\"}";

/// A value may begin with a dash, and a flag begins with two.
fn is_value(word: &str) -> Result<(), String> {
    if word.starts_with("--") {
        return Err(NO_VALUE.to_owned());
    }
    Ok(())
}

/// A value is JSON if it reads as JSON, and a text otherwise.
fn param_of(word: &str) -> Result<(String, Value), String> {
    is_value(word)?;
    match word.split_once('=') {
        Some((path, value)) if !path.is_empty() => {
            let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            Ok((path.to_owned(), value))
        }
        _ => Err(NO_PARAM.to_owned()),
    }
}

fn refuse_key(_: &str) -> Result<String, String> {
    Err(NO_KEY.to_owned())
}

fn machine_of(word: &str) -> Result<String, String> {
    is_value(word)?;
    Ok(word.to_owned())
}

fn allow_of(word: &str) -> Result<String, String> {
    is_value(word)?;
    match stud_core::settings::entry_flaw(word) {
        None => Ok(word.to_owned()),
        Some(flaw) => Err(format!(
            "it {}; name the tool and what it may do, such as `{}`",
            flaw.what, flaw.meant
        )),
    }
}

fn mode_of(word: &str) -> Result<SecurityMode, String> {
    is_value(word)?;
    match word {
        "ask" => Ok(SecurityMode::Ask),
        "yolo" => Ok(SecurityMode::Yolo),
        "allowlist" => Ok(SecurityMode::Allowlist),
        _ => Err("it is `ask`, `yolo` or `allowlist`".to_owned()),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Choose the provider and the model that answer, and say where the key is.
    ///
    /// Asks for the provider, how it comes by its key, a name for it, the key or the variable that holds it, the model
    /// and the address. Nothing is written before the last answer. Answers may come from a pipe, one on each line.
    Setup,
    /// Show every setting with its file, every plugin with its state, and everything that is wrong.
    ///
    /// Connects to nothing. In a project that is not trusted, nothing of it is looked at.
    #[command(after_help = "Exit status: 0 nothing is wrong, 1 something is, 2 wrong usage.")]
    Doctor,
    /// List, show, fork and export sessions.
    #[command(subcommand)]
    Sessions(SessionsVerb),
    /// List, inspect, check, start and pin plugins.
    #[command(subcommand)]
    Plugin(PluginVerb),
    /// Explain a `Class/Code`.
    Explain(Explain),
    /// Trust this project's `.stud` folder, or take the trust back.
    Trust(Trust),
    /// List or take back what tools are always allowed to do in this project.
    ///
    /// A yes that was given for the project holds in every later session, until it is taken back here.
    #[command(subcommand)]
    Grants(GrantsVerb),
    /// Check and show what sessions put on record.
    ///
    /// Every session has an audit trail: one record for each decision and each act, in
    /// `~/.stud/sessions/<id>/audit/trail.jsonl`. A record holds the hash of the one before it, so a change shows.
    #[command(subcommand)]
    Audit(AuditVerb),
    /// Print a script that completes words of `stud` in a shell.
    #[command(after_help = "Examples:\n  \
        stud completions bash > ~/.local/share/bash-completion/completions/stud\n  \
        stud completions zsh > ~/.zfunc/_stud\n  \
        stud completions fish > ~/.config/fish/completions/stud.fish")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrantsVerb {
    /// Show every grant of this project.
    List,
    /// Take grants back: all of a tool, or only the one for a key.
    #[command(after_help = "Examples:\n  \
        stud grants revoke bash               every grant of the tool `bash`\n  \
        stud grants revoke bash git           only the one for `git`\n  \
        stud grants revoke --all")]
    Revoke {
        /// The tool.
        #[arg(required_unless_present = "all")]
        tool: Option<String>,
        /// The key, as `stud grants list` shows it.
        key: Option<String>,
        /// Every grant of the project.
        #[arg(long, conflicts_with = "tool")]
        all: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditVerb {
    /// Check that a trail is the one that was written, or say at which line it is not.
    ///
    /// Edits, removals, insertions and another order are found. Records cut off the end leave nothing that could be
    /// missed: note the last hash now and then, somewhere else, and give it with `--expect`.
    #[command(after_help = "Examples:\n  \
        stud audit verify                     every session\n  \
        stud audit verify 0192f0c1            the session whose id begins with this\n  \
        stud audit verify 0192f0c1 --expect 9f86d081884c7d65…\n\n\
        Exit status: 0 every trail is whole, 1 one is not, 2 wrong usage.")]
    Verify(AuditVerify),
    /// Show the records of a session, oldest first.
    ///
    /// Criteria are combined: only records that fit them all are shown. With `--json`, each record is one line.
    #[command(after_help = "Examples:\n  \
        stud audit show 0192f0c1\n  \
        stud audit show 0192f0c1 --class Approval\n  \
        stud audit show 0192f0c1 --since 2026-01-05T09:30:00Z --json")]
    Show(AuditShow),
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerify {
    /// The session's id, or the beginning of it; every session without one.
    pub(crate) session: Option<String>,
    /// A hash noted earlier, which a record of the trail must have.
    #[arg(long, value_name = "HASH", requires = "session", value_parser = hash_of)]
    pub(crate) expect: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AuditShow {
    /// The session's id, or the beginning of it.
    pub(crate) session: String,
    /// Only records of this class, such as `Approval` or `Turn`.
    #[arg(long, value_name = "CLASS")]
    pub(crate) class: Option<String>,
    /// Only records of this kind, such as `TurnStarted`.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Only records of this turn.
    #[arg(long, value_name = "ID")]
    pub(crate) correlation: Option<String>,
    /// Only records of this time or later: a date, or a time with its zone.
    #[arg(long, value_name = "TIME", value_parser = time_of)]
    pub(crate) since: Option<String>,
}

fn hash_of(word: &str) -> Result<String, String> {
    let is_hash = word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash
        .then(|| word.to_ascii_lowercase())
        .ok_or_else(|| "a hash has 64 hexadecimal digits".to_owned())
}

fn time_of(word: &str) -> Result<String, String> {
    moment(word).ok_or_else(|| "write it as 2026-01-05 or 2026-01-05T09:30:00Z".to_owned())
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginVerb {
    /// Show every plugin: what runs, what is hidden, what was refused and why.
    List,
    /// Show one plugin: its manifest, its config and the schema of that.
    Info {
        /// The plugin's id.
        id: String,
    },
    /// Put a library through every stage and report each.
    ///
    /// The library is opened only after everything that can be told from its file has passed.
    Check {
        /// The library, such as `target/debug/libline_count.so`.
        path: PathBuf,
        /// Stop before the library is opened.
        #[arg(long)]
        no_load: bool,
    },
    /// Start a plugin: a crate that builds, with a test that passes.
    New(New),
    /// Pin a plugin to the bytes it has now; another build is then refused.
    Pin {
        /// The plugin's id.
        id: String,
        /// Remove the pin instead.
        #[arg(long)]
        remove: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The plugin's id, in kebab-case; also the folder that is made.
    pub(crate) id: String,
    /// What the plugin is.
    #[arg(
        long,
        default_value = "tool",
        value_parser = PossibleValuesParser::new(KINDS.map(|(word, _)| word)).try_map(kind_of)
    )]
    pub(crate) kind: Kind,
    /// Make the folder here instead of in the current one.
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
    /// Use the `stud-sdk` in this folder instead of a released one.
    #[arg(long, value_name = "DIR")]
    pub(crate) sdk: Option<PathBuf>,
}

/// The categories in the words of the command line, those an author meets first in front.
const KINDS: [(&str, Kind); 9] = [
    ("tool", Kind::Tool),
    ("ui", Kind::Ui),
    ("hook", Kind::Hook),
    ("command", Kind::Command),
    ("provider", Kind::Provider),
    ("logger", Kind::Logger),
    ("state-machine", Kind::StateMachine),
    ("session-store", Kind::SessionStore),
    ("context-provider", Kind::ContextProvider),
];

fn kind_of(word: String) -> Result<Kind, String> {
    let kind = KINDS.iter().find(|(known, _)| *known == word);
    kind.map(|(_, kind)| *kind)
        .ok_or_else(|| format!("there is no kind `{word}`"))
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The code, as `Class/Code` or just `Code`.
    #[arg(required_unless_present = "list")]
    pub(crate) code: Option<String>,
    /// List the codes with one line each, of one class if it is named.
    #[arg(long, value_name = "CLASS", num_args = 0..=1, default_missing_value = "")]
    pub(crate) list: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Take the trust back.
    #[arg(long, conflicts_with = "list")]
    pub(crate) revoke: bool,
    /// Show the trusted folders.
    #[arg(long)]
    pub(crate) list: bool,
}
