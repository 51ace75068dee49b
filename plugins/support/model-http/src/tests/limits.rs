//! How much of an answer is read.

use super::*;
use crate::MAX_RESPONSE_BYTES;

#[test]
fn an_answer_without_an_end_is_ended() {
    // Comments are no events, so nothing else stops them.
    let line = format!(": {}\n", "x".repeat(1 << 20));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let server = Server::start(move |_| {
        let lines = usize::try_from(MAX_RESPONSE_BYTES).unwrap() / line.len() + 2;
        let mut steps = vec![Step::Send(head.as_bytes().to_vec())];
        steps.extend((0..lines).map(|_| Step::Send(line.clone().into_bytes())));
        steps.push(Step::AwaitClose);
        steps
    })
    .unwrap();
    let error = trial()
        .harness(&server)
        .request(&trial().request)
        .unwrap_err();
    assert_eq!(error.code(), "OutputMalformed");
    assert!(
        error.message().contains("larger than 268435456 bytes"),
        "{error}"
    );
}

#[test]
fn a_long_complaint_is_read_in_part() {
    let page = "long ".repeat(1 << 20);
    let bytes = response("503 Busy", &[], &page);
    let server = Server::always(bytes).unwrap();
    let error = trial()
        .harness(&server)
        .request(&trial().request)
        .unwrap_err();
    assert_eq!(error.code(), "Provider5xx");
    assert!(error.message().len() < 500);
}
