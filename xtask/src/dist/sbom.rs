//! A bill of materials: every package that is built into the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Value, json};

/// A package that is built into the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Component {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) licence: Option<String>,
    /// Where its sources are.
    pub(super) folder: PathBuf,
    /// Whether it comes from the registry.
    pub(super) is_foreign: bool,
}

/// What is reached from `program` without dependencies of tests, in order of name and version.
pub(super) fn packages(metadata: &Value, program: &str) -> Vec<Component> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all: BTreeMap<String, Value> = list(&metadata["packages"])
        .into_iter()
        .map(|package| (text(&package["id"]), package))
        .collect();
    let nodes: BTreeMap<String, Value> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| (text(&node["id"]), node))
        .collect();
    let start = all.iter().find(|(_, package)| package["name"] == program);
    let mut open: Vec<String> = start.map(|(id, _)| id.clone()).into_iter().collect();
    let mut reached = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !reached.insert(id.clone()) {
            continue;
        }
        let dependencies = nodes
            .get(&id)
            .map(|node| list(&node["deps"]))
            .unwrap_or_default();
        for dependency in dependencies {
            let kinds = list(&dependency["dep_kinds"]);
            if kinds.iter().any(|kind| kind["kind"] != "dev") {
                open.push(text(&dependency["pkg"]));
            }
        }
    }
    let mut components: Vec<Component> = reached
        .iter()
        .filter_map(|id| all.get(id))
        .map(|package| Component {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: package["license"].as_str().map(str::to_owned),
            folder: PathBuf::from(text(&package["manifest_path"]))
                .parent()
                .map(PathBuf::from)
                .unwrap_or_default(),
            is_foreign: !package["source"].is_null(),
        })
        .collect();
    components.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    components
}

/// The bill in the form of `CycloneDX`. It has no time and no serial number, so that the same sources give the same bill.
pub(super) fn document(components: &[Component], version: &str) -> Value {
    let listed = components.iter().map(|component| {
        let (name, version) = (&component.name, &component.version);
        let mut entry = json!({
            "type": "library", "name": name, "version": version,
            "bom-ref": format!("{name}@{version}"),
        });
        if component.is_foreign {
            entry["purl"] = format!("pkg:cargo/{name}@{version}").into();
        }
        if let Some(licence) = &component.licence {
            // Older packages separate alternatives by a slash.
            entry["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
        }
        entry
    });
    json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "stud", "version": version}},
        "components": listed.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::{document, packages};
    use serde_json::json;

    #[test]
    fn what_tests_need_is_not_built_in() {
        let package = |name: &str, source: serde_json::Value| {
            json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0",
                "manifest_path": format!("/r/{name}/Cargo.toml"), "source": source})
        };
        let edge =
            |to: &str, kind: serde_json::Value| json!({"pkg": to, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [package("stud", json!(null)), package("serde", json!("registry")),
                package("cc", json!("registry")), package("tempfile", json!("registry"))],
            "resolve": {"nodes": [
                {"id": "stud", "deps": [edge("serde", json!(null)), edge("tempfile", json!("dev"))]},
                {"id": "serde", "deps": [edge("cc", json!("build"))]},
            ]},
        });
        let found = packages(&metadata, "stud");
        let names: Vec<&str> = found
            .iter()
            .map(|component| component.name.as_str())
            .collect();
        assert_eq!(names, ["cc", "serde", "stud"]);
        let bill = document(&found, "0.1.0");
        assert_eq!(bill["components"][0]["purl"], "pkg:cargo/cc@1.0.0");
        assert_eq!(
            bill["components"][0]["licenses"][0]["expression"],
            "MIT OR Apache-2.0"
        );
        assert_eq!(bill["components"][2].get("purl"), None);
    }
}
