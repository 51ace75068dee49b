//! `stud plugin list`.

use stud_tests::World;

use crate::support::{codes, entry, install, install_changed, keys, list, opened};

const MEMBERS: [&str; 10] = [
    "contractVersion",
    "diagnostics",
    "extId",
    "form",
    "generation",
    "kind",
    "path",
    "scope",
    "status",
    "version",
];

#[test]
fn an_entry_has_these_members() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/good-tool/libgood_tool.so");
    let list = list(&world);
    assert_eq!(keys(&list), ["diagnostics", "plugins"]);

    let library = entry(&list, "good-tool");
    assert_eq!(keys(library), MEMBERS);
    assert_eq!(
        *library,
        serde_json::json!({
            "extId": "good-tool", "kind": "Tool", "scope": "global", "form": "library", "status": "active",
            "version": "0.1.0", "contractVersion": "1.1.0", "generation": 1, "diagnostics": [],
            "path": "<world>/home/tools/good-tool/libgood_tool.so",
        })
    );

    let embedded = entry(&list, "echo");
    let without_path: Vec<_> = MEMBERS.into_iter().filter(|name| *name != "path").collect();
    assert_eq!(keys(embedded), without_path);
    assert_eq!(
        (&embedded["form"], &embedded["scope"]),
        (&"embedded".into(), &"bundled".into())
    );
}

#[test]
fn every_category_is_brought_up() {
    let world = World::new();
    for (package, folder, kind, status) in [
        ("good-provider", "providers", "Provider", "active"),
        ("good-tool", "tools", "Tool", "active"),
        ("good-hook", "hooks", "Hook", "active"),
        ("good-ui", "ui", "UI", "active"),
        ("good-logger", "loggers", "Logger", "active"),
        (
            "good-state-machine",
            "state-machines",
            "StateMachine",
            "loaded",
        ),
        ("good-command", "commands", "Command", "active"),
        (
            "good-session-store",
            "session-stores",
            "SessionStore",
            "loaded",
        ),
        (
            "good-context-provider",
            "context-providers",
            "ContextProvider",
            "active",
        ),
    ] {
        install(
            &world,
            package,
            &format!("home/{folder}/lib{}.so", package.replace('-', "_")),
        );
        let list = list(&world);
        let entry = entry(&list, package);
        assert_eq!(
            (&entry["kind"], &entry["status"]),
            (&kind.into(), &status.into()),
            "{entry:#}"
        );
        assert_eq!(codes(entry), [""; 0]);
    }
}

#[test]
fn a_refused_plugin_is_disabled_and_says_why() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/good-tool/libgood_tool.so");
    install_changed(
        &world,
        "good-ui",
        "home/ui/good-ui/libgood_ui.so",
        |manifest| {
            manifest["contractVersion"] = "9.0.0".into();
        },
    );
    world.write("home/hooks/libbroken.so", "not a library");
    let list = list(&world);
    assert_eq!(entry(&list, "good-tool")["status"], "active");

    let refused = entry(&list, "good-ui");
    assert_eq!(
        (&refused["status"], &refused["generation"]),
        (&"disabled".into(), &0.into())
    );
    assert_eq!(codes(refused), ["Validation/ContractVersionMismatch"]);
    assert_eq!(refused["diagnostics"][0]["severity"], "error");
    assert_eq!(refused["diagnostics"][0]["stage"], "contractVersion");

    // What cannot be read is known by its file, and by the folder it lies in.
    let broken = entry(&list, "broken");
    assert_eq!(
        (&broken["status"], &broken["kind"]),
        (&"disabled".into(), &"Hook".into())
    );
    assert_eq!(codes(broken), ["Validation/LibraryFormatUnknown"]);
    assert_eq!(opened(&world), ["libgood_tool.so"]);
}

#[test]
fn a_refusal_is_no_failure_of_the_list() {
    let world = World::new();
    world.write("home/hooks/libbroken.so", "not a library");
    let answer = world.stud(&["plugin", "list"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    assert!(
        answer.stdout.contains("disabled  broken"),
        "{}",
        answer.stdout
    );
    assert!(
        answer
            .stdout
            .contains("error[Validation/LibraryFormatUnknown]"),
        "{}",
        answer.stdout
    );
}

#[test]
fn the_order_is_scope_then_category_then_id() {
    let world = World::new();
    install(&world, "good-ui", "home/ui/a/libgood_ui.so");
    install(&world, "good-tool", "home/tools/z/libgood_tool.so");
    install(&world, "good-region", "home/ui/b/libgood_region.so");
    let list = list(&world);
    let plugins = list["plugins"].as_array().unwrap();
    let global = plugins.iter().filter(|entry| entry["scope"] == "global");
    let ids: Vec<_> = global
        .map(|entry| entry["extId"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["good-tool", "good-region", "good-ui"]);
    assert_eq!(plugins[0]["scope"], "bundled");
}
