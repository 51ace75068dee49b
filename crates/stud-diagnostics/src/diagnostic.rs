//! One thing to say to a person or a program, as plain data.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::{Class, Code, Source, Stage, codes};

/// Whether something was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something was refused or failed.
    Error,
    /// Something was accepted and should still be looked at.
    Warning,
}

impl Severity {
    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a [`Diagnostic`] says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Body {
    /// What happened.
    pub code: &'static Code,
    /// Whether something was refused.
    pub severity: Severity,
    /// The headline: lower case, no full stop, says the state.
    pub message: String,
    /// Where on its way the plugin was.
    pub stage: Option<Stage>,
    /// The plugin concerned.
    pub ext_id: Option<String>,
    /// A JSON Pointer into the manifest or the configuration.
    pub field_path: Option<String>,
    /// Facts for programs; never a secret.
    pub context: Map<String, Value>,
    /// Facts for people.
    pub notes: Vec<String>,
    /// What the reader can do; the line naming `stud explain` is not among these.
    pub help: Vec<String>,
    /// The file concerned.
    pub path: Option<PathBuf>,
    /// The text to show, with the places to point at.
    pub source: Option<Source>,
}

/// One refusal or warning.
///
/// The body is boxed, so that a `Result` with this as its error stays small; its fields are
/// read through `Deref` and set through the methods here.
#[derive(Clone, PartialEq)]
pub struct Diagnostic(Box<Body>);

impl Diagnostic {
    /// Something was refused or failed.
    pub fn error(code: &'static Code, message: impl Into<String>) -> Self {
        Self(Box::new(Body {
            code,
            severity: Severity::Error,
            message: message.into(),
            stage: None,
            ext_id: None,
            field_path: None,
            context: Map::new(),
            notes: Vec::new(),
            help: Vec::new(),
            path: None,
            source: None,
        }))
    }

    /// Something was accepted and should still be looked at.
    pub fn warning(code: &'static Code, message: impl Into<String>) -> Self {
        Self::error(code, message).downgraded()
    }

    /// Says where on its way the plugin was.
    #[must_use]
    pub fn at(mut self, stage: Stage) -> Self {
        self.0.stage = Some(stage);
        self
    }

    /// Says which plugin it is about.
    #[must_use]
    pub fn of(mut self, ext_id: impl Into<String>) -> Self {
        self.0.ext_id = Some(ext_id.into());
        self
    }

    /// Says which member it is about, as a JSON Pointer.
    #[must_use]
    pub fn field(mut self, pointer: impl Into<String>) -> Self {
        self.0.field_path = Some(pointer.into());
        self
    }

    /// Adds a fact for programs.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.context.insert(key.into(), value.into());
        self
    }

    /// Adds a fact for people.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
        self
    }

    /// Adds something the reader can do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help.push(help.into());
        self
    }

    /// Says which file it is about.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.0.path = Some(path.into());
        self
    }

    /// Shows a piece of the document it is about.
    #[must_use]
    pub fn excerpt(mut self, source: Source) -> Self {
        self.0.source = Some(source);
        self
    }

    /// The same as a warning.
    #[must_use]
    pub fn downgraded(mut self) -> Self {
        self.0.severity = Severity::Warning;
        self
    }

    /// Says what holds in place of what was refused: that of a lower scope, for a plugin or for stud itself.
    #[must_use]
    pub fn falling_back_to(self, scope: &str, ext_id: Option<&str>) -> Self {
        let mut fallback = Map::new();
        fallback.insert("toScope".to_owned(), scope.into());
        if let Some(id) = ext_id {
            fallback.insert("fromExtensionId".to_owned(), id.into());
        }
        self.with("fallback", fallback)
    }

    /// What holds in its place, if something of a lower scope does.
    pub fn fallback(&self) -> Option<&Value> {
        self.context.get("fallback")
    }

    /// Who owns the next move.
    pub fn class(&self) -> Class {
        self.code.class
    }

    /// Whether something was refused.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Everything the reader can do, ending with the command that shows the page. A plugin's own code has none.
    pub fn all_help(&self) -> impl Iterator<Item = String> + '_ {
        let has_page = codes::ALL.contains(&self.code);
        let explain = has_page.then(|| format!("stud explain {}", self.code));
        self.help.iter().cloned().chain(explain)
    }
}

impl Deref for Diagnostic {
    type Target = Body;

    fn deref(&self) -> &Body {
        &self.0
    }
}

impl fmt::Debug for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Diagnostic {}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("class", self.code.class.as_str())?;
        map.serialize_entry("code", self.code.name)?;
        if let Some(stage) = self.stage {
            map.serialize_entry("stage", stage.as_str())?;
        }
        if let Some(ext_id) = &self.ext_id {
            map.serialize_entry("extId", ext_id)?;
        }
        if let Some(field_path) = &self.field_path {
            map.serialize_entry("fieldPath", field_path)?;
        }
        map.serialize_entry("message", &self.message)?;
        map.serialize_entry("context", &ByKey(&self.context))?;
        map.serialize_entry("help", &self.all_help().collect::<Vec<_>>())?;
        map.serialize_entry("severity", self.severity.as_str())?;
        if !self.notes.is_empty() {
            map.serialize_entry("notes", &self.notes)?;
        }
        if let Some(path) = &self.path {
            map.serialize_entry("path", &path.to_string_lossy())?;
        }
        map.end()
    }
}

/// A map in the order of its keys, whichever order `serde_json` was built to keep.
struct ByKey<'a>(&'a Map<String, Value>);

impl Serialize for ByKey<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries: Vec<_> = self.0.iter().collect();
        entries.sort_by_key(|(key, _)| *key);
        serializer.collect_map(entries)
    }
}
