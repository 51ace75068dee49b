//! `/exit` and `/quit`: the end of the session.
#![forbid(unsafe_code)]

use stud_sdk::command::{Rendered, command, commands};
use stud_sdk::host::commands::Deed;
use stud_sdk::{Cx, Result};

/// Ends the session, once what was said before is answered.
#[command(part, category = "session", turn_safe)]
async fn exit(cx: &Cx) -> Result<Rendered> {
    leave(cx).await
}

/// Ends the session, like `/exit`.
#[command(part, category = "session", turn_safe)]
async fn quit(cx: &Cx) -> Result<Rendered> {
    leave(cx).await
}

/// There is nothing to show: the end is to be seen.
async fn leave(cx: &Cx) -> Result<Rendered> {
    cx.host().commands().perform(Deed::Leave {}).await?;
    Ok(Rendered::default())
}

commands! {
    id = "exit",
    description = "Ends the session.",
    commands = [exit, quit],
}

#[cfg(test)]
mod tests {
    use stud_sdk::json;
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    #[test]
    fn both_names_end_the_session() {
        let host = FakeHost::new()
            .performs(Ok(json!({})))
            .performs(Ok(json!({})));
        let harness = Harness::new(stud_plugin(), host.clone());
        for name in ["exit", "quit"] {
            assert_eq!(harness.command(name, "").unwrap(), Rendered::default());
        }
        assert_eq!(host.performed(), [Deed::Leave {}, Deed::Leave {}]);
    }
}
