//! Secrets in files: `secrets.json` for machines without a keyring, and single files that references name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use zeroize::Zeroizing;

use super::refuse;
use crate::platform::{self, Durability, ReadError};

/// No list of secrets is longer.
const LARGEST_STORE: u64 = 16 * 1024 * 1024;

/// No single secret is longer.
const LARGEST_SECRET: u64 = 1024 * 1024;

/// What anyone but the owner may do with the file.
const OTHERS: u32 = 0o077;

/// `<globalRoot>/secrets.json`, which only its owner may read.
#[derive(Debug)]
pub(super) struct SecretsFile {
    path: PathBuf,
}

/// What the file says.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct SecretsFileContents {
    /// Secrets by name.
    #[serde(default)]
    pub(super) entries: BTreeMap<String, StoredSecret>,
    /// The names of those that the keyring has. A keyring cannot be asked what it has without asking its owner.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) keyring: BTreeSet<String>,
}

impl SecretsFile {
    pub(super) fn below(global_root: &Path) -> Self {
        Self {
            path: global_root.join("secrets.json"),
        }
    }

    /// What the file says now; a file that is not there says nothing.
    pub(super) fn read(&self) -> Result<SecretsFileContents> {
        let bytes = match owned_by_one(&self.path) {
            Ok(bytes) => bytes,
            Err(Unreadable::Missing) => return Ok(SecretsFileContents::default()),
            Err(Unreadable::Exposed(mode)) => return Err(exposed(&self.path, mode)),
            Err(Unreadable::Otherwise(why)) => return Err(unusable(&self.path, &why)),
        };
        serde_json::from_slice(&bytes).map_err(|error| {
            // The text of the error may quote the file, so only the place is passed on.
            let place = format!("line {}, column {}", error.line(), error.column());
            unusable(
                &self.path,
                &format!("it is not of the form {{\"entries\": {{NAME: TEXT}}}} at {place}"),
            )
        })
    }

    /// Changes the file, while no other process does.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut SecretsFileContents) -> T,
    ) -> Result<T> {
        let lock = self.path.with_extension("lock");
        let changed = platform::alone(&lock, || {
            let mut contents = self.read()?;
            let answer = change(&mut contents);
            self.write(&contents)?;
            Ok(answer)
        });
        changed.unwrap_or_else(|error| Err(unusable(&lock, &error.to_string())))
    }

    fn write(&self, contents: &SecretsFileContents) -> Result<()> {
        let text = contents
            .text()
            .map_err(|error| unusable(&self.path, &error.to_string()))?;
        platform::replace_file(&self.path, &text, 0o600, Durability::Synced)
            .map_err(|error| unusable(&self.path, &error.to_string()))
    }
}

impl SecretsFileContents {
    fn text(&self) -> serde_json::Result<Zeroizing<Vec<u8>>> {
        // Room for everything, however much of it has to be escaped: a buffer that grows leaves copies behind.
        let held =
            |(name, held): (&String, &StoredSecret)| name.len() + held.0.expose_secret().len();
        let listed: usize = self.keyring.iter().map(|name| name.len() + 16).sum();
        let room = 6 * self.entries.iter().map(held).sum::<usize>() + listed * 6;
        let mut text = Zeroizing::new(Vec::with_capacity(room + 32 * self.entries.len() + 64));
        serde_json::to_writer_pretty(&mut *text, self)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// The secret that is a file of its own, without the line end that editors add; nothing if there is no such file.
///
/// Its permissions are the operator's choice: containers mount secrets readable by all users inside.
pub(super) fn alone(path: &Path) -> Result<Option<SecretString>> {
    let bytes = match platform::read_file(path, LARGEST_SECRET) {
        Ok(bytes) => Zeroizing::new(bytes),
        Err(ReadError::Missing) => return Ok(None),
        Err(error) => return Err(unusable(path, &error.to_string())),
    };
    let text = str::from_utf8(&bytes).map_err(|_| unusable(path, "it is not UTF-8 text"))?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    Ok(Some(SecretString::from(text)))
}

enum Unreadable {
    Missing,
    Exposed(u32),
    Otherwise(String),
}

/// Reads a file that only its owner may touch.
fn owned_by_one(path: &Path) -> std::result::Result<Zeroizing<Vec<u8>>, Unreadable> {
    let said = |error: io::Error| Unreadable::Otherwise(error.to_string());
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
            return Err(Unreadable::Missing);
        }
        Err(error) => return Err(said(error)),
        // Opening a pipe would wait for someone to write to it.
        Ok(metadata) if !metadata.is_file() => {
            return Err(Unreadable::Otherwise("it is not a file".to_owned()));
        }
        Ok(_) => {}
    }
    let file = File::open(path).map_err(said)?;
    // The file that was opened is the one that counts, whatever the name leads to now.
    let metadata = file.metadata().map_err(said)?;
    if metadata.mode() & OTHERS != 0 {
        return Err(Unreadable::Exposed(metadata.mode() & 0o777));
    }
    if metadata.len() > LARGEST_STORE {
        let why = format!("it is {} bytes long, more than stud reads", metadata.len());
        return Err(Unreadable::Otherwise(why));
    }
    let room = usize::try_from(metadata.len()).unwrap_or(0) + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(room));
    file.take(LARGEST_STORE)
        .read_to_end(&mut bytes)
        .map_err(said)?;
    Ok(bytes)
}

fn exposed(path: &Path, mode: u32) -> Error {
    let shown = path.display();
    let message = format!(
        "`{shown}` can be read or changed by others (its mode is {mode:o}); `chmod 600 {shown}` corrects that, and the \
         secrets in it may need to be replaced"
    );
    refuse(&codes::SECRETS_FILE_EXPOSED, message)
        .with("path", shown.to_string())
        .with("mode", format!("{mode:o}"))
}

pub(super) fn unusable(path: &Path, why: &str) -> Error {
    let shown = path.display();
    let message = format!("`{shown}` cannot be used: {why}");
    refuse(&codes::SECRET_STORE_UNAVAILABLE, message).with("path", shown.to_string())
}

/// A secret that goes to its file and comes from it, and nowhere else.
pub(super) struct StoredSecret(pub(super) SecretString);

impl Serialize for StoredSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose_secret())
    }
}

impl<'de> Deserialize<'de> for StoredSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = StoredSecret;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<StoredSecret, E> {
                Ok(StoredSecret(SecretString::from(text)))
            }
        }

        deserializer.deserialize_str(Text)
    }
}
