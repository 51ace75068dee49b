//! What a `case.toml` says, and the example of the code's page with it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::page;

/// The case that the page shows.
pub(crate) const FIRST: &str = "case.toml";

/// One case.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// The package of the plugin to change and check.
    pub(crate) fixture: Option<String>,
    /// Changes to its manifest, by JSON Pointer.
    #[serde(default)]
    pub(crate) set: Vec<Set>,
    /// Members to take out of its manifest, by JSON Pointer.
    #[serde(default)]
    pub(crate) remove: Vec<String>,
    /// Changes to the file itself.
    #[serde(default)]
    pub(crate) library: Vec<Change>,
    /// Files to write into the world, `home/…` or `project/…`.
    #[serde(default)]
    pub(crate) files: Vec<File>,
    /// Where to put the library; without it the library is checked where it lies.
    pub(crate) install: Option<Vec<String>>,
    /// More plugins to install: package, place and changes.
    #[serde(default)]
    pub(crate) also: Vec<Also>,
    /// Whether the project is trusted first.
    #[serde(default)]
    pub(crate) trust: bool,
    /// Variables of the environment the program runs in.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// The arguments of `stud`; `libplugin.so` stands for the library's path.
    ///
    /// Without them the library is checked, or listed if it is installed.
    pub(crate) command: Option<Vec<String>>,
    /// The exit status; unless said, 0 for a list and 1 for everything else.
    pub(crate) status: Option<i32>,
    /// The plugins that are active all the same.
    #[serde(default)]
    pub(crate) active: Vec<String>,
    /// Whether the refused plugin may have been opened, because what it lacks went missing only later.
    #[serde(default)]
    pub(crate) opened: bool,
    /// All plugins that are refused with the code, by their ids.
    #[serde(default)]
    pub(crate) refused: Vec<String>,
    /// Where the code is found: among `diagnostics`, as the `cause` of another, or on standard error.
    #[serde(default)]
    pub(crate) found: Place,
    /// The stage it must be found at.
    pub(crate) stage: Option<String>,
    /// The place it must point at.
    #[serde(rename = "fieldPath")]
    pub(crate) field_path: Option<String>,
    /// Facts its context must hold.
    #[serde(default)]
    pub(crate) context: serde_json::Map<String, Value>,
    /// Whether it is a warning.
    #[serde(default)]
    pub(crate) warning: bool,
}

impl Case {
    /// The case in the file `path`, and the `Class/Code` that its folders name.
    ///
    /// The first case of a code is what its page shows; its file holds only what the page does not say.
    pub(crate) fn load(path: &Path) -> Result<(Self, String), String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let mut case: Self = toml::from_str(&text).map_err(|error| error.to_string())?;
        let name = |path: Option<&Path>| {
            let name = path.and_then(Path::file_name).unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        let folder = path.parent();
        let id = format!("{}/{}", name(folder.and_then(Path::parent)), name(folder));
        if path.ends_with(FIRST) {
            page::apply(&mut case, &id)?;
        }
        Ok((case, id))
    }

    /// A fixture as it is, checked where it lies.
    pub(crate) fn of(package: &str) -> Self {
        Self {
            fixture: Some(package.to_owned()),
            ..Self::default()
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Set {
    pub(crate) at: String,
    /// Null without it, which TOML cannot write.
    #[serde(default)]
    pub(crate) value: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Also {
    pub(crate) fixture: String,
    pub(crate) install: String,
    #[serde(default)]
    pub(crate) set: Vec<Set>,
    #[serde(default)]
    pub(crate) remove: Vec<String>,
}

/// A change to a library's bytes.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Change {
    /// Cut to so many bytes.
    Truncate { len: usize },
    /// These bytes instead.
    Text { text: String },
    /// Overwrite at an offset.
    Bytes { at: usize, bytes: Vec<u8> },
    /// Overwrite at an offset of the `.stud` section.
    SectionBytes { at: usize, bytes: Vec<u8> },
    /// This text as the manifest, whatever it is.
    Manifest { text: String },
    /// This as the whole section.
    Section { bytes: Vec<u8> },
    /// A second manifest behind the first.
    SecondManifest,
    /// The manifest of another fixture, but for the entry: that stays the library's own.
    ManifestOf { fixture: String },
    /// These words instead of those, of the same length, wherever they stand.
    Replace { from: String, to: String },
    /// Another section gets the name `.stud`, or `.stud` that of another.
    Rename { from: String, to: String },
    /// The program itself instead of a library.
    Program,
    /// Something in the library's place that is no file.
    Instead { what: Instead },
}

/// What may lie where a library should.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Instead {
    Nothing,
    Folder,
    Pipe,
    Socket,
    DanglingLink,
}

/// Where a code shows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    /// In a list of diagnostics on standard output.
    #[default]
    Diagnostics,
    /// As the `cause` in the context of a diagnostic there.
    Cause,
    /// As the diagnostic on standard error.
    Stderr,
    /// As the one-line surface on standard error.
    Surface,
}
