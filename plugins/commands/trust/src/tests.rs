use stud_sdk::Class;
use stud_sdk::interaction::ConfirmAnswer;
use stud_sdk::testing::{FakeHost, Harness};

use super::*;

fn run(host: &FakeHost, typed: &str) -> Result<Rendered> {
    Harness::new(stud_plugin(), host.clone()).command("trust", typed)
}

fn confirming(confirmed: bool) -> FakeHost {
    FakeHost::new().answers(ConfirmAnswer { confirmed })
}

#[test]
fn trusted_projects_are_listed() {
    let listed = json!({"trusted": [{"path": "/a/.stud", "grantedAt": "2026-01-01T00:00:00.000Z"}], "mcp": [{"server": "git"}]});
    let host = FakeHost::new().performs(Ok(listed.clone()));
    let shown = run(&host, "").unwrap();
    assert_eq!(
        shown.rendered,
        "/a/.stud  2026-01-01T00:00:00.000Z\nMCP servers: git"
    );
    assert_eq!(shown.payload, Some(listed));
    let host = FakeHost::new().performs(Ok(json!({"trusted": [], "mcp": []})));
    assert_eq!(
        run(&host, "list").unwrap().rendered,
        "No project is trusted."
    );
}

#[test]
fn a_project_is_trusted_without_another_question() {
    let granted = json!({"granted": true, "target": "/a/.stud"});
    let host = FakeHost::new().performs(Ok(granted.clone()));
    let shown = run(&host, "grant /a").unwrap();
    assert!(shown.rendered.starts_with("/a/.stud is trusted"));
    assert_eq!(shown.payload, Some(granted));
    let path = "/a".to_owned();
    assert_eq!(host.performed(), [Deed::GrantTrust { path }]);
}

#[test]
fn trust_is_taken_back_after_a_question() {
    let revoked = json!({"revoked": true, "target": "/a/.stud"});
    let host = confirming(true).performs(Ok(revoked.clone()));
    let shown = run(&host, "revoke /a").unwrap();
    assert_eq!(shown.payload, Some(revoked));
    assert_eq!(host.asked().len(), 1);
}

#[test]
fn a_no_changes_nothing_and_is_no_error() {
    for host in [confirming(false), FakeHost::new().rejects("no".into())] {
        let shown = run(&host, "revoke /a").unwrap();
        assert_eq!(
            shown.payload,
            Some(json!({"revoked": false, "target": "/a"}))
        );
        assert!(host.performed().is_empty());
    }
    let known = json!({"trusted": [], "mcp": [{"server": "git"}]});
    let host = confirming(false).performs(Ok(known));
    let shown = run(&host, "--clear-mcp git").unwrap();
    assert_eq!(
        shown.payload,
        Some(json!({"cleared": false, "server": "git"}))
    );
    assert_eq!(host.performed(), [Deed::ListTrust {}]);
}

#[test]
fn nobody_is_asked_who_does_not_want_to_be() {
    let host = FakeHost::new()
        .config(json!({"requireConfirmForClear": false}))
        .performs(Ok(json!({"revoked": false, "target": "/a/.stud"})));
    let shown = run(&host, "revoke /a").unwrap();
    assert_eq!(shown.rendered, "/a/.stud was not trusted.");
    assert!(host.asked().is_empty());
}

#[test]
fn a_server_that_nobody_knows_is_refused_before_anybody_is_asked() {
    let host = FakeHost::new().performs(Ok(json!({"trusted": [], "mcp": []})));
    let error = run(&host, "--clear-mcp git").unwrap_err();
    assert!(error.is(Class::ToolTerminal, "NotFound"), "{error}");
    assert!(host.asked().is_empty());
}

#[test]
fn a_server_is_forgotten_after_a_question() {
    let host = confirming(true)
        .performs(Ok(json!({"trusted": [], "mcp": [{"server": "git"}]})))
        .performs(Ok(json!({"cleared": true, "server": "git"})));
    let shown = run(&host, "list --clear-mcp git").unwrap();
    assert_eq!(
        shown.payload,
        Some(json!({"cleared": true, "server": "git"}))
    );
}
