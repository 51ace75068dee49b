//! Refusing to persist what holds a secret.

use serde_json::{Value, json};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use super::Redactor;
use super::reference::is_malformed;

impl Redactor {
    /// Refuses a document that is about to be kept and must not hold a secret: a session's manifest, a state slot.
    ///
    /// An object that looks like a reference and is not a valid one is `Validation/MalformedSecretReference`, and comes first:
    /// what was meant to be a reference may well be the secret itself. A known secret in a string or a name is
    /// `Session/SecretLeak`, with the place of each and never its value.
    pub fn refuse_secrets(&self, value: &Value) -> Result<()> {
        let mut scan = Scan {
            redactor: self,
            path: String::new(),
            malformed: None,
            leaks: Vec::new(),
        };
        scan.value(value);
        if let Some(path) = scan.malformed {
            let code = &codes::MALFORMED_SECRET_REFERENCE;
            let message = format!("the secret reference at `{path}` has no name");
            return Err(Error::new(code.class, code.name, message).with("path", path));
        }
        if scan.leaks.is_empty() {
            return Ok(());
        }
        let code = &codes::SECRET_LEAK;
        let places = scan.leaks.join("`, `");
        let violations: Vec<Value> = scan
            .leaks
            .iter()
            .map(|path| json!({ "path": path, "reason": "PlaintextDetected" }))
            .collect();
        let message = format!("a resolved secret stands at `{places}`");
        Err(Error::new(code.class, code.name, message)
            .with("paths", scan.leaks)
            .with("violations", violations))
    }
}

struct Scan<'a> {
    redactor: &'a Redactor,
    path: String,
    malformed: Option<String>,
    leaks: Vec<String>,
}

impl Scan<'_> {
    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) if self.redactor.finds(text) => self.leaks.push(self.place()),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.below(&index.to_string(), |scan| scan.value(item));
                }
            }
            Value::Object(members) => {
                if is_malformed(members) && self.malformed.is_none() {
                    self.malformed = Some(self.place());
                }
                for (name, value) in members {
                    self.below(name, |scan| scan.member(name, value));
                }
            }
            Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }

    fn member(&mut self, name: &str, value: &Value) {
        let before = self.leaks.len();
        self.value(value);
        // One violation for a path, whatever leaks there.
        if self.redactor.finds(name) && self.leaks.get(before).is_none_or(|leak| *leak != self.path)
        {
            self.leaks.insert(before, self.place());
        }
    }

    fn below(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        // The name of a member may itself hold a secret, and a path must not.
        let name = self.redactor.text(name);
        self.path.push('/');
        self.path
            .push_str(&name.replace('~', "~0").replace('/', "~1"));
        look(self);
        self.path.truncate(length);
    }

    fn place(&self) -> String {
        if self.path.is_empty() {
            "/".to_owned()
        } else {
            self.path.clone()
        }
    }
}
