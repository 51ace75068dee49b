//! Is this project's folder trusted? Asked before anything below it is read.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stud_diagnostics::{Diagnostic, codes};

use crate::platform::{self, Durability, Places, ReadError};

/// A project folder that someone decided to trust.
///
/// Only [`enter`] and [`enter_once`] make one, and only from one can a project be discovered or its settings read.
#[derive(Debug, Clone)]
pub struct TrustedProject {
    root: PathBuf,
    canonical: PathBuf,
}

impl TrustedProject {
    /// The project's `.stud` folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The same with its links resolved, as decisions name it.
    pub fn canonical(&self) -> &Path {
        &self.canonical
    }
}

/// What became of the project's folder.
#[derive(Debug)]
pub enum Entered {
    /// There is none.
    Absent,
    /// It is there and trusted.
    Trusted(TrustedProject),
    /// It exists and is not trusted; nothing below it was read.
    Untrusted(Diagnostic),
}

/// Looks whether the project has a folder, and whether it is trusted.
///
/// A working directory that contains the global root is not a project: its plugins and settings are global.
pub fn enter(places: &Places) -> Result<Entered, Diagnostic> {
    if !places.project_root.is_dir() {
        return Ok(Entered::Absent);
    }
    let canonical = canonical(&places.project_root)?;
    if is_global(places, &canonical) {
        return Ok(Entered::Absent);
    }
    let store = TrustStore::open(places)?;
    if store.is_trusted(&canonical) {
        return Ok(Entered::Trusted(TrustedProject {
            root: places.project_root.clone(),
            canonical,
        }));
    }
    let shown = canonical.display().to_string();
    Ok(Entered::Untrusted(
        Diagnostic::warning(
            &codes::PROJECT_TRUST_REQUIRED,
            "this project is not trusted, so nothing of it was read",
        )
        .with("projectRoot", shown)
        .with("trustPath", store.path.display().to_string())
        .note("plugins of a trusted project run in stud's own process, with everything you may do")
        .help("`stud trust` trusts this folder; `stud trust --list` shows earlier decisions"),
    ))
}

/// Takes the project in for this run alone. Nothing is kept of the decision.
pub fn enter_once(places: &Places) -> Entered {
    match canonical(&places.project_root) {
        Ok(canonical) if places.project_root.is_dir() && !is_global(places, &canonical) => {
            Entered::Trusted(TrustedProject {
                root: places.project_root.clone(),
                canonical,
            })
        }
        _ => Entered::Absent,
    }
}

fn is_global(places: &Places, canonical: &Path) -> bool {
    let global = places.global_root.canonicalize();
    global.is_ok_and(|global| global == canonical)
}

/// The decisions made so far, newest last.
#[derive(Debug)]
pub struct TrustStore {
    path: PathBuf,
    entries: Vec<TrustDecision>,
}

/// One decision about one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustDecision {
    /// The folder, absolute and with its links resolved.
    pub canonical_path: PathBuf,
    /// What was decided.
    #[serde(default)]
    pub decision: Decision,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_at: Option<String>,
    /// Always 1.
    #[serde(default = "one")]
    pub schema_version: u32,
    /// Why, if someone said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

const fn one() -> u32 {
    1
}

/// What was decided about a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Its plugins and settings may be used.
    #[default]
    Trusted,
    /// They may not.
    Declined,
}

const LARGEST_STORE: u64 = 16 * 1024 * 1024;

/// Whether stud's own folder lies in a folder that could be a project's, by its name or where its links lead.
fn is_below_another(global_root: &Path) -> bool {
    let is_below = |path: &Path| {
        let mut above = path.ancestors().skip(1);
        above.any(|folder| folder.ends_with(".stud"))
    };
    is_below(global_root) || global_root.canonicalize().is_ok_and(|real| is_below(&real))
}

impl TrustStore {
    /// Reads `trust.json` below the global root; a missing file is an empty history.
    pub fn open(places: &Places) -> Result<Self, Diagnostic> {
        Self::below(&places.global_root)
    }

