//! What goes wrong with files, in the codes a model can act on.

use std::path::Path;

use rustix::io::Errno;
use stud_sdk::{Class, Error, ErrorExt};

/// It is there, or may be, and is none of the model's business.
const TOOL_FORBIDDEN: &str = "Forbidden";

/// It is in use.
const RESOURCE_BUSY: &str = "ResourceBusy";

/// The content is not what the tool can show.
const OUTPUT_MALFORMED: &str = "OutputMalformed";

/// What was to be found once is there more often.
const AMBIGUOUS_MATCH: &str = "AmbiguousMatch";

/// `ToolTerminal/InputInvalid` about a path.
pub fn invalid(path: &str, why: impl Into<String>) -> Error {
    Error::invalid_input(why.into()).with("path", path)
}

/// `ToolTerminal/NotFound` about a path.
pub(crate) fn missing(path: &str, why: impl Into<String>) -> Error {
    Error::not_found(why.into()).with("path", path)
}

/// `ToolTerminal/OutputMalformed` about a path.
pub(crate) fn malformed(path: &str, why: impl Into<String>) -> Error {
    Error::new(Class::ToolTerminal, OUTPUT_MALFORMED, why).with("path", path)
}

/// `ToolTerminal/AmbiguousMatch` about a path.
pub(crate) fn ambiguous(path: &str, why: impl Into<String>) -> Error {
    Error::new(Class::ToolTerminal, AMBIGUOUS_MATCH, why).with("path", path)
}

/// `ToolTransient/ResourceBusy` about a path.
pub(crate) fn busy(path: &str, why: impl Into<String>) -> Error {
    Error::new(Class::ToolTransient, RESOURCE_BUSY, why).with("path", path)
}

/// `Cancellation/TurnCancelled`: the call was cancelled before it started.
pub(crate) fn called_off() -> Error {
    Error::new(
        Class::Cancellation,
        "TurnCancelled",
        "the call was cancelled before it started",
    )
}

/// Why a path could not be walked to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It leads out of the workspace.
    Outside,
    /// It leads to where stud keeps settings and approvals.
    Private,
    /// It is not what it was a moment ago.
    Changed,
    /// Links lead to links, and so on.
    TooManyLinks,
    /// The operating system said no.
    Os(Errno),
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Self {
        Self::Os(errno)
    }
}

impl Trouble {
    /// The error for a path as it was given, in the workspace `root`.
    pub(crate) fn about(self, path: &str, root: &Path) -> Error {
        match self {
            Self::Outside => {
                let root = root.to_string_lossy().into_owned();
                let why = format!("`{path}` is outside the workspace `{root}`");
                forbidden(path, why, "outsideWorkspace").with("root", root)
            }
            Self::Private => {
                let why = format!(
                    "`{path}` is where stud keeps settings, approvals and trust: no tool call reads or changes what \
                     decides over tool calls"
                );
                forbidden(path, why, "private")
            }
            Self::Changed => busy(
                path,
                format!("`{path}` was replaced while it was being opened"),
            ),
            Self::TooManyLinks => invalid(path, format!("`{path}` is a circle of symbolic links")),
            Self::Os(errno) => os(path, errno),
        }
    }
}

fn forbidden(path: &str, why: impl Into<String>, reason: &str) -> Error {
    Error::new(Class::ToolTerminal, TOOL_FORBIDDEN, why)
        .with("path", path)
        .with("reason", reason)
}

/// The error for what the operating system said about a path.
pub(crate) fn os(path: &str, errno: Errno) -> Error {
    let said = std::io::Error::from(errno);
    match errno {
        Errno::NOENT => missing(path, format!("there is no `{path}`")),
        Errno::NOTDIR => missing(path, format!("a part of `{path}` is not a directory")),
        Errno::ACCESS | Errno::PERM | Errno::ROFS => {
            forbidden(path, format!("`{path}`: {said}"), "permissions")
        }
        Errno::ISDIR => invalid(path, format!("`{path}` is a directory")),
        Errno::NXIO => invalid(
            path,
            format!("`{path}` is a socket or a device, and no plain file"),
        ),
        Errno::NAMETOOLONG => invalid(path, format!("a part of `{path}` is too long for a name")),
        Errno::INVAL | Errno::ILSEQ => invalid(path, format!("`{path}` cannot be a name: {said}")),
        Errno::BUSY | Errno::TXTBSY | Errno::MFILE | Errno::NFILE => {
            busy(path, format!("`{path}`: {said}"))
        }
        _ => Error::failed(format!("`{path}`: {said}")).with("path", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trouble_has_the_code_that_says_what_to_do() {
        let code = |trouble: Trouble| {
            let error = trouble.about("a/b", Path::new("/w"));
            assert_eq!(error.context()["path"], "a/b");
            format!("{} {}", error.class(), error.code())
        };
        for (trouble, expected) in [
            (Trouble::Outside, "ToolTerminal Forbidden"),
            (Trouble::Private, "ToolTerminal Forbidden"),
            (Trouble::Changed, "ToolTransient ResourceBusy"),
            (Trouble::TooManyLinks, "ToolTerminal InputInvalid"),
            (Trouble::Os(Errno::NOENT), "ToolTerminal NotFound"),
            (Trouble::Os(Errno::NOTDIR), "ToolTerminal NotFound"),
            (Trouble::Os(Errno::ACCESS), "ToolTerminal Forbidden"),
            (Trouble::Os(Errno::ISDIR), "ToolTerminal InputInvalid"),
            (Trouble::Os(Errno::NAMETOOLONG), "ToolTerminal InputInvalid"),
            (Trouble::Os(Errno::MFILE), "ToolTransient ResourceBusy"),
            (
                Trouble::Os(Errno::NOSPC),
                "ToolTerminal ToolExecutionFailed",
            ),
        ] {
            assert_eq!(code(trouble), expected, "{trouble:?}");
        }
    }

    #[test]
    fn what_is_outside_is_named_with_the_workspace() {
        let error = Trouble::Outside.about("/etc/passwd", Path::new("/w"));
        assert!(error.message().contains("/etc/passwd") && error.message().contains("/w"));
        assert_eq!(error.context()["root"], "/w");
    }
}
