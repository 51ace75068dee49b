//! Plugins that break the rules at run time: the host lives, names the culprit, and the others continue.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use serde_json::json;
use stud_abi::{CallContext, CancellationSource, EventHeader};
use stud_contract_interaction::{Ask, Payload, Request};
use stud_core::executor::block_on;
use stud_tests::{Elf, World, fixture};

fn hostile_world() -> World {
    let world = World::new();
    world.write(
        "home/ui/hostile/libhostile.so",
        Elf::read(&fixture("hostile")).bytes,
    );
    world.write(
        "home/tools/good-tool/libgood_tool.so",
        Elf::read(&fixture("good-tool")).bytes,
    );
    world
}

fn question(fault: &str) -> Request {
    let prompt = format!("hostile:{fault}");
    let ask = Payload::from(Ask {
        prompt,
        ..Ask::default()
    });
    Request::new(
        "interaction".to_owned(),
        "turn".to_owned(),
        "2026-01-01T00:00:00.000Z".to_owned(),
        ask,
    )
}

const HEADER: EventHeader<'_> = EventHeader {
    seq: 1,
    name: "SessionActive",
    correlation_id: "turn",
};

#[test]
fn a_panic_in_a_call_is_a_typed_error_that_names_the_plugin() {
    let world = hostile_world();
    let started = world.core(vec![]).start();
    let hostile = started.registry.get("hostile").unwrap();

    let heard = hostile.hear(HEADER, "hostile:event-panic").unwrap_err();
    assert_eq!(
        heard.to_string().split(':').next(),
        Some("ExtensionHost/CallPanicked")
    );
    assert_eq!(
        (&heard.context()["extId"], &heard.context()["call"]),
        (&json!("hostile"), &json!("onEvent"))
    );
    assert!(
        heard.message().contains("`hostile`") && heard.message().contains("hostile event"),
        "{heard}"
    );

    for fault in [
        "make-panic",
        "poll-panic",
        "poll-payload-panic",
        "join-panic",
    ] {
        let error =
            block_on(hostile.interact(&question(fault), CallContext::detached())).unwrap_err();
        assert_eq!(error.code(), "CallPanicked", "{fault}: {error}");
        assert_eq!(error.context()["extId"], "hostile", "{fault}");
    }
    hostile.hear(HEADER, "nothing asked").unwrap();
}

#[test]
fn a_panic_while_a_future_or_an_instance_is_dropped_stays_inside() {
    let world = hostile_world();
    let started = world.core(vec![]).start();
    let hostile = started.registry.get("hostile").unwrap().clone();
    let request = question("future-drop-panic");
    let mut call = Box::pin(hostile.interact(&request, CallContext::detached()));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(call.as_mut().poll(&mut cx).is_pending());
    drop(call);
    hostile.hear(HEADER, "").unwrap();
    started.stop(&stud_core::limits::Limits::default());

    let answer = world
        .command()
        .env("STUD_HOSTILE", "drop-panic")
        .args(["plugin", "list", "--json"])
        .output()
        .unwrap();
    assert!(answer.status.success(), "{answer:?}");
}

#[test]
fn cancelling_a_call_reaches_the_plugin() {
    let world = hostile_world();
    let started = world.core(vec![]).start();
    let hostile = started.registry.get("hostile").unwrap();
    let source = CancellationSource::new();
    let cancel = source.clone();
    // Before the call or while it runs: it ends in the same way.
    std::thread::spawn(move || cancel.cancel());
    let request = question("none");
    let call = hostile.interact(&request, CallContext::new(source.token(), "{}"));
    assert_eq!(block_on(call).unwrap_err().code(), "ToolCancelled");
}

#[test]
fn a_phase_that_fails_panics_or_hangs_is_refused_and_the_others_are_active() {
    let world = hostile_world();
    for (fault, code, phase) in [
        ("entry-panic", "EntryPanicked", None),
        ("entry-payload-panic", "EntryPanicked", None),
        ("entry-error", "EntryFailed", None),
        ("create-panic", "LifecycleFailure", Some("init")),
        ("init-panic", "LifecycleFailure", Some("init")),
        ("init-error", "LifecycleFailure", Some("init")),
        ("activate-panic", "LifecycleFailure", Some("activate")),
    ] {
        let answer = world
            .command()
            .env("STUD_HOSTILE", fault)
            .args(["plugin", "list", "--json"])
            .output()
            .unwrap();
        let list: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
        let plugin = |id: &str| {
            list["plugins"]
                .as_array()
                .unwrap()
                .iter()
                .find(|plugin| plugin["extId"] == id)
                .cloned()
                .unwrap()
        };
        let hostile = plugin("hostile");
        assert_eq!(hostile["status"], "disabled", "{fault}");
        let why = &hostile["diagnostics"][0];
        assert_eq!(
            (&why["class"], &why["code"]),
            (&json!("ExtensionHost"), &json!(code)),
            "{fault}: {why:#}"
        );
        if let Some(phase) = phase {
            assert_eq!(why["context"]["phase"], phase, "{fault}");
        }
        assert_eq!(plugin("good-tool")["status"], "active", "{fault}");
        assert_eq!(
            String::from_utf8_lossy(&answer.stderr),
            "",
            "{fault}: a guarded panic prints nothing"
        );
    }
}

#[test]
fn a_plugin_that_never_returns_is_left_behind_in_time() {
    let faults = [
        ("entry-hang", "EntryFailed"),
        ("init-hang", "LifecycleFailure"),
        ("activate-hang", "LifecycleFailure"),
    ];
    // Each waits for the whole limit, so they wait together.
    std::thread::scope(|scope| {
        for (fault, code) in faults {
            scope.spawn(move || {
                let world = hostile_world();
                let asked = Instant::now();
                let answer = world
                    .command()
                    .env("STUD_HOSTILE", fault)
                    .args(["plugin", "list", "--json"])
                    .output()
                    .unwrap();
                let list = String::from_utf8_lossy(&answer.stdout);
                assert!(
                    answer.status.success() && list.contains(code),
                    "{fault}: {answer:?}"
                );
                assert!(list.contains("\"timeoutMs\":5000"), "{fault}: {list}");
                // The limit itself is five seconds; this only says that the program did not wait for the plugin.
                assert!(asked.elapsed() < Duration::from_secs(60), "{fault}");
            });
        }
    });
}

#[test]
fn retiring_twice_is_safe_and_calls_after_it_are_refused() {
    let world = hostile_world();
    let core = world.core(vec![]);
    let started = core.start();
    let hostile = started.registry.get("hostile").unwrap().clone();
    assert!(stud_core::retire::retire(&hostile, &core.means.limits).is_empty());
    assert!(stud_core::retire::retire(&hostile, &core.means.limits).is_empty());
    assert_eq!(hostile.identity().life.word(), "disposed");
    let answer = world
        .command()
        .env("STUD_HOSTILE", "call-after-dispose")
        .args(["plugin", "list", "--json"])
        .output()
        .unwrap();
    assert!(answer.status.success(), "{answer:?}");
}
