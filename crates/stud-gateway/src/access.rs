//! Who may speak to the server: the token, and the hosts and origins under which it may be called.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use stud_diagnostics::{Diagnostic, codes};

/// The fewest characters of a token that is given in a file.
const SHORTEST_TOKEN: usize = 16;

/// What a client has to know.
#[derive(Clone)]
pub(crate) struct Token {
    text: String,
    digest: [u8; 32],
}

impl Token {
    /// A new one.
    pub(crate) fn fresh() -> Result<Self, Diagnostic> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| {
            let message = format!("the system gives no random bytes for a token: {error}");
            Diagnostic::error(&codes::STARTUP_FAILURE, message)
        })?;
        Ok(Self::of(HEXLOWER.encode(&bytes)))
    }

    fn of(text: String) -> Self {
        let digest = digest(&text);
        Self { text, digest }
    }

    /// The token in a file, which is written if there is none.
    pub(crate) fn in_file(path: &Path) -> Result<Self, Diagnostic> {
        let fail = |what: String| {
            Diagnostic::error(&codes::STARTUP_FAILURE, what)
                .with("tokenFile", path.display().to_string())
        };
        match fs::File::open(path) {
            Ok(mut file) => {
                if is_readable_by_others(&file) {
                    let message = format!("others may read the token in `{}`", path.display());
                    return Err(fail(message).help("`chmod 600` the file"));
                }
                let mut text = String::new();
                file.read_to_string(&mut text)
                    .map_err(|error| fail(format!("the token file cannot be read: {error}")))?;
                let text = text.trim();
                let is_token = text.bytes().all(|byte| byte.is_ascii_graphic());
                if text.len() < SHORTEST_TOKEN || !is_token {
                    let message = format!(
                        "the token in `{}` has fewer than {SHORTEST_TOKEN} characters, or others than \
                         letters, digits and signs",
                        path.display()
                    );
                    return Err(fail(message).help("remove the file, and stud writes a new one"));
                }
                Ok(Self::of(text.to_owned()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let token = Self::fresh()?;
                let written = create_private(path)
                    .and_then(|mut file| file.write_all(format!("{}\n", token.text).as_bytes()));
                written
                    .map_err(|error| fail(format!("the token file cannot be written: {error}")))?;
                Ok(token)
            }
            Err(error) => Err(fail(format!("the token file cannot be opened: {error}"))),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether this is the token. How long it takes says nothing about how much of it is right.
    pub(crate) fn is(&self, given: &str) -> bool {
        let given = digest(given);
        let differences = self.digest.iter().zip(given);
        differences.fold(0, |all, (one, other)| all | (one ^ other)) == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(unix)]
fn is_readable_by_others(file: &fs::File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata()
        .map_or(true, |metadata| metadata.mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_others(_: &fs::File) -> bool {
    false
}

fn create_private(path: &Path) -> std::io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Why a request is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// It calls the server by a name that it does not go by, as a page does whose name was made to lead here.
    Host,
    /// It comes from a page of another server.
    Origin,
    /// It does not know the token.
    Token,
}

/// Under which conditions requests are served.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) token: Token,
    /// The names besides loopback, as the settings list them.
    pub(crate) allowed_hosts: Vec<String>,
    /// The cookie that holds the token.
    pub(crate) cookie: String,
    /// Stands for the token once, in the address that a browser is started with: others may see that.
    pub(crate) ticket: Mutex<Option<Token>>,
}

impl Access {
    /// Checks the names a request uses. They are checked before the token, so that nothing is learned about that.
    pub(crate) fn check_names(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Denied> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| uri.authority().map(Authority::as_str));
        let host = host.ok_or(Denied::Host)?.to_ascii_lowercase();
        if headers.get_all(HOST).iter().count() > 1 || !self.is_allowed(&host) {
            return Err(Denied::Host);
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None) => {
                let origin = origin.to_str().map_err(|_| Denied::Origin)?;
                is_same(&origin.to_ascii_lowercase(), &host)
                    .then_some(())
                    .ok_or(Denied::Origin)
            }
            (Some(_), Some(_)) => Err(Denied::Origin),
        }
    }

    /// Checks the token, wherever the request has it.
    pub(crate) fn check_token(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Denied> {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        let cookies = headers.get_all(COOKIE).iter();
        let cookies = cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == self.cookie)
            .map(|(_, token)| token);
        let mut given = bearer.into_iter().chain(query_token(uri)).chain(cookies);
        given
            .any(|given| self.token.is(given))
            .then_some(())
            .ok_or(Denied::Token)
    }

    /// Takes the ticket, if this is it. It is good for one use.
    pub(crate) fn take_ticket(&self, given: &str) -> bool {
        let mut ticket = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        ticket.take_if(|ticket| ticket.is(given)).is_some()
    }

    fn is_allowed(&self, host: &str) -> bool {
        let (name, _) = split_port(host);
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = bare == "localhost"
            || bare
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        is_loopback
            || self.allowed_hosts.iter().any(|allowed| {
                allowed.eq_ignore_ascii_case(name) || allowed.eq_ignore_ascii_case(host)
            })
    }
}

/// The token in the query of an address.
pub(crate) fn query_token(uri: &Uri) -> Option<&str> {
    let mut pairs = uri.query()?.split('&');
    pairs.find_map(|pair| pair.strip_prefix("token="))
}

/// Whether an origin is the one of the server itself, behind whichever proxy.
fn is_same(origin: &str, host: &str) -> bool {
    let (authority, default) = match origin.split_once("://") {
        Some(("http", authority)) => (authority, "80"),
        Some(("https", authority)) => (authority, "443"),
        _ => return false,
    };
    let (origin_name, origin_port) = split_port(authority);
    let (host_name, host_port) = split_port(host);
    origin_name == host_name && origin_port.unwrap_or(default) == host_port.unwrap_or(default)
}

/// A host and its port. The brackets of an IPv6 address stay.
fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port))
            if !name.is_empty()
                && !port.is_empty()
                && port.bytes().all(|byte| byte.is_ascii_digit())
                && (!name.contains(':') || name.ends_with(']')) =>
        {
            (name, Some(port))
        }
        _ => (host, None),
    }
}

#[cfg(test)]
mod tests;
