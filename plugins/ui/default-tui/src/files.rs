//! Paths of the workspace, for completion: found once, in the background, and matched by their letters.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use ignore::WalkBuilder;

/// More paths are not kept.
const MOST: usize = 300_000;

/// As many are offered.
const OFFERED: usize = 8;

/// The paths below a folder, as far as they are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    found: Arc<Mutex<Vec<String>>>,
    done: Arc<AtomicBool>,
}

impl Files {
    /// Begins to look.
    pub(crate) fn below(folder: &Path) -> Self {
        let files = Self::default();
        let (found, done, root) = (files.found.clone(), files.done.clone(), folder.to_owned());
        let looking = thread::Builder::new()
            .name("tui-files".to_owned())
            .spawn(move || {
                look(&root, &found);
                done.store(true, Ordering::Release);
            });
        if looking.is_err() {
            files.done.store(true, Ordering::Release);
        }
        files
    }

    /// Whether all paths are known.
    pub(crate) fn is_complete(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// The best paths for a query among those that are known.
    pub(crate) fn best(&self, query: &str) -> Vec<String> {
        let found = lock(&self.found);
        let mut best: Vec<(i64, &String)> = Vec::new();
        for path in found.iter() {
            let Some(score) = score(path, query) else {
                continue;
            };
            let place = best
                .partition_point(|(other, name)| (*other, name.as_str()) < (score, path.as_str()));
            if place < OFFERED {
                best.insert(place, (score, path));
                best.truncate(OFFERED);
            }
        }
        best.into_iter().map(|(_, path)| path.clone()).collect()
    }
}

fn lock(found: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

fn look(root: &Path, found: &Mutex<Vec<String>>) {
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let mut batch = Vec::new();
    let mut count = 0;
    for entry in walk.flatten() {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(path) = entry.path().strip_prefix(root) else {
            continue;
        };
        if let Some(path) = path.to_str() {
            batch.push(path.to_owned());
        }
        count += 1;
        if batch.len() == 512 {
            lock(found).append(&mut batch);
        }
        if count == MOST {
            break;
        }
    }
    lock(found).append(&mut batch);
}

/// How well a path fits, less is better: all letters of the query in order, close together and in the name of the file.
fn score(path: &str, query: &str) -> Option<i64> {
    let mut letters = path.char_indices().peekable();
    let mut last = None;
    let mut gaps = 0;
    for wanted in query.chars().flat_map(char::to_lowercase) {
        loop {
            let (at, letter) = letters.next()?;
            if letter.to_lowercase().eq(std::iter::once(wanted)) {
                if let Some(last) = last {
                    gaps += at - last - 1;
                }
                last = Some(at);
                break;
            }
        }
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let lower = name.to_lowercase();
    let query = query.to_lowercase();
    let bonus = if lower == query {
        -3000
    } else if lower.starts_with(&query) {
        -2000
    } else if lower.contains(&query) {
        -1000
    } else {
        0
    };
    Some(bonus + i64::try_from(gaps * 4 + path.len()).unwrap_or(i64::MAX / 2))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn tui_69_the_best_paths_come_first_and_ignored_ones_never() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "src/main.rs",
            "src/domain.rs",
            "docs/manual/intro.md",
            "target/main.rs",
            ".git/main",
            "m/a/i/n.txt",
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(folder.path().join(".gitignore"), "target\n").unwrap();
        let found = Mutex::default();
        look(folder.path(), &found);
        let files = Files {
            found: Arc::new(found),
            ..Files::default()
        };
        assert_eq!(
            files.best("main"),
            [
                "src/main.rs",
                "src/domain.rs",
                "m/a/i/n.txt",
                "docs/manual/intro.md"
            ]
        );
        assert!(files.best("zzz").is_empty());
    }
}
