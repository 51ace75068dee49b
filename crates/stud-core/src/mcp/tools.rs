//! The tools of a server, as the session finds them: gated like any, and what they give is text from outside.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jsonschema::Validator;
use serde_json::{Value, json};
use stud_abi::CallContext;
use stud_contract_meta::{Error, Result};
use stud_contract_provider::ToolSpec;
use stud_contract_tool::{Envelope, Output, ToolDeclaration};
use stud_diagnostics::codes;
use stud_host_api::BoxFuture;
use stud_host_api::metrics::{Invocations, Sensitivity, Source, ToolInfo};

use super::catalog::RemoteTool;
use super::connection::{ConnectionError, Part, ToolAnswer};
use super::deps::ServerDeps;
use super::sanitize::{cut, shown};
use super::server::Server;
use crate::cancellation::{CancelReason, Scope, called_off};
use crate::executor::{CodeOrigin, or_cancelled};
use crate::tool_registry::{ToolSource, specs_of};

/// The tools of one listing.
pub(super) struct RemoteTools {
    /// `mcp:<server>`.
    ext_id: String,
    server: Arc<Server>,
    tools: Vec<RemoteTool>,
    declared: Vec<ToolDeclaration>,
    specs: Vec<ToolSpec>,
}

impl RemoteTools {
    pub(super) fn of(server: &Arc<Server>, tools: Vec<RemoteTool>) -> Self {
        let declared: Vec<_> = tools.iter().map(|tool| tool.declared.clone()).collect();
        Self {
            ext_id: format!("mcp:{}", server.id()),
            server: server.clone(),
            specs: specs_of(&declared),
            declared,
            tools,
        }
    }

    fn tool(&self, name: &str) -> Option<&RemoteTool> {
        self.tools.iter().find(|tool| tool.declared.name == name)
    }

    /// What a snapshot lists of them.
    pub(super) fn info(&self, means: &ServerDeps) -> Vec<ToolInfo> {
        let tools = self.tools.iter();
        tools
            .map(|tool| {
                let (name, key) = (&tool.declared.name, self.key(tool));
                ToolInfo {
                    id: name.clone(),
                    name: name.clone(),
                    description: Some(shown(&tool.declared.description)),
                    source: Source::Mcp,
                    sensitivity: Sensitivity::Guarded,
                    allowed_now: means.is_preapproved(name, &key),
                    approval_key: Some(key),
                    invocations: Invocations::default(),
                }
            })
            .collect()
    }

    fn key(&self, tool: &RemoteTool) -> String {
        format!("{}:{}", self.ext_id, tool.name)
    }

    async fn call(&self, tool: &RemoteTool, args: &Value) -> Result<Output> {
        let link = self.server.link().await?;
        let args = args.as_object().cloned().unwrap_or_default();
        let answer = link.connection.call_tool(&tool.name, args).await;
        match answer {
            Ok(answer) if answer.is_error => Err(self.failed(tool, &words_of(&answer))),
            Ok(answer) => Ok(self.told(answer).into()),
            Err(ConnectionError::Refused(why)) => Err(self.failed(tool, &why)),
            Err(ConnectionError::Lost(why)) => {
                self.server.lost(link.generation, &why);
                let error = self.server.connection_lost(&format!(
                    "the connection broke while `{}` ran, which may have done its work or not: {}",
                    shown(&tool.name),
                    shown(&why),
                ));
                Err(error.with("toolName", tool.name.as_str()))
            }
        }
    }

    /// The answer as a model is told it. It is marked, and not longer than the operator allows.
    fn told(&self, answer: ToolAnswer) -> Value {
        let mut left = self.server.terms().max_result;
        let mut truncated = false;
        let mut content = Vec::new();
        for part in answer.content {
            content.push(match part {
                Part::Text(text) => {
                    let kept = cut(&text, left);
                    truncated |= kept.len() < text.len();
                    left -= kept.len();
                    json!({"type": "text", "text": kept})
                }
                Part::Other {
                    kind,
                    mime_type,
                    bytes,
                } => json!({"type": kind, "mimeType": mime_type, "bytes": bytes, "leftOut": true}),
                Part::Link(uri) => json!({"type": "resource_link", "uri": cut(&uri, 2048)}),
            });
        }
        let mut told = json!({"content": content, "isError": false, "untrusted": true});
        if let Some(structured) = answer.structured {
            if structured.to_string().len() <= left {
                told["structuredContent"] = structured;
            } else {
                truncated = true;
            }
        }
        if truncated {
            told["truncated"] = true.into();
        }
        told
    }

    fn failed(&self, tool: &RemoteTool, why: &str) -> Error {
        const LONGEST: usize = 4 << 10;
        let code = &codes::MCP_TOOL_FAILED;
        let why = match cut(why, LONGEST) {
            "" => "it does not say why",
            why => why,
        };
        let (server, tool) = (self.server.id(), tool.name.as_str());
        let message = format!("`{tool}` of the MCP server `{server}` failed: {why}");
        Error::new(code.class, code.name, message)
            .with("serverId", server)
            .with("toolName", tool)
            .with("untrusted", true)
    }
}

fn words_of(answer: &ToolAnswer) -> String {
    let texts = answer.content.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Other { .. } | Part::Link(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

impl ToolSource for RemoteTools {
    fn ext_id(&self) -> &str {
        &self.ext_id
    }

    fn code_origin(&self) -> CodeOrigin {
        // The key is core's own; only the call goes to the server.
        CodeOrigin::Bundled
    }

    fn tools(&self) -> &[ToolDeclaration] {
        &self.declared
    }

    fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn validator(&self, tool: &ToolDeclaration) -> Option<Arc<Validator>> {
        self.tool(&tool.name).map(|tool| tool.validator.clone())
    }

    fn approval_key(&self, tool: &str, _: &Value) -> Result<String> {
        let tool = self.tool(tool).ok_or_else(|| self.server.lacks(tool))?;
        Ok(self.key(tool))
    }

    fn execute<'a>(
        &'a self,
        tool: &'a str,
        args: &'a Value,
        cx: CallContext,
    ) -> BoxFuture<'a, Result<Envelope>> {
        Box::pin(async move {
            let tool = self.tool(tool).ok_or_else(|| self.server.lacks(tool))?;
            // Dropping the future drops the call, and the server is notified.
            let done = or_cancelled(cx.cancellation(), self.call(tool, args)).await;
            let done = done.unwrap_or_else(|| {
                // A call is cancelled with its turn or its session, and never by itself.
                let message = "the call was cancelled";
                Err(called_off(Scope::Tool, CancelReason::Parent, message))
            });
            Ok(done.into())
        })
    }

    fn patience(&self, _tool: &str, _args: &Value, _usual: Duration) -> Duration {
        self.server.terms().call
    }
}

impl fmt::Debug for RemoteTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteTools")
            .field("ext_id", &self.ext_id)
            .finish_non_exhaustive()
    }
}
