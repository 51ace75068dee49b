//! A UI that is rebuilt during a session.

use std::time::Duration;

use serde_json::{Value, json};
use stud_core::report::Status;
use stud_tests::{Calling, Door, World, eventually};

use crate::stage::{build_ui, probe, ui, write_script};

fn ask(tool: &Door, prompt: &str) -> Calling {
    let payload = json!({"kind": "Ask", "payload": {"prompt": prompt}});
    tool.start("interaction.request", &payload)
}

fn accept(text: &str) -> Value {
    json!({"do": "accept", "value": {"text": text}})
}

/// Long enough for a reload that does not wait to do harm; one that waits is not hurried by it.
fn give_it_time() {
    std::thread::sleep(Duration::from_millis(100));
}

#[test]
fn a_reload_waits_for_the_prompt_that_is_shown() {
    let world = World::new();
    let mut old = accept("old");
    old["until"] = json!(world.path("go"));
    let one = ui(&world, "one", &json!({"prompts": {"Ask": old}}));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);

    let asked = ask(&tool, "first?");
    one.saw("Ask");
    build_ui(&world, "one", |manifest| {
        manifest["version"] = "0.2.0".into();
    });
    write_script(&world, "one", &json!({"prompts": {"Ask": accept("new")}}));
    let active = std::thread::scope(|scope| {
        let reloading = scope.spawn(|| live.launched.reload(&live.core.ground, "one"));
        give_it_time();
        assert!(!reloading.is_finished() && !asked.is_over());
        world.write("go", "");
        assert_eq!(asked.result().unwrap()["value"]["text"], "old");
        reloading.join().unwrap().unwrap()
    });
    assert_eq!(active.identity().generation, 2);
    assert_eq!(active.identity().manifest.version.to_string(), "0.2.0");
    assert_eq!(
        ask(&tool, "second?").result().unwrap()["value"]["text"],
        "new"
    );

    let cut_off = |line: &Value| line["calledOff"].is_string();
    assert!(!one.lines().iter().any(cut_off), "{:#?}", one.lines());
    let phases = one
        .lines()
        .into_iter()
        .filter_map(|line| line["phase"].as_str().map(str::to_owned));
    assert_eq!(
        phases.collect::<Vec<_>>(),
        [
            "init",
            "activate",
            "deactivate",
            "dispose",
            "init",
            "activate"
        ]
    );
    live.session().close().unwrap();
}

#[test]
fn the_next_prompt_in_line_goes_to_the_new_one() {
    let world = World::new();
    let mut old = accept("old");
    old["until"] = json!(world.path("go"));
    let one = ui(
        &world,
        "one",
        &json!({"prompts": {"Ask": [old, {"do": "wait"}]}}),
    );
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let prompts = live.session().prompts();

    let first = ask(&tool, "first?");
    one.saw("Ask");
    let second = ask(&tool, "second?");
    eventually("two prompts", || (prompts.open_count() == 2).then_some(()));
    build_ui(&world, "one", |manifest| {
        manifest["version"] = "0.2.0".into();
    });
    write_script(&world, "one", &json!({"prompts": {"Ask": accept("new")}}));
    std::thread::scope(|scope| {
        let reloading = scope.spawn(|| live.launched.reload(&live.core.ground, "one"));
        give_it_time();
        world.write("go", "");
        reloading.join().unwrap().unwrap();
    });
    assert_eq!(first.result().unwrap()["value"]["text"], "old");
    assert_eq!(second.result().unwrap()["value"]["text"], "new");
    assert_eq!(
        one.all_seen().len(),
        2,
        "the old one was not shown the second"
    );
    live.session().close().unwrap();
}

#[test]
fn a_reload_does_not_wait_for_a_prompt_that_another_has_answered() {
    let world = World::new();
    let one = ui(&world, "one", &json!({"prompts": {"Ask": {"do": "hang"}}}));
    let mut answer = accept("two");
    answer["until"] = json!(world.path("go"));
    let two = ui(&world, "two", &json!({"prompts": {"Ask": answer}}));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    let asked = ask(&tool, "first?");
    one.saw("Ask");
    two.saw("Ask");
    world.write("go", "");
    asked.result().unwrap();
    build_ui(&world, "one", |manifest| {
        manifest["version"] = "0.2.0".into();
    });
    write_script(&world, "one", &json!({}));
    let active = live.launched.reload(&live.core.ground, "one").unwrap();
    assert_eq!(active.identity().generation, 2);
    live.session().close().unwrap();
}

#[test]
fn a_refused_build_leaves_the_running_one_in_its_place() {
    let world = World::new();
    let one = ui(&world, "one", &json!({"prompts": {"Ask": accept("old")}}));
    let tool = probe(&world, "probe-tool", "tools");
    let live = world.live(vec![]);
    build_ui(&world, "one", |manifest| {
        manifest["contractVersion"] = "2.0.0".into();
    });
    let refused = live.launched.reload(&live.core.ground, "one").unwrap_err();
    assert_eq!(
        refused.code.to_string(),
        "Validation/ContractVersionMismatch"
    );
    assert_eq!(
        ask(&tool, "still?").result().unwrap()["value"]["text"],
        "old"
    );
    let event = json!({"name": "Scripted", "payload": {"count": 1}});
    one.door.call("events.publish", &event).unwrap();
    one.heard("Scripted");
    live.session().close().unwrap();
    one.heard("SessionClosed");
    assert_eq!(one.all_heard("Scripted").len(), 1, "it is not there twice");
}

#[test]
fn a_build_that_does_not_come_up_is_switched_off_until_one_does() {
    let world = World::new();
    let one = ui(&world, "one", &json!({"prompts": {"Ask": accept("old")}}));
    let config_file = world.path("home/ui/one/config.json");
    let config_before = std::fs::read(&config_file).unwrap();
    let live = world.live(vec![]);
    build_ui(&world, "one", |manifest| {
        manifest["version"] = "0.2.0".into();
    });
    // The new one cannot read where its door is, and only finds out when it is initialized.
    let config = json!({"door": world.path("no-such-door"), "log": world.path("one.log")});
    world.write("home/ui/one/config.json", config.to_string());
    let failed = live.launched.reload(&live.core.ground, "one").unwrap_err();
    assert_eq!(failed.code.to_string(), "ExtensionHost/LifecycleFailure");
    assert!(live.session().plugins().get("one").is_none());
    let [report] = &live.session().refused()[..] else {
        panic!("it is the only one that is off");
    };
    assert_eq!(
        (report.ext_id.as_str(), report.status),
        ("one", Status::Disabled)
    );
    assert_eq!(report.diagnostics[0].code, failed.code);

    std::fs::write(&config_file, config_before).unwrap();
    let back = live.launched.reload(&live.core.ground, "one").unwrap();
    assert_eq!(back.identity().life.word(), "active");
    assert_eq!(back.identity().manifest.version.to_string(), "0.2.0");
    assert!(live.session().refused().is_empty());
    live.session().close().unwrap();
    one.heard("SessionClosed");
}
