//! Servers that are reached over streamable HTTP.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, redirect, retry};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use secrecy::{ExposeSecret as _, SecretString};
use stud_core::mcp::ConnectionError;

use crate::bounded::LONGEST;
use crate::correlated::Correlated;

/// An address that does not answer at all is given up after this long.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn transport(
    url: &str,
    headers: &BTreeMap<String, SecretString>,
) -> Result<StreamableHttpClientTransport<Correlated>, ConnectionError> {
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(parse(headers)?)
        .max_sse_event_size(LONGEST);
    let client = Correlated::new(client(url)?);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

fn parse(
    headers: &BTreeMap<String, SecretString>,
) -> Result<HashMap<HeaderName, HeaderValue>, ConnectionError> {
    let mut parsed = HashMap::new();
    for (name, value) in headers {
        let wrong =
            |what| ConnectionError::Lost(format!("the {what} of the header `{name}` is none"));
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("name"))?;
        let mut value = HeaderValue::from_str(value.expose_secret()).map_err(|_| wrong("value"))?;
        value.set_sensitive(true);
        parsed.insert(header, value);
    }
    Ok(parsed)
}

/// Follows no redirect: a server that was trusted at one address is another one at another.
pub(crate) fn client(url: &str) -> Result<Client, ConnectionError> {
    let unusable =
        |error: String| ConnectionError::Lost(format!("no HTTP client can be made: {error}"));
    let is_secure = url.starts_with("https:");
    let tls = tls(is_secure).map_err(|error| unusable(error.to_string()))?;
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .user_agent(concat!("stud/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_max_idle_per_host(0);
    let builder = if is_loopback(url) {
        builder.no_proxy()
    } else {
        builder
    };
    builder.build().map_err(|error| unusable(error.to_string()))
}

fn is_loopback(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    host == "localhost" || host == "[::1]" || host.starts_with("127.")
}

/// Only what is secure needs to know whom to believe.
fn tls(is_secure: bool) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = if is_secure {
        config.with_platform_verifier()?
    } else {
        config.with_root_certificates(RootCertStore::empty())
    };
    Ok(config.with_no_client_auth())
}
