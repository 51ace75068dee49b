//! `/reload`: plugins loaded anew, with the settings as they are now.
#![forbid(unsafe_code)]

use stud_sdk::command::{Args, Rendered, command};
use stud_sdk::host::commands::Deed;
use stud_sdk::{Cx, Result, Value};

/// What is typed after `/reload`.
#[derive(Args)]
struct Input {
    /// The id of the plugin; all that can be reloaded when it is left out.
    ext_id: Option<String>,
}

/// Loads a plugin anew, or all of them.
#[command(
    id = "reload",
    name = "reload",
    category = "system",
    argument_hint = "[plugin]",
    turn_safe
)]
async fn reload(input: Input, cx: &Cx) -> Result<Rendered> {
    let deed = Deed::Reload {
        ext_id: input.ext_id,
    };
    let reloaded = cx.host().commands().perform(deed).await?;
    let shown = match reloaded["extId"].as_str() {
        Some(id) => one(id, reloaded["phase"].as_str().unwrap_or_default()),
        None => all(&reloaded),
    };
    Ok(Rendered::from(shown).with_payload(reloaded))
}

fn one(id: &str, phase: &str) -> String {
    match phase {
        "refused" => {
            format!("`{id}` is never reloaded while stud runs; restart stud to use a new build.")
        }
        "deferred-between-turns" => format!("`{id}` is reloaded when the turn is over."),
        _ => format!("`{id}` is reloaded."),
    }
}

fn all(reloaded: &Value) -> String {
    let ids = |member: &str| -> Vec<&str> {
        let ids = reloaded[member].as_array().into_iter().flatten();
        ids.filter_map(Value::as_str).collect()
    };
    let mut lines = Vec::new();
    for (member, what) in [
        ("loaded", "Reloaded"),
        (
            "disabled",
            "Not reloaded, because something is wrong; `/health` says more",
        ),
        ("deferred", "Reloaded when the turn is over"),
        ("refused", "Left as they are"),
    ] {
        let ids = ids(member);
        if !ids.is_empty() {
            lines.push(format!("{what}: {}", ids.join(", ")));
        }
    }
    if lines.is_empty() {
        lines.push("There is nothing to reload.".to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use stud_sdk::json;
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    fn run(typed: &str, reloaded: Value) -> (String, Vec<Deed>) {
        let host = FakeHost::new().performs(Ok(reloaded));
        let harness = Harness::new(stud_plugin(), host.clone());
        let shown = harness.command("reload", typed).unwrap();
        (shown.rendered, host.performed())
    }

    #[test]
    fn what_became_of_one_plugin_is_said() {
        for (phase, said) in [
            ("reloaded-in-turn", "`read` is reloaded."),
            ("reloaded-between-turns", "`read` is reloaded."),
            (
                "deferred-between-turns",
                "`read` is reloaded when the turn is over.",
            ),
            (
                "refused",
                "`read` is never reloaded while stud runs; restart stud to use a new build.",
            ),
        ] {
            let (shown, asked) = run("read", json!({"extId": "read", "phase": phase}));
            assert_eq!(shown, said);
            let ext_id = Some("read".to_owned());
            assert_eq!(asked, [Deed::Reload { ext_id }]);
        }
    }

    #[test]
    fn what_became_of_all_is_said() {
        let reloaded =
            json!({"loaded": ["a", "b"], "disabled": [], "deferred": [], "refused": ["store"]});
        let (shown, asked) = run("", reloaded);
        assert_eq!(shown, "Reloaded: a, b\nLeft as they are: store");
        assert_eq!(asked, [Deed::Reload { ext_id: None }]);
    }
}
