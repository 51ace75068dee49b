//! What a hook plugin adds to its manifest.

use serde::{Deserialize, Serialize};

use crate::registration::{FiringMode, SubKind};
use crate::slot::Slot;

/// The members of a manifest that belong to this category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HookMembers {
    /// Where the hook sits.
    pub registration: Registration,
}

/// Where a hook sits, what it does there and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    /// The slot.
    pub slot: Slot,
    /// What it does.
    pub sub_kind: SubKind,
    /// How often it fires.
    #[serde(default)]
    pub firing_mode: FiringMode,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_keep_their_names() {
        let json = json!({"registration": {
            "slot": "TOOL_CALL/pre", "subKind": "guard", "firingMode": "per-call",
        }});
        let members = HookMembers {
            registration: Registration {
                slot: Slot::ToolCallPre,
                sub_kind: SubKind::Guard,
                firing_mode: FiringMode::PerCall,
            },
        };
        assert_eq!(serde_json::to_value(&members).unwrap(), json);
        assert_eq!(
            serde_json::from_value::<HookMembers>(json).unwrap(),
            members
        );
    }

    #[test]
    fn a_hook_fires_once_per_stage_unless_it_says_otherwise() {
        let json = json!({"slot": "RENDER/pre", "subKind": "observer"});
        let registration: Registration = serde_json::from_value(json).unwrap();
        assert_eq!(registration.firing_mode, FiringMode::PerStage);
    }

    #[test]
    fn words_of_sub_kinds_and_modes() {
        for kind in SubKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(SubKind::parse(kind.as_str()), Some(kind));
        }
        let modes = [
            FiringMode::PerStage,
            FiringMode::PerCall,
            FiringMode::PerToken,
        ];
        assert_eq!(
            serde_json::to_value(modes).unwrap(),
            json!(["per-stage", "per-call", "per-token"])
        );
    }
}
