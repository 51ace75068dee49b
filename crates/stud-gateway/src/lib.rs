//! Sessions over WebSocket: many sessions in one process, and any number of clients for each.
//!
//! A session is written by core alone. A client sees it as a stream of numbered events that are made from its transcript
//! (`chat_event`), so a client that reconnects names the last event it has and misses nothing. Prompts are answered
//! through one interactor for each session, behind which its clients stand (`web_interactor`): the first answer wins,
//! as everywhere in stud.
//!
//! `docs/reference/gateway.md` describes every frame.
#![forbid(unsafe_code)]

mod refusal;
mod access; // The token, hosts and origins.
mod frame; // Reading what clients send.
mod chat_event; // From records of the transcript to events.
mod event_log; // The events of a session, from memory or from the store.
mod web_interactor; // The prompts of a session.
mod live_session; // A session that runs here.
mod answers; // Checking answers to prompts.
mod hosting; // All sessions of the server.
mod files; // Completing names of files.
mod connection; // One client.
mod page; // The files of the page.
mod server; // Listening, and what is served under which path.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use stud_core::plugin_scope::Scope;
use stud_core::settings::{InteractionSettings, ServeSettings, Settings};
use stud_diagnostics::{Diagnostic, codes};

pub use hosting::{Ground, Hosting};

use access::{Access, Token};
use server::Server;

/// How to serve.
#[derive(Debug)]
pub struct Options {
    /// The address to listen at; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// The file that holds the token; a new token for this run without one.
    pub token_file: Option<PathBuf>,
    /// The certificate chain and its key, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
}

/// A server that listens.
#[derive(Debug)]
pub struct Listening {
    /// The address of the page.
    pub address: String,
    /// The token, for those who may know it.
    pub token: String,
    /// Opens the page once in place of the token.
    pub ticket: String,
    /// The sessions, for other ways to reach them.
    pub hosting: Arc<Hosting>,
}

/// Serves until the process is asked to end. `listening` is called once clients can connect, and what it gives is kept
/// until the server ends.
pub fn serve<T>(
    options: Options,
    ground: Ground,
    listening: impl FnOnce(&Listening) -> Result<T, Diagnostic>,
) -> Result<(), Diagnostic> {
    let mut settings = Settings::default();
    // A project has no say in who may reach the server.
    settings.layer(Scope::Global, &ground.places.global_root)?;
    let allowed_hosts = ServeSettings::of(&settings).allowed_hosts.value;
    let allowed_hosts: Vec<String> = allowed_hosts.into_iter().map(str::to_owned).collect();
    check_exposure(&options, &allowed_hosts)?;
    let token = match &options.token_file {
        Some(path) => Token::in_file(path)?,
        None => Token::fresh()?,
    };
    let cancel_on_text = InteractionSettings::of(&settings).cancel_on_text.value;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_name("stud-serve")
        .max_blocking_threads(1024)
        .enable_all()
        .build()
        .map_err(|error| startup(format!("no runtime can be started: {error}")))?;
    runtime.block_on(async {
        let tls = match &options.tls {
            Some((certificate, key)) => Some(server::tls(certificate, key)?),
            None => None,
        };
        let listener = server::bind(options.listen).await?;
        let local = listener
            .local_addr()
            .map_err(|error| startup(format!("the address is not known: {error}")))?;
        let ticket = Token::fresh()?;
        let access = Access {
            token: token.clone(),
            allowed_hosts,
            cookie: format!("stud-{}", local.port()),
            ticket: Mutex::new(Some(ticket.clone())),
        };
        let hosting = Hosting::new(ground, cancel_on_text);
        let scheme = if tls.is_some() { "https" } else { "http" };
        let kept = listening(&Listening {
            address: format!("{scheme}://{local}"),
            token: token.text().to_owned(),
            ticket: ticket.text().to_owned(),
            hosting: hosting.clone(),
        })?;
        let served = Server::new(access, hosting, tls).run(listener).await;
        drop(kept);
        served
    })
}

/// Beyond loopback, what is sent has to be encrypted, and the names of the server have to be known.
fn check_exposure(options: &Options, allowed_hosts: &[String]) -> Result<(), Diagnostic> {
    if options.listen.ip().is_loopback() {
        return Ok(());
    }
    let refuse = |what: &str, help: &str| {
        let message = format!(
            "`{}` can be reached from other machines, and {what}",
            options.listen
        );
        Err(Diagnostic::error(&codes::LISTEN_ADDRESS_REFUSED, message)
            .with("listen", options.listen.to_string())
            .help(help.to_owned()))
    };
    if options.tls.is_none() {
        return refuse(
            "without TLS everyone on the way could read the token",
            "give `--tls-cert` and `--tls-key`, or listen at 127.0.0.1 and put a proxy with TLS in front",
        );
    }
    if allowed_hosts.is_empty() {
        return refuse(
            "no setting says under which names it may be called",
            "list them in settings.json as `serve.allowedHosts`",
        );
    }
    Ok(())
}

fn startup(message: String) -> Diagnostic {
    Diagnostic::error(&codes::STARTUP_FAILURE, message)
}
