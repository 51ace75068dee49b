//! A scripted state machine in a world, with stages of a test's own.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::bench::Bench;

/// A stage with this body, which may use these tools and is done with `done`.
pub(crate) fn stage(id: &str, body: &str, tools: &[&str]) -> Value {
    json!({
        "id": id,
        "name": id,
        "body": body,
        "allowedTools": tools,
        "completionTool": "done",
        "completionSchema": {
            "type": "object",
            "properties": {"report": {"type": "string"}},
            "required": ["report"],
        },
        "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
        "turnCap": 5,
        "resolutionPolicy": "retry-later",
    })
}

/// The same with some members changed.
pub(crate) fn stage_with(id: &str, body: &str, tools: &[&str], changes: &Value) -> Value {
    let mut stage = stage(id, body, tools);
    for (member, value) in changes.as_object().unwrap() {
        stage[member] = value.clone();
    }
    stage
}

/// The line with which `echo` completes a stage.
pub(crate) fn done(report: &str) -> String {
    format!("!tool done {}", json!({"report": report}))
}

/// The line with which `echo` makes these calls, one after the other.
pub(crate) fn calls(calls: &Value) -> String {
    format!("!seq {calls}")
}

/// A machine that a test has put into the global scope.
pub(crate) struct Machine {
    log: PathBuf,
}

impl Machine {
    /// Puts one there. The first stage is the one it begins with.
    pub(crate) fn of(bench: &Bench, id: &str, stages: &[Value], script: &Value) -> Self {
        Self::with_config(bench, id, stages, script, &json!({}))
    }

    pub(crate) fn with_config(
        bench: &Bench,
        id: &str,
        stages: &[Value],
        script: &Value,
        more: &Value,
    ) -> Self {
        let folder = format!("home/state-machines/{id}");
        bench.place("script-machine", &folder, |manifest| {
            manifest["extId"] = id.into();
            manifest["discoveryRules"]["manifestKey"] = id.into();
            manifest["stages"] = json!(stages);
            manifest["entryStage"] = stages[0]["id"].clone();
        });
        let log = bench.world.path(format!("{id}.machine.log"));
        let script = bench
            .world
            .write(format!("{id}.machine.script"), script.to_string());
        let mut config = json!({"script": script, "log": log});
        for (member, value) in more.as_object().unwrap() {
            config[member] = value.clone();
        }
        bench
            .world
            .write(format!("{folder}/config.json"), config.to_string());
        Self { log }
    }

    /// The calls it got: `phase`, `stage`, `context`, and `answer` where it asked.
    pub(crate) fn calls(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The calls for one phase of one stage.
    pub(crate) fn called(&self, phase: &str, stage: &str) -> Vec<Value> {
        let mut calls = self.calls();
        calls.retain(|call| call["phase"] == phase && call["stage"] == stage);
        calls
    }

    /// The phases and stages, in order: `setup plan`.
    pub(crate) fn phases(&self) -> Vec<String> {
        let calls = self.calls().into_iter();
        calls
            .map(|call| {
                let (phase, stage) = (&call["phase"], &call["stage"]);
                format!("{} {}", phase.as_str().unwrap(), stage.as_str().unwrap())
            })
            .collect()
    }
}

/// To one stage.
pub(crate) fn to(stage: &str) -> Value {
    json!({"nextStages": [stage], "execution": "sequential"})
}

/// To several stages at once, and then to their join.
pub(crate) fn fan_out(stages: &[&str], join: Option<&str>) -> Value {
    let mut next = json!({"nextStages": stages, "execution": "parallel"});
    if let Some(join) = join {
        next["join"] = join.into();
    }
    next
}

/// An answer to `grantStageTool` that a scripted UI gives.
pub(crate) fn grant(outcome: &str, note: &str) -> Value {
    json!({"do": "accept", "value": {"outcome": outcome, "note": note}})
}
