//! A Tool plugin: one or more tools, each with a flat name and schemas that compile.

use std::collections::BTreeSet;

use stud_diagnostics::{Diagnostic, codes};

use super::{Members, entries, read};
use crate::validate::document::Document;
use crate::validate::schema;

pub(super) fn check(document: &Document<'_>) -> Result<Members, Diagnostic> {
    let mut names = BTreeSet::new();
    for tool in entries(document, "tools", "a list with at least one tool")? {
        let expected = "a flat name of letters, digits, `_` and `-`, at most 64";
        let name = tool.words("name", expected)?;
        let flat = name.len() <= 64
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !flat {
            return Err(tool.invalid("name", expected));
        }
        if !names.insert(name) {
            return Err(document
                .provenance
                .error(
                    document.stage,
                    &codes::TOOL_NAME_CONFLICT,
                    format!("the tool `{name}` is declared twice"),
                )
                .field(tool.path("name"))
                .with("name", name)
                .help("author: give each tool a name of its own"));
        }
        tool.words("description", "what the tool does, for the model")?;
        let gated = "whether calls need approval";
        if !tool.required("gated", gated)?.is_boolean() {
            return Err(tool.invalid("gated", gated));
        }
        tool.object("inputSchema", "a JSON Schema object")?;
        for member in ["inputSchema", "outputSchema"] {
            if let Some(declared) = tool.members.get(member) {
                schema::check(
                    document.provenance,
                    document.stage,
                    &tool.path(member),
                    declared,
                )?;
            }
        }
    }
    read(document).map(Members::Tool)
}
