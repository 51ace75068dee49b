//! Plugins that take part in a session, and what the session refuses them.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stud_abi::{CallContext, CancellationToken};
use stud_contract_interaction::{Request, Response};
use stud_contract_meta::Result;
use stud_core::assistant::converse;
use stud_core::executor::block_on;
use stud_core::interactions::Interactor;
use stud_core::launch::{Launch, Launched, launch};
use stud_core::limits::Limits;
use stud_core::report::PluginReport;
use stud_core::startup::prepare;
use stud_diagnostics::{Diagnostic, render};
use stud_host_api::events::{EventType, core_event_types};
use stud_tests::{Core, World};

use super::install;

#[expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test like the test itself"
)]
fn begin(core: &Core) -> Launched {
    let how = Launch {
        headless: true,
        // Nothing here hangs, and a flood takes as long as the machine needs for it.
        limits: Limits {
            lifecycle: Duration::from_secs(60),
            ..Limits::default()
        },
        ..Launch::default()
    };
    launch(&core.ground, &prepare(&core.ground, &how.limits), &how).unwrap()
}

/// The probe, which makes one host call when it is activated.
fn probe(world: &World, slot_version: &str, config: &serde_json::Value) {
    let library = "home/tools/host-probe/libhost_probe.so";
    install(world, "host-probe", library, |manifest| {
        manifest["stateSlot"]["slotVersion"] = slot_version.into();
    });
    world.write("home/tools/host-probe/config.json", config.to_string());
}

fn problems<'a>(reports: &'a [PluginReport], id: &str) -> Vec<&'a Diagnostic> {
    let of_plugin = reports.iter().filter(|report| report.ext_id == id);
    of_plugin.flat_map(|report| &report.diagnostics).collect()
}

#[test]
fn a_plugin_that_floods_the_stream_is_stopped() {
    let world = World::new();
    let config = json!({"call": "events.flood", "argument": "Probed", "payload": {"count": 1}});
    probe(&world, "1.0.0", &config);
    let launched = begin(&world.core(vec![]));
    let problems = problems(&launched.reports, "host-probe");
    assert_eq!(problems.len(), 1, "{problems:#?}");
    stud_observed::covers!(EVENT_RATE_EXCEEDED, render::json(problems[0]));
    launched.session.close().unwrap();
}

#[test]
fn state_of_another_version_is_rejected() {
    let world = World::new();
    let write = json!({"call": "stateSlot.write", "argument": "0.9.0", "payload": {"count": 1}});
    probe(&world, "0.9.0", &write);
    let core = world.core(vec![]);
    let launched = begin(&core);
    let problems = problems(&launched.reports, "host-probe");
    assert!(problems.is_empty(), "{problems:#?}");

    probe(&world, "1.0.0", &json!({"call": "stateSlot.read"}));
    let refused = launched.reload(&core.ground, "host-probe").unwrap_err();
    stud_observed::covers!(SLOT_DRIFT_REJECTED, render::json(&refused));
    launched.session.close().unwrap();
}

#[test]
fn a_plugin_finds_every_event_with_its_owner_and_its_schema() {
    let world = World::new();
    probe(&world, "1.0.0", &json!({"call": "events.list"}));
    let other = "home/commands/probe-command/libprobe_command.so";
    install(&world, "probe-command", other, |_| {});
    let launched = begin(&world.core(vec![]));

    let plugins = launched.session.plugins();
    let plugin = plugins.get("host-probe").unwrap();
    let none = json!({});
    let listed = plugin.execute("probe", &none, CallContext::detached());
    let listed = block_on(listed).unwrap().into_result().unwrap();
    let types: Vec<EventType> = serde_json::from_str(listed.value().as_str().unwrap()).unwrap();

    let (of_core, declared): (Vec<_>, Vec<_>) =
        types.into_iter().partition(|event| event.owner == "core");
    assert_eq!(of_core, core_event_types());
    let owners: Vec<_> = declared
        .iter()
        .map(|event| (&*event.name, &*event.owner))
        .collect();
    assert_eq!(
        owners,
        [("Probed", "host-probe"), ("Probed", "probe-command")]
    );
    assert_eq!(declared[0].schema["properties"]["count"]["type"], "integer");
    launched.session.close().unwrap();
}

#[test]
fn the_registry_of_events_is_there_outside_a_session_too() {
    let world = World::new();
    probe(&world, "1.0.0", &json!({"call": "events.list"}));
    let started = world.core(vec![]).start();
    let problems = problems(&started.reports, "host-probe");
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Says no to everything.
struct Naysayer;

impl Interactor for Naysayer {
    fn ext_id(&self) -> &'static str {
        "naysayer"
    }

    fn protocol_minor(&self) -> u64 {
        2
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        _: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Result<Response>> + Send + 'a>> {
        Box::pin(ready(Ok(Response::rejected(request, "not this file"))))
    }
}

/// What the model says last, after `input`, with an interactor that denies everything.
#[expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test like the test itself"
)]
fn answer(input: &str) -> String {
    let world = World::new();
    install(
        &world,
        "good-tool",
        "home/tools/good-tool/libgood_tool.so",
        |_| {},
    );
    let launched = begin(&world.core(vec![echo::stud_plugin()]));
    let session = &launched.session;
    session.prompts().join(Arc::new(Naysayer));
    block_on(session.submit("test", input.to_owned())).unwrap();
    session.end_of_input();
    let answered = block_on(converse(session)).unwrap().unwrap();
    session.close().unwrap();
    answered.text
}

#[test]
fn a_call_that_the_person_denies_goes_back_to_the_model() {
    let text = answer(r#"!tool line_count {"path": "/dev/null"}"#);
    let result = text.lines().find_map(|line| {
        let document = line.get(line.find('{')?..)?;
        serde_json::from_str::<serde_json::Value>(document).ok()
    });
    stud_observed::covers!(APPROVAL_DENIED, result.unwrap()["error"]);
}

#[test]
fn a_tool_that_is_not_there_is_named_to_the_model() {
    let text = answer("!tool no_such_tool {}");
    assert!(text.contains(r#""code":"InputInvalid""#), "{text}");
    assert!(text.contains("no_such_tool"), "{text}");
}
