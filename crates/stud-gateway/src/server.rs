//! Listening, and what is served under which path.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path as UrlPath, Request, State};
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, LOCATION, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode};
use axum::middleware::{self, Next};
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use stud_diagnostics::{Diagnostic, codes};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::access::{Access, Denied, query_token};
use crate::connection::Connection;
use crate::frame::LARGEST_FRAME;
use crate::hosting::Hosting;
use crate::page;

/// How many connections there may be at a time, and how many clients among them.
const CONNECTIONS: usize = 2048;
const CLIENTS: usize = 1024;

/// A frame of more than this ends the connection; one of more than [`LARGEST_FRAME`] only gets an error.
const LARGEST_MESSAGE: usize = 8 * LARGEST_FRAME;

/// How long a connection may take to say what it wants.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long running turns are waited for once the process is asked to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// What every request needs.
struct App {
    access: Access,
    hosting: Arc<Hosting>,
    secure: bool,
    clients: Arc<Semaphore>,
    shutdown: watch::Sender<bool>,
}

/// The server.
pub(crate) struct Server {
    app: Arc<App>,
    tls: Option<TlsAcceptor>,
}

/// Listens at an address.
pub(crate) async fn bind(address: SocketAddr) -> Result<TcpListener, Diagnostic> {
    TcpListener::bind(address).await.map_err(|error| {
        let message = format!("nothing can listen at {address}: {error}");
        let diagnostic = Diagnostic::error(&codes::STARTUP_FAILURE, message);
        if error.kind() == std::io::ErrorKind::AddrInUse {
            return diagnostic.help("choose another port with `--listen 127.0.0.1:0`");
        }
        diagnostic
    })
}

/// What encrypts connections.
pub(crate) fn tls(certificate: &Path, key: &Path) -> Result<TlsAcceptor, Diagnostic> {
    let fail = |what: &str, path: &Path, error: &dyn std::fmt::Display| {
        let message = format!("the {what} `{}` cannot be used: {error}", path.display());
        Diagnostic::error(&codes::STARTUP_FAILURE, message)
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| fail("certificate", certificate, &error))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| fail("key", key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| fail("certificate", certificate, &error))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| fail("certificate", certificate, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

impl Server {
    pub(crate) fn new(access: Access, hosting: Arc<Hosting>, tls: Option<TlsAcceptor>) -> Self {
        let app = Arc::new(App {
            access,
            hosting,
            secure: tls.is_some(),
            clients: Arc::new(Semaphore::new(CLIENTS)),
            shutdown: watch::Sender::new(false),
        });
        Self { app, tls }
    }

    /// Serves until the process is asked to end.
    pub(crate) async fn run(self, listener: TcpListener) -> Result<(), Diagnostic> {
        let router = router(self.app.clone());
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let mut asked = asked_to_end()?;
        let accepting = async {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    // Too many open files, mostly. Others may close theirs.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let (router, tls) = (router.clone(), self.tls.clone());
                match places.clone().try_acquire_owned() {
                    Ok(place) => {
                        tokio::spawn(async move {
                            serve_connection(stream, tls, router).await;
                            drop(place);
                        });
                    }
                    Err(_) => drop(tokio::spawn(turn_away(stream))),
                }
            }
        };
        tokio::select! {
            () = accepting => {}
            _ = asked.recv() => {}
        }
        let hosting = self.app.hosting.clone();
        let ending = hosting.close_all(PATIENCE);
        // A second request to end does not wait for turns that still run.
        tokio::select! {
            () = ending => {}
            _ = asked.recv() => hosting.close_all(Duration::ZERO).await,
        }
        self.app.shutdown.send_replace(true);
        let left = u32::try_from(CLIENTS).unwrap_or(u32::MAX);
        let said_goodbye = self.app.clients.acquire_many(left);
        let _ = timeout(Duration::from_secs(2), said_goodbye).await;
        Ok(())
    }
}

/// Gives something for each request to end.
fn asked_to_end() -> Result<tokio::sync::mpsc::UnboundedReceiver<()>, Diagnostic> {
    use tokio::signal::unix::{SignalKind, signal};
    let (asked, asking) = tokio::sync::mpsc::unbounded_channel();
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ];
    for kind in kinds {
        let mut signals = signal(kind).map_err(|error| {
            let message = format!("signals cannot be listened to: {error}");
            Diagnostic::error(&codes::STARTUP_FAILURE, message)
        })?;
        let asked = asked.clone();
        tokio::spawn(
            async move { while signals.recv().await.is_some() && asked.send(()).is_ok() {} },
        );
    }
    Ok(asking)
}

async fn serve_connection(stream: TcpStream, tls: Option<TlsAcceptor>, router: Router) {
    let _ = stream.set_nodelay(true);
    match tls {
        None => serve_http(stream, router).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await {
                serve_http(stream, router).await;
            }
        }
    }
}