    fn below(global_root: &Path) -> Result<Self, Diagnostic> {
        let path = global_root.join("trust.json");
        if is_below_another(global_root) {
            let message = "the list of trusted projects would lie inside another `.stud` folder";
            return Err(Diagnostic::error(&codes::TRUST_SCOPE_VIOLATION, message)
                .file(&path)
                .with("path", path.display().to_string())
                .help("let `STUD_HOME` name a folder outside every project, or unset it"));
        }
        let unavailable = |why: String| {
            Diagnostic::error(
                &codes::TRUST_STORE_UNAVAILABLE,
                format!("the trust history cannot be read: {why}"),
            )
            .file(&path)
            .help("correct the file, or move it away to start with nothing trusted")
        };
        let bytes = match platform::read_file(&path, LARGEST_STORE) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => {
                return Ok(Self {
                    path,
                    entries: Vec::new(),
                });
            }
            Err(error) => return Err(unavailable(error.to_string())),
        };
        let document: Value =
            serde_json::from_slice(&bytes).map_err(|error| unavailable(error.to_string()))?;
        // The first form of the file was a plain list of trusted folders.
        let (list, pointer, form) = match &document {
            Value::Array(list) => (list, "", Form::Plain),
            Value::Object(object) => object
                .get("entries")
                .and_then(Value::as_array)
                .map(|list| (list, "/entries", Form::Entries))
                .ok_or_else(|| unavailable("it has no list `entries`".to_owned()))?,
            _ => return Err(unavailable("it is neither an object nor a list".to_owned())),
        };
        let entries = list
            .iter()
            .enumerate()
            .map(|(index, value)| {
                read_entry(value, form).map_err(|why| invalid(&path, index, pointer, &why))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { path, entries })
    }

    /// Whether the newest decision about `canonical` is to trust it.
    pub fn is_trusted(&self, canonical: &Path) -> bool {
        self.newest(canonical) == Some(Decision::Trusted)
    }

    /// The folders trusted now, by path.
    pub fn trusted(&self) -> Vec<&TrustDecision> {
        let mut trusted: Vec<&TrustDecision> = self
            .entries
            .iter()
            .filter(|entry| {
                entry.decision == Decision::Trusted && self.is_trusted(&entry.canonical_path)
            })
            .collect();
        trusted.sort_by(|one, other| one.canonical_path.cmp(&other.canonical_path));
        trusted.dedup_by(|one, other| one.canonical_path == other.canonical_path);
        trusted
    }

    /// The folder that a decision would be about, if one can be made: it is there, and its name can be kept.
    pub fn subject(places: &Places) -> Result<PathBuf, Diagnostic> {
        let canonical = canonical(&places.project_root)?;
        keepable(&canonical)?;
        if is_global(places, &canonical) {
            return Err(Diagnostic::error(
                &codes::TRUST_ENTRY_INVALID,
                "this is the global folder, not a project's; stud uses it without trust",
            )
            .file(canonical)
            .help("change to the folder of a project"));
        }
        Ok(canonical)
    }

    /// Records a decision; deciding the same again changes nothing.
    pub fn decide(places: &Places, decision: Decision) -> Result<PathBuf, Diagnostic> {
        let canonical = Self::subject(places)?;
        Self::decide_about(&places.global_root, &canonical, decision)?;
        Ok(canonical)
    }

    /// The `.stud` folder of a named project: named by its folder, or by its `.stud`
    /// folder.
    pub fn named(path: &Path) -> Result<PathBuf, Diagnostic> {
        let canonical = canonical(&Self::root_of(path)?)
            .map_err(|missing| missing.with("path", path.display().to_string()))?;
        keepable(&canonical)?;
        Ok(canonical)
    }

    /// The same for trust that is taken back, which can be done when the folder is gone.
    pub fn named_or_gone(path: &Path) -> Result<PathBuf, Diagnostic> {
        let root = Self::root_of(path)?;
        let canonical = canonical(&root).unwrap_or(root);
        keepable(&canonical)?;
        Ok(canonical)
    }

    fn root_of(path: &Path) -> Result<PathBuf, Diagnostic> {
        let shown = path.display().to_string();
        let flaw = if path.is_absolute() {
            let mut steps = shown.split('/');
            let detour = steps.find(|step| matches!(*step, "." | ".."));
            detour.map(|step| format!("`{shown}` has `{step}` in it"))
        } else {
            Some(format!("`{shown}` is not an absolute path"))
        };
        if let Some(message) = flaw {
            return Err(Diagnostic::error(&codes::PROJECT_PATH_INVALID, message)
                .with("path", shown)
                .help("give the whole path of the project, as `realpath` prints it"));
        }
        if path.ends_with(".stud") {
            Ok(path.to_owned())
        } else {
            Ok(path.join(".stud"))
        }
    }

