//! `stud setup`: which provider answers, how it comes by its key, and which model it uses.
//!
//! Nothing is written before the last question is answered. The key goes to the keyring, or to `secrets.json` where
//! there is none; the settings hold a reference to it.

mod protocol;

use std::path::PathBuf;
use std::time::SystemTime;

use secrecy::SecretString;
use serde_json::{Map, Value, json};
use stud_contract_meta::ExtId;
use stud_core::audit::bootstrap::{self, Deed};
use stud_core::platform::{self, Durability, Places};
use stud_core::plugin_scope::Scope;
use stud_core::redact::shape_of;
use stud_core::secrets::{ReferenceKind, SecretReference, UserVault, Vault as _};
use stud_core::settings::{self, Settings};
use stud_diagnostics::{Diagnostic, codes, printable};

use crate::ask::{Choice, Person};
use crate::output::{Outcome, Output, Verdict, told};
use crate::setup;
use protocol::{AuthPath, PROTOCOLS, Protocol};

pub(crate) fn run(output: &Output) -> Verdict {
    let places = setup::places()?;
    let registered = register(&places, &Person::present())?;
    if output.is_json() {
        output.document(&registered.document())?;
    } else {
        output.line(registered.told());
        output.line("`stud doctor` looks whether everything is in its place; `stud` begins.");
    }
    Ok(Outcome::Done)
}

/// A provider that was set up.
pub(crate) struct Registered {
    entry: Entry,
    settings: PathBuf,
}

/// What was answered.
struct Entry {
    id: String,
    protocol: Protocol,
    auth_path: AuthPath,
    key: Option<Key>,
    model: String,
    base_url: String,
}

/// Where the key is, and the key itself if it was typed.
struct Key {
    reference: SecretReference,
    typed: Option<SecretString>,
}

impl Registered {
    /// In one line, for people.
    pub(crate) fn told(&self) -> String {
        format!(
            "{} answers with {}; {} says so",
            printable(&self.entry.id),
            printable(&self.entry.model),
            printable(&self.settings.to_string_lossy())
        )
    }

    fn document(&self) -> Value {
        json!({
            "providerId": self.entry.id,
            "protocol": self.entry.protocol.name,
            "authPath": self.entry.auth_path.as_str(),
            "model": self.entry.model,
            "settings": self.settings.to_string_lossy(),
        })
    }
}

/// Asks what has to be known, then keeps it: the key, a record of the deed, and the settings.
pub(crate) fn register(places: &Places, person: &Person) -> Result<Registered, Diagnostic> {
    let root = &places.global_root;
    let mut existing = Settings::default();
    // Settings that cannot be read are not asked about for nothing.
    existing.layer(Scope::Global, root)?;
    let entry = Entry::ask(&existing, person)?;

    let vault = UserVault::new(root);
    let typed = entry.key.as_ref().and_then(Key::to_keep);
    if let Some((name, secret)) = typed {
        vault.set(name, secret).map_err(told)?;
    }
    let kept = entry
        .note(root)
        .and_then(|()| settings::change(root, |document| entry.put_into(document, places)));
    match kept {
        Ok(()) => Ok(Registered {
            entry,
            settings: root.join("settings.json"),
        }),
        Err(why) => {
            // A key that nothing refers to would stay forever.
            if let Some((name, _)) = typed {
                let _ = vault.delete(name);
            }
            Err(why)
        }
    }
}

impl Entry {
    fn ask(existing: &Settings, person: &Person) -> Result<Self, Diagnostic> {
        let choices = PROTOCOLS.map(|protocol| Choice {
            word: protocol.name,
            meaning: protocol.meaning,
        });
        let protocol = PROTOCOLS[person.choose("Which provider?", &choices, 0)?];
        let paths: Vec<Choice> = protocol
            .auth_paths
            .iter()
            .map(|path| Choice {
                word: path.as_str(),
                meaning: path.meaning(),
            })
            .collect();
        let chosen = person.choose("How does it come by its key?", &paths, 0)?;
        let auth_path = protocol.auth_paths[chosen];
        let is_free = |id: &str| existing.get("providers", id).is_none();
        let usual = Some(protocol.name).filter(|name| is_free(name));
        let id = person.text("What to call it in the settings", usual, |id| {
            read_id(id, is_free)
        })?;
        let key = match auth_path {
            AuthPath::EnvApiKey => {
                let usual = Some(protocol.env_name);
                let name = person.text(
                    "Which environment variable contains the key",
                    usual,
                    read_variable,
                )?;
                Some(Key::named(ReferenceKind::Env, name))
            }
            AuthPath::LiteralApiKey => {
                let secret = person.secret("The key (it is not shown)")?;
                let mut key = Key::named(ReferenceKind::Keyring, secret_name(&id, auth_path));
                key.typed = Some(secret);
                Some(key)
            }
            AuthPath::None => None,
        };
        let model = person.text("Which model", Some(protocol.model), read_model)?;
        let base_url = person.text("At which address", Some(protocol.base_url), read_address)?;
        Ok(Self {
            id,
            protocol,
            auth_path,
            key,
            model,
            base_url,
        })
    }

    /// Puts on record what is about to be done.
    fn note(&self, root: &std::path::Path) -> Result<(), Diagnostic> {
        let registered = json!({
            "providerId": self.id,
            "protocol": self.protocol.name,
            "authPath": self.auth_path.as_str(),
        });
        let path = root.join("settings.json");
        let revised = json!({"path": path.to_string_lossy(), "scope": "global"});
        let deeds = [
            Deed::new("ProviderRegistered", registered),
            Deed::new("ExtensionSetRevised", revised),
        ];
        bootstrap::note(root, &deeds, Durability::Synced).map_err(told)
    }

