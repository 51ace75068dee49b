//! `stud plugin pin`.

use serde_json::{Value, json};
use stud_tests::World;

use crate::support::{
    are, code, codes, entry, failure, install, install_changed, install_rebuilt, list, standing,
    trust,
};

const PLACE: &str = "home/tools/good-tool/libgood_tool.so";

fn pin(world: &World) -> Value {
    let answer = world.stud(&["plugin", "pin", "good-tool", "--json"]);
    assert_eq!(
        (answer.status, answer.stderr.as_str()),
        (0, ""),
        "{answer:#?}"
    );
    answer.json()
}

fn status(world: &World) -> Value {
    entry(&list(world), "good-tool")["status"].clone()
}

#[test]
fn a_pinned_plugin_stays_the_bytes_it_was() {
    let world = World::new();
    install(&world, "good-tool", PLACE);
    assert_eq!(
        pin(&world),
        json!({"extId": "good-tool", "pinned": true, "sha256": "<hash>"})
    );
    assert_eq!(status(&world), "active");

    install_rebuilt(&world, "good-tool", PLACE);
    let refused = list(&world);
    let refused = entry(&refused, "good-tool");
    assert_eq!(refused["status"], "disabled");
    assert_eq!(codes(refused), ["ExtensionHost/IntegrityFailed"]);
    let context = &refused["diagnostics"][0]["context"];
    assert!(
        context["actual"].is_string() && context["expected"].is_string(),
        "{context:#}"
    );

    // The new build is accepted as the diagnostic says.
    pin(&world);
    assert_eq!(status(&world), "active");
}

#[test]
fn a_pin_can_be_removed() {
    let world = World::new();
    install(&world, "good-tool", PLACE);
    pin(&world);
    install_rebuilt(&world, "good-tool", PLACE);
    for _ in 0..2 {
        let answer = world.stud(&["plugin", "pin", "good-tool", "--remove", "--json"]);
        assert_eq!(
            (answer.status, answer.json()),
            (0, json!({"extId": "good-tool", "pinned": false}))
        );
    }
    assert_eq!(status(&world), "active");
}

#[test]
fn an_id_is_no_way_to_other_files() {
    let world = World::new();
    world.write("home/settings.json", "{}");
    world.write("home/integrity/x.json", "{}");
    for id in ["../settings", "./x", "X", ""] {
        for arguments in [
            &["plugin", "pin", id, "--json"][..],
            &["plugin", "pin", id, "--remove", "--json"],
        ] {
            let diagnostic = failure(&world.stud(arguments));
            assert_eq!(code(&diagnostic), "Validation/ExtensionNotFound");
        }
    }
    assert!(world.path("home/settings.json").exists());
    assert!(world.path("home/integrity/x.json").exists());
}

#[test]
fn only_a_library_can_be_pinned() {
    let diagnostic = failure(&World::new().stud(&["plugin", "pin", "echo", "--json"]));
    assert_eq!(code(&diagnostic), "Validation/ExtensionNotFound");
    assert!(
        diagnostic["notes"][0].as_str().unwrap().contains("bundled"),
        "{diagnostic:#}"
    );
}

#[test]
fn the_library_in_use_is_the_one_that_is_pinned() {
    let world = World::new();
    install(&world, "good-tool", PLACE);
    install_rebuilt(
        &world,
        "good-tool",
        "home/tools/second-copy/libgood_tool.so",
    );
    install_changed(
        &world,
        "good-tool",
        "project/.stud/tools/libgood_tool.so",
        |manifest| {
            manifest["contractVersion"] = "9.0.0".into();
        },
    );
    trust(&world);
    pin(&world);
    assert_eq!(
        standing(&list(&world), "good-tool"),
        are(&[
            ("global", "active"),
            ("global", "disabled"),
            ("project", "disabled")
        ])
    );
}

#[test]
fn an_override_that_its_pin_refused_can_be_accepted() {
    let world = World::new();
    install(&world, "good-tool", PLACE);
    pin(&world);
    install_rebuilt(&world, "good-tool", "project/.stud/tools/libgood_tool.so");
    trust(&world);
    assert_eq!(
        standing(&list(&world), "good-tool"),
        are(&[("global", "active"), ("project", "disabled")])
    );
    pin(&world);
    assert_eq!(
        standing(&list(&world), "good-tool"),
        are(&[("global", "shadowed"), ("project", "active")])
    );
}

#[test]
fn a_pin_that_makes_no_sense_refuses() {
    let world = World::new();
    install(&world, "good-tool", PLACE);
    for text in ["", "{}", r#"{"algorithm":"md5","value":"x"}"#] {
        world.write("home/integrity/good-tool.json", text);
        let list = list(&world);
        assert_eq!(
            codes(entry(&list, "good-tool")),
            ["ExtensionHost/IntegrityFailed"],
            "{text}"
        );
    }
    pin(&world);
    assert_eq!(status(&world), "active");
}
