//! Fetching one page, with the redirects on the way to it.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::Arc;

use reqwest::header::{
    ACCEPT_ENCODING, AUTHORIZATION, COOKIE, HeaderMap, HeaderValue, LOCATION, PROXY_AUTHORIZATION,
};
use reqwest::{Method, Response, StatusCode, Url};
use stud_sdk::{Error, Result};

use crate::address;
use crate::client::{LeadsAstray, client};
use crate::failure;
use crate::policy::Policy;

/// How often an address may send on to another one.
const MOST_REDIRECTS: usize = 5;

/// What to fetch.
#[derive(Clone)]
pub(crate) struct Errand {
    pub(crate) url: Url,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) max_bytes: usize,
    pub(crate) policy: Arc<Policy>,
}

/// What was fetched.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) url: Url,
    pub(crate) status: StatusCode,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
    pub(crate) is_cut: bool,
}

impl Errand {
    /// Fetches the page the address leads to.
    ///
    /// Every address on the way is held to the policy. All are on the host of the first one, since that is what was
    /// approved: an approval of a public host must not lead to an address inside a private network.
    pub(crate) async fn run(mut self) -> Result<Page> {
        for _ in 0..=MOST_REDIRECTS {
            let response = self.ask().await?;
            let Some(next) = next_address(&self.url, &response)? else {
                return self.read(response).await;
            };
            self.follow(next)?;
        }
        let why = format!("it was sent on more than {MOST_REDIRECTS} times");
        Err(failure::malformed(&self.url, why))
    }

    async fn ask(&self) -> Result<Response> {
        self.policy.check(&self.url)?;
        let client = client(&self.url, &self.policy).map_err(|error| {
            failure::malformed(&self.url, format!("nothing can be fetched: {error}"))
        })?;
        let mut headers = self.headers.clone();
        // A compressed body would be no text.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let request = client
            .request(self.method.clone(), self.url.clone())
            .headers(headers);
        request
            .send()
            .await
            .map_err(|error| unanswered(&self.url, &error))
    }

    fn follow(&mut self, next: Url) -> Result<()> {
        let (here, there) = (address::host(&self.url), address::host(&next));
        if here != there {
            let why = format!(
                "`{here}` sends on to another host, `{there}`, which was not approved; fetch that address by itself"
            );
            return Err(failure::denied(&next, why).with("from", failure::shown(&self.url)));
        }
        if next.origin() != self.url.origin() {
            // Another port is another server, and what lets one in is not for the other.
            for secret in [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION] {
                self.headers.remove(secret);
            }
        }
        self.url = next;
        Ok(())
    }

    async fn read(self, mut response: Response) -> Result<Page> {
        let (status, headers) = (response.status(), readable(response.headers()));
        let mut body = Vec::new();
        let mut is_cut = false;
        while !is_cut {
            let chunk = response.chunk().await;
            let Some(chunk) = chunk.map_err(|error| unanswered(&self.url, &error))? else {
                break;
            };
            let room = self.max_bytes - body.len();
            is_cut = chunk.len() > room;
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        }
        Ok(Page {
            url: self.url,
            status,
            headers,
            body,
            is_cut,
        })
    }
}

/// Where a response sends on to; nothing for one that is the answer itself.
fn next_address(url: &Url, response: &Response) -> Result<Option<Url>> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = response.headers().get(LOCATION).filter(|_| is_redirect) else {
        return Ok(None);
    };
    let location = String::from_utf8_lossy(location.as_bytes());
    match url.join(&location) {
        Ok(next) if address::is_web(&next) => Ok(Some(next)),
        _ => {
            let why = format!("it sends on to what cannot be fetched: {location}");
            Err(failure::malformed(url, why))
        }
    }
}

/// Names in lower case; the values of one that comes several times with a comma between them.
fn readable(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut readable: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let entry = readable.entry(name.as_str().to_owned());
        entry
            .and_modify(|all| {
                all.push_str(", ");
                all.push_str(&value);
            })
            .or_insert_with(|| value.to_string());
    }
    readable
}

/// Why there is no answer, down to the cause.
fn unanswered(url: &Url, error: &reqwest::Error) -> Error {
    let mut why = "no answer could be fetched".to_owned();
    let mut cause = error.source();
    while let Some(current) = cause {
        if let Some(astray) = current.downcast_ref::<LeadsAstray>() {
            return failure::denied(url, astray.to_string());
        }
        let text = current.to_string();
        if !why.ends_with(&text) {
            why.push_str(": ");
            why.push_str(&text);
        }
        cause = current.source();
    }
    failure::malformed(url, why)
}
