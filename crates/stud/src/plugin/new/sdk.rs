//! Where a new plugin gets `stud-sdk` from.

use std::fs;
use std::path::Path;

use stud_diagnostics::{Diagnostic, codes};

/// The sources this program was built with, while they are still there.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../stud-sdk");

/// Where `stud-sdk` comes from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sdk {
    /// `path`, `git` or `registry`.
    pub(super) kind: &'static str,
    /// The folder, the address with the tag, or the version.
    pub(super) source: String,
    /// The dependency as it stands between the braces in `Cargo.toml`.
    pub(super) dependency: String,
}

impl Sdk {
    /// For people.
    pub(super) fn told(&self) -> String {
        match self.kind {
            "path" => format!("the one in {}", self.source),
            "git" => format!("the one of {}", self.source),
            _ => format!("version {} of the registry", self.source),
        }
    }
}

/// The SDK that was asked for; without one the sources of this program, or else a release.
pub(super) fn choose(asked: Option<&str>) -> Result<Sdk, Diagnostic> {
    match asked {
        Some(asked) => by_git(asked)
            .or_else(|| by_version(asked))
            .or_else(|| by_path(Path::new(asked)))
            .ok_or_else(|| missing(Path::new(asked))),
        // A plugin of the same sources is certain to fit this program; a release is the next best.
        None => Ok(by_path(Path::new(SOURCES)).unwrap_or_else(|| registry("0.1"))),
    }
}

fn registry(version: &str) -> Sdk {
    Sdk {
        kind: "registry",
        source: version.to_owned(),
        dependency: format!("version = {}", toml_text(version)),
    }
}

/// `git+https://example.org/stud#v0.1.0`.
fn by_git(asked: &str) -> Option<Sdk> {
    let (url, tag) = asked.strip_prefix("git+")?.rsplit_once('#')?;
    (!url.is_empty() && !tag.is_empty()).then(|| Sdk {
        kind: "git",
        source: format!("{url} at the tag {tag}"),
        dependency: format!("git = {}, tag = {}", toml_text(url), toml_text(tag)),
    })
}

/// Two or three numbers; a folder of such a name is written `./0.1`.
fn by_version(asked: &str) -> Option<Sdk> {
    let parts: Vec<&str> = asked.split('.').collect();
    let is_number =
        |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    ((2..=3).contains(&parts.len()) && parts.iter().all(is_number)).then(|| registry(asked))
}

fn by_path(folder: &Path) -> Option<Sdk> {
    let folder = folder.canonicalize().ok()?;
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let is_sdk = manifest
        .lines()
        .any(|line| line.split_whitespace().collect::<String>() == "name=\"stud-sdk\"");
    is_sdk.then_some(())?;
    let folder = folder.to_str()?;
    Some(Sdk {
        kind: "path",
        source: folder.to_owned(),
        dependency: format!("path = {}", toml_text(folder)),
    })
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
        "there is no `stud-sdk` where `--sdk` says",
    )
    .file(folder)
    .with("missingId", "stud-sdk")
    .with("path", folder.to_string_lossy())
    .help("name the folder with the `Cargo.toml` of `stud-sdk`, a version such as 0.1.0, or `git+URL#TAG`; or leave `--sdk` out")
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
    fn a_version_and_a_tag_are_no_folders() {
        let chosen = |asked| choose(Some(asked)).map(|sdk| (sdk.kind, sdk.dependency));
        assert_eq!(
            chosen("0.1.0").unwrap(),
            ("registry", "version = \"0.1.0\"".to_owned())
        );
        assert_eq!(
            chosen("git+https://example.org/stud#v0.1.0").unwrap(),
            (
                "git",
                "git = \"https://example.org/stud\", tag = \"v0.1.0\"".to_owned()
            )
        );
        for wrong in [
            "git+https://example.org/stud",
            "git+#v1",
            "1",
            "1.x",
            "./0.1",
        ] {
            assert_eq!(
                choose(Some(wrong)).unwrap_err().code,
                &codes::DEPENDENCY_MISSING,
                "{wrong}"
            );
        }
    }

    #[test]
    fn any_other_folder_is_refused() {
        let error = choose(Some(env!("CARGO_MANIFEST_DIR"))).unwrap_err();
        assert_eq!(error.code, &codes::DEPENDENCY_MISSING);
    }
}
