//! Fields derived from the rest of a snapshot, so that writers need not maintain them.

use stud_host_api::metrics::{DiagnosticItem, McpStatus, RECENT_DIAGNOSTICS, RuntimeSnapshot};

/// Works out what follows from the rest.
pub(super) fn settle(snapshot: &mut RuntimeSnapshot) {
    let tools = &mut snapshot.tools;
    tools.total_count = tools.items.len() as u64;
    tools.active_count = tools.items.iter().filter(|tool| tool.allowed_now).count() as u64;

    let mcp = &mut snapshot.mcp;
    let connected = mcp
        .servers
        .iter()
        .filter(|server| server.status == McpStatus::Connected);
    mcp.connected_count = connected.count() as u64;
    mcp.configured_count = mcp.servers.len() as u64;

    let context = &mut snapshot.context;
    let window = context.window_tokens.filter(|window| *window > 0);
    context.percent = window.map(|window| percent(context.used_tokens, window));

    keep_newest(&mut snapshot.diagnostics.recent);
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the sixteenth digit of a percentage is not significant"
)]
fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole as f64
}

/// Drops surplus diagnostics, oldest first.
pub(super) fn keep_newest(recent: &mut Vec<DiagnosticItem>) {
    let surplus = recent.len().saturating_sub(RECENT_DIAGNOSTICS);
    recent.drain(..surplus);
}
