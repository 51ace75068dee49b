//! Install, update and remove.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};
use stud_config::environment::Environment;
use stud_config::platform;
use stud_config::plugin_scope::Scope;
use stud_contract_meta::{ExtId, Kind};
use stud_diagnostics::{Diagnostic, codes};
use stud_plugins::admission::judge;
use stud_plugins::discover::discover;
use stud_plugins::plugin_check::{check, read_manifest};
use stud_plugins::register::PluginRuntime;
use stud_plugins::unknown_ids::unknown_extension;

use crate::lock_file::{Entry, LockFile};
use crate::refusal::source_invalid;
use crate::rights::Rights;
use crate::source::{self, Library, Profile};
use crate::staging::{Staging, exclusively, library_name};

/// What is to be installed, and on which conditions.
#[derive(Debug, Default)]
pub struct Request {
    /// A library, a folder or an archive.
    pub source: PathBuf,
    /// What a folder is built with.
    pub profile: Profile,
    /// The id that the plugin must have.
    pub expected_id: Option<String>,
    /// The SHA-256 that the library must have.
    pub expected_sha256: Option<String>,
    /// A config for a plugin that has none yet.
    pub config: Option<PathBuf>,
    /// Whether declarations beyond those of the installed build are accepted.
    pub accept: bool,
}

/// Which build an update takes.
#[derive(Debug)]
pub enum Build {
    /// What its source holds now.
    OfItsSource,
    /// What this source holds.
    Of(PathBuf),
    /// The one that the last update replaced.
    Previous,
}

/// What was installed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Installed {
    /// The plugin's id.
    pub ext_id: String,
    /// Its category.
    pub kind: Kind,
    /// The scope it was installed in.
    pub scope: Scope,
    /// Its own version.
    pub version: String,
    /// Its library.
    pub installed_path: PathBuf,
    /// The digest of its library.
    pub sha256: String,
    /// Whether exactly this build was installed before, so that nothing changed.
    pub reused: bool,
    /// The version it replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
    /// The members of the manifest in which it differs from the build it replaced.
    pub changed: Vec<String>,
    /// What it declares.
    pub rights: Rights,
    /// What it declares and the build before did not.
    pub widened: Rights,
    /// What else there is to say about it.
    pub diagnostics: Vec<Diagnostic>,
}

/// What was removed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    /// The plugin's id.
    pub ext_id: String,
    /// The scope it was removed from.
    pub scope: Scope,
    /// Where its files are until the next removal of this id.
    pub kept: PathBuf,
    /// Installed plugins that depend on it.
    pub dependents: Vec<String>,
}

/// Puts on record what is about to be done; what cannot be put on record is not done.
pub type Record<'a> = &'a dyn Fn(&'static str, Value) -> Result<(), Diagnostic>;

/// Changes what is installed in one scope.
pub struct Installer<'a> {
    environment: &'a Environment,
    runtime: &'a PluginRuntime,
    scope: Scope,
    root: PathBuf,
    record: Record<'a>,
}

impl<'a> Installer<'a> {
    /// An installer for a scope. A project has to be trusted.
    pub fn new(
        environment: &'a Environment,
        runtime: &'a PluginRuntime,
        scope: Scope,
        record: Record<'a>,
    ) -> Result<Self, Diagnostic> {
        let root = match (scope, environment.project()) {
            (Scope::Project, Some(project)) => project.root().to_owned(),
            (Scope::Project, None) => return Err(untrusted(environment)),
            _ => environment.places.global_root.clone(),
        };
        Ok(Self {
            environment,
            runtime,
            scope,
            root,
            record,
        })
    }

    /// Installs a plugin, or updates it if it is installed.
    pub fn install(&self, request: &Request) -> Result<Installed, Diagnostic> {
        let mut library = self.read(&request.source, request.profile)?;
        // The canonical path is for finding it again; people are told the path they gave.
        let told = request.source.clone();
        if let Some(expected) = &request.expected_sha256
            && !expected.eq_ignore_ascii_case(&library.sha256())
        {
            let actual = library.sha256();
            return Err(Diagnostic::error(
                &codes::INTEGRITY_FAILED,
                "the library's bytes are not the expected ones",
            )
            .file(&told)
            .with("expected", expected.as_str())
            .with("actual", actual)
            .help("do not use it: find out what its author publishes, and download it again"));
        }
        if let Some(config) = &request.config {
            if self.environment.closed(config).is_some() {
                return Err(untrusted(self.environment));
            }
            library.config = Some(config.clone());
        }
        exclusively(&self.root, |staging| {
            self.put_into_place(
                staging,
                &told,
                library,
                request.expected_id.as_deref(),
                request.accept,
            )
        })
    }

