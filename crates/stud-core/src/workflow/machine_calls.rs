//! Calls of the machine: one for each phase that it takes part in.

use std::sync::Arc;

use serde_json::Value;
use stud_abi::CancellationSource;
use stud_contract_meta::{Error, Result};
use stud_contract_state_machine::{PhaseInput, StageContext, StagePhase};
use stud_diagnostics::{Class, Diagnostic, codes};

use crate::activate::Running;
use crate::executor;
use crate::ledger::closed;
use crate::session::{Machine, TurnHandle};

/// Calls the machine for one phase of a stage.
///
/// It runs on a thread of its own, because its code may block or never return, and may ask the person meanwhile.
pub(super) async fn call(
    machine: &Arc<Machine>,
    voice: &TurnHandle,
    phase: StagePhase,
    stage: &str,
    context: &StageContext,
) -> Result<Value> {
    let input = PhaseInput {
        stage: stage.to_owned(),
        context: context.clone(),
    };
    // Maps with text keys cannot fail to become JSON.
    let payload = serde_json::to_string(&input).unwrap_or_default();
    let session = voice.session();
    let scope = CancellationSource::new();
    let cx = voice.call(scope.token(), None);
    let plugin = machine.plugin.clone();
    let _boundary = session.machine_phase();
    let running = executor::spawn_future(async move {
        let Running::StateMachine(instance) = plugin.running() else {
            return Err(plugin.lacks("phase"));
        };
        let reply = instance.phase(phase.as_str(), payload, cx).await;
        reply.map_err(|fault| plugin.blame("phase", fault))
    });
    let running = async { running.await.unwrap_or_else(|| Err(closed())) };
    let limit = session.rules().phase;
    let timed = session.patiently(machine.id(), limit, running);
    let reply = match executor::or_cancelled(voice.cancelled(), timed).await {
        None => {
            scope.cancel();
            return Err(voice.called_off());
        }
        Some(None) => {
            scope.cancel();
            let millis = limit.as_millis();
            let message = format!(
                "`{}` did not return from the phase `{phase}` of the stage `{stage}` within {millis} ms",
                machine.id()
            );
            let code = &codes::LIFECYCLE_FAILURE;
            session.report(&Diagnostic::error(code, &*message).of(machine.id()));
            return Err(failure(machine, phase, stage, message));
        }
        Some(Some(reply)) => reply,
    };
    if let Some(halt) = session.scopes().halted() {
        return Err(halt);
    }
    match reply {
        Ok(reply) => {
            serde_json::from_str(&reply).map_err(|error| unreadable(machine, phase, stage, &error))
        }
        Err(error) => Err(typed(machine, phase, stage, error)),
    }
}

/// The reply of a phase as its type.
pub(super) fn read<T: serde::de::DeserializeOwned>(
    machine: &Machine,
    phase: StagePhase,
    stage: &str,
    reply: Value,
) -> Result<T> {
    serde_json::from_value(reply).map_err(|error| unreadable(machine, phase, stage, &error))
}

/// `ExtensionHost/LifecycleFailure`: a phase of a stage failed.
pub(super) fn failure(
    machine: &Machine,
    phase: StagePhase,
    stage: &str,
    message: impl Into<String>,
) -> Error {
    let code = &codes::LIFECYCLE_FAILURE;
    Error::new(code.class, code.name, message)
        .with("extId", machine.id())
        .with("phase", phase.as_str())
        .with("stageId", stage)
}

fn unreadable(
    machine: &Machine,
    phase: StagePhase,
    stage: &str,
    error: &serde_json::Error,
) -> Error {
    let message = format!(
        "what `{}` returned from the phase `{phase}` of the stage `{stage}` cannot be read: {error}",
        machine.id()
    );
    failure(machine, phase, stage, message)
}

/// An error with a class of the host, of validation or of a cancellation is the machine's own; anything else is a phase
/// that failed.
fn typed(machine: &Machine, phase: StagePhase, stage: &str, error: Error) -> Error {
    let own = [Class::Validation, Class::Cancellation, Class::ExtensionHost];
    let panicked = error.is(codes::CALL_PANICKED.class, codes::CALL_PANICKED.name);
    if own.iter().any(|class| class.as_str() == error.class()) && !panicked {
        return error
            .with("extId", machine.id())
            .with("phase", phase.as_str())
            .with("stageId", stage);
    }
    let message = format!(
        "the phase `{phase}` of the stage `{stage}` failed: {}",
        error.message()
    );
    failure(machine, phase, stage, message)
        .with("cause", format!("{}/{}", error.class(), error.code()))
}
