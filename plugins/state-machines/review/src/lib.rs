//! `review`: three reviewers look at the changes of a working tree at the same time, and a fourth stage reports.
//!
//! ```text
//! collect → correctness ┐
//!           security    ├→ report
//!           clarity     ┘
//! ```
//!
//! The changes are those that `git diff HEAD` shows in the project's folder. What is typed with the command says what to
//! pay attention to. The reviewers may read files and nothing else.
#![forbid(unsafe_code)]

mod changes;

use stud_sdk::host::session::SlotValue;
use stud_sdk::state_machine::{GateResult, NextResult, StageContext, StateMachine, state_machine};
use stud_sdk::{Cx, Error, ErrorExt as _, Result, Schema, Value, json};

/// The reviewers, in the order of the report.
const REVIEWERS: [&str; 3] = ["correctness", "security", "clarity"];

/// What is kept with the session.
#[derive(Schema)]
struct Progress {
    /// The stage that ended last.
    stage: String,
}

/// Reviews the changes of a working tree.
#[state_machine(
    id = "review",
    stages = "stages",
    entry = "collect",
    state_slot(version = "1.0.0", schema = Progress)
)]
struct Review;

impl StateMachine for Review {
    async fn setup(&self, stage: &str, mut context: StageContext, cx: &Cx) -> Result<StageContext> {
        match stage {
            "collect" => {
                let root = cx.host().workspace().project_root()?;
                let folder = root.parent().unwrap_or(&root);
                let diff = changes::collect(folder).map_err(Error::failed)?;
                if diff.is_empty() {
                    return Err(Error::failed(
                        "there is nothing to review: `git diff HEAD` shows no changes",
                    ));
                }
                let focus = match context.get("input").and_then(Value::as_str) {
                    Some(input) => format!("The author asks: {input}"),
                    None => String::new(),
                };
                context.set("focus", focus);
                context.set("diff", diff);
            }
            "report" => {
                let findings: Vec<String> = REVIEWERS
                    .iter()
                    .map(|reviewer| found(reviewer, context.siblings.get(*reviewer)))
                    .collect();
                context.set("findings", findings.join("\n\n"));
            }
            _ => {}
        }
        Ok(context)
    }

    async fn check_gate(
        &self,
        stage: &str,
        _context: &StageContext,
        _cx: &Cx,
    ) -> Result<GateResult> {
        // The changes are in the context by now, and no model is needed for that.
        Ok(match stage {
            "collect" => GateResult::Skip,
            _ => GateResult::Proceed,
        })
    }

    async fn exit(&self, stage: &str, _context: &StageContext, cx: &Cx) -> Result<()> {
        let slot = cx.host().session().state_slot("review")?;
        let value = SlotValue {
            slot_version: "1.0.0".to_owned(),
            data: json!({"stage": stage}),
        };
        slot.write(value).await
    }

    async fn next(&self, stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
        Ok(match stage {
            "collect" => NextResult::parallel(REVIEWERS).join("report"),
            _ => NextResult::end(),
        })
    }
}

/// What one reviewer found: the list that it handed over, or its words if it answered in words.
fn found(reviewer: &str, result: Option<&Value>) -> String {
    let result = result.unwrap_or(&Value::Null);
    let said = if let Some(completion) = result.get("completion") {
        completion["findings"].to_string()
    } else {
        let last = result["transcript"].as_array().and_then(|said| said.last());
        let words = last.and_then(|last| last["content"].as_str());
        words.unwrap_or("nothing").to_owned()
    };
    format!("{reviewer}: {said}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_a_list_or_words() {
        let listed = json!({"completion": {"findings": [{"file": "a"}]}});
        let said = json!({"transcript": [{"role": "assistant", "content": "all is clear"}]});
        assert_eq!(
            found("security", Some(&listed)),
            "security: [{\"file\":\"a\"}]"
        );
        assert_eq!(found("clarity", Some(&said)), "clarity: all is clear");
        assert_eq!(found("correctness", None), "correctness: nothing");
    }
}
