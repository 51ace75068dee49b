//! `/cancel`: calls the running turn off.
#![forbid(unsafe_code)]

use stud_sdk::command::{Rendered, command};
use stud_sdk::host::commands::Deed;
use stud_sdk::{Cx, Result};

/// Calls the running turn off. Inputs that wait are answered next.
#[command(id = "cancel", name = "cancel", category = "session", turn_safe)]
async fn cancel(cx: &Cx) -> Result<Rendered> {
    let done = cx.host().commands().perform(Deed::CancelTurn {}).await?;
    Ok(if done["cancelled"] == true {
        Rendered::default()
    } else {
        "No turn is running.".into()
    })
}

#[cfg(test)]
mod tests {
    use stud_sdk::json;
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    #[test]
    fn it_calls_the_turn_off_and_says_when_there_is_none() {
        let host = FakeHost::new()
            .performs(Ok(json!({"cancelled": true})))
            .performs(Ok(json!({"cancelled": false})));
        let harness = Harness::new(stud_plugin(), host.clone());
        assert_eq!(harness.command("cancel", "").unwrap(), Rendered::default());
        let none = harness.command("cancel", "").unwrap();
        assert_eq!(none, "No turn is running.".into());
        assert_eq!(host.performed(), [Deed::CancelTurn {}, Deed::CancelTurn {}]);
    }
}
