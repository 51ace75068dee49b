//! Changing a settings file: as a whole, one process at a time, and never into one that stud would not start with.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use stud_diagnostics::{Diagnostic, codes};

use super::{check, misshapen, read};
use crate::platform::{self, Durability};

/// Changes `settings.json` below `root`, which need not be there. Gives the file.
///
/// A file that cannot be read is left as it is, and so is one that `change` refuses or would spoil.
pub fn revise(
    root: &Path,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<(), Diagnostic>,
) -> Result<PathBuf, Diagnostic> {
    let path = root.join("settings.json");
    let revised = platform::alone(&root.join("settings.lock"), || {
        let mut document = read(&path)?.unwrap_or_default();
        change(&mut document)?;
        let text = format!("{:#}\n", Value::Object(document));
        check(&path, text.as_bytes())?;
        // Where the name is a link, as with files kept elsewhere, the file behind it is the one to replace.
        let behind = path.canonicalize().unwrap_or_else(|_| path.clone());
        platform::replace_file(&behind, text.as_bytes(), 0o600, Durability::Synced)
            .map_err(|error| unwritten(&path, &error))
    });
    revised.unwrap_or_else(|error| Err(unwritten(&path, &error)))?;
    Ok(path)
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

fn unwritten(path: &Path, error: &std::io::Error) -> Diagnostic {
    let message = format!("the settings cannot be written: {error}");
    Diagnostic::error(&codes::STARTUP_FAILURE, message)
        .file(path)
        .help("check who owns the folder and whether the disk is full")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_keeps_the_rest_and_a_spoiled_file_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        std::fs::write(&path, r#"{"tools":{"grep":{"a":1}}}"#).unwrap();
        let set = |document: &mut Map<String, Value>| {
            let active = section(document, "active", Path::new("x"))?;
            active.insert("provider".to_owned(), "echo".into());
            Ok(())
        };
        revise(folder.path(), set).unwrap();
        let whole: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(whole["tools"]["grep"]["a"], 1);
        assert_eq!(whole["active"]["provider"], "echo");

        let spoil = |document: &mut Map<String, Value>| {
            document.insert("tolls".to_owned(), Value::Null);
            Ok(())
        };
        let before = std::fs::read(&path).unwrap();
        let refused = revise(folder.path(), spoil).unwrap_err();
        assert_eq!(refused.code, &codes::UNKNOWN_TOP_LEVEL_KEY);
        assert_eq!(std::fs::read(&path).unwrap(), before);

        std::fs::write(&path, "{").unwrap();
        assert_eq!(
            revise(folder.path(), set).unwrap_err().code,
            &codes::SETTINGS_SHAPE_INVALID
        );
        assert_eq!(std::fs::read(&path).unwrap(), b"{");
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("elsewhere.json");
        std::fs::write(&real, "{}").unwrap();
        let link = folder.path().join("settings.json");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        revise(folder.path(), |document| {
            section(document, "active", &link).map(drop)
        })
        .unwrap();
        assert!(link.is_symlink());
        assert!(std::fs::read_to_string(real).unwrap().contains("active"));
    }
}
