//! The prompts of a server as slash commands: what a prompt says is put before the assistant as the next input.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use stud_abi::CallContext;
use stud_contract_command::{CommandDeclaration, Draft, Rendered};
use stud_contract_meta::Result;
use stud_host_api::BoxFuture;
use stud_host_api::commands::Completion;

use super::connection::PromptDescriptor;
use super::fetch::{self, Consumed};
use super::sanitize::{command_name, shown};
use super::server::Server;
use crate::commands::CommandSource;
use crate::ledger::closed;
use crate::plugin_scope::Scope;

/// The commands of one server.
pub(super) struct PromptCommands {
    ext_id: String,
    server: Arc<Server>,
    /// The prompts, in the order of the declarations.
    prompts: Vec<PromptDescriptor>,
    declared: Vec<CommandDeclaration>,
}

impl PromptCommands {
    pub(super) fn of(server: &Arc<Server>, prompts: Vec<PromptDescriptor>) -> Self {
        Self {
            ext_id: format!("mcp:{}", server.id()),
            declared: prompts
                .iter()
                .map(|prompt| declaration(server.id(), prompt))
                .collect(),
            server: server.clone(),
            prompts,
        }
    }

    async fn consume(&self, name: &str, args: &str) -> Result<Rendered> {
        let place = self
            .declared
            .iter()
            .position(|declared| declared.name == name);
        let prompt = place.and_then(|place| self.prompts.get(place));
        let prompt = prompt.ok_or_else(closed)?;
        let given: Value = serde_json::from_str(args).unwrap_or_default();
        let consumed = fetch::prompt(&self.server, &prompt.name, texts(prompt, &given)).await?;
        let around = self.server.means.around.upgrade().ok_or_else(closed)?;
        let origin = json!({
            "kind": "mcp_prompt",
            "serverId": consumed.server_id,
            "name": consumed.name,
            "taint": Consumed::TAINT,
        });
        around.say(consumed.as_input(), origin.clone()).await?;
        let (name, server) = (shown(&consumed.name), &consumed.server_id);
        let rendered = format!("The prompt `{name}` of `{server}` was said.");
        Ok(Rendered::from(rendered).with_payload(origin))
    }
}

fn declaration(server_id: &str, prompt: &PromptDescriptor) -> CommandDeclaration {
    let said = prompt.description.as_deref().unwrap_or_default().trim();
    let description = match said {
        "" => format!(
            "Says the prompt `{}` of `{server_id}`.",
            shown(&prompt.name)
        ),
        said => shown(said),
    };
    let hint: Vec<String> = prompt
        .arguments
        .iter()
        .map(
            |argument| match (shown(&argument.name), argument.required) {
                (name, true) => format!("<{name}>"),
                (name, false) => format!("[{name}]"),
            },
        )
        .collect();
    CommandDeclaration {
        name: command_name(server_id, &prompt.name),
        description,
        args_schema: schema(prompt),
        argument_hint: (!hint.is_empty()).then(|| hint.join(" ")),
        category: Some("prompts".to_owned()),
        turn_safe: true,
    }
}

/// Arguments are texts. One that is alone takes everything that was typed.
fn schema(prompt: &PromptDescriptor) -> Value {
    let is_alone = prompt.arguments.len() == 1;
    let properties: Map<String, Value> = prompt
        .arguments
        .iter()
        .map(|argument| {
            let kind = if is_alone {
                json!({"type": ["array", "string"], "items": {"type": "string"}})
            } else {
                json!({"type": "string"})
            };
            (argument.name.clone(), kind)
        })
        .collect();
    let required = prompt.arguments.iter().filter(|argument| argument.required);
    let required: Vec<&str> = required.map(|argument| argument.name.as_str()).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// What a prompt is given: texts, whatever was typed.
fn texts(prompt: &PromptDescriptor, given: &Value) -> BTreeMap<String, String> {
    let names = prompt.arguments.iter().map(|argument| &argument.name);
    let said = names.filter_map(|name| {
        let text = match given.get(name)? {
            Value::String(text) => text.clone(),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                words.join(" ")
            }
            other => other.to_string(),
        };
        Some((name.clone(), text))
    });
    said.collect()
}

impl CommandSource for PromptCommands {
    fn ext_id(&self) -> &str {
        &self.ext_id
    }

    fn scope(&self) -> Scope {
        // A plugin's command of the same name comes first.
        Scope::Bundled
    }

    fn generation(&self) -> u64 {
        0
    }

    fn commands(&self) -> &[CommandDeclaration] {
        &self.declared
    }

    fn aliases(&self) -> Vec<String> {
        Vec::new()
    }

    fn run<'a>(
        &'a self,
        name: &'a str,
        args: String,
        _: CallContext,
    ) -> BoxFuture<'a, Result<Rendered>> {
        Box::pin(async move { self.consume(name, &args).await })
    }

    fn complete(&self, _: &str, _: &Draft) -> Result<Vec<Completion>> {
        Ok(Vec::new())
    }
}
