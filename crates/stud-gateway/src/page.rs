//! The page, as it lies in the program.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response, StatusCode};

/// A file of the page.
struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

macro_rules! assets {
    ($($name:literal: $kind:literal),* $(,)?) => {
        &[$(Asset {
            name: $name,
            kind: $kind,
            text: include_str!(concat!("page/", $name)),
        }),*]
    };
}

const HTML: &str = "text/html; charset=utf-8";

/// Everything the page consists of. Nothing else is loaded.
const ASSETS: &[Asset] = assets! {
    "index.html": "text/html; charset=utf-8",
    "app.css": "text/css; charset=utf-8",
    "prompts.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "composer.js": "text/javascript; charset=utf-8",
    "diff.js": "text/javascript; charset=utf-8",
    "dom.js": "text/javascript; charset=utf-8",
    "forms.js": "text/javascript; charset=utf-8",
    "highlight.js": "text/javascript; charset=utf-8",
    "markdown.js": "text/javascript; charset=utf-8",
    "prompts.js": "text/javascript; charset=utf-8",
    "sessions.js": "text/javascript; charset=utf-8",
    "transcript.js": "text/javascript; charset=utf-8",
    "visible.js": "text/javascript; charset=utf-8",
    "wire.js": "text/javascript; charset=utf-8",
};

/// The page itself.
pub(crate) fn index() -> Response<Body> {
    asset("index.html").unwrap_or_else(missing)
}

/// A file of the page.
pub(crate) fn asset(name: &str) -> Option<Response<Body>> {
    let asset = ASSETS.iter().find(|asset| asset.name == name)?;
    Some(text(StatusCode::OK, asset.kind, asset.text))
}

/// No such file.
pub(crate) fn missing() -> Response<Body> {
    text(
        StatusCode::NOT_FOUND,
        "text/plain; charset=utf-8",
        "not found\n",
    )
}

/// What a browser without the token sees.
pub(crate) fn locked() -> Response<Body> {
    let text_of_page = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
        <meta name=\"viewport\" content=\"width=device-width\"><title>stud</title>\
        <h1>The token is missing</h1><p>Open the address that <code>stud serve</code> printed, with \
        <code>/?token=</code> and the token after it. <code>stud serve --open</code> does that for you.</p>";
    text(StatusCode::UNAUTHORIZED, HTML, text_of_page)
}

fn text(status: StatusCode, kind: &'static str, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
