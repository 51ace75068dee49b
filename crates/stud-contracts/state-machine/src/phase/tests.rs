use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use serde_json::json;
use stud_abi::CancellationToken;
use stud_diagnostics::Class;
use stud_host_api::{CallIds, Host, HostApi};

use super::*;
use crate::context::Attempt;
use crate::outcome::NextResult;

/// A host for calls that ask nothing of it.
struct NoHost;

impl HostApi for NoHost {
    fn env(&self) -> &dyn stud_host_api::env::EnvReader {
        unreachable!()
    }
    fn config(&self) -> &dyn stud_host_api::config::ConfigReader {
        unreachable!()
    }
    fn events(&self) -> &dyn stud_host_api::events::EventPublisher {
        unreachable!()
    }
    fn audit(&self) -> &dyn stud_host_api::audit::AuditLogger {
        unreachable!()
    }
    fn interaction(&self) -> &dyn stud_host_api::interaction::InteractionRequester {
        unreachable!()
    }
    fn cancellation(&self) -> &dyn stud_host_api::cancellation::CancellationFactory {
        unreachable!()
    }
    fn session(&self) -> &dyn stud_host_api::session::SessionAccessor {
        unreachable!()
    }
    fn workspace(&self) -> &dyn stud_host_api::workspace::WorkspaceInfo {
        unreachable!()
    }
    fn prompt(&self) -> &dyn stud_host_api::prompt::PromptReader {
        unreachable!()
    }
    fn resource(&self) -> &dyn stud_host_api::resource::ResourceReader {
        unreachable!()
    }
    fn context(&self) -> &dyn stud_host_api::context::ContextContributor {
        unreachable!()
    }
    fn commands(&self) -> &dyn stud_host_api::commands::CommandSurface {
        unreachable!()
    }
    fn metrics(&self) -> &dyn stud_host_api::metrics::RuntimeReader {
        unreachable!()
    }
}

fn cx() -> Cx {
    Cx::new(
        Host::new(Arc::new(NoHost)),
        CancellationToken::never(),
        CallIds::default(),
    )
}

/// The result of a future that does not wait.
fn now<T>(future: impl Future<Output = T>) -> T {
    let future = pin!(future);
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("it waits"),
    }
}

/// Only what has to be written.
struct Plain;

impl StateMachine for Plain {
    async fn next(&self, stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
        Ok(NextResult::to(format!("after-{stage}")))
    }
}

fn run(subject: &str, context: StageContext) -> Result<Value> {
    let input = PhaseInput {
        stage: "plan".to_owned(),
        context,
    };
    now(run_phase(&Plain, subject, input, &cx()))
}

#[test]
fn phases_keep_their_names() {
    for phase in StagePhase::ALL {
        assert_eq!(serde_json::to_value(phase).unwrap(), phase.as_str());
        assert_eq!(StagePhase::parse(phase.as_str()), Some(phase));
    }
    for other in ["init", "act", "Setup", ""] {
        assert_eq!(StagePhase::parse(other), None, "{other}");
    }
}

#[test]
fn the_input_keeps_its_names() {
    let json = json!({"stage": "plan", "context": {"goal": "ship it"}});
    let input: PhaseInput = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(input.stage, "plan");
    assert_eq!(serde_json::to_value(input).unwrap(), json);
}

#[test]
fn every_phase_answers_in_its_own_shape() {
    let mut context = StageContext::default();
    context.set("goal", "ship it");
    for (subject, reply) in [
        ("setup", json!({"goal": "ship it"})),
        ("checkGate", json!("proceed")),
        ("assert", json!("ok")),
        ("exit", json!(null)),
        (
            "next",
            json!({"nextStages": ["after-plan"], "execution": "sequential"}),
        ),
    ] {
        assert_eq!(run(subject, context.clone()), Ok(reply), "{subject}");
    }
}

#[test]
fn an_attempt_that_ran_out_of_turns_is_tried_again() {
    let context = StageContext {
        attempts: vec![Attempt {
            cap_hit: true,
            ..Attempt::default()
        }],
        ..StageContext::default()
    };
    assert_eq!(run("assert", context), Ok(json!("retry")));
}

#[test]
fn core_keeps_its_own_phases() {
    for subject in ["init", "act"] {
        let error = run(subject, StageContext::default()).unwrap_err();
        assert!(error.is(Class::ExtensionHost, "NotImplemented"), "{error}");
        assert_eq!(error.context()["phase"], subject);
    }
}
