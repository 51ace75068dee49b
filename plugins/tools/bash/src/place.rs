//! The folder a command runs in: the workspace or one below it.
//!
//! This keeps an honest command in its place and no other: a command can go wherever the person who runs stud can.

use std::path::{Component, Path, PathBuf};

use stud_sdk::{Error, ErrorExt as _, Host, Result};

use crate::failure;

/// The workspace, or the folder in it that `cwd` names.
pub(crate) fn folder(host: &Host, cwd: Option<&str>) -> Result<PathBuf> {
    let settings = host.workspace().project_root()?;
    let root = settings.parent().unwrap_or(&settings);
    match cwd {
        None => Ok(root.to_owned()),
        Some(cwd) => inside(root, cwd),
    }
}

fn inside(root: &Path, cwd: &str) -> Result<PathBuf> {
    if cwd.is_empty() || cwd.contains('\0') {
        return Err(invalid(cwd, "it is not a path"));
    }
    let named = root.join(expanded(cwd));
    if !without_steps(&named).starts_with(without_steps(root)) {
        return Err(failure::outside(cwd));
    }
    let real_root = root.canonicalize().map_err(|error| invalid(cwd, error))?;
    let real = named.canonicalize().map_err(|error| invalid(cwd, error))?;
    if !real.starts_with(real_root) {
        return Err(failure::outside(cwd));
    }
    if !real.is_dir() {
        return Err(invalid(cwd, "it is not a folder"));
    }
    Ok(real)
}

/// A leading `~` stands for the home folder, as it does in a shell.
fn expanded(cwd: &str) -> PathBuf {
    let below = cwd
        .strip_prefix('~')
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (below, std::env::home_dir()) {
        (Some(below), Some(home)) => home.join(below.trim_start_matches('/')),
        _ => PathBuf::from(cwd),
    }
}

/// The path as its text says, without looking at the disk.
fn without_steps(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

fn invalid(cwd: &str, why: impl std::fmt::Display) -> Error {
    let message = format!("`cwd` cannot be used: {cwd}: {why}");
    Error::invalid_input(message).with("fieldPath", "/cwd")
}
