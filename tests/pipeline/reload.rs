//! A rebuilt plugin takes the place of the running one.

use serde_json::json;
use stud_abi::CallContext;
use stud_core::executor::block_on;
use stud_tests::World;

use crate::tool;

#[test]
fn a_new_build_is_a_new_generation_and_the_old_one_can_end_its_work() {
    let world = World::new();
    tool(&world, "it", |_| {});
    let core = world.core(vec![]);
    let mut started = core.start();
    let turn = started.registry.clone();
    let old = turn.get("it").unwrap();

    tool(&world, "it", |manifest| {
        manifest["version"] = "0.2.0".into();
    });
    let new = started.reload(&core.ground, &core.means, "it").unwrap();
    assert_eq!(
        (old.identity().generation, new.identity().generation),
        (1, 2)
    );
    assert_eq!(new.identity().manifest.version.to_string(), "0.2.0");
    assert_eq!(
        turn.get("it").unwrap().identity().generation,
        1,
        "a turn keeps what it began with"
    );
    assert_eq!(started.registry.get("it").unwrap().identity().generation, 2);

    // The old code is still mapped: calling it is refused by the plugin itself, not by a crash.
    let late = block_on(old.execute("it", &json!({"path": "x"}), CallContext::detached()));
    assert_eq!(late.unwrap_err().code(), "LifecyclePhaseInvalid");
    let file = world.write("project/three-lines", "1\n2\n3\n");
    let args = json!({ "path": file });
    let envelope = block_on(new.execute("it", &args, CallContext::detached()));
    assert!(envelope.is_ok(), "{envelope:?}");
}

#[test]
fn a_refused_build_leaves_the_running_one_alone() {
    let world = World::new();
    tool(&world, "it", |_| {});
    let core = world.core(vec![]);
    let mut started = core.start();
    tool(&world, "it", |manifest| {
        manifest["contractVersion"] = "2.0.0".into();
    });
    let why = started.reload(&core.ground, &core.means, "it").unwrap_err();
    assert_eq!(why.code.to_string(), "Validation/ContractVersionMismatch");
    let running = started.registry.get("it").unwrap();
    assert_eq!(
        (
            running.identity().generation,
            running.identity().life.word()
        ),
        (1, "active")
    );
}

#[test]
fn an_unknown_plugin_is_named_with_the_nearest() {
    let world = World::new();
    tool(&world, "count-lines", |_| {});
    let core = world.core(vec![]);
    let why = core
        .start()
        .reload(&core.ground, &core.means, "count-line")
        .unwrap_err();
    assert_eq!(why.code.to_string(), "Validation/ExtensionNotFound");
    assert_eq!(why.help, ["did you mean `count-lines`?"]);
}

#[test]
fn a_store_is_never_reloaded() {
    let world = World::new();
    crate::install(
        &world,
        "good-session-store",
        "home/session-stores/store/libstore.so",
        |_| {},
    );
    let core = world.core(vec![]);
    let mut started = core.start();
    let id = started
        .registry
        .iter()
        .next()
        .unwrap()
        .identity()
        .ext_id
        .to_string();
    let why = started.reload(&core.ground, &core.means, &id).unwrap_err();
    stud_observed::covers!(LIFECYCLE_PHASE_INVALID, why);
}
