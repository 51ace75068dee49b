//! `/trust`: which projects are trusted, and which MCP servers.
#![forbid(unsafe_code)]

mod request;

use stud_sdk::command::{RawArgs, Rendered, command};
use stud_sdk::host::commands::Deed;
use stud_sdk::{Config, Cx, CxExt as _, Error, ErrorExt as _, Result, Value, json};

use request::Request;

/// When to ask.
#[derive(Config)]
struct Options {
    /// Whether trust is only taken back after a question.
    #[stud(default = true)]
    require_confirm_for_clear: bool,
}

/// Shows which projects are trusted, trusts one, or takes trust back.
#[command(
    id = "trust",
    name = "trust",
    category = "session",
    argument_hint = "[list | grant PATH | revoke PATH | --clear-mcp SERVER]",
    turn_safe,
    config = Options,
    interactions("Confirm")
)]
async fn trust(input: RawArgs, cx: &Cx) -> Result<Rendered> {
    let options: Options = cx.config()?;
    match Request::read(&input)? {
        Request::List => list(cx).await,
        Request::Grant(path) => grant(cx, path).await,
        Request::Revoke(path) => revoke(cx, path, &options).await,
        Request::ClearMcp(server) => clear_mcp(cx, server, &options).await,
    }
}

async fn list(cx: &Cx) -> Result<Rendered> {
    let listed = cx.host().commands().perform(Deed::ListTrust {}).await?;
    let items = |member: &str| listed[member].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let projects: Vec<Vec<String>> = items("trusted")
        .iter()
        .map(|entry| vec![text(&entry["path"]), text(&entry["grantedAt"])])
        .collect();
    let mut lines = Vec::new();
    if projects.is_empty() {
        lines.push("No project is trusted.".to_owned());
    } else {
        lines.push(columns::lined_up(&projects));
    }
    let servers: Vec<String> = items("mcp")
        .iter()
        .map(|known| text(&known["server"]))
        .collect();
    if !servers.is_empty() {
        lines.push(format!("MCP servers: {}", servers.join(", ")));
    }
    Ok(Rendered::from(lines.join("\n")).with_payload(listed))
}

async fn grant(cx: &Cx, path: String) -> Result<Rendered> {
    let granted = cx
        .host()
        .commands()
        .perform(Deed::GrantTrust { path })
        .await?;
    let target = granted["target"].as_str().unwrap_or_default();
    let shown = format!(
        "{target} is trusted from the next start on: its plugins run in stud's own process, with everything you may do."
    );
    Ok(Rendered::from(shown).with_payload(granted))
}

async fn revoke(cx: &Cx, path: String, options: &Options) -> Result<Rendered> {
    let question = format!("Take back the trust in {path}?");
    if options.require_confirm_for_clear && !cx.confirm(&question).await? {
        let shown = Rendered::from("Nothing was changed.");
        return Ok(shown.with_payload(json!({"revoked": false, "target": path})));
    }
    let deed = Deed::RevokeTrust { path };
    let revoked = cx.host().commands().perform(deed).await?;
    let target = revoked["target"].as_str().unwrap_or_default();
    let shown = if revoked["revoked"] == true {
        format!("{target} is not trusted any more: from the next start on nothing in it is read.")
    } else {
        format!("{target} was not trusted.")
    };
    Ok(Rendered::from(shown).with_payload(revoked))
}

async fn clear_mcp(cx: &Cx, server: String, options: &Options) -> Result<Rendered> {
    let listed = cx.host().commands().perform(Deed::ListTrust {}).await?;
    let mut known = listed["mcp"].as_array().into_iter().flatten();
    if !known.any(|known| known["server"] == server.as_str()) {
        let why = format!("there is no MCP server `{server}`");
        return Err(Error::not_found(why).with("server", server));
    }
    let question = format!("Forget what was decided about the MCP server {server}?");
    if options.require_confirm_for_clear && !cx.confirm(&question).await? {
        let shown = Rendered::from("Nothing was changed.");
        return Ok(shown.with_payload(json!({"cleared": false, "server": server})));
    }
    let shown = format!("You are asked again before {server} is used.");
    let deed = Deed::ClearMcpTrust { server };
    let cleared = cx.host().commands().perform(deed).await?;
    Ok(Rendered::from(shown).with_payload(cleared))
}

#[cfg(test)]
mod tests;
