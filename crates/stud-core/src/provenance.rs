//! What is known of one plugin while it goes through the stages, and what it is when it may not go on.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stud_abi::EmbeddedPlugin;
use stud_contract_meta::{Error, ExtId, Kind, SemVer};
use stud_diagnostics::{Code, Diagnostic, Source, Stage};

use crate::executor::CodeOrigin;
use crate::plugin_scope::Scope;

/// Where a plugin's bytes are.
#[derive(Debug, Clone)]
pub enum Origin {
    /// In a library file.
    Library(PathBuf),
    /// In the program itself.
    Embedded(EmbeddedPlugin),
}

/// One plugin on its way: who it is as far as anyone knows, which stages it passed, what was noticed.
#[derive(Debug, Clone)]
pub struct Provenance {
    pub(crate) scope: Scope,
    pub(crate) origin: Origin,
    /// The name of its file or folder, until the manifest has said better.
    pub(crate) label: String,
    pub(crate) ext_id: Option<ExtId>,
    pub(crate) kind: Option<Kind>,
    pub(crate) version: Option<SemVer>,
    pub(crate) contract_version: Option<String>,
    pub(crate) passed: Vec<Stage>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Whether its bytes are the pinned ones; nothing unless they are pinned and were looked at.
    pub(crate) integrity: Option<Verdict>,
}

/// Whether a library is the one that was pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Ok,
    /// It is not, or nobody can tell from the pin.
    Mismatch,
}

impl Verdict {
    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Mismatch => "mismatch",
        }
    }

    /// What is put on record of it.
    pub(crate) fn facts(self, ext_id: &str) -> Value {
        json!({"extensionId": ext_id, "verdict": self.as_str()})
    }
}

/// A plugin that may not go on, and why.
#[derive(Debug, Clone)]
pub struct Refused {
    // Boxed, because every stage returns one where it could also succeed.
    pub(crate) track: Box<Provenance>,
    pub(crate) why: Diagnostic,
}

impl Provenance {
    pub(crate) fn new(scope: Scope, origin: Origin, label: String, kind: Option<Kind>) -> Self {
        Self {
            scope,
            origin,
            label,
            ext_id: None,
            kind,
            version: None,
            contract_version: None,
            passed: Vec::new(),
            warnings: Vec::new(),
            integrity: None,
        }
    }

    /// The id, or what the plugin goes by while it has none.
    pub fn name(&self) -> &str {
        self.ext_id.as_ref().map_or(&self.label, ExtId::as_str)
    }

    /// The library's file, if it has one.
    pub fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Library(path) => Some(path),
            Origin::Embedded(_) => None,
        }
    }

    /// Whether the code is bundled or third-party.
    pub(crate) fn whose(&self) -> CodeOrigin {
        match &self.origin {
            Origin::Library(_) => CodeOrigin::Strangers,
            Origin::Embedded(_) => CodeOrigin::Ours,
        }
    }

    /// The scope it was found in.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The stages it passed, in order.
    pub fn passed(&self) -> &[Stage] {
        &self.passed
    }

    pub(crate) fn pass(&mut self, stage: Stage) {
        self.passed.push(stage);
    }

    /// A diagnostic about this plugin at `stage`.
    pub(crate) fn error(
        &self,
        stage: Stage,
        code: &'static Code,
        message: impl Into<String>,
    ) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(code, message)
            .at(stage)
            .of(self.name())
            .with("extId", self.name());
        if let Some(path) = self.path() {
            diagnostic = diagnostic.file(path);
        }
        diagnostic
    }

    pub(crate) fn warn(&mut self, diagnostic: Diagnostic) {
        self.warnings.push(diagnostic.downgraded());
    }

    pub(crate) fn refuse(self, why: Diagnostic) -> Refused {
        Refused {
            track: Box::new(self),
            why,
        }
    }
}

/// What was found wrong, without where it stands, for whoever asked for something.
pub(crate) fn told(found: &Diagnostic) -> Error {
    let error = Error::new(found.code.class, found.code.name, found.message.clone());
    let facts = found.context.iter();
    facts.fold(error, |error, (key, value)| error.with(key, value.clone()))
}

/// Shows the place in a manifest that a diagnostic is about.
pub(crate) fn show(diagnostic: Diagnostic, track: &Provenance, document: &Value) -> Diagnostic {
    let Some(pointer) = diagnostic.field_path.clone() else {
        return diagnostic;
    };
    // The file is what a reader has in hand; an embedded plugin has only its name.
    let holder = track.path().map_or_else(
        || track.name().to_owned(),
        |path| path.display().to_string(),
    );
    let name = format!("{holder}#manifest");
    // `/body#name` is about a word inside a text, and the text is what can be shown.
    let place = match pointer.split_once('#') {
        Some((text, _)) if document.pointer(&pointer).is_none() => text,
        _ => &pointer,
    };
    diagnostic.excerpt(Source::of_json(name, document, place))
}
