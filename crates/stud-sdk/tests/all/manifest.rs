//! The manifest: what it says, in which order, and that the meta contract can read it.

use std::collections::BTreeSet;

use stud_contract_meta::{ABI_MEMBER, COMMON_MEMBERS, DiscoveryRules, META_FIELDS, Range, SemVer};
use stud_sdk::Value;
use stud_sdk::testing::{FakeHost, Harness};

mod plain {
    use stud_sdk::prelude::*;

    /// Does nothing, with "quotes"
    /// and two lines.
    #[tool]
    fn do_nothing() -> String {
        String::new()
    }
}

fn text() -> &'static str {
    let section = plain::stud_plugin().section;
    stud_abi::section::manifest_text(section).unwrap()
}

#[test]
fn members_come_in_a_fixed_order_one_per_line() {
    let names: Vec<&str> = text()
        .lines()
        .filter_map(|line| line.strip_prefix('"')?.split_once('"'))
        .map(|(name, _)| name)
        .collect();
    let expected = [
        "extId",
        "name",
        "version",
        "description",
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
        "handlers",
        "tools",
        "interactionKinds",
        "events",
        "provides",
        "dependsOn",
        "conflictsWith",
        "optionalCapabilities",
        "entry",
        "sdkVersion",
        "rustcVersion",
        "target",
        "panicStrategy",
        "abi",
    ];
    assert_eq!(names, expected);
}

#[test]
fn every_member_is_known_to_the_contracts() {
    let manifest: Value = serde_json::from_str(text()).unwrap();
    let known: BTreeSet<&str> = META_FIELDS
        .into_iter()
        .chain(COMMON_MEMBERS)
        .chain([ABI_MEMBER])
        .chain(stud_contract_tool::MEMBERS.iter().copied())
        .collect();
    for name in manifest.as_object().unwrap().keys() {
        assert!(known.contains(name.as_str()), "{name}");
    }
    for field in META_FIELDS {
        assert!(manifest.get(field).is_some(), "{field}");
    }
}

#[test]
fn values_are_what_the_contracts_expect() {
    let harness = Harness::new(plain::stud_plugin(), FakeHost::new());
    let manifest = harness.manifest();
    assert_eq!(manifest["extId"], "do-nothing");
    assert_eq!(
        manifest["description"],
        "Does nothing, with \"quotes\" and two lines."
    );
    assert_eq!(manifest["tools"][0]["name"], "do_nothing");
    assert_eq!(
        manifest["contractVersion"],
        stud_contract_tool::CONTRACT_VERSION.to_string()
    );
    assert_eq!(manifest["entry"], "stud_entry_do_nothing");
    assert_eq!(manifest["panicStrategy"], "unwind");
    assert_eq!(manifest["stateSlot"], Value::Null);
    assert!(SemVer::parse(manifest["version"].as_str().unwrap()).is_some());
    assert!(Range::parse(manifest["requiredCoreVersion"].as_str().unwrap()).is_some());
    assert_eq!(manifest["abi"]["fingerprint"].as_str().unwrap().len(), 16);
    let rules: DiscoveryRules = serde_json::from_value(manifest["discoveryRules"].clone()).unwrap();
    assert_eq!(
        (rules.folder.as_str(), rules.ordering_subsystem),
        ("tools", None)
    );
    stud_contract_meta::strict_json::parse(text()).unwrap();
}
