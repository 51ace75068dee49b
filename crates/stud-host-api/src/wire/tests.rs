use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use stud_abi::host_handle::Guard;
use stud_abi::{BoxFuture, CancellationToken, Fault, HostHandle, HostService, Listener};
use stud_contract_meta::Error;
use stud_diagnostics::{Class, codes};

use super::{connect, json as wire_json, operation, serve};
use crate::HostApi;
use crate::cancellation::Scope;
use crate::refusal::{Phase, not_ready, slot_access_denied};
use case::{cases, ready};
use recorder::Recorder;

mod case;
mod recorder;
mod metrics;

/// A host and what a plugin sees of it.
fn pair() -> (Recorder, Arc<dyn HostApi>) {
    let recorder = Recorder::default();
    let host = connect(serve(Arc::new(recorder.clone())));
    (recorder, host)
}

/// A host's half that says the same to everything.
struct Says(Result<&'static str, Error>);

impl Says {
    fn host(self) -> Arc<dyn HostApi> {
        connect(HostHandle::new(self))
    }

    fn say(&self) -> Result<String, Fault> {
        self.0.clone().map(str::to_owned).map_err(Fault::from)
    }
}

impl HostService for Says {
    fn call(&self, _: &str, _: &str) -> Result<String, Fault> {
        self.say()
    }

    fn call_async(&self, _: &str, _: String) -> BoxFuture<Result<String, Fault>> {
        Box::pin(std::future::ready(self.say()))
    }

    fn token(&self, _: &str) -> Result<CancellationToken, Fault> {
        self.say().map(|_| CancellationToken::never())
    }

    fn subscribe(&self, _: &str, listener: Listener) -> Result<Guard, Fault> {
        listener.hear(&self.say()?)?;
        Ok(Box::new(()))
    }
}

#[test]
fn arguments_and_results_come_through() {
    for case in cases() {
        let (recorder, host) = pair();
        recorder.answer_with(case.answered.clone());
        let answered = (case.call)(&*host).unwrap();
        assert_eq!(recorder.asked(), [(case.name, case.asked)]);
        assert_eq!(answered, case.answered, "{}", case.name);
    }
}

#[test]
fn failures_come_through_whole() {
    let failure = not_ready("session", Phase::Loaded).with("deep", json!({"a": [1, null]}));
    for case in cases() {
        let (recorder, host) = pair();
        recorder.fail_with(failure.clone());
        assert_eq!((case.call)(&*host).unwrap_err(), failure, "{}", case.name);
    }
    let (recorder, host) = pair();
    recorder.fail_with(failure.clone());
    assert_eq!(host.cancellation().token(Scope::Tool).unwrap_err(), failure);
    assert_eq!(host.metrics().snapshot().unwrap_err(), failure);
    assert_eq!(
        host.metrics().subscribe(Box::new(drop)).unwrap_err(),
        failure
    );
    let subscribed = host.metrics().subscribe_to_tokens(Box::new(drop));
    assert_eq!(subscribed.unwrap_err(), failure);
}

#[test]
fn a_code_of_a_newer_host_comes_through() {
    let newer = Error::new(Class::Session, "NotInventedYet", "who knows").with("fact", 1);
    let host = Says(Err(newer.clone())).host();
    assert_eq!(host.env().get("A").unwrap_err(), newer);
    assert_eq!(ready(host.prompt().read("a")).unwrap_err(), newer);
}

#[test]
fn every_operation_has_a_test() {
    let elsewhere = [
        "cancellation.token",
        "metrics.snapshot",
        "metrics.subscribe",
        "metrics.subscribeToTokens",
        "session.stateSlot",
        "session.stateSlot.read",
        "session.stateSlot.write",
    ];
    let tested: BTreeSet<_> = cases()
        .iter()
        .map(|case| case.name)
        .chain(elsewhere)
        .collect();
    assert_eq!(tested, operation::NAMES.iter().copied().collect());
}

#[test]
fn a_slot_is_refused_when_it_is_asked_for() {
    let (recorder, host) = pair();
    let denied = slot_access_denied("a", "b");
    recorder.fail_with(denied.clone());
    assert_eq!(host.session().state_slot("b").err(), Some(denied));
    assert_eq!(recorder.asked(), [("session.stateSlot", json!("b"))]);
}

#[test]
fn a_slot_is_read_and_written_by_its_name() {
    let (recorder, host) = pair();
    let slot = host.session().state_slot("a").unwrap();
    recorder.asked();

    let stored = json!({"slotVersion": "1.0.0", "data": {"theme": "dark"}});
    recorder.answer_with(stored.clone());
    let read = ready(slot.read()).unwrap().unwrap();
    assert_eq!(json!(read), stored);
    let opened = ("session.stateSlot", json!("a"));
    let asked = [opened.clone(), ("session.stateSlot.read", Value::Null)];
    assert_eq!(recorder.asked(), asked);

    recorder.answer_with(Value::Null);
    assert_eq!(ready(slot.read()).unwrap(), None);
    recorder.asked();
    ready(slot.write(read)).unwrap();
    assert_eq!(
        recorder.asked(),
        [opened, ("session.stateSlot.write", stored)]
    );

    let gone = not_ready("session", Phase::Disposed);
    recorder.fail_with(gone.clone());
    assert_eq!(ready(slot.read()).unwrap_err(), gone);
}

#[test]
fn a_token_fires_on_the_other_side() {
    let (recorder, host) = pair();
    let token = host.cancellation().token(Scope::Turn).unwrap();
    assert_eq!(recorder.asked(), [("cancellation.token", json!("turn"))]);
    assert!(!token.is_cancelled());
    recorder.cancel_turn();
    assert!(token.is_cancelled());
    ready(token.cancelled());
}

#[test]
fn a_scope_that_does_not_exist_is_refused() {
    let handle = serve(Arc::new(Recorder::default()));
    let error = Error::from(handle.token("stage").unwrap_err());
    assert!(error.is(Class::Validation, codes::SHAPE_INVALID.name));
    assert_eq!(error.context()["operation"], "cancellation.token");
    assert_eq!(error.context()["field"], "/scope");
}

#[test]
fn an_unknown_operation_is_not_implemented() {
    let handle = serve(Arc::new(Recorder::default()));
    let listener = Listener::new(|_| {});
    let faults = [
        handle.call("env.listAll", "{}").unwrap_err(),
        ready(handle.call_async("env.listAll", "{}".to_owned())).unwrap_err(),
        handle.subscribe("env.listAll", listener).err().unwrap(),
    ];
    for fault in faults {
        let error = Error::from(fault);
        assert!(error.is(Class::ExtensionHost, "NotImplemented"), "{error}");
        assert_eq!(json!(error.context()), json!({"operation": "env.listAll"}));
    }
}

#[test]
fn a_request_of_another_shape_is_refused_with_its_place() {
    let handle = serve(Arc::new(Recorder::default()));
    let at_once = |operation, payload| handle.call(operation, payload).unwrap_err();
    let in_time = |operation, payload: &str| {
        ready(handle.call_async(operation, payload.to_owned())).unwrap_err()
    };
    let check = |fault: Fault, code: &str, operation: &str, field: Option<&str>| {
        let error = Error::from(fault);
        assert!(error.is(Class::Validation, code), "{error}");
        assert_eq!(error.context()["operation"], operation);
        let found = error.context().get("field").and_then(Value::as_str);
        assert_eq!(found, field, "{error}");
    };
    check(
        at_once("env.get", "{}"),
        "ShapeInvalid",
        "env.get",
        Some("/name"),
    );
    check(at_once("env.get", "{"), "ShapeInvalid", "env.get", Some(""));
    check(
        at_once("commands.complete", r#"{"input": "/", "cursor": -1}"#),
        "ShapeInvalid",
        "commands.complete",
        Some("/cursor"),
    );
    check(
        in_time(
            "session.stateSlot.write",
            r#"{"extId": "a", "value": {"slotVersion": 1}}"#,
        ),
        "ShapeInvalid",
        "session.stateSlot.write",
        Some("/value/slotVersion"),
    );
    check(
        in_time(
            "interaction.request",
            r#"{"kind": "Select", "payload": {"prompt": "?", "options": []}}"#,
        ),
        "InteractionPayloadMismatch",
        "interaction.request",
        Some("options"),
    );
    check(
        in_time("interaction.request", "7"),
        "InteractionKindUnknown",
        "interaction.request",
        None,
    );
    check(
        in_time("context.contribute", r#"{"kind": "env"}"#),
        "FragmentKindInvalid",
        "context.contribute",
        None,
    );
}

#[test]
fn an_answer_of_another_shape_is_refused_and_not_quoted() {
    let handle = serve(Arc::new(Recorder::default()));
    for (payload, field) in [
        (r#"{"status": "s3cret"}"#, "/status"),
        (
            r#"{"interactionId": "i1", "correlationId": "t1", "status": "s3cret"}"#,
            "/status",
        ),
        (
            r#"{"interactionId": {"secret": "s3cret"}, "correlationId": "t1", "status": "accepted"}"#,
            "/interactionId",
        ),
    ] {
        let fault = ready(handle.call_async("interaction.respond", payload.to_owned()));
        let error = Error::from(fault.unwrap_err());
        assert!(error.is(Class::Validation, "ShapeInvalid"), "{error}");
        assert_eq!(error.context()["field"], field, "{error}");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}

#[test]
fn no_operation_stumbles_over_any_payload() {
    let recorder = Recorder::default();
    recorder.fail_with(not_ready("all", Phase::Disposed));
    let handle = serve(Arc::new(recorder));
    for name in operation::NAMES {
        for payload in [
            "",
            "{",
            "7",
            "[]",
            "\"x\"",
            "{\"kind\": {}}",
            "{\"payload\": 1}",
        ] {
            for result in [
                handle.call(name, payload),
                ready(handle.call_async(name, payload.to_owned())),
            ] {
                let panicked = result.is_err_and(|fault| fault.code == "CallPanicked");
                assert!(!panicked, "{name} {payload}");
            }
        }
    }
}

#[test]
fn a_newer_plugin_may_say_more() {
    let (recorder, _) = pair();
    recorder.answer_with(json!("t0"));
    let handle = serve(Arc::new(recorder));
    let said = handle.call("env.get", r#"{"name": "A", "fallback": "b"}"#);
    assert_eq!(said.as_deref(), Ok("\"t0\""));
    let said = handle.call("workspace.sessionId", r#"{"of": "parent"}"#);
    assert_eq!(said.as_deref(), Ok("\"t0\""));
}

#[test]
fn a_reply_of_another_shape_is_refused_and_not_quoted() {
    for case in cases() {
        let error = (case.call)(&*Says(Ok("[{\"s3cret\": \"s3cret")).host()).unwrap_err();
        assert!(error.is(Class::Validation, "ShapeInvalid"), "{error}");
        assert_eq!(error.context()["operation"], case.name);
        assert_eq!(error.context()["part"], "reply");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
    let host = Says(Ok("987654")).host();
    let error = host.env().get("TOKEN").unwrap_err();
    assert_eq!(error.context()["expected"], "a string");
    assert!(!format!("{error:?}").contains("987654"), "{error:?}");
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_text_is_an_error() {
    use std::os::unix::ffi::OsStrExt as _;

    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(b"/\xff"));
    let written = wire_json::write("workspace.projectRoot", wire_json::Part::Reply, &path);
    assert_eq!(written.unwrap_err().code(), "ShapeInvalid");
}
