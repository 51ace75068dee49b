//! Addresses that can be fetched.

use reqwest::Url;
use stud_sdk::{Error, Result};

use crate::failure;

/// The longest approval key there may be.
const LONGEST_KEY: usize = 1024;

/// An address with a host, of the web.
pub(crate) fn parse(text: &str) -> Result<Url> {
    let url = Url::parse(text).map_err(|error| invalid(text, &error.to_string()))?;
    if is_web(&url) {
        Ok(url)
    } else {
        Err(invalid(text, "only `http` and `https` can be fetched"))
    }
}

/// Whether it can be fetched.
pub(crate) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

/// The host, in the one form that names it.
pub(crate) fn host(url: &Url) -> &str {
    let host = url.host_str().unwrap_or_default();
    host.strip_suffix('.').unwrap_or(host)
}

/// The approval key of an address: its host, or the text itself if it has none.
pub(crate) fn approval_key(text: &str) -> Result<String> {
    let url = Url::parse(text).ok();
    let key = url
        .as_ref()
        .map(host)
        .filter(|host| !host.is_empty())
        .unwrap_or(text);
    if key.is_empty() || key.len() > LONGEST_KEY || key.contains(|letter: char| letter.is_control())
    {
        return Err(invalid("", "it is not an address"));
    }
    Ok(key.to_owned())
}

fn invalid(text: &str, why: &str) -> Error {
    const MOST: usize = 200;
    let shown: String = text.chars().take(MOST).collect();
    failure::invalid("/url", format!("`url` cannot be fetched: {shown}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_the_host_in_one_form() {
        for (url, key) in [
            ("https://Example.COM:8443/a?b#c", "example.com"),
            ("http://user:secret@example.com./", "example.com"),
            ("http://127.1/", "127.0.0.1"),
            ("http://[::1]:80/", "[::1]"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
            ("ftp://example.com/", "example.com"),
            ("no address", "no address"),
            ("file:///etc/passwd", "file:///etc/passwd"),
            ("https://", "https://"),
        ] {
            assert_eq!(approval_key(url).unwrap(), key, "{url}");
        }
    }

    #[test]
    fn what_cannot_be_a_key_is_refused() {
        for url in ["", "a\nb c", &"x".repeat(1025)] {
            assert_eq!(
                approval_key(url).unwrap_err().code(),
                "InputInvalid",
                "{url}"
            );
        }
    }

    #[test]
    fn only_the_web_is_fetched() {
        for url in [
            "",
            "example.com",
            "ftp://example.com/",
            "file:///etc/passwd",
            "data:,a",
            "http://",
            "http://a b/",
        ] {
            let error = parse(url).unwrap_err();
            assert_eq!(error.code(), "InputInvalid", "{url}");
            assert_eq!(error.context()["fieldPath"], "/url");
        }
        assert!(parse("HTTP://example.com").is_ok());
    }
}