    /// Replaces an installed plugin by another build.
    pub fn update(
        &self,
        id: &str,
        build: &Build,
        profile: Profile,
        accept: bool,
    ) -> Result<Installed, Diagnostic> {
        let entry = LockFile::read(&self.root)?.get(id).cloned();
        let Some(entry) = entry else {
            return Err(self.not_installed(id));
        };
        let staged = |path: PathBuf| -> Result<Library, Diagnostic> {
            let mut library = self.read(&path, profile)?;
            library.origin = entry.source.clone();
            Ok(library)
        };
        let probe = Staging::of(&self.root);
        let held = probe.held(id);
        let (told, library) = match build {
            Build::OfItsSource if accept && held.is_file() => (held.clone(), staged(held)?),
            Build::OfItsSource => (
                entry.source.path.clone(),
                self.read(&entry.source.path, profile)?,
            ),
            Build::Of(path) => (path.clone(), self.read(path, profile)?),
            Build::Previous => {
                let previous = probe.previous(id);
                if !previous.is_file() {
                    let message = format!(
                        "`{id}` has no previous build: it was not updated since it was installed"
                    );
                    return Err(source_invalid(&previous, message).of(id));
                }
                (previous.clone(), staged(previous)?)
            }
        };
        exclusively(&self.root, |staging| {
            self.put_into_place(staging, &told, library, Some(id), accept)
        })
    }

    /// Reads a source, unless it lies in a project that is not trusted.
    fn read(&self, source: &Path, profile: Profile) -> Result<Library, Diagnostic> {
        match self.environment.closed(source) {
            Some(_) => Err(untrusted(self.environment)),
            None => source::read(source, profile, &|path| {
                self.environment.closed(path).is_some()
            }),
        }
    }

    /// Removes a plugin. Its files are kept until the next removal of the same id.
    pub fn remove(&self, id: &str) -> Result<Removed, Diagnostic> {
        exclusively(&self.root, |staging| {
            let place = LockFile::read(&self.root)?
                .get(id)
                .map(|entry| entry.place.clone());
            let place = place.filter(|place| self.root.join(place).exists());
            let Some(place) = place.or_else(|| self.place_by_hand(id, None)) else {
                return Err(self.not_installed(id));
            };
            let dependents = self.dependents(id);
            let path = self.root.join(&place);
            let facts =
                json!({"extensionId": id, "scope": self.scope, "path": path.to_string_lossy()});
            (self.record)("ExtensionRemoved", facts)?;
            let kept = staging.remove(id, &place)?;
            Ok(Removed {
                ext_id: id.to_owned(),
                scope: self.scope,
                kept,
                dependents,
            })
        })
    }

    /// The ids of what was installed here.
    pub fn installed(&self) -> Result<Vec<String>, Diagnostic> {
        let lock = LockFile::read(&self.root)?;
        Ok(lock.entries().map(|(id, _)| id.to_owned()).collect())
    }