    fn put_into(
        &self,
        document: &mut Map<String, Value>,
        places: &Places,
    ) -> Result<(), Diagnostic> {
        let path = places.global_root.join("settings.json");
        let providers = settings::section(document, "providers", &path)?;
        if providers.contains_key(&self.id) {
            // Another process was faster.
            return Err(duplicate(&self.id));
        }
        providers.insert(self.id.clone(), self.config());
        let active = settings::section(document, "active", &path)?;
        active.insert("provider".to_owned(), self.id.as_str().into());
        // A model that was chosen for another provider is none of this one's.
        if active.contains_key("model") {
            active.insert("model".to_owned(), self.model.as_str().into());
        }
        Ok(())
    }

    fn config(&self) -> Value {
        let mut config = json!({
            "protocol": self.protocol.name,
            "models": [self.model],
            "baseURL": self.base_url,
        });
        if let Some(key) = &self.key {
            config["apiKeyRef"] = json!(key.reference);
        }
        config
    }
}

impl Key {
    fn named(kind: ReferenceKind, name: String) -> Self {
        Self {
            reference: SecretReference { kind, name },
            typed: None,
        }
    }

    fn to_keep(&self) -> Option<(&str, &SecretString)> {
        Some((self.reference.name.as_str(), self.typed.as_ref()?))
    }
}

/// The name of a secret that was typed: which entry it is for, how it came, and when.
fn secret_name(id: &str, auth_path: AuthPath) -> String {
    let since = platform::now().duration_since(SystemTime::UNIX_EPOCH);
    let millis = since.unwrap_or_default().as_millis();
    format!("{id}:{}:{millis}", auth_path.as_str())
}

fn read_id(id: &str, is_free: impl Fn(&str) -> bool) -> Result<String, Diagnostic> {
    if id.is_empty() {
        return Err(missing("an id"));
    }
    if ExtId::parse(id).is_err() {
        let what =
            "an id has lower-case letters, digits and dashes, and begins with none of the dashes";
        return Err(violation("/providers", what));
    }
    if is_free(id) {
        Ok(id.to_owned())
    } else {
        Err(duplicate(id))
    }
}

/// The name of a variable. A key pasted here by mistake would end up in the settings.
fn read_variable(name: &str) -> Result<String, Diagnostic> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() {
        return Err(missing("the name of a variable"));
    }
    if shape_of(name).is_some() {
        let what =
            "this looks like a key, not like the name of an environment variable that contains one";
        return Err(violation("/providers/apiKeyRef/name", what));
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(is_word) {
        let what = "the name of a variable has letters, digits and underscores, and does not begin with a digit";
        return Err(violation("/providers/apiKeyRef/name", what));
    }
    Ok(name.to_owned())
}

fn read_model(model: &str) -> Result<String, Diagnostic> {
    match model {
        "" => Err(missing("the name of a model")),
        _ => Ok(model.to_owned()),
    }
}

fn read_address(address: &str) -> Result<String, Diagnostic> {
    let rest = ["https://", "http://"]
        .into_iter()
        .find_map(|scheme| address.strip_prefix(scheme));
    let strange = |c: char| c.is_whitespace() || c.is_control();
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(strange) && !rest.contains('@') => {
            Ok(address.trim_end_matches('/').to_owned())
        }
        _ => Err(violation(
            "/providers/baseURL",
            "an address begins with https:// or http:// and names a server, without a user or a password",
        )),
    }
}

fn missing(what: &str) -> Diagnostic {
    Diagnostic::error(&codes::ARGUMENT_MISSING, format!("{what} is needed here"))
        .help("type one, or end the input to call it off")
}

fn violation(field: &str, what: &str) -> Diagnostic {
    Diagnostic::error(&codes::CONFIG_SCHEMA_VIOLATION, what)
        .field(field)
        .help("type another one, or end the input to call it off")
}

fn duplicate(id: &str) -> Diagnostic {
    let message = format!("there is a provider `{id}` in the settings already");
    Diagnostic::error(&codes::DUPLICATE_CONFIG_KEY, message)
        .field(format!("/providers/{id}"))
        .with("key", id)
        .help("choose another id, or remove the entry from ~/.stud/settings.json first")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_taken_for_the_name_of_a_variable() {
        read_variable("OPENAI_API_KEY").unwrap();
        for name in [
            "",
            "sk-proj-1",
            "ghp_16C7e42F292c6912E7",
            "2ND",
            "A B",
            "$KEY",
        ] {
            let refused = read_variable(name).unwrap_err();
            assert!(!refused.message.contains("16C7"), "{refused}");
        }
    }

    #[test]
    fn an_address_names_a_server() {
        assert_eq!(read_address("https://a.b/v1/").unwrap(), "https://a.b/v1");
        read_address("http://127.0.0.1:8080").unwrap();
        for address in [
            "",
            "a.b",
            "https://",
            "ftp://a",
            "https://a b",
            "https://u:p@a",
        ] {
            let refused = read_address(address).unwrap_err();
            assert_eq!(refused.code, &codes::CONFIG_SCHEMA_VIOLATION, "{address}");
        }
    }

    #[test]
    fn an_id_is_new() {
        let free = |id: &str| id != "taken";
        assert_eq!(read_id("my-own", free).unwrap(), "my-own");
        for (id, code) in [
            ("", &codes::ARGUMENT_MISSING),
            ("taken", &codes::DUPLICATE_CONFIG_KEY),
            ("My Own", &codes::CONFIG_SCHEMA_VIOLATION),
        ] {
            assert_eq!(read_id(id, free).unwrap_err().code, code);
        }
    }
}
