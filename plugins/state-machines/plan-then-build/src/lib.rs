//! `plan-then-build`: a plan that the person agrees to, the work, two checks at the same time, and a report.
//!
//! ```text
//! plan → (the person agrees) → build → tests ┐
//!                                      look  ┴→ report
//! ```
//!
//! The plan is made without tools that change anything. Nothing is built before the person has agreed to the plan; with
//! a no the workflow ends. Commands are not among the tools of any stage, so the person is asked about each.
#![forbid(unsafe_code)]

use stud_sdk::host::session::SlotValue;
use stud_sdk::state_machine::{NextResult, StageContext, StateMachine, state_machine};
use stud_sdk::{Cx, CxExt as _, Result, Schema, Value, json};

/// The stages that check what was built.
const CHECKS: [&str; 2] = ["tests", "look"];

/// What is kept with the session.
#[derive(Schema)]
struct Progress {
    /// The stage that ended last.
    stage: String,
}

/// Plans, asks, builds, checks and reports.
#[state_machine(
    id = "plan-then-build",
    stages = "stages",
    entry = "plan",
    state_slot(version = "1.0.0", schema = Progress),
    interactions("Confirm", "Ask")
)]
struct PlanThenBuild;

impl StateMachine for PlanThenBuild {
    async fn setup(&self, stage: &str, mut context: StageContext, cx: &Cx) -> Result<StageContext> {
        match stage {
            "plan" if context.get("input").is_none() => {
                let task = ask_for_task(cx).await?;
                context.set("input", task);
            }
            "build" => {
                let plan = words(context.upstream.first());
                context.set("plan", plan);
            }
            "tests" | "look" => {
                let built = words(context.upstream.first());
                context.set("built", built);
            }
            "report" => {
                let built = words(context.upstream.first());
                let checked: Vec<String> = CHECKS
                    .iter()
                    .map(|check| format!("{check}: {}", words(context.siblings.get(*check))))
                    .collect();
                context.set("built", built);
                context.set("checked", checked.join("\n"));
            }
            _ => {}
        }
        Ok(context)
    }

    async fn exit(&self, stage: &str, _context: &StageContext, cx: &Cx) -> Result<()> {
        let slot = cx.host().session().state_slot("plan-then-build")?;
        let value = SlotValue {
            slot_version: "1.0.0".to_owned(),
            data: json!({"stage": stage}),
        };
        slot.write(value).await
    }

    async fn next(&self, stage: &str, context: &StageContext, cx: &Cx) -> Result<NextResult> {
        Ok(match stage {
            "plan" => {
                let question = format!("Carry out this plan?\n{}", shown(context));
                if cx.confirm(&question).await? {
                    NextResult::to("build")
                } else {
                    NextResult::end()
                }
            }
            "build" => NextResult::parallel(CHECKS).join("report"),
            _ => NextResult::end(),
        })
    }
}

/// A workflow that begins without an input needs a task.
async fn ask_for_task(cx: &Cx) -> Result<String> {
    use stud_sdk::interaction::{Answer, Ask, Payload};
    let question = Payload::from(Ask {
        prompt: "What is to be done?".to_owned(),
        ..Ask::default()
    });
    let response = cx.host().interaction().request(question.clone()).await?;
    Ok(match response.answer(&question)? {
        Some(Answer::Ask(answer)) => answer.text,
        _ => String::new(),
    })
}

/// The plan as the person reads it.
fn shown(context: &StageContext) -> String {
    let attempt = context.attempt();
    let plan = attempt.and_then(|attempt| attempt.completion.as_ref());
    let Some(plan) = plan else {
        let said = attempt.map(|attempt| attempt.transcript.clone());
        return words(Some(&json!({"transcript": said})));
    };
    let steps = plan["steps"].as_array().into_iter().flatten();
    let steps = steps.filter_map(Value::as_str);
    let numbered = steps
        .enumerate()
        .map(|(place, step)| format!("{}. {step}", place + 1));
    let mut lines = vec![plan["summary"].as_str().unwrap_or_default().to_owned()];
    lines.extend(numbered);
    lines.join("\n")
}

/// What a stage handed over, or what the model said if it answered in words.
fn words(result: Option<&Value>) -> String {
    let result = result.unwrap_or(&Value::Null);
    if let Some(completion) = result.get("completion") {
        return completion.to_string();
    }
    let last = result["transcript"].as_array().and_then(|said| said.last());
    let words = last.and_then(|last| last["content"].as_str());
    words.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use stud_sdk::interaction::ConfirmAnswer;
    use stud_sdk::testing::{Acted, FakeHost, Harness};

    use super::*;

    fn plan() -> Acted {
        Acted::completed(json!({"summary": "add a flag", "steps": ["look", "write"]}))
    }

    #[test]
    fn nothing_is_built_that_the_person_did_not_agree_to() {
        let host = FakeHost::new().answers(ConfirmAnswer { confirmed: false });
        let harness = Harness::new(stud_plugin(), host);
        let walked = harness.walk("add a flag", |_| plan()).unwrap();
        assert_eq!(walked.stages(), ["plan"]);
    }

    #[test]
    fn a_plan_that_is_agreed_to_is_built_checked_and_reported() {
        let host = FakeHost::new().answers(ConfirmAnswer { confirmed: true });
        let harness = Harness::new(stud_plugin(), host);
        let walked = harness.walk("add a flag", |stage| match stage.id() {
            "plan" => plan(),
            "build" => {
                assert!(stage.body().contains("add a flag"), "{}", stage.body());
                Acted::completed(json!({"summary": "done", "files": ["a.rs"]}))
            }
            "report" => {
                assert!(
                    stage.body().contains("tests: {\"green\":true}"),
                    "{}",
                    stage.body()
                );
                Acted::completed(json!({"report": "all is well"}))
            }
            _ => Acted::completed(json!({"green": true})),
        });
        let walked = walked.unwrap();
        assert_eq!(
            walked.stages(),
            ["plan", "build", "tests", "look", "report"]
        );
        assert_eq!(walked.completion(), Some(&json!({"report": "all is well"})));
    }

    #[test]
    fn no_stage_may_run_commands_unasked() {
        let harness = Harness::new(stud_plugin(), FakeHost::new());
        let stages = harness.manifest()["stages"].as_array().unwrap();
        for stage in stages {
            let tools = stage["allowedTools"].as_array().unwrap();
            assert!(!tools.contains(&json!("bash")), "{stage}");
        }
        let plans = stages[0]["allowedTools"].to_string();
        assert!(
            !plans.contains("write") && !plans.contains("edit"),
            "{plans}"
        );
    }
}
