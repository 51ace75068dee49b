//! What loggers are given: when it happened, how much it matters, and what becomes of one that fails.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use stud_core::audit::AuditQuery;
use stud_core::platform;
use stud_tests::{Elf, Live, World, cause_of, eventually, fixture};

/// A session with a log, and what the log says after it.
fn logged(during: impl FnOnce(&Live)) -> Vec<Value> {
    logged_in(&World::new(), during)
}

/// The same in a world that was prepared.
fn logged_in(world: &World, during: impl FnOnce(&Live)) -> Vec<Value> {
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

/// What the log has of a library that speaks through `tracing`, and what its tool answered.
fn traced(settings: &Value, text: &str) -> (Vec<Value>, String) {
    let world = World::new();
    let library = Elf::read(&fixture("tracing-tool")).bytes;
    world.write("home/tools/tracing-tool/libtracing_tool.so", library);
    world.write("home/settings.json", settings.to_string());
    let mut answer = String::new();
    let log = logged_in(&world, |live| {
        let call = format!("!tool trace {}", json!({"text": text}));
        answer = live.say(&call).answered().text;
    });
    let said = log.into_iter().filter(|line| line["name"] == "PluginLog");
    (said.collect(), answer)
}

fn messages(log: &[Value]) -> Vec<&str> {
    log.iter()
        .filter_map(|line| line["payload"]["message"].as_str())
        .collect()
}

#[test]
fn what_a_library_says_through_tracing_reaches_the_logger_with_its_id() {
    let (log, answer) = traced(&json!({}), "three files");
    assert!(answer.contains("formatted 0"), "{answer}");
    assert_eq!(
        messages(&log),
        ["scanning", "scan ended", "said by a thread of its own"]
    );
    for line in &log {
        assert_eq!(line["kind"], "event", "{line}");
        assert_eq!(line["payload"]["extId"], "tracing-tool", "{line}");
        assert_eq!(line["payload"]["target"], "tracing_tool", "{line}");
    }
    let scanning = &log[0];
    assert_eq!(scanning["sev"], "info");
    assert_eq!(
        scanning["payload"]["fields"],
        json!({"text": "three files"})
    );
    assert_eq!(
        scanning["payload"]["spans"],
        json!([{"name": "scan", "fields": {"files": 3}}])
    );
    assert!(log[1]["payload"]["durationMs"].is_u64(), "{}", log[1]);
    assert_eq!(log[2]["sev"], "warn");
}

#[test]
fn the_level_of_the_host_decides_before_anything_is_formatted() {
    let (log, answer) = traced(&json!({"logging": {"level": "warn"}}), "three files");
    assert_eq!(messages(&log), ["said by a thread of its own"]);
    assert!(answer.contains("formatted 0"), "{answer}");

    let (_, answer) = traced(&json!({"logging": {"level": "debug"}}), "three files");
    assert!(answer.contains("formatted 1"), "{answer}");
}
