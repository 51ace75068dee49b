//! `/save-and-close`: ends the session with everything on the disk.
#![forbid(unsafe_code)]

use stud_sdk::command::{Rendered, command};
use stud_sdk::host::commands::Deed;
use stud_sdk::{Config, Cx, CxExt as _, Result};

/// How long to wait.
#[derive(Config)]
struct Options {
    /// How many milliseconds a turn may take that still runs.
    #[stud(default = 30_000, min = 0)]
    drain_timeout_ms: u64,
}

/// Waits for what runs, saves the session and ends it.
#[command(id = "save-and-close", name = "save-and-close", category = "session", turn_safe, config = Options)]
async fn save_and_close(cx: &Cx) -> Result<Rendered> {
    let options: Options = cx.config()?;
    let drain_timeout_ms = options.drain_timeout_ms;
    let deed = Deed::SaveAndClose { drain_timeout_ms };
    let saved = cx.host().commands().perform(deed).await?;
    let shown = if saved["persisted"] == true {
        let path = saved["sessionPath"].as_str().unwrap_or_default();
        format!("The session is saved in {path} and ends now.")
    } else {
        format!(
            "The running turn took longer than {drain_timeout_ms} ms and was cancelled; the session ends as it was last saved."
        )
    };
    Ok(Rendered::from(shown).with_payload(saved))
}

#[cfg(test)]
mod tests {
    use stud_sdk::testing::{FakeHost, Harness};
    use stud_sdk::{Value, json};

    use super::*;

    fn run(saved: Value) -> (Rendered, FakeHost) {
        let host = FakeHost::new()
            .config(json!({"drainTimeoutMs": 7}))
            .performs(Ok(saved));
        let harness = Harness::new(stud_plugin(), host.clone());
        (harness.command("save-and-close", "").unwrap(), host)
    }

    #[test]
    fn it_is_said_where_the_session_is() {
        let saved = json!({"persisted": true, "sessionPath": "/s/1", "drainedTurns": 1});
        let (shown, host) = run(saved.clone());
        assert_eq!(shown.rendered, "The session is saved in /s/1 and ends now.");
        assert_eq!(shown.payload, Some(saved));
        let asked = Deed::SaveAndClose {
            drain_timeout_ms: 7,
        };
        assert_eq!(host.performed(), [asked]);
    }

    #[test]
    fn a_turn_that_took_too_long_is_named() {
        let (shown, _) = run(json!({"persisted": false, "sessionPath": "", "drainedTurns": 0}));
        assert!(
            shown.rendered.contains("longer than 7 ms"),
            "{}",
            shown.rendered
        );
    }
}
