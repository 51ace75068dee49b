//! The client of a request.
//!
//! Each request has one of its own, because what it may reach is decided for its address. It keeps no connections:
//! the connection is closed once the response is complete.
//! Roots of trust are read for the first `https` address, and not before.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url, redirect, retry};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::address;
use crate::policy::Policy;

/// A client that reaches what the policy lets it reach, for one address.
pub(crate) fn client(url: &Url, policy: &Arc<Policy>) -> Result<Client, Box<dyn Error>> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls(url.scheme() == "https")?)
        .dns_resolver(Arc::new(Resolver {
            url: url.clone(),
            policy: policy.clone(),
        }))
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .user_agent(concat!("stud/", env!("CARGO_PKG_VERSION")))
        .pool_max_idle_per_host(0);
    let builder = if is_this_machine(url) {
        builder.no_proxy()
    } else {
        builder
    };
    Ok(builder.build()?)
}

/// No proxy can reach what is on this machine.
fn is_this_machine(url: &Url) -> bool {
    let host = address::host(url);
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || bare
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

fn tls(is_secure: bool) -> Result<ClientConfig, rustls::Error> {
    static SECURE: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(config) = SECURE.get().filter(|_| is_secure) {
        return Ok(config.clone());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    if !is_secure {
        // Without certificates: it is used for plain connections only.
        let config = config.with_root_certificates(RootCertStore::empty());
        return Ok(config.with_no_client_auth());
    }
    let config = config.with_platform_verifier()?.with_no_client_auth();
    Ok(SECURE.get_or_init(|| config).clone())
}

/// Looks names up, and leaves out what may not be reached under them.
struct Resolver {
    url: Url,
    policy: Arc<Policy>,
}

/// A name that stands only for addresses that may not be reached.
#[derive(Debug, thiserror::Error)]
#[error(
    "the name stands for {address}, which is not to be reached under another name or is denied"
)]
pub(crate) struct LeadsAstray {
    address: IpAddr,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (url, policy) = (self.url.clone(), self.policy.clone());
        // A proxy is looked up here too, and the person who set it up knows where it is.
        let is_asked_for = name.as_str().trim_end_matches('.') == address::host(&url);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let found: Vec<SocketAddr> = found.collect();
            let first = found.first().map(SocketAddr::ip);
            let mut admitted = found;
            if is_asked_for {
                admitted.retain(|found| policy.admits(&url, name.as_str(), found.ip()));
            }
            match first {
                Some(address) if admitted.is_empty() => Err(LeadsAstray { address }.into()),
                _ => Ok(Box::new(admitted.into_iter()) as Addrs),
            }
        })
    }
}
