//! Every setting of stud's own: key, type, bounds, default and description, declared once.
//!
//! The check, the suggestions, the defaults that `stud doctor` shows and the reference page all come from here. To add a
//! setting, add its line below and read it with `of`:
//!
//! ```ignore
//! let limit = LoopSettings::of(&settings).max_continuations.value;
//! ```

use std::time::Duration;

use serde_json::Value;
use stud_host_api::session::SecurityMode;

use super::Settings;
use super::value::{HeadlessGrant, Set, SettingValue, Type};

/// The provider that answers where no other is configured.
pub const STAND_IN: &str = "echo";

/// The member of a control team where no other is configured: the person who runs stud.
pub const OWNER: &str = "owner";

/// A section of the settings file and the settings declared for it.
#[derive(Debug)]
pub(super) struct Section {
    /// The key at the top level of the file.
    pub(super) key: &'static str,
    /// The member of that section which holds the settings, if they are not its own members.
    pub(super) group: Option<&'static str>,
    pub(super) check: Check,
    /// The lines of its description.
    pub(super) about: &'static [&'static str],
    pub(super) settings: &'static [Declaration],
}

/// How the members of a section are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// By their declarations; any other member is refused.
    Closed,
    /// By code of their own.
    Own,
}

/// One setting.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) key: &'static str,
    pub(super) kind: Type,
    /// The smallest number that is accepted, for those that are numbers.
    pub(super) min: u64,
    /// What holds when no file sets it; nothing if it has no default.
    pub(super) default: fn() -> Option<Value>,
    /// The lines of its description.
    pub(super) doc: &'static [&'static str],
}

macro_rules! default {
    () => {
        None
    };
    ($default:expr) => {
        $default
    };
}

macro_rules! group {
    () => {
        None
    };
    ($group:literal) => {
        Some($group)
    };
}

macro_rules! min {
    () => {
        0
    };
    ($min:literal) => {
        $min
    };
}

