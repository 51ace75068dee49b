//! Files of a session's folder, for a person who types the beginning of a name.

use std::path::Path;

use ignore::WalkBuilder;

/// How many files are looked at.
const LOOKED_AT: usize = 20_000;

/// How many are given.
const GIVEN: usize = 30;

/// The files below `folder` whose paths fit what was typed, the best first. What Git ignores is left out, and so is what
/// is hidden.
pub(crate) fn matching(folder: &Path, typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    let walk = WalkBuilder::new(folder).follow_links(false).build();
    let files = walk
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .take(LOOKED_AT);
    let mut found: Vec<(u32, String)> = files
        .filter_map(|entry| {
            let path = entry.path().strip_prefix(folder).ok()?;
            let path = path.to_str()?.to_owned();
            Some((rank(&path.to_lowercase(), &typed)?, path))
        })
        .collect();
    found.sort_unstable();
    found.truncate(GIVEN);
    found.into_iter().map(|(_, path)| path).collect()
}

/// How well a path fits; a smaller number is better.
fn rank(path: &str, typed: &str) -> Option<u32> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if path.starts_with(typed) {
        Some(0)
    } else if name.starts_with(typed) {
        Some(1)
    } else if path.contains(typed) {
        Some(2)
    } else {
        let mut letters = path.chars();
        let mut wanted = typed.chars();
        wanted
            .all(|wanted| letters.any(|letter| letter == wanted))
            .then_some(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_fit_comes_first_and_what_is_hidden_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "src/main.rs",
            "main.txt",
            "domain.rs",
            ".secret/main.rs",
            "m/a/i/n.rs",
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = matching(folder.path(), "main");
        assert_eq!(
            found,
            ["main.txt", "src/main.rs", "domain.rs", "m/a/i/n.rs"]
        );
        assert!(matching(folder.path(), "zebra").is_empty());
    }
}
