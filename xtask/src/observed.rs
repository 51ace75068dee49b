//! Which codes the tests observed, of those that no command line brings about.
//!
//! `covers!` of `tests/observed` leaves an empty file `Class/Code` in a folder that this module names and empties.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};
use crate::registry::{self, Code, case_path};
use crate::tree::Tree;

/// Tells the tests where to leave their observations.
pub(crate) const VARIABLE: &str = "STUD_OBSERVED";

/// The folder of the observations, without those of an earlier run.
pub(crate) fn fresh(target: &Path) -> Result<PathBuf, Failure> {
    let folder = target.join("observed");
    let emptied = match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(&folder),
    };
    emptied
        .map(|()| folder.clone())
        .map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))
}

/// Fails when a code has no case, and no test that ran observed it.
pub(crate) fn complete(root: &Path, folder: &Path) -> Outcome {
    let tree = Tree::read(root)?;
    let missing = missing(&tree, |id| folder.join(id).exists());
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "no test observed {}; the test that has `covers!` for it must reach it",
        missing.join(", ")
    )))
}

fn missing(tree: &Tree, is_observed: impl Fn(&str) -> bool) -> Vec<String> {
    let codes = registry::read(tree).into_iter();
    codes
        .map(|code| code.id())
        .filter(|id| tree.text(&case_path(id)).is_none() && !is_observed(id))
        .collect()
}

/// Whether some test says that it observes the code.
pub(crate) fn is_claimed(tree: &Tree, code: &Code) -> bool {
    let mut texts = tree.rust().map(|(_, text)| text);
    texts.any(|text| {
        text.match_indices("covers!(").any(|(at, mark)| {
            let rest = text[at + mark.len()..].trim_start();
            rest.strip_prefix(code.constant.as_str())
                .is_some_and(|rest| rest.starts_with(','))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{is_claimed, missing};
    use crate::registry::{self, REGISTRY, case_path};
    use crate::tree::Tree;

    const CODES: &str = "codes! { Session {\nClosed => CLOSED;\nGone => GONE;\nOpen => OPEN;\n} }";

    #[test]
    fn a_code_without_a_case_must_be_observed() {
        let case = case_path("Session/Closed");
        let tree = Tree::of(&[(REGISTRY, CODES), (&case, "")]);
        assert_eq!(missing(&tree, |id| id == "Session/Open"), ["Session/Gone"]);
    }

    #[test]
    fn a_claim_names_the_whole_constant() {
        let test = "covers!(GONE, error); covers!(\n    OPEN_AGAIN,\n    error,\n);";
        let tree = Tree::of(&[(REGISTRY, CODES), ("tests/a.rs", test)]);
        let claimed: Vec<bool> = registry::read(&tree)
            .iter()
            .map(|code| is_claimed(&tree, code))
            .collect();
        assert_eq!(claimed, [false, true, false]);
    }
}
