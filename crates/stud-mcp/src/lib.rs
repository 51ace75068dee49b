//! Speaks the Model Context Protocol for `stud-core`, on the crate `rmcp`.
//!
//! Core has no runtime. This crate has one, on a thread of its own that the first connection starts: a session without
//! servers pays nothing for it.
#![forbid(unsafe_code)]

mod bounded;
mod convert;
mod handler;
mod http;
mod link;
mod process;
mod runtime;

use std::sync::Arc;

use rmcp::ServiceError;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, serve_client_with_lifecycle};
use stud_core::mcp::{Connection, Connector, Reach, Target, Trouble, Watch};
use stud_host_api::BoxFuture;

use handler::Handler;
use link::Link;
use process::Process;
use runtime::Runtime;

/// The client that `stud` hands to core. Nothing is started before it is used.
#[derive(Debug, Default)]
pub struct Client(Arc<Runtime>);

impl Connector for Client {
    fn connect(
        &self,
        target: Target,
        watch: Arc<dyn Watch>,
    ) -> BoxFuture<'_, Result<Arc<dyn Connection>, Trouble>> {
        Box::pin(async move {
            let runtime = self.0.clone();
            // Started here and not inside the task, so that dropping this future ends it at once.
            let process = match &target.reach {
                Reach::Process { .. } => Some(runtime.enter(|| Process::start(&target.reach))??),
                Reach::Http { .. } => None,
            };
            let ends_with_us = process.as_ref().map(Process::leash);
            let runs = runtime.clone();
            let connected = runtime.run(async move { connect(target, process, watch, runs).await });
            let link = connected.await??;
            if let Some(leash) = ends_with_us {
                leash.let_go();
            }
            Ok(Arc::new(link) as Arc<dyn Connection>)
        })
    }
}

async fn connect(
    target: Target,
    process: Option<Process>,
    watch: Arc<dyn Watch>,
    runtime: Arc<Runtime>,
) -> Result<Link, Trouble> {
    let handler = Handler::new(watch.clone());
    let begun = match (&target.reach, process) {
        (Reach::Http { url, headers }, _) => {
            let transport = http::transport(url, headers)?;
            let begun = serve_client_with_lifecycle(handler, transport, lifecycle()).await;
            begun.map(|running| (running, None))
        }
        (Reach::Process { .. }, Some(mut process)) => {
            let transport = process.transport()?;
            let begun = serve_client_with_lifecycle(handler, transport, lifecycle()).await;
            match begun {
                Ok(running) => Ok((running, Some(process))),
                Err(error) => return Err(Trouble::Lost(process.explain(&refusal(&error)).await)),
            }
        }
        (Reach::Process { .. }, None) => {
            return Err(Trouble::Lost("it was not started".to_owned()));
        }
    };
    let (running, process) = begun.map_err(|error| Trouble::Lost(refusal(&error)))?;
    Ok(Link::new(running, process, watch, runtime))
}

/// Both eras of the protocol: `server/discover` first, and `initialize` for a server that does not know it.
fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

/// Why a server could not be talked to, in a few words: the whole of what it sent is nobody's business.
fn refusal(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => {
            "it answers with something else than was asked for".to_owned()
        }
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::JsonRpcError(error) => format!("it refuses: {}", error.message),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => refusal(fallback),
        error if error.is_authorization_required() => {
            "it wants to know who you are; put what it asks for into `headers`".to_owned()
        }
        ClientInitializeError::TransportError { error, .. } => error.error.to_string(),
        error => error.to_string(),
    }
}

/// What a failed call means for the connection.
fn trouble(error: ServiceError) -> Trouble {
    match error {
        ServiceError::McpError(error) => Trouble::Refused(error.message.into_owned()),
        ServiceError::TransportSend(error) => Trouble::Lost(error.error.to_string()),
        ServiceError::TransportClosed => Trouble::Lost("it closed the connection".to_owned()),
        ServiceError::UnexpectedResponse => {
            Trouble::Refused("it answers with something else than was asked for".to_owned())
        }
        ServiceError::Cancelled { .. } => Trouble::Refused("it called the request off".to_owned()),
        error => Trouble::Refused(error.to_string()),
    }
}
