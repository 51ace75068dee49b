//! What the code declares today, in the form of a lock.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::source::{code_only, is_test_file, without_tests};
use crate::tree::Tree;
use crate::workspace::Workspace;

/// The classes of error codes.
const CLASSES: &[&str] = &[
    "ProviderTransient",
    "ProviderCapability",
    "ToolTransient",
    "ToolTerminal",
    "Session",
    "Validation",
    "Cancellation",
    "ExtensionHost",
];

/// The folder of a contract.
pub(super) fn dir(name: &str) -> String {
    match name {
        "host-api" => "crates/stud-host-api".to_owned(),
        name => format!("crates/stud-contracts/{name}"),
    }
}

/// Every contract by its short name.
pub(super) fn extract(workspace: &Workspace, tree: &Tree) -> Result<Map<String, Value>, Failure> {
    let mut contracts = crate::codegen::declarations(workspace, "contracts")?;
    for (name, lock) in &mut contracts {
        let dir = dir(name);
        let package = workspace.packages.iter().find(|package| package.dir == dir);
        lock["version"] = json!(package.map(|package| package.version.as_str()));
        let layout = if name == "host-api" { "host" } else { name };
        let layout = tree.text(&format!("crates/stud-abi/layouts/{layout}.txt"));
        if let Some(text) = layout {
            lock["layout"] = json!(text.lines().collect::<Vec<_>>());
        }
        lock["codes"] = json!(codes(tree, &dir));
        lock["methods"] = json!(methods(tree, &dir));
        if name == "host-api" {
            let text = tree.text("crates/stud-host-api/src/wire/operation.rs");
            lock["operations"] = json!(operations(text.unwrap_or_default()));
        }
    }
    Ok(contracts)
}

fn sources<'a>(tree: &'a Tree, dir: &str) -> impl Iterator<Item = &'a str> {
    let src = format!("{dir}/src/");
    tree.rust()
        .filter(move |(path, _)| path.starts_with(&src) && !is_test_file(path))
        .map(|(_, text)| text)
}

/// The codes that doc comments name.
fn codes(tree: &Tree, dir: &str) -> BTreeSet<String> {
    sources(tree, dir)
        .flat_map(str::lines)
        .map(str::trim_start)
        .filter(|line| line.starts_with("//!") || line.starts_with("///"))
        .flat_map(|line| line.split('`'))
        .filter(|word| {
            word.split_once('/').is_some_and(|(class, code)| {
                CLASSES.contains(&class)
                    && !code.is_empty()
                    && code.chars().all(|letter| letter.is_ascii_alphanumeric())
            })
        })
        .map(str::to_owned)
        .collect()
}

/// The methods of the public traits as `Trait::method: signature`.
fn methods(tree: &Tree, dir: &str) -> Vec<String> {
    let mut found = Vec::new();
    for text in sources(tree, dir) {
        let code = without_tests(&code_only(text));
        for part in code.split("pub trait ").skip(1) {
            let name: String = part
                .chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect();
            let body = part.split_once('{').map_or("", |(_, body)| body);
            found.extend(items(body).into_iter().filter_map(|item| {
                let (_, after) = item.split_once("fn ")?;
                let method: String = after
                    .chars()
                    .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                    .collect();
                Some(format!("{name}::{method}: {item}"))
            }));
        }
    }
    found
}

/// The items of a trait up to its closing brace, each in one line; a body becomes `{}`.
fn items(body: &str) -> Vec<String> {
    let (mut depth, mut item, mut items) = (0_usize, String::new(), Vec::new());
    for letter in body.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    item.push_str(" {}");
                }
            }
            _ if depth > 0 => continue,
            other => item.push(other),
        }
        if depth == 0 && matches!(letter, ';' | '}') {
            let words: Vec<&str> = item.split_whitespace().collect();
            items.push(words.join(" "));
            item.clear();
        }
    }
    items
}

/// The operations of the host as `name: (request) -> reply`.
fn operations(text: &str) -> Vec<String> {
    let table = text
        .split_once("\noperations! {")
        .map_or("", |(_, table)| table);
    table
        .split("\n}\n")
        .next()
        .unwrap_or_default()
        .lines()
        .filter_map(|line| {
            let (_, rest) = line.split_once(" \"")?;
            let (name, signature) = rest.split_once("\" ")?;
            let signature = signature.trim_end_matches([':', ';']);
            signature
                .contains("->")
                .then(|| format!("{name}: {signature}"))
        })
        .collect()
}
