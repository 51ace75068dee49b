//! `/agents`: the subagents that run, what each waits for, and cancelling one.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use stud_sdk::command::{Args, Rendered, command};
use stud_sdk::host::commands::Deed;
use stud_sdk::{Class, Cx, Error, Result, Value};

/// The least of an id that is shown.
const SHORT: usize = 8;

/// What is typed after `/agents`.
#[derive(Args)]
struct Input {
    /// `cancel`, to cancel one; all are listed when it is left out.
    action: Option<String>,
    /// The id of the one to cancel, or its first characters.
    id: Option<String>,
}

/// Lists the subagents that run, or cancels one.
#[command(
    id = "agents",
    name = "agents",
    category = "session",
    argument_hint = "[cancel id]",
    turn_safe
)]
async fn agents(input: Input, cx: &Cx) -> Result<Rendered> {
    let deed = match (input.action.as_deref(), input.id) {
        (None, _) => Deed::ListAgents {},
        (Some("cancel"), Some(subagent_id)) => Deed::CancelAgent { subagent_id },
        (Some("cancel"), None) => {
            return Err(misused("say which subagent: `/agents cancel ID`", "/id"));
        }
        (Some(other), _) => {
            let why =
                format!("`{other}` is not an action; there is `/agents` and `/agents cancel ID`");
            return Err(misused(&why, "/action"));
        }
    };
    let told = cx.host().commands().perform(deed).await?;
    let shown = match told["subagentId"].as_str() {
        Some(id) => format!("The subagent {id} is cancelled."),
        None => listed(&told),
    };
    Ok(Rendered::from(shown).with_payload(told))
}

fn misused(why: &str, place: &str) -> Error {
    Error::new(Class::ToolTerminal, "InputInvalid", why).with("fieldPath", place)
}

fn listed(told: &Value) -> String {
    let agents = told["agents"].as_array().map_or(&[][..], Vec::as_slice);
    if agents.is_empty() {
        return "No subagent runs.".to_owned();
    }
    let length = telling_apart(agents);
    let rows = agents.iter().map(|agent| row(agent, length));
    let rows: Vec<Vec<String>> = rows.collect();
    let count = columns::counted(agents.len() as u64, "subagent");
    format!(
        "{}\n{count}; `/agents cancel ID` cancels one.",
        columns::lined_up(&rows)
    )
}

/// How much of each id tells the subagents apart. Ids begin with the time, so those of one moment begin alike.
fn telling_apart(agents: &[Value]) -> usize {
    let ids: Vec<&str> = agents
        .iter()
        .filter_map(|agent| agent["subagentId"].as_str())
        .collect();
    let longest = ids.iter().map(|id| id.len()).max().unwrap_or(SHORT);
    let are_different = |length: &usize| {
        let beginnings: BTreeSet<&str> = ids.iter().map(|id| beginning(id, *length)).collect();
        beginnings.len() == ids.len()
    };
    (SHORT..longest).find(are_different).unwrap_or(longest)
}

fn row(agent: &Value, length: usize) -> Vec<String> {
    let text = |member: &str| agent[member].as_str().unwrap_or_default();
    let tools = agent["envelope"].as_array().into_iter().flatten();
    let tools: Vec<&str> = tools.filter_map(Value::as_str).collect();
    let state = match (agent["awaits"].as_str(), text("state")) {
        (Some(kind), _) => format!("waits for {kind}"),
        (None, "running") => "works".to_owned(),
        (None, _) => "begins".to_owned(),
    };
    vec![
        beginning(text("subagentId"), length).to_owned(),
        text("label").to_owned(),
        format!("depth {}", agent["depth"]),
        state,
        format!("{} of {}", text("modelId"), text("providerId")),
        if tools.is_empty() {
            "no tools unasked".to_owned()
        } else {
            tools.join(", ")
        },
    ]
}

fn beginning(id: &str, length: usize) -> &str {
    id.get(..length).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use stud_sdk::json;
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    fn run(typed: &str, told: Value) -> (Result<Rendered>, Vec<Deed>) {
        let host = FakeHost::new().performs(Ok(told));
        let harness = Harness::new(stud_plugin(), host.clone());
        (harness.command("agents", typed), host.performed())
    }

    #[test]
    fn subagents_are_listed_with_what_they_wait_for() {
        let told = json!({"agents": [
            {"subagentId": "0192f0c1-aaaa", "label": "reader", "depth": 1, "state": "running", "awaits": "Approve",
             "providerId": "echo", "modelId": "echo-1", "envelope": ["grep", "read"]},
            {"subagentId": "0192f0c2-bbbb", "label": null, "depth": 2, "state": "running", "awaits": null,
             "providerId": "echo", "modelId": "echo-1", "envelope": []},
            {"subagentId": "0192f0c3-cccc", "label": null, "depth": 1, "state": "requested", "awaits": null,
             "providerId": "echo", "modelId": "echo-1", "envelope": []},
        ]});
        let (shown, performed) = run("", told);
        let shown = shown.unwrap().rendered;
        let lines: Vec<&str> = shown.lines().collect();
        for (line, words) in lines.iter().zip([
            [
                "0192f0c1",
                "reader",
                "depth 1",
                "waits for Approve",
                "grep, read",
            ],
            ["0192f0c2", "", "depth 2", "works", "no tools unasked"],
            ["0192f0c3", "", "depth 1", "begins", "no tools unasked"],
        ]) {
            for word in words {
                assert!(line.contains(word), "{word} in {line}");
            }
        }
        assert_eq!(lines[3], "3 subagents; `/agents cancel ID` cancels one.");
        assert_eq!(performed, [Deed::ListAgents {}]);
        let (none, _) = run("", json!({"agents": []}));
        assert_eq!(none.unwrap().rendered, "No subagent runs.");
    }

    #[test]
    fn as_much_of_the_ids_is_shown_as_tells_them_apart() {
        let ids = |ids: [&str; 2]| telling_apart(&ids.map(|id| json!({"subagentId": id})));
        assert_eq!(ids(["0192f0c1-aaaa-1", "0192f0c1-aaab-1"]), 13);
        assert_eq!(ids(["0192f0c1-aaaa-1", "1192f0c1-aaaa-1"]), SHORT);
        assert_eq!(ids(["0192", "0192"]), 4);
    }

    #[test]
    fn one_is_cancelled_by_the_beginning_of_its_id() {
        let told = json!({"cancelled": true, "subagentId": "0192f0c1-aaaa"});
        let (shown, performed) = run("cancel 0192", told);
        assert_eq!(
            shown.unwrap().rendered,
            "The subagent 0192f0c1-aaaa is cancelled."
        );
        let subagent_id = "0192".to_owned();
        assert_eq!(performed, [Deed::CancelAgent { subagent_id }]);
    }

    #[test]
    fn what_is_meant_by_nothing_is_an_error_that_says_what_there_is() {
        for (typed, place) in [("cancel", "/id"), ("stop", "/action")] {
            let (refused, performed) = run(typed, json!({}));
            let error = refused.unwrap_err();
            assert_eq!(error.context()["fieldPath"], place);
            assert!(error.message().contains("/agents cancel ID"), "{error}");
            assert!(performed.is_empty());
        }
    }
}
