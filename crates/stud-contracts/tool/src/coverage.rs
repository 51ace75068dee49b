//! How far an approval of one key reaches.

use serde::{Deserialize, Serialize};

/// How far an approval of one key of a tool reaches.
///
/// Keys are texts, and only the tool knows what they mean.
/// A tool whose keys are directories says so here, and whoever remembers approvals need not ask again one level down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ApprovalCoverage {
    /// The same key and no other.
    #[default]
    Exact,
    /// The key is a directory with `/` between its parts; it covers itself and all below it. `.` covers every relative
    /// directory.
    Path,
    /// The key is several directories with `|` between them. Each is covered, and remembered, by itself.
    PathSet,
}

impl ApprovalCoverage {
    /// Whether this is what a declaration means that says nothing.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands a reference to `skip_serializing_if`"
    )]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Between the directories of a [`ApprovalCoverage::PathSet`].
const SEPARATOR: char = '|';

/// The keys that an approval of `key` is remembered under, each by itself.
///
/// There is more than one only with [`ApprovalCoverage::PathSet`].
///
/// ```
/// use stud_contract_tool::{ApprovalCoverage, keys};
///
/// assert!(keys(ApprovalCoverage::PathSet, "docs|src/core").eq(["docs", "src/core"]));
/// assert!(keys(ApprovalCoverage::Exact, "docs|src/core").eq(["docs|src/core"]));
/// ```
pub fn keys(coverage: ApprovalCoverage, key: &str) -> impl Iterator<Item = &str> {
    let is_set = coverage == ApprovalCoverage::PathSet;
    key.split(move |letter| is_set && letter == SEPARATOR)
}

/// Whether an approval of `approved` lets a call with the key `asked` run unasked.
///
/// A key always covers itself.
/// Where the keys are directories, one covers those below it, never one beside or above it; what cannot be placed by its
/// text alone, because it is empty or steps back with `..`, covers nothing else and is covered by nothing else.
///
/// For a [`ApprovalCoverage::PathSet`] each directory that is asked for must be covered by one that is approved.
/// Approvals are remembered one directory at a time, so a host goes through [`keys`] of what is asked, and looks for an
/// approval of each.
///
/// ```
/// use stud_contract_tool::{ApprovalCoverage, covers};
///
/// assert!(covers(ApprovalCoverage::Path, "src", "src/core/tests"));
/// assert!(!covers(ApprovalCoverage::Path, "src", "srcs"));
/// assert!(!covers(ApprovalCoverage::Exact, "src", "src/core/tests"));
/// ```
pub fn covers(coverage: ApprovalCoverage, approved: &str, asked: &str) -> bool {
    match coverage {
        ApprovalCoverage::Exact => approved == asked,
        ApprovalCoverage::Path => covers_directory(approved, asked),
        ApprovalCoverage::PathSet => keys(coverage, asked).all(|asked| {
            keys(coverage, approved).any(|approved| covers_directory(approved, asked))
        }),
    }
}

fn covers_directory(approved: &str, asked: &str) -> bool {
    if approved == asked {
        return true;
    }
    let (Some(above), Some(below)) = (Directory::read(approved), Directory::read(asked)) else {
        return false;
    };
    let mut below_parts = below.parts();
    above.is_absolute == below.is_absolute
        && above.parts().all(|part| below_parts.next() == Some(part))
}

/// A key that says by its text alone where it is.
struct Directory<'a> {
    text: &'a str,
    is_absolute: bool,
}

impl<'a> Directory<'a> {
    /// None if the text is empty or steps back: `a/../b` begins like `a` and is not below it.
    fn read(text: &'a str) -> Option<Self> {
        let placed = !text.is_empty() && text.split('/').all(|part| part != "..");
        placed.then(|| Self {
            text,
            is_absolute: text.starts_with('/'),
        })
    }

    fn parts(&self) -> impl Iterator<Item = &'a str> {
        self.text
            .split('/')
            .filter(|part| !matches!(*part, "" | "."))
    }
}

#[cfg(test)]
mod tests;