    fn put_into_place(
        &self,
        staging: &Staging,
        told: &Path,
        library: Library,
        expected_id: Option<&str>,
        accept: bool,
    ) -> Result<Installed, Diagnostic> {
        let (id, kind, manifest) = self.identify(staging, told, &library)?;
        if let Some(expected) = expected_id.filter(|expected| *expected != id) {
            return Err(source_invalid(
                told,
                format!("the source holds the plugin `{id}`, not `{expected}`"),
            )
            .of(&id)
            .with("expected", expected)
            .with("found", id));
        }
        let place = PathBuf::from(kind.folder())
            .join(&id)
            .join(library_name(&id));
        let target = self.root.join(&place);
        self.refuse_doubled(&id, &target)?;
        let own_config = target.with_file_name("config.json");
        let config = if own_config.exists() {
            Some(own_config.clone())
        } else {
            library.config.clone()
        };
        let staged = staging.stage(&id, &library.bytes, config.as_deref())?;
        let diagnostics = self.judge(&staged, told)?;
        let lock = LockFile::read(&self.root)?;
        let before = lock.get(&id).cloned();
        let rights = Rights::of(&manifest);
        let in_place = target
            .is_file()
            .then(|| read_manifest(&target, self.environment).ok())
            .flatten();
        let declared_before = in_place
            .as_ref()
            .map(Rights::of)
            .or_else(|| before.as_ref().map(|entry| entry.rights.clone()));
        let widened = declared_before
            .as_ref()
            .map_or_else(Rights::default, |before| rights.beyond(before));
        let text = |member: &str| manifest[member].as_str().unwrap_or_default().to_owned();
        let installed = Installed {
            ext_id: id.clone(),
            kind,
            scope: self.scope,
            version: text("version"),
            installed_path: target.clone(),
            sha256: library.sha256(),
            reused: false,
            replaced: before.as_ref().map(|entry| entry.version.clone()),
            changed: in_place
                .as_ref()
                .map(|before| differing(before, &manifest))
                .unwrap_or_default(),
            rights: rights.clone(),
            widened,
            diagnostics,
        };
        let current = platform::read_file(&target, stud_plugins::discover::LARGEST_LIBRARY).ok();
        if before.is_some() && current.is_some_and(|current| current == library.bytes) {
            return Ok(Installed {
                reused: true,
                ..installed
            });
        }
        if !installed.widened.is_empty() && !accept {
            staging.hold(&id, &library.bytes)?;
            return Err(held_back(&installed));
        }
        if config.is_some() && target.parent().is_some_and(Path::exists) && !own_config.exists() {
            let given = staged.with_file_name("config.json");
            std::fs::rename(&given, &own_config)
                .map_err(|error| crate::refusal::unwritable(&own_config, &error))?;
        }
        let entry = Entry {
            kind,
            version: installed.version.clone(),
            contract_version: text("contractVersion"),
            source: library.origin,
            installed_at: platform::rfc3339(platform::now()),
            place: place.clone(),
            platforms: library.platforms,
            rights,
        };
        (self.record)(
            "ExtensionInstalled",
            json!({
                "extensionId": id, "version": installed.version, "scope": self.scope,
                "integrity": format!("sha256-{}", installed.sha256), "path": target.to_string_lossy(),
            }),
        )?;
        staging.install(&id, &staged, &place, entry)?;
        Ok(installed)
    }

    /// Puts a staged library through every stage, and gives its warnings.
    fn judge(&self, staged: &Path, told: &Path) -> Result<Vec<Diagnostic>, Diagnostic> {
        let report = check(staged, true, self.environment, self.runtime);
        if report.status == "ok" {
            return Ok(report.diagnostics);
        }
        let why = report.diagnostics.into_iter().next();
        Err(why.map_or_else(
            || source_invalid(told, "the plugin was refused"),
            |why| why.file(told).help("nothing was installed or replaced"),
        ))
    }

    /// Refuses an id that a library elsewhere in the scope has.
    fn refuse_doubled(&self, id: &str, target: &Path) -> Result<(), Diagnostic> {
        let Some(other) = self.place_by_hand(id, Some(target)) else {
            return Ok(());
        };
        let other = self.root.join(other);
        let message = format!("`{id}` is already in this scope, in a place of its own");
        Err(Diagnostic::error(&codes::REGISTRATION_CONFLICT, message)
            .of(id)
            .file(&other)
            .with("path", other.to_string_lossy())
            .help(format!(
                "`stud plugin remove {id}` takes it away; then install this one"
            )))
    }

