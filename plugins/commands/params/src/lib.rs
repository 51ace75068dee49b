//! `/params`: parameters of the provider, for this session.
#![forbid(unsafe_code)]

mod assignments;

use stud_sdk::command::{RawArgs, Rendered, command};
use stud_sdk::host::commands::Deed;
use stud_sdk::{Cx, Result, Value};

/// Shows the parameters of the provider, or sets some for this session.
#[command(
    id = "params",
    name = "params",
    category = "model",
    argument_hint = "[path=value …]",
    turn_safe
)]
async fn params(input: RawArgs, cx: &Cx) -> Result<Rendered> {
    let set = assignments::read(&input.raw)?;
    let told = cx.host().commands().perform(Deed::Params { set }).await?;
    let mut lines = vec![match told["status"].as_str() {
        Some("rejected") => "Nothing was changed.".to_owned(),
        _ => listed(&told["params"]),
    }];
    for problem in told["diagnostics"].as_array().into_iter().flatten() {
        let [code, message] = ["code", "message"].map(|member| problem[member].as_str());
        let (code, message) = (code.unwrap_or_default(), message.unwrap_or_default());
        lines.push(format!("{code}: {message}"));
    }
    Ok(Rendered::from(lines.join("\n")).with_payload(told))
}

/// One line for each parameter, with who set it.
fn listed(params: &Value) -> String {
    let lines = params.as_array().into_iter().flatten().map(|param| {
        let [path, layer] = ["paramPath", "sourceLayer"].map(|member| param[member].as_str());
        let (path, layer) = (path.unwrap_or_default(), layer.unwrap_or_default());
        format!("{path} = {}  ({layer})", param["value"])
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        "No parameter is set.".to_owned()
    } else {
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests;
