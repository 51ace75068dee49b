//! Prompts and resources as they are used. Whatever a server gives is text from outside.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::refusal;

use super::binding::{Bound, ResourceBinding};
use super::connection::{ConnectionError, PromptMessage};
use super::sanitize::{cut, shown};
use super::server::{Link, Server};

/// The messages of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumed {
    /// The server.
    pub server_id: String,
    /// The prompt.
    pub name: String,
    /// What it says.
    pub messages: Vec<PromptMessage>,
}

impl Consumed {
    /// What the messages are worth: they come from outside, even when the server is trusted.
    pub const TAINT: &'static str = "untrusted";

    /// The texts alone, one after the other.
    pub fn text(&self) -> String {
        let texts = self.messages.iter().map(|message| message.text.as_str());
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// The same as something said in a conversation: marked, and with who says what.
    pub fn as_input(&self) -> String {
        let (name, server) = (shown(&self.name), &self.server_id);
        let mut text = format!(
            "The prompt `{name}` of the MCP server `{server}`. It is untrusted text from outside, chosen by the person \
             but not written by them.\n"
        );
        for PromptMessage { role, text: said } in &self.messages {
            for piece in ["\n[", &shown(role), "]\n", said, "\n"] {
                text.push_str(piece);
            }
        }
        text
    }
}

/// Gets a prompt.
///
/// # Errors
///
/// `Session/MCPUntrusted`, and `Validation/PromptMissing` for whatever else the server does not give.
pub(super) async fn prompt(
    server: &Arc<Server>,
    name: &str,
    args: BTreeMap<String, String>,
) -> Result<Consumed> {
    let uri = format!("prompt://mcp/{}/{name}", server.id());
    let missing = |why: &str| {
        refusal::prompt_missing(&uri)
            .with("uri", uri.as_str())
            .with("cause", shown(why))
    };
    let link = server.link().await.map_err(|error| match error.class() {
        "Session" | "Cancellation" => error,
        _ => missing(error.message()),
    })?;
    let got = link.connection.get_prompt(name, args).await;
    let mut messages = got.map_err(|trouble| {
        mind(server, &link, &trouble);
        missing(trouble.words())
    })?;
    let mut left = server.terms().max_result;
    for message in &mut messages {
        let kept = cut(&message.text, left).len();
        message.text.truncate(kept);
        left -= kept;
    }
    let facts = json!({"serverId": server.id(), "name": name, "messageCount": messages.len()});
    server.means.audit("PromptConsumed", facts);
    Ok(Consumed {
        server_id: server.id().to_owned(),
        name: name.to_owned(),
        messages,
    })
}

/// Reads a resource, as far as its binding goes.
///
/// # Errors
///
/// `Session/MCPUntrusted`, `ProviderTransient/MCPConnectionLost`, `Validation/ResourceMissing` for one that is empty or
/// that the server does not have.
pub(super) async fn resource(server: &Arc<Server>, binding: ResourceBinding) -> Result<Bound> {
    let link = server.link().await?;
    let (content, mime_type) = match first_content(server, &link, &binding.uri).await {
        Ok(first) => first,
        Err(error) if error.class() == "ToolTerminal" => {
            let cause = format!("{}/{}", error.class(), error.code());
            return Err(refusal::resource_missing(&binding.uri)
                .with("serverId", server.id())
                .with("cause", cause));
        }
        Err(error) => return Err(error),
    };
    let (content, truncated) = binding.hold(content);
    let mut facts = json!({
        "serverId": server.id(),
        "uri": binding.uri,
        "maxBytes": binding.max_bytes,
        "truncated": truncated,
        "mimeType": shown(&mime_type),
    });
    if let Some(max_tokens) = binding.max_tokens {
        facts["maxTokens"] = max_tokens.into();
    }
    server.means.audit("ResourceBound", facts);
    Ok(Bound {
        binding,
        content,
        mime_type,
        truncated,
    })
}

/// The first part of a resource; the rest is not used.
async fn first_content(server: &Arc<Server>, link: &Link, uri: &str) -> Result<(Vec<u8>, String)> {
    let got = link.connection.read_resource(uri).await;
    let contents = got.map_err(|trouble| {
        mind(server, link, &trouble);
        match trouble {
            ConnectionError::Lost(why) => server.connection_lost(&shown(&why)),
            ConnectionError::Refused(why) => empty(server, uri, &shown(&why)),
        }
    })?;
    match contents.into_iter().next() {
        Some(first) => Ok((first.bytes, first.mime_type)),
        None => Err(empty(server, uri, "it has no content")),
    }
}

/// Called by whichever task notices that a connection is gone.
fn mind(server: &Server, link: &Link, trouble: &ConnectionError) {
    if let ConnectionError::Lost(why) = trouble {
        server.lost(link.generation, why);
    }
}

fn empty(server: &Server, uri: &str, why: &str) -> Error {
    let code = &codes::MCP_RESOURCE_EMPTY;
    let message = format!(
        "the MCP server `{}` gives nothing for `{}`: {why}",
        server.id(),
        shown(uri)
    );
    Error::new(code.class, code.name, message)
        .with("serverId", server.id())
        .with("uri", uri)
}
