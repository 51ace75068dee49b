//! The Tool table over an author's functions.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use stud_abi::CallContext;
use stud_abi::section::Json;
use stud_abi::tables::tool::ToolExport;
use stud_contract_meta::{Error, Result};
use stud_contract_tool::{Envelope, Output, Tool};
use stud_diagnostics::codes;
use stud_host_api::{BoxFuture, Cx};

use super::fault::{Reply, coded};
use super::glue::{Glue, answer};
use super::plugin::Plugin;
use super::returned::failed;
use super::runtime;
use crate::schema::Args;

/// A plugin with tools.
pub trait ToolPlugin: Plugin {
    /// Its tools.
    const TOOLS: &'static [ToolEntry<Self>];
}

/// One tool of a plugin `P`.
#[derive(Debug)]
pub struct ToolEntry<P> {
    /// Its flat name.
    pub name: &'static str,
    /// Runs it.
    pub execute: fn(Arc<P>, &str, Cx) -> BoxFuture<'static, Result<Output>>,
    /// Derives the approval key of a call.
    pub approval_key: fn(&P, &str) -> Result<String>,
}

/// A tool that is a function.
pub trait ToolPart {
    /// Its flat name.
    const NAME: &'static str;
    /// Its entry in the manifest.
    const DECLARATION: Json;
    /// Runs it.
    fn execute(args: &str, cx: Cx) -> BoxFuture<'static, Result<Output>>;
    /// Derives the approval key of a call.
    fn approval_key(args: &str) -> Result<String>;
}

/// A function as a tool of the plugin `P`.
pub const fn part<P, T: ToolPart>() -> ToolEntry<P> {
    ToolEntry {
        name: T::NAME,
        execute: |_, args, cx| T::execute(args, cx),
        approval_key: |_, args| T::approval_key(args),
    }
}

/// A plugin that is a tool itself.
pub const fn object<P: Tool<Args: Args>>(name: &'static str) -> ToolEntry<P> {
    ToolEntry {
        name,
        execute: |this, text, cx| match args::<P::Args>(text) {
            Ok(args) => Box::pin(async move { this.execute(args, &cx).await }),
            Err(error) => failed(error),
        },
        approval_key: |this, text| this.approval_key(&args::<P::Args>(text)?),
    }
}

impl<P: ToolPlugin> ToolExport for Glue<P> {
    fn execute(
        self: Arc<Self>,
        subject: String,
        payload: String,
        cx: CallContext,
    ) -> impl Future<Output = Reply<String>> + Send + 'static {
        answer(self.log(), async move {
            let instance = self.instance("execute")?;
            let result = match find(P::TOOLS, &subject) {
                Ok(tool) => (tool.execute)(instance, &payload, self.cx(cx)).await,
                Err(error) => Err(error),
            };
            envelope(result)
        })
    }

    fn approval_key(&self, subject: &str, payload: &str) -> Reply<String> {
        runtime::within(&self.log(), || {
            let instance = self.instance("deriveApprovalKey")?;
            let tool = find(P::TOOLS, subject).map_err(|error| {
                let code = &codes::TOOL_NOT_REGISTERED;
                coded(code, error.message()).with("toolId", subject)
            })?;
            let key = (tool.approval_key)(&instance, payload)?;
            Ok(Value::String(key).to_string())
        })
    }
}

fn find<'a, P>(tools: &'a [ToolEntry<P>], name: &str) -> Result<&'a ToolEntry<P>> {
    tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
        let message = format!("this plugin has no tool `{name}`");
        coded(&codes::NOT_FOUND, message).with("tool", name)
    })
}

fn envelope(result: Result<Output>) -> Result<String> {
    serde_json::to_string(&Envelope::from(result)).map_err(|error| {
        let message = format!("the result cannot be written as JSON: {error}");
        coded(&codes::TOOL_EXECUTION_FAILED, message)
    })
}

/// Reads the arguments of a call.
pub fn args<T: Args>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(invalid)
}

fn invalid(error: serde_json::Error) -> Error {
    coded(
        &codes::INPUT_INVALID,
        format!("the arguments do not fit: {error}"),
    )
}

/// Longer keys are cut.
const KEY_LIMIT: usize = 1024;

/// The key of a tool whose author gave none: the name and all arguments, members in order.
///
/// A long one is cut and ends in the digest of the whole, so that two calls never share a key.
pub fn default_key(name: &str, args: &str) -> Result<String> {
    let args: Value = serde_json::from_str(args).map_err(invalid)?;
    let mut key = format!("{name}:");
    canonical(&args, &mut key);
    if key.len() > KEY_LIMIT {
        let digest = HEXLOWER.encode(&Sha256::digest(&key));
        let room = KEY_LIMIT - digest.len() - 1;
        let end = (0..=room).rev().find(|at| key.is_char_boundary(*at));
        key.truncate(end.unwrap_or(0));
        key.push('#');
        key.push_str(&digest);
    }
    Ok(key)
}

/// Compact JSON with sorted members, however the map underneath orders them.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                canonical(item, text);
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_key_does_not_depend_on_the_order_of_members() {
        let key = default_key("x", r#"{ "b": [1, {"d": null, "c": "é"}], "a": true }"#).unwrap();
        assert_eq!(key, r#"x:{"a":true,"b":[1,{"c":"é","d":null}]}"#);
        assert_eq!(
            default_key("x", r#"{"a":true,"b":[1,{"c":"é","d":null}]}"#).unwrap(),
            key
        );
    }

    #[test]
    fn long_keys_are_cut_and_stay_apart() {
        let key = |last: char| {
            default_key("x", &format!(r#"{{"text":"{}{last}"}}"#, "é".repeat(1000))).unwrap()
        };
        let (one, other) = (key('1'), key('2'));
        assert!(one.len() <= KEY_LIMIT && other.len() <= KEY_LIMIT);
        assert_ne!(one, other);
        assert_eq!(one[..901], other[..901]);
    }
}
