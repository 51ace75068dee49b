//! A state machine of two stages.
#![forbid(unsafe_code)]

use stud_sdk::prelude::*;
use stud_sdk::state_machine::{NextResult, StageContext};

/// What is remembered between turns.
#[derive(Schema)]
struct Progress {
    /// The stage that is under way.
    stage: String,
}

/// Plans first, then builds.
#[state_machine(
    id = "frozen-state-machine",
    entry = "plan",
    stages = r#"[
        {
            "id": "plan",
            "name": "Plan",
            "body": "Make a plan for {{ctx.goal}}.",
            "context": ["goal"],
            "allowedTools": ["frozen_note"],
            "completionTool": "submit_plan",
            "completionSchema": {"type": "object"},
            "retryPolicy": {"maxAttempts": 2, "backoff": "none"},
            "turnCap": 8,
            "resolutionPolicy": "fail"
        },
        {
            "id": "build",
            "name": "Build",
            "body": "Carry out the plan.",
            "allowedTools": [],
            "completionTool": "submit_build",
            "completionSchema": {"type": "object"},
            "retryPolicy": {"maxAttempts": 1, "backoff": {"kind": "fixed", "ms": 500}},
            "turnCap": 8,
            "resolutionPolicy": "skip"
        }
    ]"#,
    state_slot(version = "1.0.0", schema = Progress)
)]
struct PlanAndBuild;

impl StateMachine for PlanAndBuild {
    async fn setup(
        &self,
        _stage: &str,
        mut context: StageContext,
        _cx: &Cx,
    ) -> Result<StageContext> {
        context.set("goal", "the frozen goal");
        Ok(context)
    }

    async fn next(&self, stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
        Ok(match stage {
            "plan" => NextResult::to("build"),
            _ => NextResult::end(),
        })
    }
}
