//! `/health`: how the session is.
#![forbid(unsafe_code)]

use stud_sdk::command::{Rendered, command};
use stud_sdk::host::commands::Deed;
use stud_sdk::{Config, Cx, CxExt as _, Result};

/// What is put on record.
#[derive(Config)]
struct Options {
    /// Whether the record of having looked says how many turns there were.
    #[stud(default = false)]
    include_turn_count_in_audit: bool,
}

/// Tells what takes part in the session, what does not, and how far it has come.
#[command(id = "health", name = "health", category = "system", turn_safe, config = Options)]
async fn health(cx: &Cx) -> Result<Rendered> {
    let options: Options = cx.config()?;
    let deed = Deed::Health {
        turn_count_in_audit: options.include_turn_count_in_audit,
    };
    let report = cx.host().commands().perform(deed).await?;
    Ok(Rendered::from(format!("{report:#}")).with_payload(report))
}

#[cfg(test)]
mod tests {
    use stud_sdk::json;
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    #[test]
    fn the_report_is_shown_and_given() {
        let report = json!({"mode": "ask", "loop": {"turnCount": 2}});
        let host = FakeHost::new()
            .config(json!({"includeTurnCountInAudit": true}))
            .performs(Ok(report.clone()));
        let harness = Harness::new(stud_plugin(), host.clone());
        let shown = harness.command("health", "").unwrap();
        assert!(
            shown.rendered.contains("\n  \"mode\": \"ask\""),
            "{}",
            shown.rendered
        );
        assert_eq!(shown.payload, Some(report));
        let asked = Deed::Health {
            turn_count_in_audit: true,
        };
        assert_eq!(host.performed(), [asked]);
    }

    #[test]
    fn a_host_that_is_not_ready_is_an_error() {
        let harness = Harness::new(stud_plugin(), FakeHost::new());
        let error = harness.command("health", "").unwrap_err();
        assert_eq!((error.class(), error.code()), ("ExtensionHost", "NotReady"));
    }
}
