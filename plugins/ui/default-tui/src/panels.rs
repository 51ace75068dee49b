//! Panels: tools, MCP servers, plugins, diagnostics; and the view of the start.

use stud_sdk::host::metrics::{DiagnosticItem, Level, McpStatus, RuntimeSnapshot};

use crate::text::escape;
use crate::text::row::{Look, Row, cut, joined, piece, row};

/// A panel has no more rows.
const MOST: usize = 12;

/// Which panel is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Panel {
    Tools,
    Servers,
    Plugins,
    Diagnostics,
}

impl Panel {
    /// The panel that F2 opens next; none after the last.
    pub(crate) fn after(panel: Option<Self>) -> Option<Self> {
        match panel {
            None => Some(Self::Tools),
            Some(Self::Tools) => Some(Self::Servers),
            Some(Self::Servers) => Some(Self::Plugins),
            Some(Self::Plugins) => Some(Self::Diagnostics),
            Some(Self::Diagnostics) => None,
        }
    }

    pub(crate) fn rows(self, snapshot: &RuntimeSnapshot, columns: usize) -> Vec<Row> {
        let (title, lines) = match self {
            Self::Tools => ("tools", tools(snapshot)),
            Self::Servers => ("MCP servers", servers(snapshot)),
            Self::Plugins => ("plugins", plugins(snapshot)),
            Self::Diagnostics => (
                "diagnostics",
                snapshot.diagnostics.recent.iter().map(diagnostic).collect(),
            ),
        };
        let mut rows = vec![joined([
            piece(title, Look::Bold),
            piece(
                format!(" {} · F2 next · Esc closes", lines.len()),
                Look::Dim,
            ),
        ])];
        let hidden = lines.len().saturating_sub(MOST);
        rows.extend(lines.into_iter().take(MOST));
        if hidden > 0 {
            rows.push(row(format!("  … {hidden} more"), Look::Dim));
        }
        rows.iter()
            .map(|row| cut(row, columns.saturating_sub(1)))
            .collect()
    }
}

fn word(value: &impl serde::Serialize) -> String {
    let value = stud_sdk::json!(value);
    value.as_str().unwrap_or_default().to_owned()
}

fn tools(snapshot: &RuntimeSnapshot) -> Vec<Row> {
    let tools = snapshot.tools.items.iter();
    tools
        .map(|tool| {
            let asks = if tool.allowed_now {
                "runs unasked"
            } else {
                "asks"
            };
            let count = tool.invocations.total;
            row(
                format!(
                    "  {}  {} · {asks} · {count} calls",
                    escape::line(&tool.name),
                    word(&tool.source)
                ),
                Look::Plain,
            )
        })
        .collect()
}

fn servers(snapshot: &RuntimeSnapshot) -> Vec<Row> {
    let servers = snapshot.mcp.servers.iter();
    servers
        .map(|server| {
            let look = if server.status == McpStatus::Connected {
                Look::Plain
            } else {
                Look::Warn
            };
            let error = server
                .last_error
                .as_deref()
                .map(|error| format!(" · {}", escape::line(error)));
            let counts = format!(
                "{} tools, {} prompts, {} resources",
                server.tool_count, server.prompt_count, server.resource_count
            );
            let text = format!(
                "  {}  {} · {counts}",
                escape::line(&server.id),
                word(&server.status)
            );
            row(text + &error.unwrap_or_default(), look)
        })
        .collect()
}

fn plugins(snapshot: &RuntimeSnapshot) -> Vec<Row> {
    let extensions = &snapshot.extensions;
    let all = extensions.loaded.iter().chain(&extensions.disabled);
    all.map(|plugin| {
        let state = if plugin.active {
            "active"
        } else {
            "not active"
        };
        let text = format!(
            "  {}  {} · {} · {state}",
            escape::line(&plugin.id),
            plugin.kind,
            word(&plugin.source)
        );
        row(
            text,
            if plugin.active {
                Look::Plain
            } else {
                Look::Dim
            },
        )
    })
    .collect()
}

fn diagnostic(item: &DiagnosticItem) -> Row {
    let look = match item.level {
        Level::Error => Look::Bad,
        Level::Warn => Look::Warn,
        _ => Look::Plain,
    };
    let code = item
        .code
        .as_deref()
        .map(|code| format!(" ({})", escape::line(code)));
    let text = format!(
        "  {}: {}",
        escape::line(&item.source),
        escape::line(&item.message)
    );
    row(text + &code.unwrap_or_default(), look)
}

/// The problems of the start: how many, and one row for each. Nothing if there is none.
pub(crate) fn startup(snapshot: &RuntimeSnapshot, columns: usize) -> Vec<Row> {
    let problems: Vec<&DiagnosticItem> = snapshot
        .diagnostics
        .recent
        .iter()
        .filter(|item| matches!(item.level, Level::Error | Level::Warn))
        .collect();
    let count = |level: Level, one: &str| {
        let many = problems.iter().filter(|item| item.level == level).count();
        match many {
            0 => None,
            1 => Some(format!("1 {one}")),
            many => Some(format!("{many} {one}s")),
        }
    };
    let counts = [count(Level::Warn, "warning"), count(Level::Error, "error")];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if counts.is_empty() {
        return Vec::new();
    }
    let mut rows = vec![row(counts.join(", "), Look::Warn)];
    rows.extend(
        problems
            .into_iter()
            .map(|item| cut(&diagnostic(item), columns.saturating_sub(1))),
    );
    rows
}
