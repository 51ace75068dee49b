//! Tools.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::case::{Context, Verdict};
use crate::configs::validator;
use crate::sample;
use crate::subject::Call;

pub(super) fn schemas(context: &Context) -> Verdict {
    let mut names = BTreeSet::new();
    for tool in context.list("tools") {
        let name = tool["name"].as_str().unwrap_or_default();
        if !names.insert(name) {
            return Verdict::fail(format!("two tools are called `{name}`"));
        }
        if tool["inputSchema"]["type"] != "object" {
            return Verdict::fail(format!(
                "the input schema of `{name}` does not describe an object"
            ));
        }
        for member in ["inputSchema", "outputSchema"] {
            if let Some(Err(why)) = tool.get(member).map(validator) {
                return Verdict::fail(format!("`{member}` of `{name}` does not compile: {why}"));
            }
        }
        if tool["description"]
            .as_str()
            .unwrap_or_default()
            .trim()
            .is_empty()
        {
            return Verdict::fail(format!("`{name}` has no description for the model"));
        }
    }
    Verdict::of(!names.is_empty(), "there is no tool")
}

pub(super) fn refuses_invalid_input(context: &Context) -> Verdict {
    for tool in context.list("tools") {
        let name = tool["name"].as_str().unwrap_or_default();
        let Ok(validator) = validator(&tool["inputSchema"]) else {
            return Verdict::not_applicable("a schema does not compile");
        };
        for args in [json!(7), wrong_types(&tool["inputSchema"])] {
            if validator.is_valid(&args) {
                continue;
            }
            let call = Call::Tool {
                name: name.to_owned(),
                args: args.clone(),
            };
            match context.instance().call(&call) {
                Ok(_) => {
                    return Verdict::fail(format!(
                        "`{name}` ran with {args}, which its schema refuses"
                    ));
                }
                Err(error) if error.class() != "ToolTerminal" => {
                    return Verdict::fail(format!(
                        "`{name}` refused {args} with `{error}`, not with the class ToolTerminal"
                    ));
                }
                Err(_) => {}
            }
        }
    }
    Verdict::Pass
}

/// An object in which every required member has a value of no type that is common.
fn wrong_types(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten();
    let members = required.filter_map(Value::as_str);
    Value::Object(
        members
            .map(|name| (name.to_owned(), json!({"wrong": [null]})))
            .collect(),
    )
}

pub(super) fn approval_key_pure(context: &Context) -> Verdict {
    let subject = context.instance();
    for tool in context.list("tools") {
        let args = sample::of(&tool["inputSchema"]);
        let name = tool["name"].as_str().unwrap_or_default().to_owned();
        let call = Call::ApprovalKey { name, args };
        let (first, second) = (subject.call(&call), subject.call(&call));
        let other = context.instance().call(&call);
        if first != second || first != other {
            return Verdict::fail(format!(
                "the same arguments gave {first:?}, {second:?} and {other:?}"
            ));
        }
    }
    Verdict::Pass
}

pub(super) fn approval_key_distinct(context: &Context) -> Verdict {
    let subject = context.instance();
    let mut compared = false;
    // Where approvals cover paths, the contract says what a key covers.
    let exact = |tool: &&Value| {
        tool["gated"] == true && matches!(tool["approvalCoverage"].as_str(), None | Some("exact"))
    };
    for tool in context.list("tools").iter().filter(exact) {
        let name = tool["name"].as_str().unwrap_or_default();
        let (args, others) = (
            sample::of(&tool["inputSchema"]),
            sample::another(&tool["inputSchema"]),
        );
        if args == others {
            continue;
        }
        let key = |args: &Value| {
            let (name, args) = (name.to_owned(), args.clone());
            subject.call(&Call::ApprovalKey { name, args })
        };
        let (Ok(one), Ok(another)) = (key(&args), key(&others)) else {
            continue;
        };
        // A key that is the tool's own name says that one approval covers the tool.
        if one == name || one == context.manifest["extId"] {
            continue;
        }
        compared = true;
        if one == another {
            return Verdict::fail(format!(
                "`{name}` has the key {one} for {args} and for {others}: a yes to one is a yes to both"
            ));
        }
    }
    if compared {
        Verdict::Pass
    } else {
        Verdict::not_applicable("no gated tool has keys that should differ")
    }
}
