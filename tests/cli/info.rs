//! `stud plugin info`.

use serde_json::json;
use stud_tests::World;

use crate::support::{code, codes, entry, failure, install, install_changed, keys, list, trust};

#[test]
fn one_entry_and_what_it_declares() {
    let world = World::new();
    install(&world, "good-hook", "home/hooks/good-hook/libgood_hook.so");
    world.write(
        "home/settings.json",
        r#"{"hooks":{"good-hook":{"tools":["rm"]}}}"#,
    );
    let answer = world.stud(&["plugin", "info", "good-hook", "--json"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    let mut info = answer.json();
    assert_eq!(info["config"], json!({"enabled": true, "tools": ["rm"]}));
    assert_eq!(info["manifest"]["extId"], "good-hook");
    assert_eq!(info["configSchema"], info["manifest"]["configSchema"]);

    // The rest is the entry of the list.
    for name in ["config", "configSchema", "manifest"] {
        info.as_object_mut().unwrap().remove(name);
    }
    assert_eq!(info, *entry(&list(&world), "good-hook"));
}

#[test]
fn a_bundled_plugin_has_no_path() {
    let info = World::new()
        .stud(&["plugin", "info", "echo", "--json"])
        .json();
    assert_eq!(info["form"], "embedded");
    assert!(!keys(&info).contains(&"path"));
    assert_eq!(info["manifest"]["kind"], "Provider");
}

#[test]
fn a_refused_plugin_is_shown_as_far_as_it_is_known() {
    let world = World::new();
    install_changed(
        &world,
        "good-tool",
        "home/tools/libgood_tool.so",
        |manifest| {
            manifest["contractVersion"] = "9.0.0".into();
        },
    );
    let answer = world.stud(&["plugin", "info", "good-tool", "--json"]);
    assert_eq!(answer.status, 0);
    assert_eq!(answer.json()["status"], "disabled");
    assert_eq!(
        codes(&answer.json()),
        ["Validation/ContractVersionMismatch"]
    );
}

#[test]
fn the_one_that_runs_is_shown() {
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
    let info = world
        .stud(&["plugin", "info", "good-tool", "--json"])
        .json();
    assert_eq!(
        (&info["scope"], &info["status"]),
        (&"global".into(), &"active".into())
    );
}

#[test]
fn where_none_runs_the_highest_is_shown() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/libgood_tool.so");
    install(&world, "good-tool", "project/.stud/tools/libgood_tool.so");
    world.write(
        "home/settings.json",
        r#"{"tools":{"good-tool":{"enabled":false}}}"#,
    );
    trust(&world);
    let info = world
        .stud(&["plugin", "info", "good-tool", "--json"])
        .json();
    assert_eq!(
        (&info["scope"], &info["status"]),
        (&"project".into(), &"disabled".into())
    );
}

#[test]
fn an_unknown_id_suggests_the_nearest() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/libgood_tool.so");
    let diagnostic = failure(&world.stud(&["plugin", "info", "good-tol", "--json"]));
    assert_eq!(code(&diagnostic), "Validation/ExtensionNotFound");
    assert!(
        diagnostic["help"][0]
            .as_str()
            .unwrap()
            .contains("`good-tool`"),
        "{diagnostic:#}"
    );
}
