//! One thread with one runtime, and the clients whose connections are kept.
//!
//! All providers of a library share them. Nothing is here before the first request.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use reqwest::{Client, redirect, retry};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;

use crate::failure::Failure;

/// An address that does not answer at all is given up after this long.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// An idle connection is closed after this time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// How a backend is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// On this machine, and so never through a proxy.
    Loopback,
    /// Over a network, in the clear.
    Plain,
    /// Over TLS.
    Secure,
}

/// The client for a route, made when it is first needed: only that for TLS reads the roots of trust.
pub(crate) fn client(route: Route) -> Result<Client, Failure> {
    static CLIENTS: [OnceLock<Client>; 3] = [const { OnceLock::new() }; 3];
    let slot = &CLIENTS[route as usize];
    if let Some(client) = slot.get() {
        return Ok(client.clone());
    }
    let made = build(route)?;
    Ok(slot.get_or_init(|| made).clone())
}

fn build(route: Route) -> Result<Client, Failure> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls(route)?)
        .http1_only()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .user_agent(concat!("stud/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT);
    let builder = match route {
        Route::Loopback => builder.no_proxy(),
        Route::Plain | Route::Secure => builder,
    };
    builder
        .build()
        .map_err(|error| Failure::network("no HTTP client can be made").said(error.to_string()))
}

fn tls(route: Route) -> Result<ClientConfig, Failure> {
    let unusable = |error: rustls::Error| {
        let why =
            "no `https` connection can be made, because the system's certificates cannot be used";
        Failure::network(why).said(error.to_string())
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let config = match route {
        Route::Secure => config.with_platform_verifier().map_err(unusable)?,
        // Without certificates: it is used for plain connections only.
        Route::Loopback | Route::Plain => config.with_root_certificates(RootCertStore::empty()),
    };
    Ok(config.with_no_client_auth())
}

/// Work on the runtime. Dropping it ends the work where it waits.
#[derive(Debug)]
pub(crate) struct Task<T>(JoinHandle<T>);

impl<T> Task<T> {
    /// What came of it; nothing if it was ended. A panic continues here, where the boundary catches it.
    pub(crate) async fn result(mut self) -> Option<T> {
        match (&mut self.0).await {
            Ok(result) => Some(result),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => None,
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Begins work on the runtime, which is started if there is none yet.
pub(crate) fn begin<F>(work: F) -> Result<Task<F::Output>, Failure>
where
    F: Future<Output: Send> + Send + 'static,
{
    Ok(Task(runtime()?.spawn(work)))
}

fn runtime() -> Result<Handle, Failure> {
    static RUNTIME: Mutex<Option<Handle>> = Mutex::new(None);
    let mut running = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(handle) = &*running {
        return Ok(handle.clone());
    }
    let refused = |error: std::io::Error| {
        Failure::network("the system does not let the network be used").said(error.to_string())
    };
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(refused)?;
    let handle = runtime.handle().clone();
    thread::Builder::new()
        .name("model-http".to_owned())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))
        .map_err(refused)?;
    *running = Some(handle.clone());
    Ok(handle)
}
