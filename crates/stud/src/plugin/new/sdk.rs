//! Where a new plugin gets `stud-sdk` from.

use std::fs;
use std::path::Path;

use stud_diagnostics::{Diagnostic, codes};

/// The sources this program was built with, while they are still there.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../stud-sdk");

/// The dependency as it stands between the braces in `Cargo.toml`.
pub(super) fn choose(asked: Option<&Path>) -> Result<String, Diagnostic> {
    match asked {
        Some(folder) => by_path(folder).ok_or_else(|| missing(folder)),
        // A plugin of the same sources is certain to fit this program; a release is the next best.
        None => Ok(by_path(Path::new(SOURCES)).unwrap_or_else(|| "version = \"0.1\"".to_owned())),
    }
}

fn by_path(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let is_sdk = manifest
        .lines()
        .any(|line| line.split_whitespace().collect::<String>() == "name=\"stud-sdk\"");
    is_sdk.then_some(())?;
    Some(format!("path = {}", toml_text(folder.to_str()?)))
}

/// A TOML string. It is that of JSON, but for one character that TOML wants escaped as well.
fn toml_text(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}

fn missing(folder: &Path) -> Diagnostic {
    Diagnostic::error(
        &codes::DEPENDENCY_MISSING,
        "there is no `stud-sdk` in the folder that `--sdk` names",
    )
    .file(folder)
    .with("missingId", "stud-sdk")
    .with("path", folder.to_string_lossy())
    .help("name the folder with the `Cargo.toml` of `stud-sdk`, or leave `--sdk` out")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_for_toml() {
        assert_eq!(toml_text("/a b/é"), "\"/a b/é\"");
        assert_eq!(toml_text("a\"\\\n\u{7f}\u{1}"), r#""a\"\\\n\u007f\u0001""#);
    }

    #[test]
    fn any_other_folder_is_refused() {
        let error = choose(Some(Path::new(env!("CARGO_MANIFEST_DIR")))).unwrap_err();
        assert_eq!(error.code, &codes::DEPENDENCY_MISSING);
    }
}
