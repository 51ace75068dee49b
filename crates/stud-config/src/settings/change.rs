//! Changing the settings that a person keeps.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};
use stud_diagnostics::{Diagnostic, codes};

use super::{LARGEST_SETTINGS, check, misshapen, refuse_flaws};
use crate::platform::{self, Durability, ReadError};
use crate::plugin_scope::Scope;

/// Changes `settings.json` below `root`: what is there is read, changed and put back as a whole.
///
/// Two processes that change it at once do so one after the other. What `change` makes of it is held to the same rules
/// as a file written by hand, so that no change prevents stud from starting. A document that stays the same is not written.
///
/// # Errors
///
/// What reading the file would be refused with, what `change` says, and `Session/SettingsUnwritable`.
pub fn change<T>(
    root: &Path,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    rewrite(root, |text, before| {
        let mut document = before.clone();
        let outcome = change(&mut document)?;
        let text = if document == before {
            text.to_owned()
        } else {
            format!("{:#}\n", Value::Object(document))
        };
        Ok((text, outcome))
    })
}

/// The same on the text of the file, which `make` is given together with what it says.
pub(super) fn rewrite<T>(
    root: &Path,
    make: impl FnOnce(&str, Map<String, Value>) -> Result<(String, T), Diagnostic>,
) -> Result<T, Diagnostic> {
    let path = root.join("settings.json");
    let lock = root.join("settings.lock");
    let changed = platform::alone(&lock, || {
        // A link stays a link: it is what it leads to that changes.
        let target = path.canonicalize().unwrap_or_else(|_| path.clone());
        let before = match platform::read_file(&target, LARGEST_SETTINGS) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => b"{}\n".to_vec(),
            Err(error) => return Err(misshapen(&path, "", &format!("cannot be read: {error}"))),
        };
        // Only what a person keeps for all projects is changed.
        let document = check(&path, Scope::Global, &before)?;
        let before = String::from_utf8_lossy(&before);
        let (text, outcome) = make(&before, document)?;
        if text != before {
            refuse_flaws(&path, &check(&path, Scope::Global, text.as_bytes())?)?;
            let mode = mode_of(&target);
            platform::replace_file(&target, text.as_bytes(), mode, Durability::Synced)
                .map_err(|error| unwritable(&path, &error))?;
        }
        Ok(outcome)
    });
    changed.unwrap_or_else(|error| Err(unwritable(&lock, &error)))
}

/// The object at a key of the settings; it is made if need be.
pub fn section<'a>(
    document: &'a mut Map<String, Value>,
    key: &str,
    path: &Path,
) -> Result<&'a mut Map<String, Value>, Diagnostic> {
    let section = document
        .entry(key)
        .or_insert_with(|| Value::Object(Map::new()));
    match section {
        Value::Object(section) => Ok(section),
        _ => Err(misshapen(path, &format!("/{key}"), "is not an object")),
    }
}

/// Who may read the file stays as it is; a new file is readable by the user alone, since settings can contain private values.
fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).map(|metadata| metadata.permissions().mode() & 0o777);
    mode.unwrap_or(0o600)
}

fn unwritable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error(
        &codes::SETTINGS_UNWRITABLE,
        format!("the settings could not be changed: {error}"),
    )
    .file(path)
    .with("path", path.display().to_string())
    .help("check who owns the folder and whether the disk is full")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(root: &Path, key: &str, value: Value) -> Result<(), Diagnostic> {
        change(root, |document| {
            document.insert(key.to_owned(), value);
            Ok(())
        })
    }

    #[test]
    fn what_is_not_changed_stays() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        std::fs::write(&path, r#"{"tools":{"grep":{}},"env":{"A":"1"}}"#).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        set(folder.path(), "network", json!({"deny": ["a.org"]})).unwrap();
        let read: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(
            read,
            json!({"tools": {"grep": {}}, "env": {"A": "1"}, "network": {"deny": ["a.org"]}})
        );
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn a_first_setting_makes_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("home");
        set(&root, "active", json!({"provider": "echo"})).unwrap();
        assert!(root.join("settings.json").is_file());
    }

    #[test]
    fn a_file_that_stud_would_not_start_with_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let wrong = set(folder.path(), "tool", json!({})).unwrap_err();
        assert_eq!(wrong.code, &codes::UNKNOWN_TOP_LEVEL_KEY);
        assert!(!path.exists());
        std::fs::write(&path, "{").unwrap();
        let unreadable = set(folder.path(), "env", json!({})).unwrap_err();
        assert_eq!(unreadable.code, &codes::SETTINGS_SHAPE_INVALID);
        assert_eq!(std::fs::read(&path).unwrap(), b"{");
    }

    #[test]
    fn settings_that_cannot_be_changed_name_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("home");
        std::fs::write(&root, "a file").unwrap();
        let error = set(&root, "env", json!({})).unwrap_err();
        stud_observed::covers!(SETTINGS_UNWRITABLE, error);
        assert!(
            error.context["path"]
                .as_str()
                .unwrap()
                .ends_with("settings.lock")
        );
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("elsewhere.json");
        std::fs::write(&real, "{}").unwrap();
        let link = folder.path().join("settings.json");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        change(folder.path(), |document| {
            section(document, "active", &link).map(drop)
        })
        .unwrap();
        assert!(link.is_symlink());
        assert!(std::fs::read_to_string(real).unwrap().contains("active"));
    }
}
