//! The manifest a library carries, in typed form.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cardinality::{ActiveCardinality, LoadedCardinality};
use crate::ext_id::ExtId;
use crate::kind::Kind;
use crate::lifecycle::{Phase, ReloadBehavior};
use crate::model_need::ModelNeed;
use crate::version::{Range, SemVer};

/// The ten fields every contract has, in the order they are checked.
pub const META_FIELDS: [&str; 10] = [
    "kind",
    "contractVersion",
    "requiredCoreVersion",
    "lifecycle",
    "configSchema",
    "loadedCardinality",
    "activeCardinality",
    "stateSlot",
    "discoveryRules",
    "reloadBehavior",
];

/// Members besides the ten that a manifest of any category may have.
pub const COMMON_MEMBERS: [&str; 18] = [
    "extId",
    "name",
    "version",
    "description",
    "handlers",
    "interactionKinds",
    "interactionProtocol",
    "events",
    "provides",
    "dependsOn",
    "conflictsWith",
    "optionalCapabilities",
    "modelNeeds",
    "entry",
    "sdkVersion",
    "rustcVersion",
    "target",
    "panicStrategy",
];

/// The member that says which table layout the library was built with.
pub const ABI_MEMBER: &str = "abi";

/// What a library says about itself, once its shape has been checked.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// What the extension is called.
    pub ext_id: ExtId,
    /// Its name for a person.
    pub name: String,
    /// Its own version.
    pub version: SemVer,
    /// What it is for.
    pub description: String,
    /// Its category.
    pub kind: Kind,
    /// The version of the category's contract it was written against, as it stands.
    pub contract_version: String,
    /// The core versions it accepts, as they stand.
    pub required_core_version: String,
    /// The phases it takes part in.
    pub lifecycle: Vec<Phase>,
    /// The JSON Schema of its config.
    pub config_schema: Value,
    /// How many may be loaded.
    pub loaded_cardinality: LoadedCardinality,
    /// How many may be active.
    pub active_cardinality: ActiveCardinality,
    /// The state it keeps over turns, if any.
    pub state_slot: Option<SlotDeclaration>,
    /// Where it belongs.
    pub discovery_rules: DiscoveryRules,
    /// When it may be reloaded.
    pub reload_behavior: ReloadBehavior,
    /// The functions of its table that are filled.
    pub handlers: Vec<String>,
    /// The interaction kinds it may raise.
    pub interaction_kinds: Vec<String>,
    /// The Interaction Protocol it was built for.
    pub interaction_protocol: Option<SemVer>,
    /// The events it may publish.
    pub events: Vec<EventDeclaration>,
    /// What it offers to `{kind, capability}` references.
    pub provides: Vec<String>,
    /// What must be there before it.
    pub depends_on: Vec<Reference>,
    /// What must not be there with it.
    pub conflicts_with: Vec<Reference>,
    /// What it needs of the model that answers.
    pub model_needs: Vec<ModelNeed>,
    /// The symbol of its entry.
    pub entry: String,
    /// The SDK it was built with.
    pub sdk_version: String,
    /// The compiler it was built with.
    pub rustc_version: String,
    /// The platform it was built for.
    pub target: String,
    /// `unwind`, or it could not be loaded.
    pub panic_strategy: String,
    /// The layout of its table.
    pub abi: AbiDeclaration,
    /// The whole document, for the members of its category.
    pub document: Value,
}

impl Manifest {
    /// The contract version as a version; checked when the manifest was validated.
    pub fn contract_version(&self) -> Option<SemVer> {
        SemVer::parse(&self.contract_version)
    }

    /// The core range as a range; checked when the manifest was validated.
    pub fn required_core(&self) -> Option<Range> {
        Range::parse(&self.required_core_version)
    }
}

/// Where an extension belongs under a scope root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveryRules {
    /// The category folder.
    pub folder: String,
    /// The extension's id inside that folder.
    pub manifest_key: String,
    /// `hooks` for the one category that is ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordering_subsystem: Option<String>,
    /// Whether it is active by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_activation: Option<bool>,
}

/// The state an extension keeps over turns and restarts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlotDeclaration {
    /// The version of the data's shape.
    pub slot_version: String,
    /// The JSON Schema of the data.
    pub schema: Value,
    /// What to do with data of another version.
    #[serde(default)]
    pub drift_policy: DriftPolicy,
}

/// What to do with stored state of another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DriftPolicy {
    /// The extension turns old data into new.
    Migrate,
    /// Old data is delivered as it is, and the operator is told.
    Warn,
    /// Old data is refused.
    #[default]
    Reject,
}

/// An event an extension may publish.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventDeclaration {
    /// Its name; none of core's own.
    pub name: String,
    /// The JSON Schema of its payload.
    pub schema: Value,
}

/// Points at another extension, or at anything of a category that offers a capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reference {
    /// A named extension of a category.
    Named {
        /// Its category.
        kind: Kind,
        /// Its id.
        name: String,
    },
    /// Whatever of a category offers a capability.
    Capable {
        /// The category.
        kind: Kind,
        /// The capability, as listed in `provides`.
        capability: String,
    },
}

impl Reference {
    /// Whether the extension `id` of `kind`, offering `provides`, is what this points at.
    pub fn matches(&self, id: &ExtId, kind: Kind, provides: &[String]) -> bool {
        match self {
            Self::Named { kind: wanted, name } => *wanted == kind && name == id.as_str(),
            Self::Capable {
                kind: wanted,
                capability,
            } => *wanted == kind && provides.contains(capability),
        }
    }
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named { kind, name } => write!(f, "{kind} `{name}`"),
            Self::Capable { kind, capability } => {
                write!(f, "a {kind} that provides `{capability}`")
            }
        }
    }
}

/// The table layout a library was built with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbiDeclaration {
    /// `major.minor` of the boundary itself.
    pub version: String,
    /// The fingerprint of the category's table.
    pub fingerprint: String,
}
