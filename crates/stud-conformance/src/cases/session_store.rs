//! Session stores.

use serde_json::{Value, json};

use crate::case::{Context, Verdict};
use crate::subject::Call;

fn stored(context: &Context, id: &str, text: &str) -> Value {
    let store = context.manifest["storeId"]
        .as_str()
        .or(context.manifest["extId"].as_str());
    json!({
        "manifest": {
            "sessionId": id, "projectRoot": "/conformance/.stud", "mode": "ask",
            "messages": [{"role": "user", "content": text}], "storeId": store,
            "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:01.000Z",
        },
        "slots": [{"extId": "conformance", "slotVersion": "1.0.0", "payload": {"text": text}}],
    })
}

pub(super) fn round_trip(context: &Context) -> Verdict {
    let subject = context.instance();
    let id = "01900000-0000-7000-8000-000000000001";
    for text in ["first", "second"] {
        let written = stored(context, id, text);
        if let Err(error) = subject.call(&Call::WriteSession(written.clone())) {
            return Verdict::fail(format!("a session was not written: {error}"));
        }
        match subject.call(&Call::ReadSession(id.to_owned())) {
            Ok(read) if read == written => {}
            Ok(read) => return Verdict::fail(format!("{written} was written and {read} was read")),
            Err(error) => return Verdict::fail(format!("a written session was not read: {error}")),
        }
    }
    match subject.call(&Call::ListSessions) {
        Ok(list) => {
            let listed = list
                .as_array()
                .into_iter()
                .flatten()
                .filter(|known| *known == id)
                .count();
            Verdict::of(listed == 1, format!("the session is listed {listed} times"))
        }
        Err(error) => Verdict::fail(format!("sessions were not listed: {error}")),
    }
}

pub(super) fn unknown_session(context: &Context) -> Verdict {
    let id = "01900000-0000-7000-8000-00000000ffff".to_owned();
    match context.instance().call(&Call::ReadSession(id)) {
        Ok(_) => Verdict::fail("a session that was never written was read"),
        Err(error) => Verdict::of(
            error.class() == "Session",
            format!("it was refused with `{error}`"),
        ),
    }
}
