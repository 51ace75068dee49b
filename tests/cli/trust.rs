//! `stud trust`, and what an untrusted project is spared.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use stud_tests::World;

use crate::support::{
    are, code, codes, entries, failure, install, keys, list, make_pipe, opened, soon, standing,
    trust,
};

#[test]
fn a_project_is_invisible_until_it_is_trusted() {
    let world = World::new();
    install(&world, "good-tool", "project/.stud/tools/libgood_tool.so");
    let before = list(&world);
    assert!(entries(&before, "good-tool").is_empty());
    assert_eq!(codes(&before), ["Session/ProjectTrustRequired"]);
    assert_eq!(before["diagnostics"][0]["severity"], "warning");
    assert_eq!(opened(&world), [""; 0]);

    trust(&world);
    let after = list(&world);
    assert_eq!(standing(&after, "good-tool"), are(&[("project", "active")]));
    assert_eq!(codes(&after), [""; 0]);

    let answer = world.stud(&["trust", "--revoke", "--json"]);
    assert_eq!(
        answer.json(),
        json!({"canonicalPath": "<world>/project/.stud", "decision": "declined"})
    );
    assert!(entries(&list(&world), "good-tool").is_empty());
}

#[test]
fn decisions_are_listed() {
    let world = World::new();
    assert_eq!(
        world.stud(&["trust", "--list", "--json"]).json(),
        json!({"trusted": []})
    );
    assert_eq!(
        world.stud(&["trust", "--list"]).stdout,
        "no project is trusted\n"
    );
    trust(&world);
    let listed = world.stud(&["trust", "--list", "--json"]).json();
    assert_eq!(listed["trusted"].as_array().unwrap().len(), 1);
    let entry = &listed["trusted"][0];
    assert_eq!(
        keys(entry),
        ["canonicalPath", "decision", "grantedAt", "schemaVersion"]
    );
    assert_eq!(entry["canonicalPath"], "<world>/project/.stud");
    let mode = world
        .path("home/trust.json")
        .metadata()
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn there_must_be_something_to_trust() {
    let diagnostic = failure(&World::new().stud(&["trust", "--json"]));
    assert_eq!(code(&diagnostic), "Validation/TrustEntryInvalid");
}

#[test]
fn trust_belongs_to_the_folder_and_not_to_a_link_to_it() {
    let world = World::new();
    install(&world, "good-tool", "one/tools/libgood_tool.so");
    install(&world, "good-ui", "other/ui/libgood_ui.so");
    let link = world.project().join(".stud");
    std::os::unix::fs::symlink(world.path("one"), &link).unwrap();
    trust(&world);
    assert_eq!(
        standing(&list(&world), "good-tool"),
        are(&[("project", "active")])
    );

    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(world.path("other"), &link).unwrap();
    let list = list(&world);
    assert_eq!(codes(&list), ["Session/ProjectTrustRequired"]);
    assert!(entries(&list, "good-ui").is_empty());
}

#[test]
fn a_project_below_a_trusted_one_is_not_trusted() {
    let world = World::new();
    trust(&world);
    let inner = world.project().join("inner");
    std::fs::create_dir_all(inner.join(".stud")).unwrap();
    let mut command = world.command();
    let output = command
        .current_dir(inner)
        .args(["plugin", "list", "--json"])
        .output()
        .unwrap();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(codes(&list), ["Session/ProjectTrustRequired"]);
}

/// A project in which everything blocks, complains or leaves a trace as soon as it is looked at.
fn set_traps(world: &mut World) {
    make_pipe(world, "project/.stud/settings.json");
    make_pipe(world, "project/.stud/tools/piped/libpiped.so");
    make_pipe(world, "project/.stud/loggers/piped/config.json");
    world.write("project/.stud/hooks", "listing this fails, whoever does it");
    install(world, "hostile", "project/.stud/ui/hostile/libhostile.so");
    let closed = world.path("project/.stud/commands");
    std::fs::create_dir_all(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let marker = world.path("marker");
    world.set("STUD_HOSTILE_MARKER", marker.to_str().unwrap());
}

/// Restores the permissions, so that the folder can be removed.
fn remove_traps(world: &World) {
    let closed = world.path("project/.stud/commands");
    std::fs::set_permissions(closed, std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn nothing_of_an_untrusted_project_is_opened() {
    let mut world = World::new();
    set_traps(&mut world);
    let output = soon(world.command().args(["plugin", "list", "--json"]));
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(codes(&list), ["Session/ProjectTrustRequired"]);
    let plugins = list["plugins"].as_array().unwrap();
    assert!(
        plugins.iter().all(|entry| entry["scope"] == "bundled"),
        "{list:#}"
    );

    for arguments in [
        &["plugin", "info", "echo"][..],
        &["trust", "--list"],
        &["plugin", "pin", "x", "--remove"],
    ] {
        let output = soon(world.command().args(arguments));
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{arguments:?}: {output:?}"
        );
    }
    // A session begins without the project, and says so.
    let output = soon(&mut world.command());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(said.contains("Session/ProjectTrustRequired"), "{said}");
    assert!(!world.path("marker").exists());
    assert_eq!(opened(&world), [""; 0]);
    remove_traps(&world);
}

#[test]
fn a_trusted_project_springs_the_same_traps() {
    let mut world = World::new();
    set_traps(&mut world);
    trust(&world);
    let output = soon(world.command().args(["plugin", "list", "--json"]));
    assert_eq!(output.status.code(), Some(1));
    let diagnostic: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(code(&diagnostic), "Validation/SettingsShapeInvalid");

    std::fs::remove_file(world.path("project/.stud/settings.json")).unwrap();
    let output = soon(world.command().args(["plugin", "list", "--json"]));
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        codes(&list).contains(&"Validation/LibraryUnreadable".to_owned()),
        "{list:#}"
    );
    assert!(world.path("marker").exists());
    remove_traps(&world);
}

#[test]
fn a_broken_history_trusts_nothing() {
    let world = World::new();
    install(&world, "good-tool", "project/.stud/tools/libgood_tool.so");
    trust(&world);
    world.write("home/trust.json", "{\"entries\": [");
    let diagnostic = failure(&world.stud(&["plugin", "list", "--json"]));
    assert_eq!(code(&diagnostic), "Session/TrustStoreUnavailable");
    let diagnostic = failure(&world.stud(&["trust", "--json"]));
    assert_eq!(code(&diagnostic), "Session/TrustStoreUnavailable");
}

#[test]
fn not_even_a_check_reads_a_library_of_an_untrusted_project() {
    let world = World::new();
    install(&world, "good-tool", "project/.stud/tools/libgood_tool.so");
    for path in [
        ".stud/tools/libgood_tool.so",
        "../project/.stud/tools/libgood_tool.so",
    ] {
        let report = world.stud(&["plugin", "check", path, "--json"]);
        assert_eq!(report.status, 1, "{report:?}");
        assert_eq!(
            codes(&report.json()),
            ["Session/ProjectTrustRequired"],
            "{path}"
        );
    }
    assert_eq!(world.stud(&["trust"]).status, 0);
    let report = world.stud(&["plugin", "check", ".stud/tools/libgood_tool.so", "--json"]);
    assert_eq!(report.status, 0, "{report:?}");
}

#[test]
fn decisions_made_at_once_are_all_kept() {
    let world = World::new();
    let projects: Vec<_> = (0..8).map(|index| format!("project-{index}")).collect();
    for project in &projects {
        world.write(format!("{project}/.stud/README"), "");
    }
    let mut deciding: Vec<_> = projects
        .iter()
        .map(|project| {
            let folder = world.project().with_file_name(project);
            world
                .command()
                .arg("trust")
                .current_dir(folder)
                .spawn()
                .unwrap()
        })
        .collect();
    for child in &mut deciding {
        assert!(child.wait().unwrap().success());
    }
    let list = world.stud(&["trust", "--list", "--json"]).json();
    assert_eq!(
        list["trusted"].as_array().unwrap().len(),
        projects.len(),
        "{list:#}"
    );
}

#[test]
fn the_list_of_trusted_projects_lies_in_no_project() {
    let world = World::new();
    world.write("project/.stud/home/settings.json", "{}");
    for command in [&["trust", "--list"][..], &["trust"]] {
        let mut stud = world.command();
        stud.env("STUD_HOME", world.path("project/.stud/home"));
        let output = stud.args(command).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        stud_observed::covers!(TRUST_SCOPE_VIOLATION, stderr);
    }
    assert!(!world.path("project/.stud/home/trust.json").exists());
    // A link from elsewhere leads to the same place.
    std::os::unix::fs::symlink(world.path("project/.stud/home"), world.path("linked")).unwrap();
    let mut stud = world.command();
    stud.env("STUD_HOME", world.path("linked"));
    let output = stud.args(["trust", "--list"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn everything_that_takes_effect_is_listed_and_what_runs_comes_first() {
    let world = World::new();
    for number in 0..300 {
        world.write(format!("project/.stud/aaa/note-{number}"), "");
    }
    install(
        &world,
        "good-tool",
        "project/.stud/tools/zzz/libgood_tool.so",
    );
    world.write("project/.stud/mcp.json", "{}");
    world.write("project/.stud/lib\u{a0}x.so", "");
    let shown = world.stud(&["trust"]);
    let at = |name: &str| shown.stdout.find(name).unwrap_or_else(|| panic!("{name}"));
    assert!(at("tools/zzz/libgood_tool.so") < at("aaa/note-0"));
    assert!(at("mcp.json") < at("aaa/note-0"));
    assert!(at("lib\\u{a0}x.so") < at("aaa/note-0"));
    assert!(at("aaa/note-299") < at("3 that run code or say what is run, 300 others"));
}
