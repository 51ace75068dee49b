//! A session as it is stored.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stud_host_api::session::SecurityMode;

/// What core needs to bring a session back, and nothing else.
///
/// A member that does not belong here makes it unreadable, so that nothing is smuggled past those who rely on it being
/// slim: no environment, no settings, no list of plugins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionManifest {
    /// Which session.
    pub session_id: String,
    /// The project it belongs to, its `.stud` folder.
    pub project_root: String,
    /// How tool calls are gated, from its start to its end.
    pub mode: SecurityMode,
    /// The conversation, oldest first.
    pub messages: Vec<Map<String, Value>>,
    /// The state machine attached to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_state: Option<SmState>,
    /// The store that wrote it. Another one must not read it.
    pub store_id: String,
    /// When it began, in RFC 3339 with milliseconds, UTC.
    pub created_at: String,
    /// When it was last written, likewise.
    pub updated_at: String,
}

/// The state machine attached to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SmState {
    /// The plugin.
    pub sm_ext_id: String,
    /// Which of the slots is its own.
    pub state_slot_ref: String,
}

/// The state of one plugin. A store gives back what it was given, to the byte.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SlotBlob {
    /// The plugin.
    pub ext_id: String,
    /// The version of the payload's shape.
    pub slot_version: String,
    /// The data; no store looks into it.
    pub payload: Value,
}

/// A session and the state of its plugins: what is written and read as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Stored {
    /// The session.
    pub manifest: SessionManifest,
    /// The state of its plugins, at most one entry each.
    #[serde(default)]
    pub slots: Vec<SlotBlob>,
    /// What the store found damaged when it read the session; since 1.2. Core never hands any to a store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damage: Vec<Damage>,
}

/// Something of a session is not what was written, and the rest can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Damage {
    /// What is damaged.
    pub part: DamagedPart,
    /// One word for programs, such as `missing`, `shortened` or `altered`.
    pub reason: String,
    /// The same for people, with the place.
    pub message: String,
    /// The file, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A part of what is stored of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DamagedPart {
    /// Records of the journal. The snapshot can be used.
    Journal,
    /// The manifest of the snapshot. It can be read, and may not say what was written.
    Manifest,
    /// The slots of the snapshot. None of them is given.
    State,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stored() -> Value {
        json!({
            "manifest": {
                "sessionId": "s1",
                "projectRoot": "project/.stud",
                "mode": "allowlist",
                "messages": [{"role": "user", "content": "hi"}],
                "smState": {"smExtId": "plan-and-build", "stateSlotRef": "plan-and-build"},
                "storeId": "filesystem",
                "createdAt": "2026-01-01T00:00:00.000Z",
                "updatedAt": "2026-01-01T00:00:01.000Z",
            },
            "slots": [{"extId": "plan-and-build", "slotVersion": "1.0.0", "payload": {"stage": "plan"}}],
        })
    }

    #[test]
    fn a_stored_session_keeps_its_names() {
        let read: Stored = serde_json::from_value(stored()).unwrap();
        assert_eq!(read.manifest.mode, SecurityMode::Allowlist);
        assert_eq!(serde_json::to_value(read).unwrap(), stored());
    }

    #[test]
    fn what_is_damaged_is_told_in_words_and_only_if_anything_is() {
        let mut json = stored();
        json["damage"] =
            json!([{"part": "journal", "reason": "shortened", "message": "journal.log: shorter"}]);
        let read: Stored = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(read.damage[0].part, DamagedPart::Journal);
        assert_eq!(serde_json::to_value(read).unwrap(), json);
    }

    #[test]
    fn a_session_without_a_machine_says_nothing_about_one() {
        let mut json = stored()["manifest"].clone();
        json.as_object_mut().unwrap().remove("smState");
        let manifest: SessionManifest = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(manifest.sm_state, None);
        assert_eq!(serde_json::to_value(manifest).unwrap(), json);
    }

    #[test]
    fn a_manifest_stays_slim() {
        for pointer in ["/manifest", "/manifest/smState"] {
            let mut json = stored();
            json.pointer_mut(pointer).unwrap()["env"] = json!({"KEY": "value"});
            let error = serde_json::from_value::<Stored>(json).unwrap_err();
            assert!(error.to_string().contains("unknown field `env`"), "{error}");
        }
    }

    #[test]
    fn every_other_member_is_required() {
        let manifest = stored()["manifest"].clone();
        for name in manifest
            .as_object()
            .unwrap()
            .keys()
            .filter(|name| *name != "smState")
        {
            let mut without = manifest.clone();
            without.as_object_mut().unwrap().remove(name);
            assert!(
                serde_json::from_value::<SessionManifest>(without).is_err(),
                "{name}"
            );
        }
    }
}
