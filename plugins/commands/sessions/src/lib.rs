//! `/sessions`: what there is to continue with.
#![forbid(unsafe_code)]

use stud_sdk::command::{Rendered, command};
use stud_sdk::host::commands::Deed;
use stud_sdk::{Cx, Result, Value};

/// Lists the sessions that are kept, newest first.
#[command(id = "sessions", name = "sessions", category = "session", turn_safe)]
async fn sessions(cx: &Cx) -> Result<Rendered> {
    let listed = cx.host().commands().perform(Deed::ListSessions {}).await?;
    let items = |member: &str| listed[member].as_array().cloned().unwrap_or_default();
    let rows: Vec<Vec<String>> = items("sessions").iter().map(row).collect();
    let mut lines = Vec::new();
    if rows.is_empty() {
        lines.push("No session is kept yet.".to_owned());
    } else {
        lines.push(columns::lined_up(&rows));
        lines.push("Resume one: `stud --resume ID`.".to_owned());
    }
    let unreadable = items("unreadable");
    if !unreadable.is_empty() {
        let ids: Vec<&str> = unreadable.iter().filter_map(Value::as_str).collect();
        lines.push(format!("These cannot be read: {}", ids.join(", ")));
    }
    Ok(Rendered::from(lines.join("\n")).with_payload(listed))
}

fn row(session: &Value) -> Vec<String> {
    let text = |member: &str| session[member].as_str().unwrap_or_default();
    let here = if session["current"] == true { "*" } else { " " };
    // To the second, and for people.
    let when = text("updatedAt").get(..19).unwrap_or_default();
    let count = session["messageCount"].as_u64().unwrap_or_default();
    vec![
        format!("{here} {}", text("id")),
        when.replace('T', " "),
        columns::counted(count, "message"),
        text("firstWords").to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use stud_sdk::json;
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    fn shown(listed: Value) -> Rendered {
        let host = FakeHost::new().performs(Ok(listed));
        Harness::new(stud_plugin(), host)
            .command("sessions", "")
            .unwrap()
    }

    #[test]
    fn each_session_has_its_line() {
        let listed = json!({
            "sessions": [
                {"id": "b", "updatedAt": "2026-02-03T04:05:06.700Z", "messageCount": 1, "firstWords": "hello", "current": true},
                {"id": "a", "updatedAt": "2026-01-02T03:04:05.600Z", "messageCount": 12, "firstWords": "mend it", "current": false},
            ],
            "unreadable": ["c"],
        });
        let shown = shown(listed.clone());
        assert_eq!(
            shown.rendered,
            "* b  2026-02-03 04:05:06  1 message    hello\n  \
             a  2026-01-02 03:04:05  12 messages  mend it\n\
             Resume one: `stud --resume ID`.\n\
             These cannot be read: c"
        );
        assert_eq!(shown.payload, Some(listed));
    }

    #[test]
    fn no_sessions_are_no_mystery() {
        let shown = shown(json!({"sessions": [], "unreadable": []}));
        assert_eq!(shown.rendered, "No session is kept yet.");
    }
}
