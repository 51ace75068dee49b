//! `/mode`: how tool calls are gated.
#![forbid(unsafe_code)]

use stud_sdk::command::{RawArgs, Rendered, command};
use stud_sdk::host::session::{Page, SecurityMode};
use stud_sdk::{Cx, Error, ErrorExt as _, Result, json};

/// Shows how tool calls are gated. It was settled when the session began.
#[command(id = "mode", name = "mode", category = "session", turn_safe)]
async fn mode(input: RawArgs, cx: &Cx) -> Result<Rendered> {
    if !input.raw.is_empty() {
        let why = "`/mode` takes nothing: the mode of a session is settled when it begins. Start another one with \
                   `stud --mode MODE`";
        return Err(Error::invalid_input(why));
    }
    let page = Page {
        limit: Some(0),
        ..Page::default()
    };
    let mode = cx.host().session().read(page).await?.mode;
    let meaning = match mode {
        SecurityMode::Ask => "you are asked before a tool does something for the first time",
        SecurityMode::Yolo => "tool calls run without asking; guards still run",
        SecurityMode::Allowlist => "only calls on the allowlist run",
    };
    let payload = json!({"mode": mode, "sessionFixed": true, "setAt": "session-start"});
    let word = payload["mode"].as_str().unwrap_or_default();
    let rendered = format!("{word}: {meaning}. This was set when the session began, and stays.");
    Ok(Rendered::from(rendered).with_payload(payload))
}

#[cfg(test)]
mod tests {
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    #[test]
    fn the_mode_is_shown() {
        for (mode, word) in [
            (SecurityMode::Ask, "ask"),
            (SecurityMode::Yolo, "yolo"),
            (SecurityMode::Allowlist, "allowlist"),
        ] {
            let harness = Harness::new(stud_plugin(), FakeHost::new().mode(mode));
            let shown = harness.command("mode", "").unwrap();
            assert!(shown.rendered.starts_with(word), "{}", shown.rendered);
            let payload = json!({"mode": word, "sessionFixed": true, "setAt": "session-start"});
            assert_eq!(shown.payload, Some(payload));
        }
    }

    #[test]
    fn the_mode_cannot_be_changed() {
        let harness = Harness::new(stud_plugin(), FakeHost::new());
        for typed in ["yolo", "--mode=yolo"] {
            let error = harness.command("mode", typed).unwrap_err();
            assert_eq!(
                (error.class(), error.code()),
                ("ToolTerminal", "InputInvalid")
            );
        }
    }
}
