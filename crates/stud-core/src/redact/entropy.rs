//! Which values are too specific to be written by accident.

/// From here on a value hardly stands in a text by accident.
const SHORTEST: usize = 8;

/// From here on neither does one of letters and digits.
const SHORTEST_MIXED: usize = 6;

/// Values that carry no confidential information.
const WORDS: [&str; 30] = [
    "aarch64",
    "accepted",
    "allowlist",
    "application",
    "automatic",
    "base64",
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
    "python3",
    "required",
    "sequential",
    "sha256",
    "sha512",
    "standard",
    "terminal",
    "truecolor",
    "undefined",
    "x86_64",
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

/// Whether this value is too specific to be written by accident.
pub(crate) fn is_telling(value: &str) -> bool {
    (value.len() >= SHORTEST || (value.len() >= SHORTEST_MIXED && is_mixed(value)))
        && value.parse::<f64>().is_err()
        && !WORDS.contains(&value.to_ascii_lowercase().as_str())
}

fn is_mixed(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit)
}

/// Whether a value is a single word, as configurations choose one of several, or the name of a file such as `NOTES.md`.
pub(crate) fn is_word(value: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b'.');
    value.bytes().all(is_part) && value.matches('.').count() <= 1
}

/// Whether a name of the environment describes the machine.
pub(crate) fn is_ordinary(name: &str) -> bool {
    ORDINARY.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values_count_if_they_are_mixed() {
        for telling in ["hunter2", "a1b2c3", "correct-horse", "longword"] {
            assert!(is_telling(telling), "{telling}");
        }
        for plain in [
            "hunter",
            "a1b2c",
            "sha256",
            "123456",
            "12345678",
            "production",
            "x",
        ] {
            assert!(!is_telling(plain), "{plain}");
        }
    }
}
