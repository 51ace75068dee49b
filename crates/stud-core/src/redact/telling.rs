//! Which values say something that nobody would write by accident.

/// Below this a value may stand in any text.
const SHORTEST: usize = 8;

/// Values that say nothing about anybody.
const WORDS: [&str; 24] = [
    "accepted",
    "allowlist",
    "application",
    "automatic",
    "critical",
    "darwin64",
    "database",
    "debugging",
    "developer",
    "development",
    "disabled",
    "extended",
    "filesystem",
    "information",
    "localhost",
    "password",
    "production",
    "required",
    "sequential",
    "standard",
    "terminal",
    "truecolor",
    "undefined",
    "xterm-256color",
];

/// Names whose values describe the machine.
const ORDINARY: [&str; 22] = [
    "COLORTERM",
    "DISPLAY",
    "EDITOR",
    "HOME",
    "HOST",
    "HOSTNAME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "OLDPWD",
    "OSTYPE",
    "PAGER",
    "PATH",
    "PWD",
    "SHELL",
    "TEMP",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "VISUAL",
];

/// Whether nobody would write this value by accident.
pub(crate) fn is_telling(value: &str) -> bool {
    value.len() >= SHORTEST
        && value.parse::<f64>().is_err()
        && !WORDS.contains(&value.to_ascii_lowercase().as_str())
}

/// Whether a name of the environment describes the machine.
pub(crate) fn is_ordinary(name: &str) -> bool {
    ORDINARY.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_")
}
