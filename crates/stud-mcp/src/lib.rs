//! Speaks the Model Context Protocol for `stud-core`, on the crate `rmcp`.
//!
//! Core has no runtime. This crate has one, on a thread of its own that the first connection starts: a session without
//! servers pays nothing for it.
#![forbid(unsafe_code)]

mod bounded; // Lines with a limit on their length.
mod convert; // From the protocol's types to core's.
mod handler; // What stud answers to a server's requests.
mod correlated; // HTTP responses, each matched with its request.
mod http; // Servers over streamable HTTP.
mod process; // A server's process and all its children.
mod runtime; // One runtime for all connections.
mod link; // An open connection.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

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
pub struct Client {
    runtime: Arc<Runtime>,
    /// The servers whose last connection began with `initialize` because they did not take `server/discover`.
    legacy: Mutex<BTreeSet<String>>,
}

impl Connector for Client {
    fn connect(
        &self,
        target: ServerAddress,
        watch: Arc<dyn Watch>,
    ) -> BoxFuture<'_, Result<Arc<dyn Connection>, ConnectionError>> {
        Box::pin(async move {
            let server_id = target.server_id.clone();
            if !self.legacy().remove(&server_id) {
                match self.attempt(&target, &watch, Opening::BothEras).await {
                    Ok(link) => return Ok(Arc::new(link) as Arc<dyn Connection>),
                    Err(Unopened::Final(error)) => return Err(error),
                    Err(Unopened::PerhapsLegacy) => {}
                }
            }
            // What `server/discover` has done to a server that does not know it is not known either, so this is a
            // connection of its own.
            match self.attempt(&target, &watch, Opening::Initialize).await {
                Ok(link) => {
                    self.legacy().insert(server_id);
                    Ok(Arc::new(link) as Arc<dyn Connection>)
                }
                Err(Unopened::Final(error)) => Err(error),
                Err(Unopened::PerhapsLegacy) => Err(ConnectionError::Lost(
                    "it answers neither `server/discover` nor `initialize`".to_owned(),
                )),
            }
        })
    }
}

/// How a conversation with a server begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// With `server/discover`, and with `initialize` for a server that says that it does not know it.
    BothEras,
    /// With `initialize`.
    Initialize,
}

/// Why there is no connection.
enum Unopened {
    /// A connection that begins with `initialize` may come to more.
    PerhapsLegacy,
    /// There is none to be had.
    Final(ConnectionError),
}

impl From<ConnectionError> for Unopened {
    fn from(error: ConnectionError) -> Self {
        Self::Final(error)
    }
}

impl Client {
    fn legacy(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.legacy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects once. Dropping the future ends whatever was begun.
    async fn attempt(
        &self,
        target: &ServerAddress,
        watch: &Arc<dyn Watch>,
        opening: Opening,
    ) -> Result<Link, Unopened> {
        let runtime = self.runtime.clone();
        // Started here and not inside the task, so that dropping this future ends it at once.
        let process = match &target.reach {
            Reach::Process { .. } => Some(runtime.enter(|| Process::start(&target.reach))??),
            Reach::Http { .. } => None,
        };
        let ends_with_us = process.as_ref().map(Process::leash);
        let connecting = connect(
            target.reach.clone(),
            process,
            watch.clone(),
            runtime.clone(),
            opening,
        );
        // A server that says nothing leaves time for the other attempt.
        let limit = target.timeout / 2;
        let connected = runtime.run(async move {
            match opening {
                Opening::BothEras => tokio::time::timeout(limit, connecting)
                    .await
                    .unwrap_or(Err(Unopened::PerhapsLegacy)),
                Opening::Initialize => connecting.await,
            }
        });
        let link = connected.await??;
        if let Some(leash) = ends_with_us {
            leash.let_go();
        }
        Ok(link)
    }
}

async fn connect(
    reach: Reach,
    process: Option<Process>,
    watch: Arc<dyn Watch>,
    runtime: Arc<Runtime>,
    opening: Opening,
) -> Result<Link, Unopened> {
    let handler = Handler::new(watch.clone());
    let begun = match (&reach, process) {
        (Reach::Http { url, headers }, _) => {
            let transport = http::transport(url, headers)?;
            let begun = serve_client_with_lifecycle(handler, transport, opening.lifecycle()).await;
            begun.map(|running| (running, None))
        }
        (Reach::Process { .. }, Some(mut process)) => {
            let transport = process.transport()?;
            let begun = serve_client_with_lifecycle(handler, transport, opening.lifecycle()).await;
            match begun {
                Ok(running) => Ok((running, Some(process))),
                Err(error) if opening.may_be_legacy(&error) => {
                    return Err(Unopened::PerhapsLegacy);
                }
                Err(error) => {
                    let why = process.explain(&refusal(&error)).await;
                    return Err(Unopened::Final(ConnectionError::Lost(why)));
                }
            }
        }
        (Reach::Process { .. }, None) => {
            let why = "it was not started".to_owned();
            return Err(Unopened::Final(ConnectionError::Lost(why)));
        }
    };
    match begun {
        Ok((running, process)) => Ok(Link::new(running, process, watch, runtime)),
        Err(error) if opening.may_be_legacy(&error) => Err(Unopened::PerhapsLegacy),
        Err(error) => Err(Unopened::Final(ConnectionError::Lost(refusal(&error)))),
    }
}

impl Opening {
    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::BothEras => ClientLifecycleMode::Auto {
                preferred_versions: vec![
                    ProtocolVersion::V_2026_07_28,
                    ProtocolVersion::V_2025_11_25,
                ],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
            Self::Initialize => ClientLifecycleMode::Initialize,
        }
    }

    /// Whether a server that failed like this may take `initialize` as its first word: it ended, or answered with
    /// anything but what the newer era knows.
    fn may_be_legacy(self, error: &ClientInitializeError) -> bool {
        if self == Self::Initialize || error.is_authorization_required() {
            return false;
        }
        match error {
            ClientInitializeError::Cancelled => false,
            // It was asked with `initialize` too. Its own no is final, anything else may come of the first question.
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
                !matches!(**fallback, ClientInitializeError::JsonRpcError(_))
            }
            _ => true,
        }
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
