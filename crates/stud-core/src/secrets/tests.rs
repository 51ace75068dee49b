use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Mutex;

use stud_diagnostics::Class;
use tempfile::TempDir;

use super::keyring::Keyring;
use super::*;

/// A keyring in memory that can be disabled, or made to refuse.
#[derive(Clone, Default)]
struct FakeKeyring(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    absent: bool,
    locked: bool,
    entries: BTreeMap<String, String>,
    asked: usize,
}

impl FakeKeyring {
    fn absent() -> Self {
        let keyring = Self::default();
        keyring.0.lock().unwrap().absent = true;
        keyring
    }

    fn ask<T>(&self, answer: impl FnOnce(&mut State) -> T) -> std::result::Result<T, String> {
        let mut state = self.0.lock().unwrap();
        state.asked += 1;
        if state.locked {
            return Err("it is locked".to_owned());
        }
        Ok(answer(&mut state))
    }

    fn asked(&self) -> usize {
        self.0.lock().unwrap().asked
    }
}

impl Keyring for FakeKeyring {
    fn is_there(&self) -> bool {
        !self.0.lock().unwrap().absent
    }

    fn get(&self, name: &str) -> std::result::Result<Option<SecretString>, String> {
        self.ask(|state| state.entries.get(name).map(|value| value.as_str().into()))
    }

    fn set(&self, name: &str, value: &SecretString) -> std::result::Result<(), String> {
        let value = value.expose_secret().to_owned();
        self.ask(|state| state.entries.insert(name.to_owned(), value))?;
        Ok(())
    }

    fn delete(&self, name: &str) -> std::result::Result<bool, String> {
        self.ask(|state| state.entries.remove(name).is_some())
    }
}

fn shown(value: Option<SecretString>) -> Option<String> {
    value.map(|value| value.expose_secret().to_owned())
}

