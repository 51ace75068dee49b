//! Where a backend is, and how long it may be silent.

use std::time::Duration;

use reqwest::Url;
use stud_sdk::Result;

use crate::code::violation;
use crate::http_runtime::Route;
use crate::key::KeyReference;

/// Models that think before they speak may be silent for minutes.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

/// A backend.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Without a slash at its end.
    pub(crate) base: String,
    /// For people.
    pub(crate) host: String,
    pub(crate) route: Route,
    /// How long the backend may be silent.
    pub(crate) timeout: Duration,
    pub(crate) key: Option<KeyReference>,
}

impl Endpoint {
    /// The backend at an address.
    ///
    /// Fails with `Validation/ConfigSchemaViolation` if the address is none, or holds a name and a password.
    pub fn new(base: &str, key: Option<KeyReference>, timeout_ms: Option<u64>) -> Result<Self> {
        let wrong = |why: &str| violation("/baseURL", format!("`baseURL` {why}"));
        let url =
            Url::parse(base).map_err(|error| wrong(&format!("is not an address: {error}")))?;
        let is_secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(wrong("begins with neither `http://` nor `https://`")),
        };
        let Some(host) = url.host_str().filter(|host| !host.is_empty()) else {
            return Err(wrong("names no host"));
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "contains a secret; refer to the key with `apiKeyRef` instead",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong(
                "has a query or a fragment; leave out everything from `?` or `#` on",
            ));
        }
        let route = match is_secure {
            true => Route::Secure,
            false if is_loopback(&url) => Route::Loopback,
            false => Route::Plain,
        };
        Ok(Self {
            base: url.as_str().trim_end_matches('/').to_owned(),
            host: host.to_owned(),
            route,
            timeout: timeout_ms.map_or(DEFAULT_TIMEOUT, Duration::from_millis),
            key,
        })
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_name = host == "localhost" || host.ends_with(".localhost");
    is_name
        || address
            .parse()
            .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// The address that a config names under one of its two spellings.
pub fn base_url(upper: Option<String>, lower: Option<String>) -> Result<Option<String>> {
    match (upper, lower) {
        (Some(upper), Some(lower)) if upper != lower => Err(violation(
            "/baseUrl",
            "`baseURL` and `baseUrl` name two addresses; leave one out",
        )),
        (upper, lower) => Ok(upper.or(lower)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_route() {
        for (base, route) in [
            ("http://127.0.0.1:8080/v1", Route::Loopback),
            ("http://[::1]:8080", Route::Loopback),
            ("http://localhost:11434/v1/", Route::Loopback),
            ("http://192.168.0.7/v1", Route::Plain),
            ("https://localhost/v1", Route::Secure),
            ("HTTPS://api.example.com", Route::Secure),
        ] {
            assert_eq!(
                Endpoint::new(base, None, None).unwrap().route,
                route,
                "{base}"
            );
        }
        let endpoint = Endpoint::new("http://localhost:11434/v1//", None, Some(7)).unwrap();
        assert_eq!(endpoint.base, "http://localhost:11434/v1");
        assert_eq!(endpoint.timeout, Duration::from_millis(7));
    }

    #[test]
    fn what_is_no_address_is_refused_and_no_secret_repeated() {
        for wrong in [
            "",
            "api.example.com",
            "ftp://example.com",
            "http://",
            "https://user:canary@example.com",
            "https://canary@example.com",
            "https://example.com?key=canary",
            "https://example.com/#x",
        ] {
            let error = Endpoint::new(wrong, None, None).unwrap_err();
            assert_eq!(error.context()["fieldPath"], "/baseURL", "{wrong}");
            assert!(!error.message().contains("canary"), "{error}");
        }
    }

    #[test]
    fn two_spellings_and_one_address() {
        let given = |upper: Option<&str>, lower: Option<&str>| {
            base_url(upper.map(str::to_owned), lower.map(str::to_owned))
        };
        assert_eq!(given(None, None), Ok(None));
        assert_eq!(given(Some("a"), None), Ok(Some("a".to_owned())));
        assert_eq!(given(None, Some("b")), Ok(Some("b".to_owned())));
        assert_eq!(given(Some("a"), Some("a")), Ok(Some("a".to_owned())));
        assert!(given(Some("a"), Some("b")).is_err());
    }
}
