//! What is known of one plugin while it passes the stages, and its refusal if it does not.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stud_abi::EmbeddedPlugin;
use stud_contract_meta::{Error, ExtId, Kind, SemVer};
use stud_diagnostics::{Code, Diagnostic, Source, Stage};

use stud_config::plugin_scope::Scope;
use stud_runtime::executor::CodeOrigin;

/// Where a plugin's bytes are.
#[derive(Debug, Clone)]
pub enum Origin {
    /// In a library file.
    Library(PathBuf),
    /// In the program itself.
    Embedded(EmbeddedPlugin),
}

/// What is known of one plugin while it passes the stages: its id, origin, passed stages and warnings.
///
/// Every stage hands it on; no stage can take back what an earlier one noted.
#[derive(Debug, Clone)]
pub struct Provenance {
    scope: Scope,
    origin: Origin,
    /// The name of its file or folder, until its id is known.
    label: String,
    ext_id: Option<ExtId>,
    kind: Option<Kind>,
    version: Option<SemVer>,
    contract_version: Option<String>,
    passed: Vec<Stage>,
    warnings: Vec<Diagnostic>,
    integrity: Option<Integrity>,
}

/// Whether a library is the one that was pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrity {
    /// Its bytes are the pinned ones.
    Ok,
    /// Its bytes are others, or the pin cannot be read.
    Mismatch,
}

impl Integrity {
    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Mismatch => "mismatch",
        }
    }

    /// The payload of its audit record.
    pub fn facts(self, ext_id: &str) -> Value {
        json!({"extensionId": ext_id, "verdict": self.as_str()})
    }
}

/// A plugin that may not continue, and why.
#[derive(Debug, Clone)]
pub struct Refused {
    // Boxed, because every stage returns one where it could also succeed.
    provenance: Box<Provenance>,
    why: Diagnostic,
}

impl Refused {
    /// What is known of the plugin.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Why it was refused.
    pub fn why(&self) -> &Diagnostic {
        &self.why
    }

    /// Why it was refused, by value.
    pub fn into_why(self) -> Diagnostic {
        self.why
    }

    /// Both parts.
    pub(crate) fn into_parts(self) -> (Provenance, Diagnostic) {
        (*self.provenance, self.why)
    }

    /// The refusal as a warning: a plugin of a lower scope with the same id runs instead.
    pub(crate) fn replaced_by(self, scope: Scope, id: &ExtId) -> Self {
        let why = self
            .why
            .downgraded()
            .falling_back_to(scope.as_str(), Some(id.as_str()))
            .note(format!("the {scope} `{id}` is used in its place"));
        Self { why, ..self }
    }
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

    /// What its manifest says about itself, as far as it could be read.
    pub(crate) fn identify(
        &mut self,
        ext_id: Option<ExtId>,
        kind: Option<Kind>,
        version: Option<SemVer>,
        contract_version: Option<String>,
    ) {
        self.ext_id = ext_id;
        self.kind = kind.or(self.kind);
        self.version = version;
        self.contract_version = contract_version;
    }

    /// The provenance of the instance that serves the settings entry `id`.
    pub(crate) fn for_entry(&self, id: &ExtId) -> Self {
        Self {
            ext_id: Some(id.clone()),
            // The pin was checked for the plugin itself.
            integrity: None,
            ..self.clone()
        }
    }

    /// The id, or the file name while the id is unknown.
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

    /// Where its bytes are.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Its id, once it is known.
    pub fn ext_id(&self) -> Option<&ExtId> {
        self.ext_id.as_ref()
    }

    /// Its category, once it is known.
    pub fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Its own version, once it is known.
    pub fn version(&self) -> Option<&SemVer> {
        self.version.as_ref()
    }

    /// The contract version it was built against, once it is known.
    pub fn contract_version(&self) -> Option<&str> {
        self.contract_version.as_deref()
    }

    /// Warnings about it, in the order they were found.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Whether its bytes are the pinned ones; nothing unless they are pinned and were read.
    pub fn integrity(&self) -> Option<Integrity> {
        self.integrity
    }

    /// Whether the code is bundled or third-party.
    pub(crate) fn code_origin(&self) -> CodeOrigin {
        match &self.origin {
            Origin::Library(_) => CodeOrigin::ThirdParty,
            Origin::Embedded(_) => CodeOrigin::Bundled,
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

    pub(crate) fn set_integrity(&mut self, integrity: Option<Integrity>) {
        self.integrity = integrity;
    }

    pub(crate) fn refuse(self, why: Diagnostic) -> Refused {
        Refused {
            provenance: Box::new(self),
            why,
        }
    }
}

/// The diagnostic as an error for a caller: without file, place and source.
pub fn told(found: &Diagnostic) -> Error {
    let error = Error::new(found.code.class, found.code.name, found.message.clone());
    let facts = found.context.iter();
    facts.fold(error, |error, (key, value)| error.with(key, value.clone()))
}

/// Shows the place in a manifest that a diagnostic is about.
pub(crate) fn show(
    diagnostic: Diagnostic,
    provenance: &Provenance,
    document: &Value,
) -> Diagnostic {
    let Some(pointer) = diagnostic.field_path.clone() else {
        return diagnostic;
    };
    // The file is what a reader has in hand; an embedded plugin has only its name.
    let holder = provenance.path().map_or_else(
        || provenance.name().to_owned(),
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
