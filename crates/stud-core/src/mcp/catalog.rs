//! What a server offers, as far as it can be used.

use std::collections::BTreeSet;
use std::sync::Arc;

use jsonschema::Validator;
use serde_json::Value;
use stud_contract_tool::{ApprovalCoverage, Executor, ToolDeclaration};

use super::connection::{PromptDescriptor, ResourceDescriptor, ToolDescriptor};
use super::sanitize::{cut, is_plain, shown, tool_name, visible};
use crate::validate::schema;

/// More than this of one kind is not taken from one server.
const MOST: usize = 1000;

/// The most of a description that a model is told.
const LONGEST_DESCRIPTION: usize = 8 << 10;

/// What a server offers at one moment.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerCatalog {
    pub(super) tools: Vec<ToolDescriptor>,
    pub(super) prompts: Vec<PromptDescriptor>,
    pub(super) resources: Vec<ResourceDescriptor>,
}

/// A tool that can be used.
#[derive(Debug, Clone)]
pub(super) struct RemoteTool {
    /// What the server calls it.
    pub(super) name: String,
    pub(super) declared: ToolDeclaration,
    pub(super) validator: Arc<Validator>,
}

impl ServerCatalog {
    /// Takes out what cannot be used, and says why in words.
    pub(super) fn sift(mut self) -> (Self, Vec<String>) {
        let mut left_out = Vec::new();
        sift(&mut self.tools, "tool", |tool| &tool.name, &mut left_out);
        sift(
            &mut self.prompts,
            "prompt",
            |prompt| &prompt.name,
            &mut left_out,
        );
        sift(
            &mut self.resources,
            "resource",
            |resource| &resource.uri,
            &mut left_out,
        );
        (self, left_out)
    }

    /// The tools with the names a model knows them by, and in words what is wrong with the others.
    pub(super) fn usable_tools(&self, server_id: &str) -> (Vec<RemoteTool>, Vec<String>) {
        let mut usable: Vec<RemoteTool> = Vec::new();
        let mut left_out = Vec::new();
        for tool in &self.tools {
            let name = tool_name(server_id, &tool.name);
            if usable.iter().any(|other| other.declared.name == name) {
                left_out.push(format!(
                    "the tool `{}`, because its name is taken",
                    shown(&tool.name)
                ));
                continue;
            }
            let input_schema = Value::Object(tool.input_schema.clone());
            let validator = match schema::build(&input_schema) {
                Ok(validator) => Arc::new(validator),
                Err(why) => {
                    let (tool, why) = (shown(&tool.name), shown(&why));
                    left_out.push(format!(
                        "the tool `{tool}`, because its schema is none: {why}"
                    ));
                    continue;
                }
            };
            let description = tool.description.as_deref().unwrap_or_default();
            usable.push(RemoteTool {
                name: tool.name.clone(),
                declared: ToolDeclaration {
                    name,
                    description: visible(cut(description, LONGEST_DESCRIPTION)),
                    input_schema,
                    output_schema: None,
                    executor: Executor::Remote,
                    gated: true,
                    approval_coverage: ApprovalCoverage::Exact,
                },
                validator,
            });
        }
        (usable, left_out)
    }
}

/// Keeps what has a name that can be shown, each name once.
fn sift<T>(all: &mut Vec<T>, kind: &str, name: impl Fn(&T) -> &String, left_out: &mut Vec<String>) {
    if all.len() > MOST {
        left_out.push(format!(
            "{} of its {kind}s, because {MOST} are enough",
            all.len() - MOST
        ));
        all.truncate(MOST);
    }
    let mut names = BTreeSet::new();
    all.retain(|one| {
        let name = name(one);
        let why = if !is_plain(name) {
            "because its name could deceive a reader"
        } else if !names.insert(name.clone()) {
            "because it has another one of that name"
        } else {
            return true;
        };
        left_out.push(format!("the {kind} `{}`, {why}", shown(name)));
        false
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, schema: Value) -> ToolDescriptor {
        ToolDescriptor {
            name: name.to_owned(),
            description: None,
            input_schema: schema.as_object().cloned().unwrap_or_default(),
        }
    }

    #[test]
    fn what_could_deceive_or_cannot_be_checked_is_left_out_by_name() {
        let any = json!({"type": "object"});
        let stock = ServerCatalog {
            tools: vec![
                tool("good", any.clone()),
                tool("good", json!({"type": "array"})),
                tool("b\u{202e}ad", any.clone()),
                tool("broken", json!({"type": 7})),
                tool("a.b", any.clone()),
                tool("a/b", any),
            ],
            ..ServerCatalog::default()
        };
        let (stock, first) = stock.sift();
        let (tools, second) = stock.usable_tools("s");
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.declared.name).collect();
        assert_eq!(names, ["mcp__s__good", "mcp__s__a_b"]);
        let said = [first, second].concat().join("\n");
        for word in [
            "b\\u{202e}ad",
            "`good`, because it has another",
            "`broken`",
            "`a/b`",
        ] {
            assert!(said.contains(word), "{word}: {said}");
        }
    }

    #[test]
    fn a_flood_of_tools_is_cut_off() {
        let tools = (0..MOST + 7).map(|number| tool(&format!("t{number}"), json!({})));
        let stock = ServerCatalog {
            tools: tools.collect(),
            ..ServerCatalog::default()
        };
        let (stock, left_out) = stock.sift();
        assert_eq!(stock.tools.len(), MOST);
        assert_eq!(left_out, ["7 of its tools, because 1000 are enough"]);
    }
}
