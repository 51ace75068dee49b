//! `stud grants`: what tools are always allowed to do in a project.

use serde_json::json;
use stud_tests::World;

use crate::support::{code, failure, trust};

fn with_grants() -> World {
    let world = World::new();
    trust(&world);
    let grant = |tool: &str, key: &str| {
        json!({
            "key": {"toolId": tool, "approvalKey": key},
            "grantedAt": "2026-01-05T09:30:00.000Z",
            "grantedBy": "user",
            "scope": "project",
        })
    };
    let grants = json!([
        grant("bash", "git"),
        grant("bash", "ls"),
        grant("read", "src")
    ]);
    let path = world.project().join(".stud/approvals.json");
    std::fs::write(path, grants.to_string()).unwrap();
    world
}

fn keys_of(world: &World, arguments: &[&str]) -> Vec<String> {
    let answer = world.stud(arguments);
    assert_eq!(answer.status, 0, "{answer:#?}");
    let grants = answer.json();
    let keys = grants["grants"].as_array().unwrap().iter();
    keys.map(|grant| grant["key"]["approvalKey"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn grants_are_listed_and_taken_back() {
    let world = with_grants();
    let listed = || keys_of(&world, &["grants", "list", "--json"]);
    assert_eq!(listed(), ["git", "ls", "src"]);
    let text = world.stud(&["grants", "list"]).stdout;
    assert!(text.contains("bash  git"), "{text}");
    let revoked = keys_of(&world, &["grants", "revoke", "bash", "git", "--json"]);
    assert_eq!(revoked, ["git"]);
    assert_eq!(listed(), ["ls", "src"]);
    assert!(keys_of(&world, &["grants", "revoke", "nobody", "--json"]).is_empty());
    keys_of(&world, &["grants", "revoke", "--all", "--json"]);
    assert!(listed().is_empty());
}

#[test]
fn a_project_that_is_not_trusted_grants_nothing() {
    let world = with_grants();
    assert_eq!(world.stud(&["trust", "--revoke"]).status, 0);
    let answer = world.stud(&["grants", "list", "--json"]);
    assert_eq!(answer.status, 1);
    assert_eq!(code(&failure(&answer)), "Session/ProjectTrustRequired");
}

#[test]
fn without_a_project_there_is_nothing_to_grant() {
    let world = World::new();
    assert!(keys_of(&world, &["grants", "list", "--json"]).is_empty());
}
