//! What a trust decision is bound to.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::config::{ServerConfig, Transport};
use super::connection::ToolDescriptor;
use crate::canonical;

/// Stands for how a server is started or reached. Values of its environment and its headers are not part of it: they
/// change without the server becoming another one.
pub(super) fn of_config(config: &ServerConfig) -> String {
    let names =
        |pairs: &BTreeMap<String, String>| -> Vec<String> { pairs.keys().cloned().collect() };
    digest(&match &config.transport {
        Transport::Stdio { command, args, env } => {
            json!({"command": command, "args": args, "env": names(env)})
        }
        Transport::StreamableHttp { url, headers } => {
            json!({"url": url, "headers": names(headers)})
        }
    })
}

/// Stands for what a model is told of each tool: its description and its schema.
pub(super) fn of_tools(tools: &[ToolDescriptor]) -> BTreeMap<String, String> {
    let each = tools.iter().map(|tool| {
        let told = json!({"description": tool.description, "inputSchema": tool.input_schema});
        (tool.name.clone(), digest(&told))
    });
    each.collect()
}

fn digest(value: &Value) -> String {
    use std::fmt::Write as _;
    // What is JSON already can be written as JSON.
    let text = canonical::text(value).unwrap_or_default();
    let mut words = "sha256:".to_owned();
    for byte in Sha256::digest(text) {
        let _ = write!(words, "{byte:02x}");
    }
    words
}
