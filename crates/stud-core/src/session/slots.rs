//! What plugins keep with the session.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use stud_contract_meta::{DriftPolicy, Error, Result};
use stud_contract_session_store::{Durability, SlotBlob};
use stud_diagnostics::codes;
use stud_host_api::session::SlotValue;

use super::Session;
use crate::identity::Identity;
use crate::ledger::Draft;
use crate::sync::{Mutex, lock};

/// The slots of all plugins, by id.
#[derive(Default)]
pub(super) struct Slots(Mutex<BTreeMap<String, SlotBlob>>);

impl Slots {
    pub(super) fn holding(blobs: Vec<SlotBlob>) -> Self {
        let blobs = blobs.into_iter().map(|blob| (blob.ext_id.clone(), blob));
        Self(Mutex::new(blobs.collect()))
    }

    pub(super) fn has(&self, ext_id: &str) -> bool {
        lock(&self.0).contains_key(ext_id)
    }

    pub(super) fn all(&self) -> Vec<SlotBlob> {
        lock(&self.0).values().cloned().collect()
    }
}

/// The slot of one plugin.
#[derive(Debug, Clone)]
pub struct Slot {
    pub(crate) session: Arc<Session>,
    pub(crate) owner: Arc<Identity>,
}

impl Slot {
    /// What was last written, as far as the plugin wants what another version of it wrote.
    pub fn read(&self) -> Result<Option<SlotValue>> {
        let owner = self.owner.ext_id.as_str();
        let Some(blob) = lock(&self.session.slots.0).get(owner).cloned() else {
            return Ok(None);
        };
        let value = SlotValue {
            slot_version: blob.slot_version,
            data: blob.payload,
        };
        if value.slot_version.is_empty() {
            let code = &codes::SLOT_VERSION_MISSING;
            let message = format!("what `{owner}` kept does not say which version it has");
            return Err(Error::new(code.class, code.name, message).with("extId", owner));
        }
        let Some(declared) = &self.owner.manifest.state_slot else {
            return Ok(Some(value));
        };
        let current = declared.slot_version.clone();
        if value.slot_version == current {
            return Ok(Some(value));
        }
        self.drifted(&value, &current, declared.drift_policy)?;
        Ok(Some(value))
    }

    /// Another version wrote it. The plugin said in its manifest what to do then; to migrate is its own work.
    fn drifted(&self, stored: &SlotValue, current: &str, policy: DriftPolicy) -> Result<()> {
        let owner = self.owner.ext_id.as_str();
        let payload = json!({
            "extId": owner,
            "storedVersion": stored.slot_version,
            "currentVersion": current,
            "decision": policy,
        });
        let books = self.session.books();
        let correlation_id = self.session.correlation_id();
        books.audit(
            "StateSlotDrift",
            Some("StateSlotDrift"),
            &correlation_id,
            payload,
        );
        if policy != DriftPolicy::Reject {
            return Ok(());
        }
        let code = &codes::SLOT_DRIFT_REJECTED;
        let message = format!(
            "`{owner}` kept version {} and takes only {current}",
            stored.slot_version
        );
        Err(Error::new(code.class, code.name, message)
            .with("extId", owner)
            .with("storedVersion", stored.slot_version.as_str())
            .with("expectedVersion", current))
    }

    /// Replaces the content.
    pub async fn write(&self, value: SlotValue) -> Result<()> {
        let owner = self.owner.ext_id.as_str();
        if value.slot_version.is_empty() {
            let code = &codes::SLOT_VERSION_MISSING;
            let message = format!("what `{owner}` keeps has to say which version it has");
            return Err(Error::new(code.class, code.name, message).with("extId", owner));
        }
        self.session.books().redactor.refuse_secrets(&value.data)?;
        let draft = Draft {
            kind: "slot",
            correlation_id: self.session.turn_id(),
            ext_id: Some(owner.to_owned()),
            payload: json!({"slotVersion": value.slot_version, "data": value.data}),
        };
        let ledger = &self.session.books().ledger;
        let blob = SlotBlob {
            ext_id: owner.to_owned(),
            slot_version: value.slot_version,
            payload: value.data,
        };
        let (done, written) = crate::sync::promise();
        let session = self.session.clone();
        ledger.commit(vec![draft], Durability::Written, move |result| {
            if result.is_ok() {
                lock(&session.slots.0).insert(blob.ext_id.clone(), blob);
            }
            done.keep(result.map(drop));
        });
        written
            .await
            .unwrap_or_else(|| Err(crate::ledger::closed()))
    }
}
