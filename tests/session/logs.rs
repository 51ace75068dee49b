//! What loggers are given: when it happened, how much it matters, and what becomes of one that fails.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use stud_core::audit::AuditQuery;
use stud_core::platform;
use stud_tests::{Elf, Live, World, cause_of, eventually, fixture};

/// A session with a log, and what the log says after it.
fn logged(during: impl FnOnce(&Live)) -> Vec<Value> {
    let world = World::new();
    let live = world.live(vec![echo::stud_plugin(), file_logger::stud_plugin()]);
    during(&live);
    let id = live.session().id().to_owned();
    live.session().close().unwrap();
    let log = world.path(format!("home/logs/session-{id}.jsonl"));
    let log = std::fs::read_to_string(log).unwrap();
    let lines = log.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn event<'a>(log: &'a [Value], name: &str) -> &'a Value {
    let mut lines = log.iter();
    let line = lines.find(|line| line["kind"] == "event" && line["name"] == name);
    line.unwrap_or_else(|| panic!("no {name} in {log:#?}"))
}

#[test]
fn what_was_called_off_is_no_failure() {
    let log = logged(|live| {
        let (told, begun) = std::sync::mpsc::channel();
        live.hear(move |event| {
            if &*event.name == "ProviderTokensStreamed" {
                let _ = told.send(());
            }
        });
        let talking = live.say("!slow 60000");
        begun.recv().unwrap();
        live.session().cancel_turn();
        talking.answered();
    });
    let failed = event(&log, "ProviderRequestFailed");
    assert_eq!(failed["payload"]["errorClass"], "Cancellation");
    assert_eq!(failed["sev"], "info");
}

#[test]
fn what_went_wrong_is_a_failure() {
    let log = logged(|live| drop(live.say("!fail Unauthorized").answered()));
    assert_eq!(event(&log, "ProviderRequestFailed")["sev"], "error");
}

#[test]
fn a_line_has_the_time_of_its_event() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = logged(|live| {
        let heard = heard.clone();
        live.hear(move |event| {
            let line = (event.name.to_string(), platform::rfc3339(event.at));
            heard.lock().unwrap().push(line);
        });
        live.say("hello").answered();
    });
    let heard = heard.lock().unwrap();
    for name in [
        "SessionTurnStart",
        "ProviderRequestCompleted",
        "SessionTurnEnd",
    ] {
        let (_, at) = heard.iter().find(|(heard, _)| heard == name).unwrap();
        assert_eq!(event(&log, name)["ts"], at.as_str(), "{name}");
    }
}

#[test]
fn a_logger_that_fails_at_a_record_is_named_once_for_it() {
    let world = World::new();
    let library = Elf::read(&fixture("good-logger")).with_manifest(|manifest| {
        manifest["accepts"] =
            json!({"events": false, "audit": true, "diagnostics": true, "minSeverity": "info"});
    });
    world.write("home/loggers/good-logger/libgood_logger.so", library.bytes);
    let config = json!({"file": "/dev/full"});
    world.write("home/loggers/good-logger/config.json", config.to_string());
    let live = world.live(vec![echo::stud_plugin()]);
    live.say("hello").answered();
    let trail = live.session().trail().unwrap();
    let (told, others) = eventually("a report of each failure", || {
        let records = trail.query(&AuditQuery::default()).unwrap().into_iter();
        let (told, others): (Vec<_>, Vec<_>) =
            records.partition(|record| record.class == "SuppressedError");
        // The session began before there was a logger.
        let others: Vec<_> = others
            .into_iter()
            .filter(|record| record.kind.as_deref() != Some("start"))
            .collect();
        (told.len() >= others.len()).then_some((told, others))
    });
    assert_eq!(told.len(), others.len(), "{told:#?}");
    for record in told {
        let payload = Value::Object(record.payload);
        assert_eq!(payload["extId"], "good-logger");
        assert_eq!(cause_of(&payload)["class"], "ToolTerminal");
    }
    live.session().close().unwrap();
}
