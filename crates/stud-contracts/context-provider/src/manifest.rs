//! What a context-provider plugin adds to its manifest.

use serde::{Deserialize, Serialize};

/// The members of a manifest that belong to this category: none.
///
/// In particular there is no flag that would let a plugin pass on more than another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContextProviderMembers {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn there_are_none() {
        assert_eq!(
            serde_json::to_value(ContextProviderMembers {}).unwrap(),
            json!({})
        );
        let read = serde_json::from_value(json!({"kind": "ContextProvider"}));
        assert_eq!(read.ok(), Some(ContextProviderMembers {}));
    }
}
