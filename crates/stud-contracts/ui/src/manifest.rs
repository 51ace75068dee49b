//! What a UI plugin adds to its manifest.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The members of a manifest that belong to this category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UiMembers {
    /// What the plugin does, at least one, each at most once.
    pub roles: Vec<Role>,
    /// What it draws in other UIs; at least one for the role `region`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionContribution>,
}

/// What a UI plugin does. Any combination is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Hears events: [`Subscriber`](crate::Subscriber).
    Subscriber,
    /// Answers prompts: [`Interactor`](crate::Interactor).
    Interactor,
    /// Draws in another UI: [`Region`](crate::Region).
    Region,
}

impl Role {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Subscriber, Self::Interactor, Self::Region];

    /// The word in a manifest.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Subscriber => "subscriber",
            Self::Interactor => "interactor",
            Self::Region => "region",
        }
    }

    /// The role whose word this is, in exactly this case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// The handler without which the role cannot be played.
    ///
    /// A region needs `regions` in the manifest as well.
    pub const fn handler(self) -> &'static str {
        match self {
            Self::Subscriber => "onEvent",
            Self::Interactor => "onInteraction",
            Self::Region => "renderRegion",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing drawn in another UI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RegionContribution {
    /// What this contribution is called, unique in the plugin. [`Region::render`](crate::Region::render) is given it.
    pub id: String,
    /// The region, by the name the target has for it. A name it does not know is reported and nothing is drawn.
    pub region: String,
    /// What becomes of what was there.
    pub mode: RegionMode,
    /// Where among several contributions; the higher one comes first.
    pub priority: f64,
    /// The id of the UI to draw in.
    #[serde(rename = "targetUI")]
    pub target_ui: String,
}

/// What becomes of what a region showed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RegionMode {
    /// It is gone.
    Replace,
    /// It stays, and this comes after it.
    Append,
    /// It stays, and this goes around it.
    Decorate,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_keep_their_names() {
        let json = json!({
            "roles": ["subscriber", "interactor", "region"],
            "regions": [{
                "id": "clock", "region": "statusLine", "mode": "append", "priority": 1.5, "targetUI": "default-tui",
            }],
        });
        let members: UiMembers = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(members.roles, Role::ALL);
        assert_eq!(members.regions[0].target_ui, "default-tui");
        assert_eq!(serde_json::to_value(members).unwrap(), json);
    }

    #[test]
    fn regions_may_be_left_out_and_priorities_whole() {
        let members: UiMembers = serde_json::from_value(json!({"roles": ["subscriber"]})).unwrap();
        assert_eq!(members.regions, []);
        assert_eq!(
            serde_json::to_value(members).unwrap(),
            json!({"roles": ["subscriber"]})
        );

        let json =
            json!({"id": "a", "region": "b", "mode": "replace", "priority": 10, "targetUI": "c"});
        let region: RegionContribution = serde_json::from_value(json).unwrap();
        assert!((region.priority - 10.0).abs() < f64::EPSILON);
    }

    #[test]
    fn words_of_roles_and_modes() {
        for role in Role::ALL {
            assert_eq!(serde_json::to_value(role).unwrap(), role.as_str());
            assert_eq!(Role::parse(role.as_str()), Some(role));
            assert!(crate::HANDLERS.contains(&role.handler()), "{role}");
        }
        for wrong in ["Subscriber", "viewer", ""] {
            assert_eq!(Role::parse(wrong), None, "{wrong}");
        }
        let modes = [
            RegionMode::Replace,
            RegionMode::Append,
            RegionMode::Decorate,
        ];
        assert_eq!(
            serde_json::to_value(modes).unwrap(),
            json!(["replace", "append", "decorate"])
        );
    }
}
