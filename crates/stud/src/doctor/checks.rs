//! What is looked at besides settings and plugins. Each check is one function, and gives what is wrong.

use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Access, access};
use serde_json::{Value, json};
use stud_contract_meta::Result;
use stud_core::audit;
use stud_core::environment::Environment;
use stud_core::model::ProviderChoice;
use stud_core::redact::Redactor;
use stud_core::secrets::{Env, ReferenceKind, SecretReference, UserVault, Vault as _};
use stud_core::session::archive;
use stud_core::store::Store;
use stud_diagnostics::{Diagnostic, codes};

use crate::output::told;

/// Whether the global root can be written, or made.
pub(super) fn home(root: &Path) -> Option<Diagnostic> {
    let there = root.ancestors().find(|folder| folder.exists())?;
    let why = match access(there, Access::WRITE_OK | Access::EXEC_OK) {
        _ if !there.is_dir() => "it is not a folder".to_owned(),
        Ok(()) => return None,
        Err(error) => std::io::Error::from(error).to_string(),
    };
    let message = format!("nothing can be kept in the global folder: {why}");
    let problem = Diagnostic::error(&codes::STARTUP_FAILURE, message).file(there);
    Some(problem.help("correct its owner and permissions, or set `STUD_HOME` to another folder"))
}

/// Whether secrets can be read, by their owner alone.
pub(super) fn secrets(root: &Path) -> Option<Diagnostic> {
    let names = UserVault::new(root).names();
    names
        .err()
        .map(|error| told(error).help("correct the file; until then stud uses no secret"))
}

/// Whether the keys of providers can be found. Their values are not looked at.
pub(super) fn keys(ground: &Environment) -> Vec<Diagnostic> {
    let root = &ground.places.global_root;
    let env = Env::new(
        root,
        ground.settings.clone(),
        Arc::new(UserVault::new(root)),
        Arc::new(Redactor::new()),
    );
    let active = ProviderChoice::of(&ground.settings).id();
    let mut problems = Vec::new();
    for set in ground.settings.effective() {
        let Some(id) = set.key.strip_prefix("providers.") else {
            continue;
        };
        let reference = set.value.get("apiKeyRef").and_then(SecretReference::of);
        let Some(reference) = reference else { continue };
        // A vault that cannot be read is a problem of its own.
        if env.leads_somewhere(&reference).unwrap_or(true) {
            continue;
        }
        let missing = missing(&reference)
            .of(id)
            .file(set.path)
            .field(format!("/providers/{id}/apiKeyRef"));
        problems.push(if active == id {
            missing
        } else {
            missing.downgraded()
        });
    }
    problems
}

fn missing(reference: &SecretReference) -> Diagnostic {
    let SecretReference { kind, name } = reference;
    let (code, message, help) = match kind {
        ReferenceKind::Env => (
            &codes::ENV_NAME_NOT_SET,
            format!("the environment variable `{name}`, which contains the key, is not set"),
            format!("set `{name}` in the shell that starts stud"),
        ),
        ReferenceKind::Keyring => (
            &codes::SECRET_MISSING,
            format!("there is no key `{name}` in the keyring or the secrets file"),
            "`stud setup` asks for a key and keeps it".to_owned(),
        ),
        ReferenceKind::File => (
            &codes::SECRET_MISSING,
            format!("there is no key in the file `{name}`"),
            "put the key there, as the file's only line".to_owned(),
        ),
    };
    Diagnostic::error(code, message)
        .with("kind", kind.as_str())
        .with("name", name.as_str())
        .help(help)
}

/// The sessions that are kept. Locks are the system's and go with their process, so none is ever left behind.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    pub(super) kept: usize,
    pub(super) running: Vec<String>,
}

impl Sessions {
    pub(super) fn of(store: &dyn Store, global_root: &Path) -> Result<Self> {
        let ids = store.list()?;
        let kept = ids.len();
        let running = ids
            .into_iter()
            .filter(|id| audit::is_written(global_root, id));
        Ok(Self {
            kept,
            running: running.collect(),
        })
    }

    pub(super) fn document(&self) -> Value {
        json!({"kept": self.kept, "running": self.running})
    }

    /// What of them is not what was written. Everything that is stored is read for that.
    pub(super) fn damage(store: &dyn Store) -> Result<Vec<Diagnostic>> {
        let mut found = Vec::new();
        for id in store.list()? {
            match archive::check(&id, store) {
                Ok(damage) => found.extend(damage),
                Err(error) => found.push(told(error).downgraded().with("sessionId", id)),
            }
        }
        Ok(found)
    }
}
