//! Scopes over one another, and what is bundled.

use serde_json::json;
use stud_core::plugin_scope::Scope;
use stud_core::report::{Form, Status};
use stud_tests::{Elf, World, fixture};

use crate::{install, refusal, reports, tool};

fn trusted() -> World {
    let world = World::new();
    world.write("project/.stud/README", "");
    assert_eq!(world.stud(&["trust"]).status, 0);
    world
}

#[test]
fn an_embedded_plugin_and_its_library_come_up_the_same_way() {
    let embedded = World::new().core(vec![echo::stud_plugin()]).start();
    let world = World::new();
    world.write(
        "home/providers/libecho.so",
        Elf::read(&fixture("echo")).bytes,
    );
    let library = world.core(vec![]).start();
    let (one, other) = (reports(&embedded, "echo")[0], reports(&library, "echo")[0]);
    assert_eq!(
        (one.status, one.form, one.scope),
        (Status::Active, Form::Embedded, Scope::Bundled)
    );
    assert_eq!(
        (other.status, other.form, other.scope),
        (Status::Active, Form::Library, Scope::Global)
    );
    let manifest = |report: &stud_core::report::PluginReport| {
        report.details.as_ref().unwrap().manifest.document.clone()
    };
    assert_eq!(manifest(one), manifest(other));
}

#[test]
fn a_higher_scope_hides_a_lower_one() {
    let world = trusted();
    world.write(
        "home/providers/libecho.so",
        Elf::read(&fixture("echo")).bytes,
    );
    world.write(
        "project/.stud/providers/echo/libecho.so",
        Elf::read(&fixture("echo")).bytes,
    );
    let started = world.core(vec![echo::stud_plugin()]).start();
    let found: Vec<_> = reports(&started, "echo")
        .iter()
        .map(|report| (report.scope, report.status))
        .collect();
    assert_eq!(
        found,
        [
            (Scope::Bundled, Status::Shadowed),
            (Scope::Global, Status::Shadowed),
            (Scope::Project, Status::Active)
        ]
    );
}

#[test]
fn a_failing_override_falls_back_at_every_stage() {
    for (name, change) in [
        (
            "inspected",
            json!({ "abi": { "version": "1.0", "fingerprint": "0" } }),
        ),
        ("validated", json!({ "contractVersion": "9.0.0" })),
        (
            "ordered",
            json!({ "dependsOn": [{ "kind": "Tool", "name": "absent" }] }),
        ),
        (
            "bound",
            json!({ "handlers": ["execute", "deriveApprovalKey", "fly"] }),
        ),
    ] {
        let world = trusted();
        tool(&world, "it", |_| {});
        install(
            &world,
            "good-tool",
            "project/.stud/tools/it/libtool.so",
            |manifest| {
                manifest["extId"] = "it".into();
                manifest["tools"][0]["name"] = "it".into();
                for (member, value) in change.as_object().unwrap() {
                    manifest[member] = value.clone();
                }
            },
        );
        let started = world.core(vec![]).start();
        let running = started.registry.get("it").unwrap();
        assert_eq!(running.identity().scope, Scope::Global, "{name}");
        let refused = reports(&started, "it")
            .into_iter()
            .find(|report| report.scope == Scope::Project)
            .unwrap();
        assert_eq!(refused.status, Status::Disabled, "{name}");
        let why = &refused.diagnostics[0];
        assert!(
            !why.is_error(),
            "{name}: a refusal with a fallback is a warning"
        );
        assert_eq!(why.context["fallback"]["toScope"], "global", "{name}");
    }
}

#[test]
fn an_id_belongs_to_one_category() {
    let world = World::new();
    install(
        &world,
        "good-tool",
        "home/tools/echo/libtool.so",
        |manifest| manifest["extId"] = "echo".into(),
    );
    let started = world.core(vec![echo::stud_plugin()]).start();
    assert_eq!(
        refusal(&started, "echo").as_deref(),
        Some("Validation/RegistrationConflict")
    );
    assert_eq!(
        started.registry.get("echo").unwrap().identity().scope,
        Scope::Bundled
    );
}

#[test]
fn a_tool_of_a_higher_scope_takes_the_name() {
    let world = trusted();
    tool(&world, "one", |manifest| {
        manifest["tools"][0]["name"] = "count".into();
    });
    install(
        &world,
        "good-tool",
        "project/.stud/tools/two/libtool.so",
        |manifest| {
            manifest["extId"] = "two".into();
            manifest["tools"][0]["name"] = "count".into();
        },
    );
    let started = world.core(vec![]).start();
    assert_eq!(
        started
            .registry
            .tool("count")
            .unwrap()
            .identity()
            .ext_id
            .as_str(),
        "two"
    );
    assert!(started.registry.get("one").is_some());
}

#[test]
fn only_the_chosen_store_is_active_and_a_state_machine_waits() {
    let world = World::new();
    for id in ["first", "second"] {
        install(
            &world,
            "good-session-store",
            &format!("home/session-stores/{id}/libstore.so"),
            |manifest| {
                manifest["extId"] = id.into();
            },
        );
    }
    world.write(
        "home/state-machines/libmachine.so",
        Elf::read(&fixture("good-state-machine")).bytes,
    );
    world.write(
        "home/settings.json",
        r#"{"active":{"sessionStore":"second"}}"#,
    );
    let started = world.core(vec![]).start();
    let status = |id: &str| reports(&started, id)[0].status;
    assert_eq!(status("first"), Status::Loaded);
    assert_eq!(status("second"), Status::Active);
    assert_eq!(status("good-state-machine"), Status::Loaded);
}

#[test]
fn many_starts_at_once_do_not_disturb_each_other() {
    let world = World::new();
    for index in 0..5 {
        tool(&world, &format!("tool-{index}"), |_| {});
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(world.core(vec![]).start().registry.iter().count(), 5));
        }
    });
}