    /// Records a decision about a folder; deciding the same again changes nothing. Gives whether this changed anything.
    ///
    /// Two processes that decide at once do so one after the other, so that neither decision is lost.
    pub fn decide_about(
        global_root: &Path,
        canonical: &Path,
        decision: Decision,
    ) -> Result<bool, Diagnostic> {
        let lock = global_root.join("trust.lock");
        let decided = platform::alone(&lock, || {
            Self::below(global_root)?.append(canonical, decision)
        });
        decided.unwrap_or_else(|error| Err(unwritten(&lock, &error)))
    }

    /// Gives whether the decision is another one than before.
    fn append(&mut self, canonical: &Path, decision: Decision) -> Result<bool, Diagnostic> {
        if self.newest(canonical) == Some(decision) {
            return Ok(false);
        }
        self.entries.push(TrustDecision {
            canonical_path: canonical.to_owned(),
            decision,
            granted_at: Some(platform::rfc3339(platform::now())),
            schema_version: 1,
            note: None,
        });
        let text = format!("{:#}\n", json!({ "entries": self.entries }));
        platform::replace_file(&self.path, text.as_bytes(), 0o600, Durability::Synced)
            .map_err(|error| unwritten(&self.path, &error))?;
        Ok(true)
    }

    fn newest(&self, canonical: &Path) -> Option<Decision> {
        self.entries
            .iter()
            .rev()
            .find(|entry| entry.canonical_path == canonical)
            .map(|entry| entry.decision)
    }
}

/// A decision is kept in a file of text.
fn keepable(canonical: &Path) -> Result<(), Diagnostic> {
    if canonical.to_str().is_none() {
        return Err(Diagnostic::error(
            &codes::TRUST_ENTRY_INVALID,
            "the name of the project folder is not UTF-8, so no decision about it can be kept",
        )
        .file(canonical)
        .help("rename the folder"));
    }
    Ok(())
}

fn unwritten(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(
        &codes::TRUST_STORE_UNAVAILABLE,
        format!("the decision could not be written: {error}"),
    )
    .file(path)
    .help("check who owns the folder and whether the disk is full")
}

/// How the decisions are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A list of folders, all of them trusted unless they say otherwise.
    Plain,
    /// Whole entries, each of which says what was decided.
    Entries,
}

fn read_entry(value: &Value, form: Form) -> Result<TrustDecision, String> {
    let entry = match value {
        Value::String(path) => TrustDecision {
            canonical_path: path.into(),
            decision: Decision::Trusted,
            granted_at: None,
            schema_version: 1,
            note: None,
        },
        other => serde_json::from_value::<TrustDecision>(other.clone())
            .map_err(|error| error.to_string())?,
    };
    if !entry.canonical_path.is_absolute() {
        return Err("`canonicalPath` is not an absolute path".to_owned());
    }
    let missing = |member: &&str| value.get(member).is_none();
    let needed = ["decision", "schemaVersion"];
    if form == Form::Entries
        && let Some(member) = needed.iter().find(|member| missing(member))
    {
        return Err(format!("`{member}` is missing"));
    }
    if entry.schema_version != 1 {
        return Err(format!(
            "`schemaVersion` is {}, not 1",
            entry.schema_version
        ));
    }
    Ok(entry)
}

fn invalid(path: &Path, index: usize, list: &str, why: &str) -> Diagnostic {
    Diagnostic::error(
        &codes::TRUST_ENTRY_INVALID,
        format!("entry {index} of the trust history is wrong: {why}"),
    )
    .file(path)
    .field(format!("{list}/{index}"))
    .help("correct or remove that entry")
}