/// Makes a struct of typed values for each section, and the table of all sections.
macro_rules! settings {
    ($(
        $(#[doc = $about:literal])+
        $name:ident = $section:literal $(/ $group:literal)?, $check:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $key:literal: $type:ty $(= $default:expr)? $(, min $min:literal)?;
            )+
        }
    )+) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone)]
            pub struct $name<'a> {
                $(
                    $(#[doc = $doc])+
                    pub $field: Set<'a, $type>,
                )+
            }

            impl<'a> $name<'a> {
                const SECTION: Section = Section {
                    key: $section,
                    group: group!($($group)?),
                    check: Check::$check,
                    about: &[$($about),+],
                    settings: &[$(
                        Declaration {
                            key: $key,
                            kind: <$type as SettingValue<'a>>::TYPE,
                            min: min!($($min)?),
                            default: || {
                                let default: $type = default!($($default)?);
                                default.to_json()
                            },
                            doc: &[$($doc),+],
                        },
                    )+],
                };

                /// The values in force, each with the file it came from.
                pub fn of(settings: &'a Settings) -> Self {
                    let group: Option<&str> = group!($($group)?);
                    Self {
                        $(
                            $field: Set::read(settings, ($section, group, $key), default!($($default)?)),
                        )+
                    }
                }
            }

            impl Default for $name<'_> {
                fn default() -> Self {
                    Self { $($field: Set::default_value(default!($($default)?)),)+ }
                }
            }
        )+

        const TYPED: &[Section] = &[$(<$name<'static>>::SECTION),+];
    };
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

settings! {
    /// What a session is begun with.
    ActiveSettings = "active", Closed {
        /// The provider that answers. When left out, the first by id of those that are configured; the default if there is none.
        provider "provider": &'a str = STAND_IN;
        /// The model of that provider. When left out, the first that the provider lists.
        model "model": Option<&'a str>;
        /// The session store that keeps sessions. When left out, the bundled one.
        session_store "sessionStore": Option<&'a str>;
        /// The state machine to attach; `--sm` goes before it.
        attached_state_machine "attachedSM": Option<&'a str>;
    }

    /// Limits of a turn.
    LoopSettings = "loop", Closed {
        /// How often a turn may go back to the model.
        max_continuations "maxContinuations": u32 = 50, min 1;
        /// How long a tool may take unless it declares a time of its own. Waiting for a person does not count.
        tool_timeout "toolTimeoutMs": Duration = millis(30_000), min 1;
        /// How long a hook may take.
        hook_timeout "hookTimeoutMs": Duration = millis(30_000), min 1;
        /// How long a state machine may take in one phase of a stage. Waiting for a person does not count.
        phase_timeout "phaseTimeoutMs": Duration = millis(30_000), min 1;
        /// How many stages one workflow may run before it is stopped.
        max_stages "maxStages": u32 = 500, min 1;
    }

    /// Prompts and the UIs that answer them.
    InteractionSettings = "interaction", Closed {
        /// How long a tool's own prompt waits, unless the tool says otherwise.
        default_timeout "defaultTimeoutMs": Duration = millis(300_000), min 1;
        /// How long the last UI may stay away before it counts as gone.
        interactor_grace "interactorGraceMs": Duration = millis(30_000);
        /// How often one call of a tool may ask again when it does not accept an answer.
        max_reprompts "maxReprompts": u32 = 10;
        /// Whether what a person types in a browser cancels the prompts of tools that wait for an answer.
        cancel_on_text "cancelOnText": bool = true;
    }

    /// Sessions without a UI that answers prompts.
    HeadlessSettings = "headless", Closed {
        /// What becomes of a state machine's stage that asks for a tool it was not given: the call is denied, or the turn ends.
        grant_stage_tool "grantStageTool": HeadlessGrant = HeadlessGrant::Deny;
    }

    /// `stud serve`. These stand in the global file alone.
    ServeSettings = "serve", Closed {
        /// The names besides loopback under which browsers and proxies may call it, such as `stud.example.com`.
        allowed_hosts "allowedHosts": Vec<&'a str> = Vec::new();
    }

    /// Checks at the start.
    ValidationSettings = "validation", Closed {
        /// Refuse to start if a plugin was refused; `--strict` does so for one run.
        strict "strict": bool = false;
    }

    /// The requests that are put together for a model.
    ContextSettings = "context", Closed {
        /// The part of the model's window from which on a warning says that it fills up.
        warn_at "warnAt": f64 = 0.80;
        /// The part of the model's window from which on the conversation is summarized.
        compact_at "compactAt": f64 = 0.95;
        /// Context providers, by id, whose failure does not end the turn.
        graceful "graceful": Vec<&'a str> = Vec::new();
    }

    /// MCP servers; [mcp.md](mcp.md) describes them.
    McpSettings = "mcp", Closed {
        /// How long a server may take to answer when it is connected to.
        connect_timeout "connectTimeoutMs": Duration = millis(30_000), min 1;
        /// How long a call of one of its tools may take.
        call_timeout "callTimeoutMs": Duration = millis(600_000), min 1;
        /// How long after the launch a turn waits for servers that are still starting.
        startup_grace "startupGraceMs": Duration = millis(5_000);
        /// The most bytes of one result that a model is given.
        max_result_bytes "maxResultBytes": u64 = 256 << 10, min 1;
        /// The most bytes of a resource whose binding sets no limit.
        resource_max_bytes "resourceMaxBytes": u64 = 256 << 10, min 1;
        /// The most tokens that such a resource may take up in a request.
        resource_max_tokens "resourceMaxTokens": u64 = 16 << 10, min 1;
        /// The servers, by id. An entry that is wrong leaves out that server alone.
        servers "servers": Option<&'a Value>;
        /// The resources that are put into requests.
        resources "resources": Option<&'a Value>;
    }

    /// When a request to a provider that failed for the moment is sent again.
    RetrySettings = "providers" / "retry", Closed {
        /// How often, after the first time.
        attempts "attempts": u32 = 3;
        /// How long to wait the first time; each further time twice as long.
        first "firstMs": Duration = millis(500);
        /// The longest wait, also where a server asks for more.
        longest "longestMs": Duration = millis(60_000);
    }

    /// How tool calls are gated.
    SecuritySettings = "securityMode", Own {
        /// Whether a call is asked about, runs if it is on the list, or runs; `--mode` goes before it.
        mode "mode": SecurityMode = SecurityMode::Ask;
        /// What may run in the mode `allowlist`: entries such as `bash(git status)` and `read(docs/**)`; [sessions.md](sessions.md#the-allowlist) describes them. The lists of all scopes are added up.
        allowlist "allowlist": Vec<&'a str> = Vec::new();
        /// Ask about calls of the bundled tools that only read, too. One scope that says so is enough.
        ask_for_reads "askForReads": bool = false;
    }

    /// Loggers.
    LoggingSettings = "logging", Own {
        /// The level that plugins are told is in force: `trace`, `debug`, `info`, `warn` or `error`.
        level "level": &'a str = "info";
        /// A list of `{"extId", "config"}`: a config for each logger it names.
        sinks "sinks": Option<&'a Value>;
    }

    /// The control socket, through which scripts type into sessions and interrupt them; [control.md](control.md) describes it. What a project says here is not read.
    ControlSettings = "control", Closed {
        /// Whether processes that run sessions listen at a control socket.
        enabled "enabled": bool = true;
        /// The team that sessions belong to. When left out, the name of the session's project folder.
        team "team": Option<&'a str>;
        /// Who may send: the members of the team, by name.
        members "members": Vec<&'a str> = vec![OWNER];
        /// What members may send, by name: `operator` for everything, `writer` for text that interrupts nothing, `observer` for nothing. Members that are not listed are operators.
        roles "roles": Option<&'a Value>;
        /// Senders that may send, as `NAME` or `NAME:stdin` or `NAME:interrupt`. When left out, every member.
        allow "allow": Option<Vec<&'a str>>;
        /// Senders that may not, in the same form. An entry here wins over all others.
        deny "deny": Vec<&'a str> = Vec::new();
        /// The bytes of inline text above which a sender is warned.
        soft_limit_bytes "softLimitBytes": u64 = 64 << 10, min 1;
        /// The most bytes of inline text. Longer text is sent as a reference to a file.
        hard_limit_bytes "hardLimitBytes": u64 = 1 << 20, min 1;
        /// The folder that files which are sent by reference must lie in. When left out, `share` in stud's home.
        content_ref_base "contentRefBase": Option<&'a str>;
        /// The most bytes of such a file.
        content_ref_max_bytes "contentRefMaxBytes": u64 = 16 << 20, min 1;
        /// How old a request may be, in seconds.
        max_age_secs "maxAgeSecs": u64 = 300;
        /// How far in the future the time of a request may lie, in seconds.
        max_skew_secs "maxSkewSecs": u64 = 60;
        /// How long an accepted request is remembered, in seconds: at least the two above together.
        dedupe_ttl_secs "dedupeTtlSecs": u64 = 600, min 1;
        /// How many accepted requests of a session are remembered. While that many are, further ones are `busy`.
        dedupe_capacity "dedupeCapacity": u64 = 10_000, min 1;
        /// How many inputs of a session may wait before further ones are `busy`.
        queue_capacity "queueCapacity": u64 = 64, min 1;
        /// Whether running turns may be interrupted.
        interrupt "interrupt": bool = true;
        /// Put the text of requests on record too, at most the first 4096 bytes.
        log_text "logText": bool = false;
        /// How long a sender waits for an acknowledgment, and a receiver takes to decide.
        ack_timeout "ackTimeoutMs": Duration = millis(2_000), min 1;
        /// How often a sender tries again.
        retries "retries": u32 = 1;
    }

    /// The audit trail; [audit.md](audit.md) describes it. What a project says here is not read.
    AuditSettings = "audit", Closed {
        /// A reference to the secret that the index of audit trails is sealed with, such as `{"kind": "keyring", "name": "audit"}`. When left out, it is chained and not sealed.
        key "key": Option<&'a Value>;
    }

    /// The hosts that tools may reach; [commands.md](commands.md) describes the entries. The lists of all scopes are added up.
    NetworkSettings = "network", Own {
        /// Hosts that may be reached. When left out, every host.
        allow "allow": Option<&'a Value>;
        /// Hosts that may not be reached.
        deny "deny": Option<&'a Value>;
    }
}

/// Sections whose members have no names that stud knows.
const FREE: &[Section] = &[
    free(
        "env",
        &[
            " Values of variables that plugins may refer to, by name; `\"${NAME}\"` takes one from the environment.",
        ],
    ),
    free("integrity", &[" Accepted, and not used by this version."]),
];

const fn free(key: &'static str, about: &'static [&'static str]) -> Section {
    Section {
        key,
        group: None,
        check: Check::Own,
        about,
        settings: &[],
    }
}

/// Every section of stud's own.
pub(super) fn sections() -> impl Iterator<Item = &'static Section> {
    TYPED.iter().chain(FREE)
}

/// What holds for each setting that no file sets, by key. The settings of a group are one object.
pub fn defaults() -> Vec<(String, Value)> {
    let mut defaults = Vec::new();
    for section in sections() {
        let settings = section.settings.iter();
        let settings = settings.filter_map(|set| Some((set.key, (set.default)()?)));
        match section.group {
            Some(group) => {
                let members = settings.map(|(key, value)| (key.to_owned(), value));
                let key = format!("{}.{group}", section.key);
                defaults.push((key, Value::Object(members.collect())));
            }
            None => defaults
                .extend(settings.map(|(key, value)| (format!("{}.{key}", section.key), value))),
        }
    }
    defaults
}
