//! The words of the command line.

mod control;
mod install;
mod mistyped;
mod serve;
mod sessions;
mod usage;

pub(crate) use control::{Addressee, ControlVerb};
pub(crate) use install::{Bisect, Conformance, Dev, Install, Update};
pub(crate) use serve::{Attach, Serve};
pub(crate) use sessions::{ExportFormat, SessionsVerb};
pub(crate) use usage::{explain_usage, read};

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand};
use serde_json::Value;
use stud_contract_meta::Kind;
use stud_core::audit::moment;
use stud_core::session::SecurityMode;

/// A plugin host for coding assistants.
///
/// Without a subcommand, `stud` starts a session: a model answers your input, and tools ask before they change anything.
/// Plugins are dynamic libraries below `~/.stud/<category>/` or, once a project is trusted, below `.stud/<category>/`.
/// Each is validated before any of its code runs; a plugin that fails is refused with an error code, and `stud explain` shows its page.
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
    stud --continue                       resume the last session\n  \
    stud serve --open                     talk in a browser\n  \
    stud setup                            choose the model that answers\n  \
    stud doctor                           settings, plugins and problems\n  \
    stud sessions list                    list sessions, newest first\n  \
    stud plugin new line-count            start a plugin\n  \
    stud plugin check target/debug/libline_count.so\n  \
    stud plugin install ./line-count      build and install it\n  \
    stud plugin list                      list loaded and refused plugins\n  \
    stud explain UIRoleHandlerMissing     explain an error and how to fix it\n  \
    stud audit verify                     check the audit trails for changes\n\n\
    Exit status: 0 done, 1 failed or refused, 2 wrong usage, 3 a prompt needed an answer and no UI was attached, 130 cancelled.")]
pub(crate) struct Cli {
    /// Print JSON for programs instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) log: LogOptions,

    #[command(flatten)]
    pub(crate) converse: Converse,

    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// The levels of the log, the quietest first.
pub(crate) const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// What goes to the log of the program.
#[derive(Debug, Args)]
pub(crate) struct LogOptions {
    /// Log what stud does to standard error, or to a file; `STUD_LOG` does the same.
    #[arg(long, global = true, value_name = "LEVEL", value_parser = PossibleValuesParser::new(LOG_LEVELS))]
    pub(crate) log: Option<String>,
    /// Append the log to this file; `STUD_LOG_FILE` does the same.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
}

/// What `stud` without a verb takes: it begins a session.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own on the command line"
)]
pub(crate) struct Converse {
    /// The first input. With `--headless` it is the only one; text piped to standard input is appended.
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// Do not use the terminal: read one input, and print the answer on standard output.
    #[arg(short = 'p', long)]
    pub(crate) headless: bool,
    /// Approve every tool call in advance. Guards still run.
    #[arg(long)]
    pub(crate) yolo: bool,
    /// How tool calls are approved: `ask`, `yolo` or `allowlist`.
    #[arg(long, value_name = "MODE", allow_hyphen_values = true, value_parser = mode_of)]
    pub(crate) mode: Option<SecurityMode>,
    /// Allow these calls without asking in this run, such as `bash(git status)`; may be given several times.
    #[arg(long = "allow-tool", value_name = "PATTERN", allow_hyphen_values = true, value_parser = allow_of)]
    pub(crate) allow_tools: Vec<String>,
    /// Resume the session that was used last.
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) continue_: bool,
    /// Resume this session; the first characters of its id are enough.
    #[arg(short = 'r', long, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
    /// Attach this state machine: it drives the session through its stages, beginning at once or with the PROMPT.
    #[arg(long, value_name = "ID", allow_hyphen_values = true, value_parser = machine_of)]
    pub(crate) sm: Option<String>,
    /// Set a parameter of the provider, such as `temperature=0.2`; may be given several times.
    #[arg(long = "param", value_name = "PATH=VALUE", allow_hyphen_values = true, value_parser = param_of)]
    pub(crate) params: Vec<(String, Value)>,
    /// Do not start when a plugin was refused.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Use only the bundled plugins: no global ones and none of the project.
    #[arg(long)]
    pub(crate) safe_mode: bool,
    /// Not supported: other processes can read the command line.
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "", value_parser = refuse_key)]
    pub(crate) api_key: Option<String>,
}

