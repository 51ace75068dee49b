//! Plugins that were built with the SDK of an earlier release do in today's stud what they did then.
//!
//! `README.md` says how the libraries were made. They are for Linux on x86-64 alone.
#![forbid(unsafe_code)]
#![cfg(test)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod release;

use serde_json::{Value, json};
use stud_tests::World;

use release::{PLUGINS, install};

/// A world whose provider, store, screen and tools are all plugins of an earlier release.
struct Frozen {
    world: World,
}

/// One run of the program: its events, and its result.
struct Run {
    lines: Vec<Value>,
}

impl Frozen {
    fn new() -> Self {
        let world = World::new();
        for plugin in PLUGINS {
            install(&world, plugin);
        }
        let frozen = Self { world };
        let path = |name: &str| frozen.world.path(name);
        let settings = json!({
            "active": {"provider": "frozen-provider", "sessionStore": "frozen-session-store"},
            "env": {"FROZEN_NAME": "ice"},
            "tools": {"frozen-tool": {"prefix": "memo"}},
            "ui": {"frozen-ui": {"log": path("ui.log")}},
            "loggers": {"frozen-logger": {"file": path("records.log")}},
            "sessionStores": {"frozen-session-store": {"path": path("sessions")}},
            "contextProviders": {"frozen-context-provider": {"fact": "ice"}},
        });
        let written = settings.to_string();
        frozen.world.write("home/settings.json", written);
        frozen
    }

    /// One headless run that must succeed.
    fn run(&self, arguments: &[&str]) -> Run {
        let fixed = ["--headless", "--json"];
        let answer = self.world.stud(&[&fixed, arguments].concat());
        assert_eq!(answer.status, 0, "{arguments:?}: {answer:#?}");
        let lines = answer.stdout.lines().map(serde_json::from_str);
        Run {
            lines: lines.collect::<Result<_, _>>().unwrap(),
        }
    }

    /// The lines of a file that a plugin writes.
    fn log(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.world.path(name)).unwrap();
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    }
}

impl Run {
    fn result(&self) -> &Value {
        self.lines.last().unwrap()
    }

    /// What the assistant said, without the fact that the context provider adds.
    fn text(&self) -> &str {
        let text = self.result()["text"].as_str().unwrap();
        let said = text.strip_prefix("[Frozen: ice] ");
        said.unwrap_or_else(|| panic!("{text}"))
    }

    /// What the tool gave the model.
    fn tool_result(&self) -> Value {
        serde_json::from_str(self.text()).unwrap()
    }

    fn event(&self, name: &str) -> &Value {
        let found = self.lines.iter().find(|line| line["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {:#?}", self.lines))
    }
}

#[test]
fn every_category_is_loaded_without_a_word() {
    let frozen = Frozen::new();
    let listed = frozen.world.stud(&["plugin", "list", "--json"]).json();
    for plugin in PLUGINS {
        let entries = listed["plugins"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["extId"] == plugin.id());
        let entry = entry.unwrap_or_else(|| panic!("{} is not listed", plugin.id()));
        // A state machine waits for a session that is begun with it.
        let status = if plugin.name == "state-machine" {
            "loaded"
        } else {
            "active"
        };
        assert_eq!(
            (&entry["status"], &entry["diagnostics"]),
            (&json!(status), &json!([])),
            "{entry:#}"
        );
    }
}

#[test]
fn every_library_passes_every_stage_of_a_check() {
    let frozen = Frozen::new();
    for plugin in PLUGINS {
        let library = frozen.world.path(plugin.place());
        let checked = frozen
            .world
            .stud(&["plugin", "check", "--json", library.to_str().unwrap()]);
        let report = checked.json();
        let stages = report["stages"].as_array().unwrap();
        assert!(stages.iter().all(|stage| stage["ok"] == true), "{report:#}");
        assert_eq!(report["diagnostics"], json!([]), "{report:#}");
    }
}

#[test]
fn the_provider_streams_and_the_context_provider_adds() {
    let run = Frozen::new().run(&["good morning"]);
    assert_eq!(run.text(), "good morning");
    let completed = &run.event("ProviderRequestCompleted")["payload"];
    assert_eq!(completed["outputTokens"], 2, "as it said itself");
    let deltas = run
        .lines
        .iter()
        .filter(|line| line["name"] == "ProviderTokensStreamed");
    assert_eq!(deltas.count(), 4, "a word each");
}

#[test]
fn the_tool_uses_the_host_and_the_ui_approves_its_call() {
    let frozen = Frozen::new();
    let run = frozen.run(&["note buy bread"]);
    let result = json!({
        "ok": true,
        "result": {"env": "ice", "mode": "ask", "text": "memo: buy bread", "title": null, "total": 1},
    });
    assert_eq!(run.tool_result(), result);
    assert_eq!(run.event("NoteKept")["payload"]["total"], 1);
    let seen = frozen.log("ui.log");
    let asked = seen
        .iter()
        .find(|line| line["prompt"] == "Approve")
        .unwrap();
    assert_eq!(asked["request"]["payload"]["approvalKey"], "notes");
    let session = run.lines[0]["sessionId"].as_str().unwrap();
    let audit = frozen.world.stud(&["audit", "show", "--json", session]);
    assert!(audit.stdout.contains("FrozenTool"), "{audit:#?}");
}

#[test]
fn the_tool_asks_and_the_ui_answers() {
    let run = Frozen::new().run(&["ask buy bread"]);
    assert_eq!(run.tool_result()["result"]["title"], "Frozen");
}

#[test]
fn the_hook_denies() {
    let run = Frozen::new().run(&["note something forbidden"]);
    let error = &run.tool_result()["error"];
    assert_eq!(error["code"], "ApprovalDenied");
    assert_eq!(error["message"], "the frozen hook denies `forbidden`");
}

#[test]
fn the_ui_hears_the_turn_and_the_logger_keeps_it() {
    let frozen = Frozen::new();
    frozen.run(&["good morning"]);
    let heard = frozen.log("ui.log");
    let names: Vec<&str> = heard
        .iter()
        .filter_map(|line| line["event"].as_str())
        .collect();
    for name in [
        "SessionTurnStart",
        "TurnRendered",
        "SessionTurnEnd",
        "SessionClosed",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    let records = frozen.log("records.log");
    for (kind, record) in [("event", "TurnRendered"), ("audit", "SessionLifecycle.end")] {
        let is_kept = |line: &Value| line["kind"] == kind && line["type"] == record;
        assert!(records.iter().any(is_kept), "{record}: {records:#?}");
    }
}

#[test]
fn the_command_runs_and_sees_the_others() {
    let run = Frozen::new().run(&["/frozen Ada --times=2"]);
    let result = run.result();
    assert_eq!(result["text"], "Hello Ada\nHello Ada", "{result:#}");
    assert_eq!(result["payload"], json!({"isListed": true}));
}

#[test]
fn the_store_and_the_state_slot_carry_a_session_over() {
    let frozen = Frozen::new();
    frozen.run(&["note one"]);
    let run = frozen.run(&["--continue", "note two"]);
    assert_eq!(run.tool_result()["result"]["total"], 2);
    let listed = frozen.world.stud(&["sessions", "list", "--json"]).json();
    assert_eq!(
        listed["sessions"].as_array().unwrap().len(),
        1,
        "{listed:#}"
    );
    assert_eq!(
        listed["sessions"][0]["firstWords"], "note one",
        "{listed:#}"
    );
}
