//! A Provider: a protocol and what it claims its models can do.

use serde_json::Value;
use stud_contract_meta::Capability;
use stud_diagnostics::Diagnostic;

use super::{Members, read};
use crate::validate::document::Document;

pub(super) fn check(document: &Document<'_>) -> Result<Members, Diagnostic> {
    document.words("protocol", "the key of the adapter")?;
    let claims = document.object("capabilities", "an object with the seven claims")?;
    let levels = ["hard", "preferred", "probed", "absent"];
    for claim in [
        "streaming",
        "toolCalling",
        "structuredOutput",
        "multimodal",
        "reasoning",
        "promptCaching",
    ] {
        claims.word(claim, &levels, |word| levels.contains(&word).then_some(()))?;
    }
    let expected = "a number of tokens, or `probed`";
    let window = claims.required("contextWindow", expected)?;
    if !(window.is_u64() || window == "probed") {
        return Err(claims.invalid("contextWindow", expected));
    }
    if document.members.contains_key("params") {
        check_params(&document.object("params", "an object with rules for parameters")?)?;
    }
    read(document).map(Members::Provider)
}

fn check_params(rules: &Document<'_>) -> Result<(), Diagnostic> {
    for member in ["reserved", "unheeded"] {
        rules.texts(member, "a list of names")?;
    }
    if rules.members.contains_key("needs") {
        let needs = rules.object("needs", "an object with a capability for each name")?;
        let names = Capability::ALL.map(Capability::as_str);
        for param in needs.members.keys() {
            needs.word(param, &names, Capability::parse)?;
        }
    }
    let expected = "a list of pairs of paths";
    let is_pair = |pair: &Value| {
        let pair = pair.as_array().filter(|pair| pair.len() == 2);
        pair.is_some_and(|pair| pair.iter().all(Value::is_string))
    };
    if !rules.list("below", expected)?.iter().all(is_pair) {
        return Err(rules.invalid("below", expected));
    }
    Ok(())
}