impl Converse {
    /// Whether an earlier session continues.
    pub(crate) fn is_resuming(&self) -> bool {
        self.continue_ || self.resume.is_some()
    }
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
    /// Configure a provider: the model, and where its key is stored.
    ///
    /// Asks for the provider, the source of its key, a name for the entry, the key or its environment variable, the model
    /// and the address. Nothing is written before the last answer. Answers may be piped in, one per line.
    Setup,
    /// Run sessions for browsers and programs, without a terminal.
    ///
    /// Prints one line of JSON on standard output once it listens: the address, the control socket and the token.
    #[command(after_help = serve::EXAMPLES)]
    Serve(Serve),
    /// Show a session that `stud serve` runs in this terminal, beside every other screen that it has.
    ///
    /// What is typed here goes into the session, and its prompts can be answered here: the first answer counts. `/exit`
    /// leaves the session, which continues. A session that is kept and not open is opened.
    #[command(after_help = serve::ATTACH_EXAMPLES)]
    Attach(Attach),
    /// Show every setting with its source, every plugin with its state, and all problems.
    ///
    /// Makes no network connection. The files of a project that is not trusted are not read.
    #[command(after_help = "Exit status: 0 no problems, 1 problems found, 2 wrong usage.")]
    Doctor,
    /// List, show, fork and export sessions.
    #[command(subcommand)]
    Sessions(SessionsVerb),
    /// List, inspect, check, start and pin plugins.
    #[command(subcommand)]
    Plugin(PluginVerb),
    /// Explain an error code.
    Explain(Explain),
    /// Trust this project's `.stud` folder, or revoke the trust.
    Trust(Trust),
    /// List or revoke the approvals remembered for this project.
    ///
    /// An approval for the project applies to every later session until it is revoked here.
    #[command(subcommand)]
    Grants(GrantsVerb),
    /// Verify and show the audit trails of sessions.
    ///
    /// Every session has an audit trail, one record for each decision and each action, in
    /// `~/.stud/sessions/<id>/audit/trail.jsonl`. Each record contains the hash of the previous one, so changes are detected.
    #[command(subcommand)]
    Audit(AuditVerb),
    /// Type into a session that another process runs, or interrupt it.
    ///
    /// Every process that runs a session listens at a socket in `~/.stud/run`, for other processes of the same user.
    #[command(subcommand)]
    Control(ControlVerb),
    /// Print a shell completion script.
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
    /// List the approvals remembered for this project.
    List,
    /// Revoke approvals: all of a tool, or only the one for a key.
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
    /// Verify that a trail is unchanged, or report the first line that is not.
    ///
    /// Edited, removed, inserted and reordered records are detected. Records removed from the end cannot be: store the
    /// last hash elsewhere from time to time, and pass it with `--expect`.
    #[command(after_help = "Examples:\n  \
        stud audit verify                     every session\n  \
        stud audit verify 0192f0c1            the session whose id begins with this\n  \
        stud audit verify 0192f0c1 --expect 9f86d081884c7d65…\n\n\
        Exit status: 0 every trail is intact, 1 at least one is not, 2 wrong usage.")]
    Verify(AuditVerify),
    /// Show the records of a session, oldest first.
    ///
    /// Filters are combined: only records that match all of them are shown. With `--json`, each record is one line.
    #[command(after_help = "Examples:\n  \
        stud audit show 0192f0c1\n  \
        stud audit show 0192f0c1 --class Approval\n  \
        stud audit show 0192f0c1 --since 2026-01-05T09:30:00Z --json")]
    Show(AuditShow),
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerify {
    /// The session's id, or its first characters; all sessions if omitted.
    pub(crate) session: Option<String>,
    /// A hash stored earlier, which a record of the trail must have.
    #[arg(long, value_name = "HASH", requires = "session", value_parser = hash_of)]
    pub(crate) expect: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AuditShow {
    /// The session's id, or its first characters.
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
    /// List every plugin with its state, and why it was refused.
    List,
    /// Show one plugin: its manifest, its config and the config schema.
    Info {
        /// The plugin's id.
        id: String,
    },
    /// Run a library through every load stage, and report each.
    ///
    /// The library is opened only after all checks of its file have passed.
    Check {
        /// The library, such as `target/debug/libline_count.so`; with `--conformance` also the id of a bundled plugin.
        path: PathBuf,
        /// Stop before the library is opened.
        #[arg(long)]
        no_load: bool,
        #[command(flatten)]
        conformance: Conformance,
    },
    /// Create a plugin: a crate that builds, with a test that passes.
    New(New),
    /// Install a plugin from a library, a folder or an archive.
    Install(Install),
    /// Replace installed plugins by newer builds.
    Update(Update),
    /// Remove an installed plugin; its files are kept until the next removal.
    Remove {
        /// The plugin's id.
        id: String,
        /// Remove it from this project.
        #[arg(long)]
        project: bool,
    },
    /// Switch a plugin on, in the settings of this user.
    Enable {
        /// The plugin's id.
        id: String,
    },
    /// Switch a plugin off, in the settings of this user.
    ///
    /// It is listed and never opened until it is switched on again.
    Disable {
        /// The plugin's id.
        id: String,
    },
    /// Build, check, install and reload a plugin whenever one of its files is saved.
    Dev(Dev),
    /// Find the plugin that makes a command fail, by halves.
    Bisect(Bisect),
    /// Load what is now in a plugin's place, in a session that runs.
    ///
    /// It is done between two turns, and never while the plugin has a question open.
    Reload {
        /// The plugin's id.
        id: String,
        /// The session's id, or the beginning of it; the one that is open when there is only one.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Pin a plugin to its current file; any other build is then refused.
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
    /// The plugin's id, in kebab-case; also the name of the new folder.
    pub(crate) id: String,
    /// The category of the plugin.
    #[arg(
        long,
        default_value = "tool",
        value_parser = PossibleValuesParser::new(KINDS.map(|(word, _)| word)).try_map(kind_of)
    )]
    pub(crate) kind: Kind,
    /// What a UI does: hear events, answer prompts, or draw a region of another UI.
    #[arg(long, value_enum, value_name = "ROLE")]
    pub(crate) role: Option<UiRole>,
    /// Create the folder here instead of in the current one.
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
    /// The `stud-sdk` to build with: a folder, a version of the registry, or `git+URL#TAG`.
    ///
    /// Without it: the sources this stud was built from, while they are there, and then a release.
    #[arg(long, value_name = "SDK")]
    pub(crate) sdk: Option<String>,
}

/// A role of a UI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum UiRole {
    /// Hears events.
    Subscriber,
    /// Answers prompts.
    Interactor,
    /// Draws a region of another UI.
    Region,
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
    /// List all codes, or those of one class, with a one-line summary.
    #[arg(long, value_name = "CLASS", num_args = 0..=1, default_missing_value = "")]
    pub(crate) list: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Revoke the trust.
    #[arg(long, conflicts_with = "list")]
    pub(crate) revoke: bool,
    /// Show the trusted folders.
    #[arg(long)]
    pub(crate) list: bool,
}
