//! What a plugin declares that a user should agree to: rights, capabilities and dependencies.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The members of a manifest in which every entry is a right, a capability or a dependency.
const MEMBERS: [&str; 11] = [
    "interactionKinds",
    "optionalCapabilities",
    "modelNeeds",
    "dependsOn",
    "conflictsWith",
    "provides",
    "events",
    "roles",
    "regions",
    "capabilities",
    "registration",
];

/// Declared rights, capabilities and dependencies by the member of the manifest that declares them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rights(BTreeMap<String, BTreeSet<String>>);

impl Rights {
    /// What a manifest declares.
    pub fn of(manifest: &Value) -> Self {
        let mut rights = Self::default();
        for member in MEMBERS {
            if let Some(value) = manifest.get(member) {
                rights.add(member, words(value));
            }
        }
        let named = |list: &str| manifest.get(list).and_then(Value::as_array);
        for tool in named("tools").into_iter().flatten() {
            let name = tool["name"].as_str().unwrap_or("?");
            rights.add("tools", [name.to_owned()]);
            if tool["gated"] == false {
                rights.add("toolsThatRunUnasked", [name.to_owned()]);
            }
            if let Some(coverage) = tool.get("approvalCoverage") {
                rights.add("approvalCoverage", [format!("{name}: {}", word(coverage))]);
            }
        }
        for command in named("commands").into_iter().flatten() {
            rights.add("commands", [word(&command["name"])]);
        }
        if manifest
            .get("stateSlot")
            .is_some_and(|slot| !slot.is_null())
        {
            rights.add("stateSlot", ["keeps state over turns".to_owned()]);
        }
        rights
    }

    /// What `self` declares and `before` does not.
    #[must_use]
    pub fn beyond(&self, before: &Self) -> Self {
        let mut beyond = Self::default();
        for (member, words) in &self.0 {
            let known = before.0.get(member);
            let new = words
                .iter()
                .filter(|word| !known.is_some_and(|known| known.contains(*word)));
            beyond.add(member, new.cloned());
        }
        beyond
    }

    /// Whether nothing is declared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One line for each member, such as `interactionKinds: Ask, ToolInput`.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.0.iter().map(|(member, words)| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            format!("{member}: {}", words.join(", "))
        })
    }

    fn add(&mut self, member: &str, words: impl IntoIterator<Item = String>) {
        let mut words = words.into_iter().peekable();
        if words.peek().is_some() {
            self.0.entry(member.to_owned()).or_default().extend(words);
        }
    }
}

/// The entries of a list or of an object, in words.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(entries) => entries.iter().map(word).collect(),
        Value::Object(members) => {
            let entries = members.iter();
            entries
                .map(|(name, value)| format!("{name}={}", word(value)))
                .collect()
        }
        Value::Null => Vec::new(),
        other => vec![word(other)],
    }
}

/// One entry: a text, what an object is called, or its JSON.
fn word(value: &Value) -> String {
    let text = |member: &str| value.get(member).and_then(Value::as_str);
    match (
        value.as_str(),
        text("kind"),
        text("name"),
        text("capability"),
    ) {
        (Some(word), ..) => word.to_owned(),
        (_, Some(kind), Some(name), _) => format!("{kind} {name}"),
        (_, Some(kind), None, Some(capability)) => format!("{kind} with {capability}"),
        (_, None, Some(name), _) => name.to_owned(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest() -> Value {
        json!({
            "kind": "Tool",
            "interactionKinds": ["Ask"],
            "dependsOn": [{"kind": "Logger", "name": "file-logger"}],
            "tools": [{"name": "count", "gated": true}],
            "lifecycle": [],
            "stateSlot": null,
        })
    }

    #[test]
    fn the_same_declarations_widen_nothing() {
        let rights = Rights::of(&manifest());
        assert!(rights.beyond(&rights).is_empty());
        let lines: Vec<String> = rights.lines().collect();
        assert_eq!(
            lines,
            [
                "dependsOn: Logger file-logger",
                "interactionKinds: Ask",
                "tools: count"
            ]
        );
    }

    #[test]
    fn every_addition_is_named() {
        let before = Rights::of(&manifest());
        let widened = |change: fn(&mut Value)| {
            let mut after = manifest();
            change(&mut after);
            Rights::of(&after)
                .beyond(&before)
                .lines()
                .collect::<Vec<_>>()
                .join("; ")
        };
        assert_eq!(
            widened(|after| after["interactionKinds"] = json!(["Ask", "ToolInput"])),
            "interactionKinds: ToolInput"
        );
        assert_eq!(
            widened(|after| after["tools"][0]["gated"] = json!(false)),
            "toolsThatRunUnasked: count"
        );
        assert_eq!(
            widened(|after| after["dependsOn"] = json!([{"kind": "Tool", "capability": "files"}])),
            "dependsOn: Tool with files"
        );
        assert_eq!(
            widened(|after| after["stateSlot"] = json!({})),
            "stateSlot: keeps state over turns"
        );
        assert_eq!(
            widened(|after| after["registration"] =
                json!({"slot": "TOOL_CALL/pre", "subKind": "guard"})),
            "registration: slot=TOOL_CALL/pre, subKind=guard"
        );
        assert_eq!(
            widened(|after| after["tools"][0]["approvalCoverage"] = json!("path")),
            "approvalCoverage: count: path"
        );
    }

    #[test]
    fn fewer_declarations_widen_nothing() {
        let before = Rights::of(&manifest());
        assert!(Rights::of(&json!({})).beyond(&before).is_empty());
    }
}
