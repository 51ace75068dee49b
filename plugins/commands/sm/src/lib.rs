//! `/sm`: the state machine of the session, and which stage it is in.
#![forbid(unsafe_code)]

use stud_sdk::command::{Args, Rendered, command};
use stud_sdk::host::commands::Deed;
use stud_sdk::{Class, Cx, Error, Result, Value};

/// What is typed after `/sm`.
#[derive(Args)]
struct Input {
    /// `attach`, `detach` or `status`; `status` when it is left out.
    action: Option<String>,
    /// The state machine to attach.
    id: Option<String>,
}

/// Shows the state machine of the session, attaches one, or detaches it.
#[command(
    id = "sm",
    name = "sm",
    category = "session",
    argument_hint = "[status | attach ID | detach]"
)]
async fn sm(input: Input, cx: &Cx) -> Result<Rendered> {
    let commands = cx.host().commands();
    match (input.action.as_deref(), input.id) {
        (None | Some("status"), _) => {
            let status = commands.perform(Deed::MachineStatus {}).await?;
            Ok(Rendered::from(shown(&status)).with_payload(status))
        }
        (Some("attach"), Some(id)) => {
            let status = commands
                .perform(Deed::AttachMachine { id: id.clone() })
                .await?;
            let text = format!("`{id}` is attached. Your next input begins its workflow.");
            Ok(Rendered::from(text).with_payload(status))
        }
        (Some("attach"), None) => Err(misused("name the state machine: `/sm attach ID`")),
        (Some("detach"), _) => {
            let done = commands.perform(Deed::DetachMachine {}).await?;
            let text = match done["detached"].as_str() {
                Some(id) => format!("`{id}` is detached. Your inputs go to the model again."),
                None => "No state machine is attached.".to_owned(),
            };
            Ok(Rendered::from(text).with_payload(done))
        }
        (Some(other), _) => Err(misused(format!(
            "`/sm {other}` does not exist; use `/sm status`, `/sm attach ID` or `/sm detach`"
        ))),
    }
}

fn misused(message: impl Into<String>) -> Error {
    Error::new(Class::ToolTerminal, "InputInvalid", message)
}

fn shown(status: &Value) -> String {
    let text = |member: &str| status[member].as_str().unwrap_or_default();
    let list = |member: &str| -> Vec<&str> {
        let items = status[member].as_array().into_iter().flatten();
        items.filter_map(Value::as_str).collect()
    };
    let known = list("known");
    if text("attached").is_empty() {
        return match known[..] {
            [] => "No state machine is attached, and none is installed.".to_owned(),
            _ => format!(
                "No state machine is attached. `/sm attach ID` attaches one of: {}",
                known.join(", ")
            ),
        };
    }
    let state = match text("state") {
        "ready" => "your next input begins its workflow",
        "running" => "its workflow runs",
        "cutOff" => {
            "its workflow was cut off in a stage; your next input asks whether to enter it again"
        }
        "completed" => "its workflow is done",
        "failed" => "its workflow has failed",
        _ => "its workflow was ended",
    };
    let mut lines = vec![format!("{}: {state}.", text("attached"))];
    let mut stack = list("stack");
    stack.extend(status["currentStage"].as_str());
    if !stack.is_empty() {
        let turns = match (&status["turnCount"], &status["turnCap"]) {
            (Value::Number(count), Value::Number(cap)) => format!(" (turn {count} of {cap})"),
            _ => String::new(),
        };
        lines.push(format!("Stages so far: {}{turns}", stack.join(" > ")));
    }
    lines.push(format!("All stages: {}", list("stages").join(", ")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use stud_sdk::json;
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    fn run(typed: &str, answer: Value) -> (String, Vec<Deed>) {
        let host = FakeHost::new().performs(Ok(answer));
        let harness = Harness::new(stud_plugin(), host.clone());
        let shown = harness.command("sm", typed).unwrap();
        (shown.rendered, host.performed())
    }

    #[test]
    fn the_stage_stack_is_shown() {
        let status = json!({
            "attached": "review", "state": "running", "currentStage": "join", "stack": ["start", "read"],
            "turnCount": 2, "turnCap": 5, "stages": ["start", "read", "join"], "known": ["review"],
        });
        let (shown, asked) = run("", status);
        assert_eq!(
            shown,
            "review: its workflow runs.\nStages so far: start > read > join (turn 2 of 5)\n\
             All stages: start, read, join"
        );
        assert_eq!(asked, [Deed::MachineStatus {}]);
    }

    #[test]
    fn what_could_be_attached_is_named() {
        let status = json!({"attached": null, "known": ["plan-then-build", "review"]});
        let (shown, _) = run("status", status);
        assert!(shown.ends_with("plan-then-build, review"), "{shown}");
    }

    #[test]
    fn one_is_attached_and_detached() {
        let (shown, asked) = run("attach review", json!({"attached": "review"}));
        assert!(shown.starts_with("`review` is attached."), "{shown}");
        let id = "review".to_owned();
        assert_eq!(asked, [Deed::AttachMachine { id }]);
        let (shown, _) = run("detach", json!({"detached": null}));
        assert_eq!(shown, "No state machine is attached.");
    }

    #[test]
    fn anything_else_is_refused() {
        for typed in ["attach", "start review"] {
            let harness = Harness::new(stud_plugin(), FakeHost::new());
            let error = harness.command("sm", typed).unwrap_err();
            assert_eq!(error.code(), "InputInvalid", "{typed}");
        }
    }
}
