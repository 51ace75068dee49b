//! The changes of a working tree.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// More than this would leave a model no room to work.
const LARGEST: usize = 200_000;

/// The diff between the last commit and the working tree. Nothing that the repository configures runs.
pub(crate) fn collect(folder: &Path) -> io::Result<String> {
    let output = Command::new("git")
        .args(["-c", "core.fsmonitor=false", "--no-pager", "diff"])
        .args(["--no-color", "--no-ext-diff", "--no-textconv", "HEAD"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        let why = why.lines().next().unwrap_or("it says nothing");
        return Err(io::Error::other(format!("`git diff HEAD` failed: {why}")));
    }
    Ok(shortened(&String::from_utf8_lossy(&output.stdout)))
}

/// The diff, or as much of it as fits, up to the end of a line.
fn shortened(diff: &str) -> String {
    if diff.len() <= LARGEST {
        return diff.trim_end().to_owned();
    }
    let mut cut = LARGEST;
    while !diff.is_char_boundary(cut) {
        cut -= 1;
    }
    let end = diff[..cut].rfind('\n').unwrap_or(cut);
    let rest = diff[end..].lines().count();
    format!(
        "{}\n\n({rest} more lines of the diff are left out; read the files.)",
        &diff[..end]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diff_ends_with_a_line_and_says_so() {
        assert_eq!(shortened("+one\n"), "+one");
        let long = "+é line\n".repeat(LARGEST / 8);
        let short = shortened(&long);
        assert!(short.len() < LARGEST + 100, "{}", short.len());
        assert!(short.contains("+é line\n\n("), "{short}");
        assert!(short.ends_with("are left out; read the files.)"));
    }
}