fn mode_of(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn write_exposed(root: &Path, text: &str, mode: u32) -> PathBuf {
    let path = root.join("secrets.json");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn without_a_keyring_secrets_go_to_a_file_of_their_owner() {
    let root = TempDir::new().unwrap();
    let keyring = FakeKeyring::absent();
    let vault = UserVault::with(Box::new(keyring.clone()), root.path());
    assert_eq!(vault.names().unwrap(), [""; 0]);
    assert!(!vault.delete("a").unwrap());
    assert!(!root.path().join("secrets.json").exists());

    vault.set("b", &"two \"quoted\"".into()).unwrap();
    vault.set("a", &"one".into()).unwrap();
    let path = root.path().join("secrets.json");
    let text: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(
        text,
        serde_json::json!({"entries": {"a": "one", "b": "two \"quoted\""}})
    );
    assert_eq!(mode_of(&path), 0o600);
    assert_eq!(vault.names().unwrap(), ["a", "b"]);
    assert_eq!(shown(vault.get("b").unwrap()).unwrap(), "two \"quoted\"");
    assert!(vault.get("c").unwrap().is_none());
    assert!(vault.delete("a").unwrap());
    assert!(vault.get("a").unwrap().is_none());
    assert_eq!(keyring.asked(), 0);
    assert!(!format!("{vault:?}").contains("quoted"));
}

#[test]
fn a_keyring_keeps_what_it_is_given_and_the_file_only_the_name() {
    let root = TempDir::new().unwrap();
    let keyring = FakeKeyring::absent();
    let vault = UserVault::with(Box::new(keyring.clone()), root.path());
    vault.set("old", &"from before".into()).unwrap();
    keyring.0.lock().unwrap().absent = false;
    assert_eq!(shown(vault.get("old").unwrap()).unwrap(), "from before");
    vault.set("old", &"of the keyring".into()).unwrap();
    let text = std::fs::read_to_string(root.path().join("secrets.json")).unwrap();
    assert!(
        !text.contains("before") && !text.contains("of the"),
        "{text}"
    );
    assert_eq!(vault.names().unwrap(), ["old"]);
    assert_eq!(shown(vault.get("old").unwrap()).unwrap(), "of the keyring");
    keyring.0.lock().unwrap().absent = true;
    assert!(vault.delete("old").is_err());
    keyring.0.lock().unwrap().absent = false;
    assert!(vault.delete("old").unwrap());
    assert_eq!(vault.names().unwrap(), [""; 0]);
}

#[test]
fn a_keyring_that_says_no_does_not_send_secrets_to_the_file() {
    let root = TempDir::new().unwrap();
    let keyring = FakeKeyring::default();
    keyring.0.lock().unwrap().locked = true;
    let vault = UserVault::with(Box::new(keyring), root.path());
    let error = vault.set("a", &"the value".into()).unwrap_err();
    stud_observed::covers!(SECRET_STORE_UNAVAILABLE, error);
    assert!(!error.message().contains("the value"));
    assert!(!root.path().join("secrets.json").exists());
    assert!(vault.get("a").is_err());
}

#[test]
fn a_file_that_others_can_read_is_not_read() {
    let root = TempDir::new().unwrap();
    let vault = UserVault::with(Box::new(FakeKeyring::absent()), root.path());
    for mode in [0o644, 0o640, 0o604, 0o620, 0o601] {
        let path = write_exposed(root.path(), r#"{"entries":{"a":"one"}}"#, mode);
        for error in [
            vault.get("a").unwrap_err(),
            vault.names().unwrap_err(),
            vault.set("b", &"two".into()).unwrap_err(),
            vault.delete("a").unwrap_err(),
        ] {
            stud_observed::covers!(SECRETS_FILE_EXPOSED, error);
            let chmod = format!("chmod 600 {}", path.display());
            assert!(error.message().contains(&chmod), "{error}");
        }
        assert_eq!(mode_of(&path), mode);
    }
    write_exposed(root.path(), r#"{"entries":{"a":"one"}}"#, 0o400);
    assert_eq!(shown(vault.get("a").unwrap()).unwrap(), "one");
}

#[test]
fn a_file_of_another_form_is_told_without_its_text() {
    let root = TempDir::new().unwrap();
    let vault = UserVault::with(Box::new(FakeKeyring::absent()), root.path());
    for text in [
        "",
        "{",
        "[\"hush\"]",
        r#"{"entries":{"a":["hush"]}}"#,
        r#"{"entries":"hush"}"#,
    ] {
        write_exposed(root.path(), text, 0o600);
        let error = vault.get("a").unwrap_err();
        assert!(
            error.is(Class::Session, "SecretStoreUnavailable"),
            "{error}"
        );
        assert!(!format!("{error:?}").contains("hush"), "{error}");
        assert!(vault.set("b", &"two".into()).is_err(), "{text}");
        assert_eq!(
            std::fs::read_to_string(root.path().join("secrets.json")).unwrap(),
            text
        );
    }
    std::fs::remove_file(root.path().join("secrets.json")).unwrap();
    std::fs::create_dir(root.path().join("secrets.json")).unwrap();
    assert!(vault.names().is_err());
}

#[test]
fn secrets_kept_at_once_are_all_kept() {
    let root = TempDir::new().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let root = root.path();
            scope.spawn(move || {
                let vault = UserVault::with(Box::new(FakeKeyring::absent()), root);
                vault
                    .set(&format!("name-{thread}"), &"value".into())
                    .unwrap();
            });
        }
    });
    let vault = UserVault::with(Box::new(FakeKeyring::absent()), root.path());
    assert_eq!(vault.names().unwrap().len(), 8);
}

/// Lookups over a global and a project scope, with `OS_ONE` set and `OS_EMPTY` empty in the environment.
fn env(root: &Path, keyring: FakeKeyring, global: &str, project: &str) -> (Env, Arc<Redactor>) {
    let mut settings = Settings::default();
    for (scope, folder, text) in [
        (Scope::Global, "global", global),
        (Scope::Project, "project", project),
    ] {
        let folder = root.join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("settings.json"), text).unwrap();
        settings.layer(scope, &folder).unwrap();
    }
    let redactor = Arc::new(Redactor::new());
    let vault = Arc::new(UserVault::with(Box::new(keyring), root));
    let mut env = Env::new(root, settings, vault, redactor.clone());
    env.os = |name| match name {
        "OS_ONE" => Some("of the process".to_owned()),
        _ => None,
    };
    (env, redactor)
}

fn found(env: &Env, name: &str) -> Option<(String, &'static str, &'static str)> {
    env.get(name).unwrap().map(|found| {
        let value = found.value.expose_secret().to_owned();
        (value, found.source.as_str(), found.scope_layer())
    })
}

