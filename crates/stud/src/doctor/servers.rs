//! MCP servers: what is configured, who trusts it, and what to do next. None is started or reached.

use serde_json::{Value, json};
use stud_core::mcp::{Surveyed, Transport, Trust};
use stud_diagnostics::Diagnostic;

use crate::output::told;

/// What cannot be found out about servers. An undecided one is not a problem, because a session asks.
pub(super) fn problems(servers: &[Surveyed]) -> Vec<Diagnostic> {
    let unreadable = servers.iter().filter_map(|server| match &server.trust {
        Trust::Unavailable(error) => Some(error.clone()),
        Trust::Trusted(_) | Trust::Unknown | Trust::Changed => None,
    });
    let mut problems: Vec<Diagnostic> = Vec::new();
    for error in unreadable {
        // One list that cannot be read is one problem, however many servers it is about.
        if problems
            .iter()
            .all(|known| known.message != error.message())
        {
            let help = "correct the file, or move it away to decide about its servers again";
            problems.push(told(error).help(help));
        }
    }
    problems
}

pub(super) fn document(server: &Surveyed) -> Value {
    let config = &server.config;
    json!({
        "serverId": config.id,
        "scope": config.scope.as_str(),
        "transport": config.transport.as_str(),
        "reach": reach(&config.transport),
        "file": config.path.to_string_lossy(),
        "trust": server.trust.as_str(),
        "next": next(server),
    })
}

/// What would be started or reached. Arguments, variables and headers may hold secrets, and are not shown.
pub(super) fn reach(transport: &Transport) -> &str {
    match transport {
        Transport::Stdio { command, .. } => command,
        Transport::StreamableHttp { url, .. } => {
            let end = url.find(['?', '#']).unwrap_or(url.len());
            &url[..end]
        }
    }
}

/// What happens next, and what the operator can do about it.
pub(super) fn next(server: &Surveyed) -> String {
    let id = &server.config.id;
    match &server.trust {
        Trust::Trusted(_) => {
            format!("a session connects to it; `/trust --clear-mcp {id}` in one forgets the trust")
        }
        Trust::Unknown => {
            "start `stud` in a terminal, which asks before it starts or reaches it".to_owned()
        }
        Trust::Changed => {
            "it was trusted when it was configured otherwise; start `stud` in a terminal, which asks again"
                .to_owned()
        }
        Trust::Unavailable(_) => "correct the list of trusted servers, which is listed under problems".to_owned(),
    }
}
