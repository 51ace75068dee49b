//! What the user can set, and where sessions lie because of it.

use std::path::PathBuf;

use stud_sdk::{Config, Host, Result};

use crate::failure::{Reason, unavailable};

/// Where sessions are kept.
#[derive(Config)]
pub(crate) struct Options {
    /// Whether this is the store in use; one is.
    #[stud(default = true)]
    #[expect(dead_code, reason = "core reads it; it is here for its default")]
    active: bool,
    /// The folder that holds the sessions, instead of `rootDir` and `sessionsSubdir`.
    #[stud(min_length = 1, max_length = 4096)]
    path: Option<String>,
    /// The folder that holds `sessionsSubdir`; stud's own when left out.
    #[stud(min_length = 1, max_length = 4096)]
    root_dir: Option<String>,
    /// The name of the folder that holds the sessions.
    #[stud(
        default = "sessions",
        pattern = r"^([A-Za-z0-9_-][A-Za-z0-9._-]{0,127}|\.[A-Za-z0-9_-][A-Za-z0-9._-]{0,126}|\.\.[A-Za-z0-9._-]{1,126})$"
    )]
    sessions_subdir: String,
    /// Reserved: records are made safe when core asks for it.
    #[stud(min = 1, max = 600_000)]
    #[expect(dead_code, reason = "reserved")]
    flush_interval_ms: Option<u32>,
}

impl Options {
    /// The folder that holds the sessions.
    pub(crate) fn root(&self, host: &Host) -> Result<PathBuf> {
        if let Some(path) = &self.path {
            return absolute(host, path);
        }
        let subdir = &self.sessions_subdir;
        if !is_plain(subdir) {
            let message = format!(
                "`sessionsSubdir` is {subdir:?}; it must be one name of at most 128 letters, digits, `.`, `_` and `-`"
            );
            return Err(unavailable(Reason::BadName, message).with("field", "sessionsSubdir"));
        }
        let root = match &self.root_dir {
            Some(root) => absolute(host, root)?,
            None => host.workspace().global_root()?,
        };
        Ok(root.join(subdir))
    }
}

/// A path that does not depend on where stud was started: `~` is the user's home, and a relative one begins at stud's
/// own folder.
fn absolute(host: &Host, path: &str) -> Result<PathBuf> {
    let home = path
        .strip_prefix('~')
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match home {
        Some(rest) => {
            Ok(PathBuf::from(host.env().require("HOME")?).join(rest.trim_start_matches('/')))
        }
        None => Ok(host.workspace().global_root()?.join(path)),
    }
}

fn is_plain(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=128).contains(&name.len()) && name.bytes().all(fits) && name != "." && name != ".."
}