    /// Reads id, category and manifest. A library without them is refused as `stud plugin check` would.
    fn identify(
        &self,
        staging: &Staging,
        told: &Path,
        library: &Library,
    ) -> Result<(String, Kind, Value), Diagnostic> {
        let staged = staging.stage("unknown", &library.bytes, None)?;
        let manifest = read_manifest(&staged, self.environment).map_err(|why| why.file(told))?;
        let id = manifest["extId"]
            .as_str()
            .filter(|id| ExtId::parse(id).is_ok());
        let kind = manifest["kind"].as_str().and_then(Kind::parse);
        if let (Some(id), Some(kind)) = (id, kind) {
            return Ok((id.to_owned(), kind, manifest));
        }
        let report = check(&staged, false, self.environment, self.runtime);
        let why = report.diagnostics.into_iter().next();
        Err(why.map_or_else(
            || source_invalid(told, "the manifest has no id or no category"),
            |why| why.file(told),
        ))
    }

    /// The place of a library with this id below the root, other than `expected`.
    fn place_by_hand(&self, id: &str, expected: Option<&Path>) -> Option<PathBuf> {
        let discovered = discover(self.environment);
        let refused = discovered
            .refused
            .iter()
            .map(|refused| refused.provenance().clone());
        let mut all: Vec<_> = refused.collect();
        for found in discovered.found {
            match judge(found, &self.environment.settings) {
                Ok(plugin) => all.push(plugin.provenance().clone()),
                Err(refused) => all.push(refused.provenance().clone()),
            }
        }
        all.iter()
            .filter(|provenance| provenance.scope() == self.scope && provenance.name() == id)
            .filter_map(|provenance| provenance.path())
            .filter(|path| Some(*path) != expected)
            .find_map(|path| path.strip_prefix(&self.root).ok().map(Path::to_owned))
    }

    /// The installed plugins that name this one among their dependencies.
    fn dependents(&self, id: &str) -> Vec<String> {
        let plugins = discover(self.environment).found.into_iter();
        let plugins: Vec<_> = plugins
            .filter_map(|found| judge(found, &self.environment.settings).ok())
            .collect();
        let Some(it) = plugins
            .iter()
            .find(|plugin| plugin.manifest().ext_id.as_str() == id)
        else {
            return Vec::new();
        };
        let it = it.manifest();
        plugins
            .iter()
            .map(stud_plugins::validate::Validated::manifest)
            .filter(|other| {
                let mut needs = other.depends_on.iter();
                needs.any(|reference| reference.matches(&it.ext_id, it.kind, &it.provides))
            })
            .map(|other| other.ext_id.to_string())
            .collect()
    }

    fn not_installed(&self, id: &str) -> Diagnostic {
        let known = self.installed().unwrap_or_default();
        unknown_extension(id, known.iter().map(String::as_str))
            .note(format!(
                "the {} scope has no library of this id; bundled plugins are part of the program",
                self.scope
            ))
            .help("`stud plugin disable` switches a plugin off that cannot be removed")
    }
}

impl fmt::Debug for Installer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Installer")
            .field("scope", &self.scope)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

/// The members in which two manifests differ.
fn differing(before: &Value, after: &Value) -> Vec<String> {
    let names = |manifest: &Value| -> Vec<String> {
        let members = manifest.as_object().into_iter().flatten();
        members.map(|(name, _)| name.clone()).collect()
    };
    let mut all = names(before);
    all.extend(names(after));
    all.sort_unstable();
    all.dedup();
    all.retain(|name| before.get(name) != after.get(name));
    all
}

fn held_back(installed: &Installed) -> Diagnostic {
    let id = &installed.ext_id;
    let message = format!("the update of `{id}` declares more than the installed build");
    let lines: Vec<String> = installed.widened.lines().collect();
    let difference = serde_json::to_value(&installed.widened).unwrap_or_default();
    let held = Diagnostic::error(&codes::UPDATE_RIGHTS_WIDENED, message)
        .of(id)
        .with("added", difference)
        .with("version", installed.version.as_str())
        .with(
            "installedVersion",
            installed.replaced.clone().unwrap_or_default(),
        );
    lines
        .into_iter()
        .fold(held, |held, line| held.note(format!("new: {line}")))
        .help(format!("`stud plugin update {id} --accept` installs it; until then the installed build stays in use"))
}

fn untrusted(environment: &Environment) -> Diagnostic {
    let root = environment.places.project_root.display().to_string();
    Diagnostic::error(
        &codes::PROJECT_TRUST_REQUIRED,
        "the project is not trusted, so nothing in it is read or installed",
    )
    .with("projectRoot", root)
    .help("`stud trust` trusts the project")
}
