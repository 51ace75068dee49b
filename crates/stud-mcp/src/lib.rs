//! Speaks the Model Context Protocol for `stud-core`, on the crate `rmcp`.
//!
//! Core has no runtime. This crate has one, on a thread of its own that the first connection starts: a session without
//! servers pays nothing for it.
#![forbid(unsafe_code)]

mod bounded; // Lines with a limit on their length.
mod convert; // From the protocol's types to core's.
mod handler; // What stud answers to a server's requests.
mod http; // Servers over streamable HTTP.
mod process; // A server's process and all its children.
mod runtime; // One runtime for all connections.
mod link; // An open connection.

use std::sync::Arc;

use rmcp::ServiceError;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, serve_client_with_lifecycle};
use stud_core::mcp::{Connection, ConnectionError, Connector, Reach, ServerAddress, Watch};
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
        target: ServerAddress,
        watch: Arc<dyn Watch>,
    ) -> BoxFuture<'_, Result<Arc<dyn Connection>, ConnectionError>> {
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
    target: ServerAddress,
    process: Option<Process>,
    watch: Arc<dyn Watch>,
    runtime: Arc<Runtime>,
) -> Result<Link, ConnectionError> {
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
                Err(error) => {
                    return Err(ConnectionError::Lost(
                        process.explain(&refusal(&error)).await,
                    ));
                }
            }
        }
        (Reach::Process { .. }, None) => {
            return Err(ConnectionError::Lost("it was not started".to_owned()));
        }
    };
    let (running, process) = begun.map_err(|error| ConnectionError::Lost(refusal(&error)))?;
    Ok(Link::new(running, process, watch, runtime))
}

/// Both eras of the protocol: `server/discover` first, and `initialize` for a server that does not know it.
fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

/// Why a server could not be talked to, in a few words: its full response is not repeated.
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
fn trouble(error: ServiceError) -> ConnectionError {
    match error {
        ServiceError::McpError(error) => ConnectionError::Refused(error.message.into_owned()),
        ServiceError::TransportSend(error) => ConnectionError::Lost(error.error.to_string()),
        ServiceError::TransportClosed => {
            ConnectionError::Lost("it closed the connection".to_owned())
        }
        ServiceError::UnexpectedResponse => {
            ConnectionError::Refused("it answers with something else than was asked for".to_owned())
        }
        ServiceError::Cancelled { .. } => {
            ConnectionError::Refused("it called the request off".to_owned())
        }
        error => ConnectionError::Refused(error.to_string()),
    }
}
