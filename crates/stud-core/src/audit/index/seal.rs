//! The seal of an entry: what only a process that has the key can write.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};
use sha2::Sha256;

use super::Step;
use crate::audit::line::GENESIS;

/// The key that entries are sealed with.
pub struct Seal(SecretString);

impl Seal {
    /// Seals with this key.
    pub fn new(key: SecretString) -> Self {
        Self(key)
    }

    /// The seal of an entry that follows the entry with this hash, so that none can be taken out or moved.
    pub(super) fn of(&self, kind: &str, payload: &Map<String, Value>, prev_hash: &str) -> String {
        let code = self.code(kind, payload, prev_hash).finalize().into_bytes();
        data_encoding::HEXLOWER.encode(&code)
    }

    /// Whether an entry has the seal it should have.
    pub(super) fn fits(&self, step: &Step) -> bool {
        let Some(record) = &step.record else {
            return false;
        };
        let seal = record.payload.get("seal").and_then(Value::as_str);
        let Some(seal) = seal.and_then(|seal| data_encoding::HEXLOWER.decode(seal.as_bytes()).ok())
        else {
            return false;
        };
        let kind = record.kind.as_deref().unwrap_or_default();
        let prev_hash = step.prev_hash.as_deref().unwrap_or(GENESIS);
        self.code(kind, &record.payload, prev_hash)
            .verify_slice(&seal)
            .is_ok()
    }

    fn code(&self, kind: &str, payload: &Map<String, Value>, prev_hash: &str) -> Hmac<Sha256> {
        let mut sealed = payload.clone();
        sealed.remove("seal");
        let text = serde_json_canonicalizer::to_vec(&sealed).unwrap_or_default();
        // A key of any length fits.
        let mut code = Hmac::<Sha256>::new_from_slice(self.0.expose_secret().as_bytes())
            .unwrap_or_else(|_| Hmac::<Sha256>::new(&hmac::digest::Key::<Hmac<Sha256>>::default()));
        for part in [kind.as_bytes(), prev_hash.as_bytes(), &text] {
            code.update(part);
            code.update(b"\n");
        }
        code
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}
