//! Which projects are trusted, and which MCP servers.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use super::Site;
use crate::provenance::told;
use crate::trust::{Decision, TrustStore};

/// The projects that are trusted now, by path, and the servers that are known.
pub(super) fn list(site: &Site) -> Result<Value> {
    let store = TrustStore::open(&site.ground.places).map_err(|why| told(&why))?;
    let trusted: Vec<Value> = store
        .trusted()
        .iter()
        .map(|entry| {
            json!({
                "path": entry.canonical_path.display().to_string(),
                "grantedAt": entry.granted_at,
            })
        })
        .collect();
    let servers = site.session.mcp().health().into_iter();
    let mcp: Vec<Value> = servers
        .map(|server| json!({"server": server.server, "trusted": server.trusted}))
        .collect();
    Ok(json!({"trusted": trusted, "mcp": mcp}))
}

/// Trusts a project from its next start on.
pub(super) async fn grant(site: &Site, path: &str) -> Result<Value> {
    let target = TrustStore::named(Path::new(path)).map_err(|why| told(&why))?;
    let target = decide(site, target, Decision::Trusted).await?;
    Ok(json!({"granted": true, "target": target}))
}

/// Takes the trust in a project back, from its next start on.
pub(super) async fn revoke(site: &Site, path: &str) -> Result<Value> {
    let target = TrustStore::named_or_gone(Path::new(path)).map_err(|why| told(&why))?;
    let store = TrustStore::open(&site.ground.places).map_err(|why| told(&why))?;
    // Taking back a trust that was never given would only lengthen the history.
    if !store.is_trusted(&target) {
        return Ok(json!({"revoked": false, "target": target.display().to_string()}));
    }
    let target = decide(site, target, Decision::Declined).await?;
    Ok(json!({"revoked": true, "target": target}))
}

/// Forgets what was decided about a server; its next use asks as the first one did.
pub(super) async fn clear_mcp(site: &Site, server: &str) -> Result<Value> {
    let servers = site.session.mcp().health();
    if !servers.iter().any(|known| known.server == server) {
        let code = &codes::NOT_FOUND;
        let message = format!("there is no MCP server `{server}`");
        return Err(Error::new(code.class, code.name, message).with("server", server));
    }
    let forget = site.session.mcp().forget(server);
    let payload = on_record("cleared", "mcp", server);
    site.on_record("TrustDecision", payload, forget).await?;
    Ok(json!({"cleared": true, "server": server}))
}

async fn decide(site: &Site, target: PathBuf, decision: Decision) -> Result<String> {
    let shown = target.display().to_string();
    let word = match decision {
        Decision::Trusted => "granted",
        Decision::Declined => "revoked",
    };
    let act = async {
        let global_root = &site.ground.places.global_root;
        TrustStore::decide_about(global_root, &target, decision).map_err(|why| told(&why))
    };
    let payload = on_record(word, "project", &shown);
    site.on_record("TrustDecision", payload, act).await?;
    Ok(shown)
}

fn on_record(decision: &str, scope: &str, target: &str) -> Value {
    json!({"decision": decision, "scope": scope, "target": target})
}
