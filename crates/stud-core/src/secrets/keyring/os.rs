//! The keyring itself, over what the operating system offers.

use std::sync::OnceLock;
use std::time::Duration;

use keyring::v1::{Entry, Error as KeyringError};
use secrecy::{ExposeSecret as _, SecretString};
use zeroize::Zeroizing;

use super::Keyring;
use crate::executor::within;
use crate::platform;

/// What all of stud's entries are filed under.
const SERVICE: &str = "stud";

/// How long a keyring may take to say that it is there. It may take longer over anything else, because it may have to
/// ask its owner.
const PATIENCE: Duration = Duration::from_secs(3);

/// The operating system's.
#[derive(Debug, Default)]
pub(in crate::secrets) struct OsKeyring;

impl Keyring for OsKeyring {
    fn is_there(&self) -> bool {
        static THERE: OnceLock<bool> = OnceLock::new();
        *THERE.get_or_init(|| {
            // Without a bus there is no keyring, and a library that looks for one takes long.
            let may_be = cfg!(target_os = "macos")
                || platform::env_value("DBUS_SESSION_BUS_ADDRESS").is_some();
            may_be && within(PATIENCE, || Entry::store_status().is_ok()).unwrap_or(false)
        })
    }

    fn get(&self, name: &str) -> Result<Option<SecretString>, String> {
        match entry(name)?.get_password() {
            Ok(value) => Ok(Some(SecretString::from(Zeroizing::new(value).as_str()))),
            Err(KeyringError::NoEntry) => Ok(None),
            Err(error) => Err(said(&error)),
        }
    }

    fn set(&self, name: &str, value: &SecretString) -> Result<(), String> {
        entry(name)?
            .set_password(value.expose_secret())
            .map_err(|error| said(&error))
    }

    fn delete(&self, name: &str) -> Result<bool, String> {
        match entry(name)?.delete_credential() {
            Ok(()) => Ok(true),
            Err(KeyringError::NoEntry) => Ok(false),
            Err(error) => Err(said(&error)),
        }
    }
}

fn entry(name: &str) -> Result<Entry, String> {
    Entry::new(SERVICE, name).map_err(|error| said(&error))
}

/// What went wrong, in words that cannot hold a value: some of these errors carry what they read.
fn said(error: &KeyringError) -> String {
    match error {
        KeyringError::BadEncoding(_) => "the entry is not text".to_owned(),
        KeyringError::BadDataFormat(..) => {
            "the entry has a form the keyring does not know".to_owned()
        }
        KeyringError::Ambiguous(_) => "the keyring has several entries of this name".to_owned(),
        other => other.to_string(),
    }
}
