use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use stud_abi::CancellationToken;
use stud_diagnostics::Class;
use stud_host_api::{CallIds, Host, HostApi};

use super::*;

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

/// A store without a journal.
struct Plain;

impl SessionStore for Plain {
    async fn read(&self, _session_id: &str, _cx: &Cx) -> Result<Stored> {
        unreachable!()
    }

    async fn write(&self, _stored: Stored, _cx: &Cx) -> Result<()> {
        unreachable!()
    }

    async fn list(&self, _cx: &Cx) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

#[test]
fn a_store_need_not_journal() {
    let errors = [
        now(Plain.append("s1", JournalBatch::default(), &cx())).unwrap_err(),
        now(Plain.read_journal("s1", Page::default(), &cx())).unwrap_err(),
    ];
    for (error, operation) in errors.iter().zip(["append", "readJournal"]) {
        assert!(error.is(Class::ExtensionHost, "NotImplemented"), "{error}");
        assert_eq!(error.context()["operation"], operation);
    }
    assert_eq!(now(Plain.list(&cx())), Ok(Vec::new()));
}
