//! A provider as plain as can be, over real connections.

mod limits;
mod tls;

use std::ops::ControlFlow;
use std::time::Duration;

use stud_sdk::provider::{FinishReason, Message, Provider, Request, Role, Sink, provider};
use stud_sdk::{Config, Cx, Host, Result, json};

use crate::testing::{Server, Step, Told, Trial, response, stream};
use crate::{Auth, Dialect, Endpoint, Event, Failure, KeyReference, Pieces, Post, Progress};

/// Where it is.
#[derive(Config)]
struct Options {
    /// The key.
    api_key_ref: Option<KeyReference>,
    /// The address.
    #[stud(rename = "baseURL")]
    base_url: String,
    /// The most silence.
    timeout_ms: Option<u64>,
}

/// Says what it is told.
#[provider(protocol = "plain", config = Options, init = Plain::new)]
struct Plain(Endpoint);

impl Plain {
    fn new(_host: Host, options: Options) -> Result<Self> {
        let Options {
            api_key_ref,
            base_url,
            timeout_ms,
        } = options;
        Ok(Self(Endpoint::new(&base_url, api_key_ref, timeout_ms)?))
    }
}

impl Provider for Plain {
    async fn request(&self, request: Request, out: Sink, cx: &Cx) -> Result<FinishReason> {
        let post = Post {
            path: "/ask".to_owned(),
            headers: vec![("x-model", request.model_id)],
            auth: Auth::Bearer,
            body: json!({"said": request.messages[0].content.text()}),
            verbatim: Vec::new(),
        };
        self.0.ask(&post, Speech, &out, cx).await
    }
}

/// Every event is `{"say": …}`, the last `{"over": true}`.
struct Speech;

impl Dialect for Speech {
    fn event(&mut self, event: Event<'_>, out: &mut Pieces) -> Result<Progress, Failure> {
        let said: serde_json::Value =
            serde_json::from_slice(event.data).map_err(|_| Failure::malformed("not JSON"))?;
        if said["over"] == true {
            return Ok(ControlFlow::Break(FinishReason::Stop));
        }
        assert_ne!(said["say"], "panic");
        out.text(said["say"].as_str().unwrap_or_default());
        Ok(ControlFlow::Continue(()))
    }
}

fn delta(text: &str) -> String {
    format!("data: {{\"say\":\"{text}\"}}\n\n")
}

const OVER: &str = "data: {\"over\":true}\n\n";

fn trial() -> Trial {
    let request = Request {
        messages: vec![Message {
            role: Role::User,
            content: "hi".into(),
        }],
        model_id: "plain-1".to_owned(),
        ..Request::default()
    };
    Trial {
        plugin: stud_plugin,
        config: json!({}),
        request,
        answer: format!("{}{}{OVER}", delta("Grüß "), delta("Gott")),
        told: Told {
            text: "Grüß Gott".to_owned(),
            finish: Some(FinishReason::Stop),
            ..Told::default()
        },
        opening: String::new(),
        delta,
        closing: OVER.to_owned(),
    }
}

#[test]
fn an_answer_may_be_cut_anywhere() {
    trial().any_cut().unwrap();
}

#[test]
fn an_answer_may_have_any_form() {
    trial().any_form().unwrap();
}

#[test]
fn every_status_has_its_error() {
    trial().any_status().unwrap();
}

#[test]
fn a_connection_that_breaks_is_no_answer() {
    trial().any_break().unwrap();
}

#[test]
fn what_is_no_stream_says_what_it_is() {
    // A whole answer is `MissingStreaming`, a complaint is what it says, and a page of some website is none of both.
    trial().any_other_body().unwrap();
    let whole = r#"{"choices":[]}"#;
    let whole = response("200 OK", &[("content-type", "application/json")], whole);
    let server = Server::always(whole).unwrap();
    let asked = trial().harness(&server).request(&trial().request);
    stud_observed::covers!(MISSING_STREAMING, asked.unwrap_err());
}

#[test]
fn silence_ends() {
    trial().silence().unwrap();
}

#[test]
fn a_turn_called_off_closes_its_connection() {
    trial().calling_off().unwrap();
}

#[test]
fn a_large_event_is_taken_and_a_larger_one_refused() {
    trial().large_events().unwrap();
}

#[test]
fn a_flood_comes_whole() {
    trial().flood(20_000).unwrap();
}

#[test]
fn the_key_goes_where_it_belongs() {
    trial().key("authorization", "Bearer ").unwrap();
}

#[test]
fn a_request_is_sent_as_it_was_made() {
    let server = Server::always(stream(OVER)).unwrap();
    trial().harness(&server).request(&trial().request).unwrap();
    let received = server.received();
    let request = &received[0];
    assert_eq!((&*request.method, &*request.target), ("POST", "/ask"));
    assert_eq!(request.json(), json!({"said": "hi"}));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("accept"), Some("text/event-stream"));
    assert_eq!(request.header("x-model"), Some("plain-1"));
    assert!(request.header("user-agent").unwrap().starts_with("stud/"));
    assert_eq!(request.header("accept-encoding"), None);
}

#[test]
fn a_connection_that_was_closed_meanwhile_is_replaced() {
    let server = Server::start(|_| vec![Step::Send(stream(OVER)), Step::CloseFirst]).unwrap();
    let harness = trial().harness(&server);
    for count in 1..=20 {
        harness.request(&trial().request).unwrap();
        assert!(server.await_closes(count, Duration::from_secs(30)));
    }
    assert_eq!(server.connections(), 20);
}

#[test]
fn nobody_at_the_address_is_a_failure_of_the_network() {
    let server = Server::always(Vec::new()).unwrap();
    let harness = trial().harness(&server);
    drop(server);
    // The listener goes once its thread has seen that it is over.
    let error = (0..1000).find_map(|_| {
        harness
            .request(&trial().request)
            .err()
            .filter(|error| error.message().contains("reached"))
    });
    let error = error.unwrap();
    stud_observed::covers!(NETWORK_TIMEOUT, error);
    assert!(
        error.message().contains("`127.0.0.1` cannot be reached"),
        "{error}"
    );
}

#[test]
fn a_dialect_that_panics_does_not_take_the_others_along() {
    let server = Server::start(|received| {
        let word = received.json()["said"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        vec![Step::Send(stream(&format!("{}{OVER}", delta(&word))))]
    })
    .unwrap();
    let harness = trial().harness(&server);
    let ask = |word: &str| {
        let mut request = trial().request;
        request.messages[0].content = word.into();
        harness.request(&request).map(Told::of)
    };
    assert_eq!(ask("panic").unwrap_err().code(), "CallPanicked");
    assert_eq!(ask("calm").unwrap().text, "calm");
}
