//! Project over global over bundled.

use stud_tests::World;

use crate::support::{
    are, codes, entries, install, install_changed, install_rebuilt, list, opened, standing, trust,
};

#[test]
fn a_higher_scope_hides_a_lower_one() {
    let world = World::new();
    assert_eq!(
        standing(&list(&world), "echo"),
        are(&[("bundled", "active")])
    );

    install(&world, "echo", "home/providers/echo/libecho.so");
    assert_eq!(
        standing(&list(&world), "echo"),
        are(&[("bundled", "shadowed"), ("global", "active")])
    );

    install(&world, "echo", "project/.stud/providers/echo/libecho.so");
    trust(&world);
    let list = list(&world);
    assert_eq!(
        standing(&list, "echo"),
        are(&[
            ("bundled", "shadowed"),
            ("global", "shadowed"),
            ("project", "active")
        ])
    );
    for entry in entries(&list, "echo") {
        assert_eq!(entry["generation"], u64::from(entry["scope"] == "project"));
    }
}

#[test]
fn what_is_hidden_is_not_opened() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/libhidden.so");
    install(&world, "good-tool", "project/.stud/tools/libseen.so");
    trust(&world);
    list(&world);
    assert_eq!(opened(&world), ["libseen.so"]);
}

#[test]
fn a_failing_override_gives_way_with_a_warning() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/libgood_tool.so");
    install_changed(
        &world,
        "good-tool",
        "project/.stud/tools/libgood_tool.so",
        |manifest| {
            manifest["contractVersion"] = "9.0.0".into();
        },
    );
    trust(&world);
    let list = list(&world);
    assert_eq!(
        standing(&list, "good-tool"),
        are(&[("global", "active"), ("project", "disabled")])
    );
    let refused = entries(&list, "good-tool")[1];
    assert_eq!(codes(refused), ["Validation/ContractVersionMismatch"]);
    let diagnostic = &refused["diagnostics"][0];
    assert_eq!(diagnostic["severity"], "warning");
    assert_eq!(
        diagnostic["context"]["fallback"],
        serde_json::json!({"toScope": "global", "fromExtensionId": "good-tool"})
    );
}

#[test]
fn an_override_that_fails_when_it_is_loaded_gives_way_too() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/libgood_tool.so");
    assert_eq!(world.stud(&["plugin", "pin", "good-tool"]).status, 0);
    install_rebuilt(&world, "good-tool", "project/.stud/tools/libgood_tool.so");
    trust(&world);
    let list = list(&world);
    assert_eq!(
        standing(&list, "good-tool"),
        are(&[("global", "active"), ("project", "disabled")])
    );
    let refused = entries(&list, "good-tool")[1];
    assert_eq!(codes(refused), ["ExtensionHost/IntegrityFailed"]);
    assert_eq!(refused["diagnostics"][0]["severity"], "warning");
}

#[test]
fn without_a_fallback_a_failing_override_is_an_error() {
    let world = World::new();
    install_changed(
        &world,
        "good-tool",
        "project/.stud/tools/libgood_tool.so",
        |manifest| {
            manifest["contractVersion"] = "9.0.0".into();
        },
    );
    trust(&world);
    let list = list(&world);
    assert_eq!(
        entries(&list, "good-tool")[0]["diagnostics"][0]["severity"],
        "error"
    );
}

#[test]
fn of_two_copies_in_one_scope_the_first_by_path_stays() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/b/libgood_tool.so");
    install(&world, "good-tool", "home/tools/a/libgood_tool.so");
    let list = list(&world);
    assert_eq!(
        standing(&list, "good-tool"),
        are(&[("global", "active"), ("global", "disabled")])
    );
    let [first, second] = entries(&list, "good-tool")[..] else {
        panic!("{list:#}");
    };
    assert_eq!(first["path"], "<world>/home/tools/a/libgood_tool.so");
    assert_eq!(codes(second), ["Validation/RegistrationConflict"]);
    assert_eq!(second["diagnostics"][0]["fieldPath"], "/extId");
}

#[test]
fn only_the_same_category_may_take_an_id_over() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/libgood_tool.so");
    install_changed(
        &world,
        "good-ui",
        "project/.stud/ui/libgood_ui.so",
        |manifest| {
            manifest["extId"] = "good-tool".into();
        },
    );
    trust(&world);
    let list = list(&world);
    assert_eq!(
        standing(&list, "good-tool"),
        are(&[("global", "active"), ("project", "disabled")])
    );
    assert_eq!(
        codes(entries(&list, "good-tool")[1]),
        ["Validation/RegistrationConflict"]
    );
}

#[test]
fn only_the_folder_itself_is_a_project() {
    let world = World::new();
    install(&world, "good-tool", "project/.stud/tools/libgood_tool.so");
    trust(&world);
    let inner = world.project().join("inner");
    std::fs::create_dir_all(&inner).unwrap();
    let mut command = world.command();
    let output = command
        .current_dir(inner)
        .args(["plugin", "list", "--json"])
        .output()
        .unwrap();
    let list = serde_json::from_slice(&output.stdout).unwrap();
    assert!(entries(&list, "good-tool").is_empty());
}