#[test]
fn names_are_looked_up_from_the_process_down_to_the_vault() {
    let root = TempDir::new().unwrap();
    let keyring = FakeKeyring::default();
    let global =
        r#"{"env":{"OS_ONE":"g","ONE":"global one","TWO":"global two","DOWN":"global down"}}"#;
    let project = r#"{"env":{"OS_ONE":"p","ONE":"project one","POINTS":"${OS_ONE}","DOWN":"${NOT_SET}",
        "EMPTY":"","ODD":"${not a name}"}}"#;
    let (env, _) = env(root.path(), keyring.clone(), global, project);
    env.vault.set("THREE", &"kept three".into()).unwrap();
    env.vault.set("ONE", &"kept one".into()).unwrap();
    let check = |name: &str, value: &str, source: &str, layer: &str| {
        let (found, from, of) = found(&env, name).unwrap();
        assert_eq!((found.as_str(), from, of), (value, source, layer), "{name}");
    };
    check("OS_ONE", "of the process", "os", "os");
    check("ONE", "project one", "settings.project", "project");
    check("TWO", "global two", "settings.global", "global");
    check("POINTS", "of the process", "settings.project", "project");
    check("DOWN", "global down", "settings.global", "global");
    check("ODD", "${not a name}", "settings.project", "project");
    check("THREE", "kept three", "keyring", "global");
    let asked = keyring.asked();
    assert_eq!(found(&env, "EMPTY"), None);
    assert_eq!(found(&env, "NOWHERE"), None);
    assert_eq!(keyring.asked(), asked, "a keyring may ask its owner");
    let error = env.require("NOWHERE").unwrap_err();
    assert!(error.is(Class::Validation, "EnvNameNotSet"), "{error}");
}

#[test]
fn what_was_resolved_cannot_be_written_down() {
    let root = TempDir::new().unwrap();
    let project = r#"{"env":{"SHORT":"on","LONG":"the-long-one"}}"#;
    let (env, redactor) = env(root.path(), FakeKeyring::absent(), "{}", project);
    assert_eq!(redactor.text("the-long-one"), "the-long-one");
    let resolved = env.require("LONG").unwrap();
    env.require("SHORT").unwrap();
    assert_eq!(redactor.text("on the-long-one"), "on [REDACTED]");
    assert!(!format!("{resolved:?} {env:?}").contains("the-long-one"));
}

#[test]
fn references_are_resolved_where_they_point() {
    let root = TempDir::new().unwrap();
    let (env, redactor) = env(root.path(), FakeKeyring::default(), "{}", "{}");
    env.vault.set("main:apiKey:17", &"kept".into()).unwrap();
    std::fs::write(root.path().join("key"), "in a file\r\n").unwrap();
    std::fs::write(root.path().join("empty"), "\n").unwrap();
    std::fs::write(root.path().join("bytes"), b"\xff\xfe").unwrap();
    let resolve = |kind, name: &str| {
        let name = name.to_owned();
        let value = env.resolve(&SecretReference { kind, name });
        value.map(|value| value.expose_secret().to_owned())
    };
    assert_eq!(
        resolve(ReferenceKind::Env, "OS_ONE").unwrap(),
        "of the process"
    );
    assert_eq!(
        resolve(ReferenceKind::Keyring, "main:apiKey:17").unwrap(),
        "kept"
    );
    assert_eq!(resolve(ReferenceKind::File, "key").unwrap(), "in a file");
    let absolute = root.path().join("key");
    assert_eq!(
        resolve(ReferenceKind::File, absolute.to_str().unwrap()).unwrap(),
        "in a file"
    );
    assert_eq!(redactor.text("kept in a file"), "[REDACTED] [REDACTED]");
    for (kind, name) in [
        (ReferenceKind::Keyring, "other"),
        (ReferenceKind::File, "none"),
        (ReferenceKind::File, "empty"),
    ] {
        let error = resolve(kind, name).unwrap_err();
        stud_observed::covers!(SECRET_MISSING, error);
        assert_eq!(error.context()["name"], name);
    }
    for name in ["bytes", "."] {
        let error = resolve(ReferenceKind::File, name).unwrap_err();
        assert!(
            error.is(Class::Session, "SecretStoreUnavailable"),
            "{error}"
        );
    }
    assert!(resolve(ReferenceKind::Env, "NOWHERE").is_err());
}

#[test]
fn without_a_bus_there_is_no_keyring() {
    // Tests run with no session bus of their own; where one is, nothing is claimed.
    if platform::env_value("DBUS_SESSION_BUS_ADDRESS").is_none() && !cfg!(target_os = "macos") {
        assert!(!keyring::OsKeyring.is_there());
    }
}