fn canonical(project_root: &Path) -> Result<PathBuf, Diagnostic> {
    project_root.canonicalize().map_err(|error| {
        Diagnostic::error(
            &codes::TRUST_ENTRY_INVALID,
            format!("the project folder cannot be found: {error}"),
        )
        .file(project_root)
        .help("create `.stud` in the project first")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> (tempfile::TempDir, Places) {
        let folder = tempfile::tempdir().unwrap();
        let places = Places {
            global_root: folder.path().join("home"),
            project_root: folder.path().join("project/.stud"),
        };
        std::fs::create_dir_all(&places.project_root).unwrap();
        std::fs::create_dir_all(&places.global_root).unwrap();
        (folder, places)
    }

    fn is_trusted(places: &Places) -> bool {
        matches!(enter(places).unwrap(), Entered::Trusted(_))
    }

    #[test]
    fn a_decision_holds_until_the_next_one() {
        let (_folder, places) = places();
        assert!(!is_trusted(&places));
        TrustStore::decide(&places, Decision::Trusted).unwrap();
        assert!(is_trusted(&places));
        TrustStore::decide(&places, Decision::Trusted).unwrap();
        TrustStore::decide(&places, Decision::Declined).unwrap();
        assert!(!is_trusted(&places));
        assert_eq!(TrustStore::open(&places).unwrap().entries.len(), 2);
    }

    #[test]
    fn an_entry_says_what_was_decided() {
        let (_folder, places) = places();
        let list = places.global_root.join("trust.json");
        let root = canonical(&places.project_root).unwrap();
        let whole = json!({"canonicalPath": root, "decision": "trusted", "schemaVersion": 1});
        let without = |member: &str| {
            let mut entry = whole.clone();
            entry.as_object_mut().unwrap().remove(member);
            entry
        };
        for entry in [without("decision"), without("schemaVersion"), json!(root)] {
            std::fs::write(&list, json!({"entries": [entry]}).to_string()).unwrap();
            let refused = enter(&places).unwrap_err();
            assert_eq!(refused.code, &codes::TRUST_ENTRY_INVALID, "{entry}");
            // The first form of the file said nothing more than the folder.
            std::fs::write(&list, json!([entry]).to_string()).unwrap();
            assert!(is_trusted(&places), "{entry}");
        }
        std::fs::write(&list, json!({"entries": [whole]}).to_string()).unwrap();
        assert!(is_trusted(&places));
    }

    #[test]
    fn a_path_that_can_mean_another_folder_is_refused() {
        let (folder, places) = places();
        let detour = folder.path().join("project/../project");
        for path in [Path::new("project"), Path::new(""), &detour] {
            let named = [TrustStore::named(path), TrustStore::named_or_gone(path)];
            for refused in named {
                assert_eq!(refused.unwrap_err().code, &codes::PROJECT_PATH_INVALID);
            }
        }
        let whole = folder.path().join("project/");
        let named = TrustStore::named(&whole).unwrap();
        TrustStore::decide_about(&places.global_root, &named, Decision::Trusted).unwrap();
        assert!(is_trusted(&places));
    }

    #[test]
    fn the_global_folder_is_no_project() {
        let (_folder, mut places) = places();
        places.global_root.clone_from(&places.project_root);
        assert!(matches!(enter(&places).unwrap(), Entered::Absent));
        assert!(matches!(enter_once(&places), Entered::Absent));
        let refused = TrustStore::decide(&places, Decision::Trusted).unwrap_err();
        assert_eq!(refused.code, &codes::TRUST_ENTRY_INVALID);
    }

    #[test]
    fn the_first_form_of_the_file_is_still_read() {
        let (_folder, places) = places();
        let path = places.project_root.canonicalize().unwrap();
        let store = places.global_root.join("trust.json");
        std::fs::write(&store, json!([{ "canonicalPath": path }]).to_string()).unwrap();
        assert!(is_trusted(&places));
        std::fs::write(&store, json!([path]).to_string()).unwrap();
        assert!(is_trusted(&places));
    }

    #[test]
    fn a_broken_store_trusts_nothing_and_says_so() {
        let (_folder, places) = places();
        let store = places.global_root.join("trust.json");
        for (text, code) in [
            ("{", &codes::TRUST_STORE_UNAVAILABLE),
            ("3", &codes::TRUST_STORE_UNAVAILABLE),
            (
                r#"{"entries":[{"canonicalPath":"relative"}]}"#,
                &codes::TRUST_ENTRY_INVALID,
            ),
        ] {
            std::fs::write(&store, text).unwrap();
            assert_eq!(enter(&places).unwrap_err().code, code, "{text}");
        }
    }
}
