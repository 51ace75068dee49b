//! A command that greets.
#![forbid(unsafe_code)]

use stud_sdk::prelude::*;

/// What is typed after `/frozen`.
#[derive(Args)]
struct Whom {
    /// Whom to greet.
    name: String,
    /// How often.
    #[stud(default = 1, min = 1, max = 9)]
    times: usize,
}

/// Greets someone by name.
#[command(
    id = "frozen-command",
    name = "frozen",
    argument_hint = "<name>",
    turn_safe
)]
fn frozen(whom: Whom, cx: &Cx) -> Result<Rendered> {
    let commands = cx.host().commands().list()?;
    let is_listed = commands.iter().any(|command| command.name == "frozen");
    let text = vec![format!("Hello {}", whom.name); whom.times].join("\n");
    Ok(Rendered::from(text).with_payload(json!({"isListed": is_listed})))
}