async fn serve_http(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, router: Router) {
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HANDSHAKE)
        .max_buf_size(64 << 10);
    let service = TowerToHyperService::new(router);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    // A connection that breaks is its client's business.
    let _ = connection.with_upgrades().await;
}

async fn turn_away(mut stream: TcpStream) {
    let answer =
        b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let _ = timeout(Duration::from_secs(1), stream.write_all(answer)).await;
}

fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(async || page::index()))
        .route("/assets/{name}", get(serve_asset))
        .route("/ws", get(connect))
        .route("/healthz", get(health))
        .fallback(async || page::missing())
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

async fn serve_asset(UrlPath(name): UrlPath<String>) -> Response<Body> {
    page::asset(&name).unwrap_or_else(page::missing)
}

async fn health(State(app): State<Arc<App>>) -> Response<Body> {
    let body = json!({"status": "ok", "sessions": app.hosting.running().len()});
    reply(StatusCode::OK, &body)
}

async fn connect(State(app): State<Arc<App>>, upgrade: WebSocketUpgrade) -> Response<Body> {
    let Ok(place) = app.clients.clone().try_acquire_owned() else {
        return refuse(
            StatusCode::SERVICE_UNAVAILABLE,
            "too_many_clients",
            "as many clients as can be served are connected",
        );
    };
    let (hosting, shutdown) = (app.hosting.clone(), app.shutdown.subscribe());
    upgrade
        .max_message_size(LARGEST_MESSAGE)
        .max_frame_size(LARGEST_MESSAGE)
        .on_upgrade(move |socket| Connection::new(socket, hosting).serve(shutdown, place))
}

/// Checks every request before anything is served, and says in every response what a browser may do with it.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response<Body> {
    let host = request.headers().get(HOST).cloned();
    let mut response = match admit(&app, &request) {
        Ok(()) => next.run(request).await,
        Err(response) => response,
    };
    let headers = response.headers_mut();
    let mut put = |name: HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    put(X_CONTENT_TYPE_OPTIONS, "nosniff");
    put(X_FRAME_OPTIONS, "DENY");
    put(REFERRER_POLICY, "no-referrer");
    put(
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    );
    put(
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    );
    let host = host.as_ref().and_then(|host| host.to_str().ok());
    if let Ok(policy) = HeaderValue::from_str(&content_policy(host)) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Scripts, styles and connections of this server alone.
fn content_policy(host: Option<&str>) -> String {
    let is_plain = |host: &&str| {
        host.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    };
    let sockets = host
        .filter(is_plain)
        .map_or_else(String::new, |host| format!(" ws://{host} wss://{host}"));
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
         connect-src 'self'{sockets}; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
}

#[expect(clippy::result_large_err, reason = "the error is the response")]
fn admit(app: &App, request: &Request) -> Result<(), Response<Body>> {
    let (headers, uri) = (request.headers(), request.uri());
    let denied = app.access.check_names(headers, uri);
    denied.map_err(|denied| match denied {
        Denied::Host => refuse(
            StatusCode::FORBIDDEN,
            "host_forbidden",
            "the server does not go by this name; `serve.allowedHosts` lists the names besides loopback",
        ),
        Denied::Origin | Denied::Token => refuse(
            StatusCode::FORBIDDEN,
            "origin_forbidden",
            "a page of another server may not connect",
        ),
    })?;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(refuse(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "only GET is served",
        ));
    }
    if uri.path() == "/healthz" {
        return Ok(());
    }
    if uri.path() == "/" && query_token(uri).is_some_and(|given| app.access.take_ticket(given)) {
        return Err(to_clean_address(app, "/"));
    }
    if app.access.check_token(headers, uri).is_err() {
        return Err(if uri.path() == "/" {
            page::locked()
        } else {
            refuse(
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "the token is missing or wrong",
            )
        });
    }
    // The token leaves the address at once, so that it is in no history and in no Referer.
    if uri.path() != "/ws" && query_token(uri).is_some() {
        return Err(to_clean_address(app, uri.path()));
    }
    Ok(())
}

fn to_clean_address(app: &App, path: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::FOUND;
    let secure = if app.secure { "; Secure" } else { "" };
    let cookie = format!(
        "{}={}; Path=/; HttpOnly; SameSite=Strict{secure}",
        app.access.cookie,
        app.access.token.text()
    );
    let headers = response.headers_mut();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        headers.insert(SET_COOKIE, cookie);
    }
    let location = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    headers.insert(LOCATION, location);
    headers.insert(
        axum::http::header::CACHE_CONTROL,
        HeaderValue::from_static("no-store"),
    );
    response
}

fn refuse(status: StatusCode, code: &str, message: &str) -> Response<Body> {
    reply(status, &json!({"code": code, "message": message}))
}

fn reply(status: StatusCode, body: &serde_json::Value) -> Response<Body> {
    let mut response = Response::new(Body::from(format!("{body}\n")));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
