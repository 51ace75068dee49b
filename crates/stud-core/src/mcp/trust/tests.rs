use super::*;
use std::time::Duration;

fn lists(folder: &Path, with_project: bool) -> TrustLists {
    TrustLists {
        global: folder.join("home/mcp-trust.json"),
        project: with_project.then(|| folder.join("project/mcp-trust.json")),
    }
}

fn entry(id: &str, fingerprint: &str) -> TrustEntry {
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(1234);
    TrustEntry::new(id, fingerprint.to_owned(), now)
}

#[test]
fn a_decision_holds_for_what_it_was_made_about() {
    let folder = tempfile::tempdir().unwrap();
    let lists = lists(folder.path(), true);
    assert_eq!(lists.standing("s", "one").unwrap(), TrustStanding::Unknown);
    lists.put(Scope::Global, entry("s", "one")).unwrap();
    let trusted = TrustStanding::Trusted(Scope::Global, entry("s", "one"));
    assert_eq!(lists.standing("s", "one").unwrap(), trusted);
    assert_eq!(lists.standing("s", "two").unwrap(), TrustStanding::Changed);
    assert_eq!(lists.standing("t", "one").unwrap(), TrustStanding::Unknown);
}

#[test]
fn a_decision_written_by_hand_holds_for_whatever_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let lists = lists(folder.path(), false);
    let text = r#"[{"serverId":"s","decision":"trusted","grantedAt":5}]"#;
    std::fs::create_dir_all(folder.path().join("home")).unwrap();
    std::fs::write(&lists.global, text).unwrap();
    let standing = lists.standing("s", "any").unwrap();
    assert!(matches!(standing, TrustStanding::Trusted(Scope::Global, _)));
}

#[test]
fn what_is_forgotten_is_gone_from_both_lists() {
    let folder = tempfile::tempdir().unwrap();
    let lists = lists(folder.path(), true);
    for scope in [Scope::Global, Scope::Project] {
        lists.put(scope, entry("s", "one")).unwrap();
        lists.put(scope, entry("a", "one")).unwrap();
    }
    assert!(lists.forget("s").unwrap());
    assert!(!lists.forget("s").unwrap());
    assert_eq!(lists.standing("s", "one").unwrap(), TrustStanding::Unknown);
    assert_ne!(lists.standing("a", "one").unwrap(), TrustStanding::Unknown);
}

#[test]
fn a_list_is_sorted_and_says_when() {
    let folder = tempfile::tempdir().unwrap();
    let lists = lists(folder.path(), false);
    lists.put(Scope::Global, entry("b", "one")).unwrap();
    lists.put(Scope::Global, entry("a", "one")).unwrap();
    let text = std::fs::read_to_string(&lists.global).unwrap();
    let list: serde_json::Value = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!([
        {"serverId": "a", "decision": "trusted", "grantedAt": 1234, "fingerprint": "one"},
        {"serverId": "b", "decision": "trusted", "grantedAt": 1234, "fingerprint": "one"},
    ]);
    assert_eq!(list, expected);
}

#[test]
fn a_project_that_is_not_trusted_keeps_no_list() {
    let folder = tempfile::tempdir().unwrap();
    let error = lists(folder.path(), false).put(Scope::Project, entry("s", "one"));
    assert_eq!(error.unwrap_err().code(), "ProjectTrustRequired");
}

#[test]
fn a_list_that_cannot_be_read_trusts_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let lists = lists(folder.path(), false);
    std::fs::create_dir_all(folder.path().join("home")).unwrap();
    for text in [
        "{",
        "{}",
        r#"[{"serverId":"s","decision":"maybe","grantedAt":1}]"#,
    ] {
        std::fs::write(&lists.global, text).unwrap();
        let error = lists.standing("s", "one").unwrap_err();
        assert_eq!(error.code(), "MCPTrustUnavailable", "{text}");
        assert!(lists.put(Scope::Global, entry("s", "one")).is_err());
        assert_eq!(std::fs::read_to_string(&lists.global).unwrap(), text);
    }
}
