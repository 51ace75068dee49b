//! Stages that run at the same time. The first one that fails stops the others.

use std::sync::Arc;

use stud_abi::CancellationSource;
use stud_contract_meta::{Error, Result};
use stud_contract_state_machine::AssertOutcome;
use stud_diagnostics::codes;

use super::stage_run::{StageDone, StageFailed, StageRun};
use crate::executor::spawn_future;
use crate::ledger::closed;
use crate::session::Ending;
use crate::sync::{Mutex, lock};

/// Runs the siblings, and gives their results in the order of the plan.
///
/// `scope` is that of the siblings alone: it is cancelled when one of them fails.
pub(super) async fn run(
    siblings: Vec<StageRun>,
    scope: &CancellationSource,
    compound_turn_id: &str,
) -> Result<Vec<StageDone>> {
    let first: Arc<Mutex<Option<(String, Error)>>> = Arc::default();
    let running: Vec<_> = siblings
        .into_iter()
        .map(|sibling| {
            let (scope, first) = (scope.clone(), first.clone());
            spawn_future(async move {
                let id = sibling.stage.id.clone();
                let done = sibling.run().await;
                if let Err(failed) = &done {
                    lock(&first).get_or_insert_with(|| (id, failed.error.clone()));
                    scope.cancel();
                }
                done
            })
        })
        .collect();
    let mut done: Vec<std::result::Result<StageDone, StageFailed>> = Vec::new();
    for sibling in running {
        done.push(sibling.await.unwrap_or_else(|| {
            Err(StageFailed {
                error: closed(),
                attempt: 0,
                cap_hit: false,
                is_judged: false,
            })
        }));
    }
    let first = lock(&first).take();
    let Some((failed, why)) = first else {
        return Ok(done
            .into_iter()
            .filter_map(std::result::Result::ok)
            .collect());
    };
    match Ending::of(why.clone()) {
        // The turn as a whole was cancelled, or waits for a person.
        Ending::Cancelled | Ending::Halted(_) => Err(why),
        Ending::Completed | Ending::Failed(_) => Err(failure(&failed, compound_turn_id, &why)),
    }
}

fn failure(failed: &str, compound_turn_id: &str, why: &Error) -> Error {
    let code = &codes::PARALLEL_SIBLING_FAILURE;
    let message = format!(
        "the stage `{failed}` failed, and those beside it were stopped: {}",
        why.message()
    );
    Error::new(code.class, code.name, message)
        .with("failedSiblingId", failed)
        .with("compoundTurnId", compound_turn_id)
        .with("joinReady", false)
        .with("cause", format!("{}/{}", why.class(), why.code()))
}

/// A join runs only if every sibling is done.
pub(super) fn check_join(join: &str, siblings: &[StageDone]) -> Result<()> {
    let open = siblings
        .iter()
        .find(|sibling| sibling.outcome != AssertOutcome::Ok);
    let Some(open) = open else {
        return Ok(());
    };
    let code = &codes::JOIN_PRECONDITION_VIOLATED;
    let message = format!(
        "the join `{join}` cannot run: the stage `{}` was left out",
        open.stage_id
    );
    Err(Error::new(code.class, code.name, message)
        .with("stageId", open.stage_id.as_str())
        .with("join", join))
}

/// `ExtensionHost/InvalidParallelPlan`: a single stage has no sibling.
pub(super) fn check_plan(stages: &[String]) -> Result<()> {
    let repeated = stages
        .iter()
        .enumerate()
        .find(|(place, id)| stages[..*place].contains(id));
    if stages.len() >= 2 && repeated.is_none() {
        return Ok(());
    }
    let code = &codes::INVALID_PARALLEL_PLAN;
    let message = match repeated {
        Some((_, id)) => format!("the stage `{id}` cannot run beside itself"),
        None => "at least two stages run in parallel, and the plan has fewer".to_owned(),
    };
    Err(Error::new(code.class, code.name, message).with("stages", stages.to_vec()))
}
