//! `/tools`: what the model can use.
#![forbid(unsafe_code)]

use stud_sdk::command::{Rendered, command};
use stud_sdk::host::metrics::{Sensitivity, Source, ToolInfo};
use stud_sdk::{Cx, Result, json};

/// Lists the tools that the model can use.
#[command(id = "tools", name = "tools", category = "tools", turn_safe)]
fn tools(cx: &Cx) -> Result<Rendered> {
    let snapshot = cx.host().metrics().snapshot()?;
    let mut tools: Vec<&ToolInfo> = snapshot.tools.items.iter().collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    let payload = json!({"tools": tools});
    if tools.is_empty() {
        return Ok(Rendered::from("There are no tools.").with_payload(payload));
    }
    let rows: Vec<Vec<String>> = tools.iter().map(|tool| row(tool)).collect();
    let count = columns::counted(tools.len() as u64, "tool");
    let shown = format!("{}\n{count}.", columns::lined_up(&rows));
    Ok(Rendered::from(shown).with_payload(payload))
}

fn row(tool: &ToolInfo) -> Vec<String> {
    let layer = match tool.source {
        Source::Bundled => "bundled",
        Source::Global => "global",
        Source::Project => "project",
        Source::Mcp => "mcp",
        Source::Unknown => "elsewhere",
    };
    let gate = if tool.allowed_now || tool.sensitivity == Sensitivity::Safe {
        "runs unasked"
    } else {
        "asks first"
    };
    let calls = match tool.invocations.total {
        0 => String::new(),
        total => columns::counted(total, "call"),
    };
    // The model is told everything; a person wants to know which one it is.
    let description = tool.description.as_deref().unwrap_or_default();
    let first = description.split_inclusive(". ").next().unwrap_or_default();
    let first = first.lines().next().unwrap_or_default().trim_end();
    vec![
        tool.name.clone(),
        layer.to_owned(),
        gate.to_owned(),
        calls,
        first.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use stud_sdk::host::metrics::{Invocations, RuntimeSnapshot};
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    fn tool(name: &str, description: &str) -> ToolInfo {
        ToolInfo {
            id: name.to_owned(),
            name: name.to_owned(),
            description: Some(description.to_owned()),
            ..ToolInfo::default()
        }
    }

    #[test]
    fn tools_are_listed_by_name_with_what_they_may_do() {
        let mut snapshot = RuntimeSnapshot::default();
        let mut used = tool("write", "Writes a file. It makes folders.");
        used.invocations = Invocations {
            total: 2,
            ..Invocations::default()
        };
        let mut free = tool("ask_user", "Asks the person.");
        free.sensitivity = Sensitivity::Safe;
        free.source = Source::Global;
        snapshot.tools.items = vec![used, free];
        let host = FakeHost::new();
        host.push_snapshot(snapshot);
        let shown = Harness::new(stud_plugin(), host)
            .command("tools", "")
            .unwrap();
        assert_eq!(
            shown.rendered,
            "ask_user  global   runs unasked           Asks the person.\n\
             write     bundled  asks first    2 calls  Writes a file.\n\
             2 tools."
        );
        assert_eq!(shown.payload.unwrap()["tools"][1]["name"], "write");
    }

    #[test]
    fn no_tools_are_no_mystery() {
        let harness = Harness::new(stud_plugin(), FakeHost::new());
        let shown = harness.command("tools", "").unwrap();
        assert_eq!(shown.rendered, "There are no tools.");
    }
}
