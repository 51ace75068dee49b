use super::*;
use crate::platform::Places;
use crate::trust::{Decision, Entered, TrustStore, enter};

fn asked<'a>(tool: &'a str, key: &'a str, coverage: ApprovalCoverage) -> Asked<'a> {
    Asked {
        tool,
        key,
        coverage,
        args: None,
        workspace: None,
    }
}

fn project() -> (tempfile::TempDir, ProjectApprovals) {
    let folder = tempfile::tempdir().unwrap();
    let places = Places {
        global_root: folder.path().join("home"),
        project_root: folder.path().join("project/.stud"),
    };
    std::fs::create_dir_all(&places.project_root).unwrap();
    std::fs::create_dir_all(&places.global_root).unwrap();
    TrustStore::decide(&places, Decision::Trusted).unwrap();
    let Entered::Trusted(project) = enter(&places).unwrap() else {
        panic!("it was trusted just now");
    };
    (folder, ProjectApprovals::of(&project))
}

#[test]
fn an_approval_is_for_a_tool_and_a_key() {
    let approvals = Approvals::default();
    let exact = ApprovalCoverage::Exact;
    approvals
        .remember(asked("bash", "git", exact), ApprovalScope::Session)
        .unwrap();
    let found = |tool, key| approvals.find(asked(tool, key, exact)).unwrap();
    assert_eq!(found("bash", "git"), Some(ApprovalScope::Session));
    assert_eq!(found("bash", "gitk"), None);
    assert_eq!(found("sh", "git"), None);
}

#[test]
fn a_yes_for_once_is_not_remembered() {
    let approvals = Approvals::default();
    let call = asked("bash", "git", ApprovalCoverage::Exact);
    approvals.remember(call, ApprovalScope::Once).unwrap();
    assert_eq!(approvals.find(call).unwrap(), None);
}

#[test]
fn a_folder_covers_what_lies_below_it() {
    let approvals = Approvals::default();
    let path = ApprovalCoverage::Path;
    approvals
        .remember(asked("write", "src/a", path), ApprovalScope::Session)
        .unwrap();
    let found = |key| approvals.find(asked("write", key, path)).unwrap().is_some();
    assert!(found("src/a") && found("src/a/b"));
    assert!(!found("src") && !found("src/ab") && !found("."));
}

#[test]
fn every_one_of_a_set_must_be_covered() {
    let approvals = Approvals::default();
    let set = ApprovalCoverage::PathSet;
    approvals
        .remember(asked("multi-edit", "a|b", set), ApprovalScope::Session)
        .unwrap();
    let found = |key| {
        approvals
            .find(asked("multi-edit", key, set))
            .unwrap()
            .is_some()
    };
    assert!(found("a") && found("b") && found("b|a/x"));
    assert!(!found("a|c"));
}

#[test]
fn the_project_remembers_over_processes() {
    let (_folder, approvals) = project();
    let path = approvals.path().to_owned();
    let call = asked("bash", "git", ApprovalCoverage::Exact);
    let session = Approvals::new(Some(approvals), Allowlist::default());
    assert!(session.scopes().contains(&ApprovalScope::Always));
    session.remember(call, ApprovalScope::Always).unwrap();
    assert_eq!(session.find(call).unwrap(), Some(ApprovalScope::Always));
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(
        written[0]["key"],
        serde_json::json!({"toolId": "bash", "approvalKey": "git"})
    );
    assert_eq!(written[0]["grantedBy"], "user");
    assert_eq!(written[0]["scope"], "project");

    let later = ProjectApprovals::at(path);
    let revoked = later
        .revoke(|grant| grant.key.approval_key == "git")
        .unwrap();
    assert_eq!(revoked.len(), 1);
    let next = Approvals::new(Some(later), Allowlist::default());
    assert_eq!(next.find(call).unwrap(), None);
}

#[test]
fn a_file_that_is_not_a_list_of_grants_is_told() {
    let (_folder, approvals) = project();
    for text in ["{", "{}", "[1]"] {
        std::fs::write(approvals.path(), text).unwrap();
        let error = approvals.grants().unwrap_err();
        assert_eq!(error.code(), "ApprovalCacheUnavailable", "{text}");
    }
}

#[test]
fn without_a_project_nothing_holds_for_it() {
    let approvals = Approvals::default();
    assert!(!approvals.scopes().contains(&ApprovalScope::Always));
    let call = asked("bash", "git", ApprovalCoverage::Exact);
    let error = approvals.remember(call, ApprovalScope::Always).unwrap_err();
    stud_observed::covers!(UNTRUSTED_PROJECT_CACHE_PATH, error);
}

#[test]
fn a_near_miss_says_what_is_allowed_instead() {
    let approvals = Approvals::default();
    let exact = ApprovalCoverage::Exact;
    let call = asked("bash", "gti", exact);
    assert_eq!(approvals.near_miss(call), None);
    approvals
        .remember(asked("bash", "git", exact), ApprovalScope::Session)
        .unwrap();
    assert!(approvals.near_miss(call).unwrap().contains("`git`"));
    let other = approvals.near_miss(asked("sh", "git", exact)).unwrap();
    assert!(other.contains("not to `sh`"));
}

#[test]
fn keys_are_one_line_that_fits() {
    check_key(&"x".repeat(1024)).unwrap();
    for (key, reason) in [
        (String::new(), "empty"),
        ("a\nb".to_owned(), "control-character"),
        ("a\u{7f}".to_owned(), "control-character"),
        ("x".repeat(1025), "too-long"),
    ] {
        let error = check_key(&key).unwrap_err();
        assert_eq!(error.code(), "ApprovalKeyInvalid");
        assert_eq!(error.context().get("reason"), Some(&reason.into()));
    }
}
