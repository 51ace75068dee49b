//! retire: [`Active`] → nothing. `deactivate`, then `dispose`; doing it twice is safe.

use std::sync::Arc;

use stud_contract_meta::Phase;
use stud_diagnostics::{Diagnostic, codes};

use crate::activate::Active;
use stud_runtime::limits::Limits;

/// Ends a plugin. A phase that fails does not keep the next one from running.
pub fn retire(plugin: &Arc<Active>, limits: &Limits) -> Vec<Diagnostic> {
    let phases: &[Phase] = match plugin.identity().life.word() {
        "disposed" => return Vec::new(),
        "active" => &[Phase::Deactivate, Phase::Dispose],
        _ => &[Phase::Dispose],
    };
    let mut problems = Vec::new();
    for phase in phases {
        let (running, phase) = (plugin.running().clone(), *phase);
        let code_origin = plugin.identity().code_origin();
        let outcome = plugin.observed(phase, || {
            let run = move || running.lifecycle(phase, String::new());
            let outcome = code_origin.run_with_timeout(limits.lifecycle, run);
            // Whatever it said, the host is done with it and refuses its calls from now on.
            plugin.identity().life.passed(phase);
            match outcome {
                Some(Ok(())) => Ok(()),
                Some(Err(fault)) => {
                    let cause = format!("{}/{}", fault.class, fault.code);
                    Err((fault.message, Some(cause)))
                }
                None => {
                    let why = format!("it did not return within {} ms", limits.lifecycle_ms());
                    Err((why, None))
                }
            }
        });
        if let Err((why, cause)) = outcome {
            let problem = Diagnostic::error(
                &codes::LIFECYCLE_FAILURE,
                format!("`{phase}` failed: {why}"),
            )
            .of(plugin.identity().ext_id.as_str())
            .with("phase", phase.as_str());
            problems.push(match cause {
                Some(cause) => problem
                    .note(format!("the cause is `{cause}`"))
                    .with("cause", cause),
                None => problem,
            });
        }
    }
    problems
}
