//! Which projects are trusted, and which MCP servers.

use std::path::Path;

use serde_json::{Value, json};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use super::Site;
use crate::track::told;
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
pub(super) fn grant(site: &Site, path: &str) -> Result<Value> {
    let (target, _) = decide(site, path, Decision::Trusted)?;
    audit(site, "granted", "project", &target);
    Ok(json!({"granted": true, "target": target}))
}

/// Takes the trust in a project back, from its next start on.
pub(super) fn revoke(site: &Site, path: &str) -> Result<Value> {
    let (target, revoked) = decide(site, path, Decision::Declined)?;
    if revoked {
        audit(site, "revoked", "project", &target);
    }
    Ok(json!({"revoked": revoked, "target": target}))
}

/// Forgets what was decided about a server; its next use asks as the first one did.
pub(super) async fn clear_mcp(site: &Site, server: &str) -> Result<Value> {
    let servers = site.session.mcp().health();
    if !servers.iter().any(|known| known.server == server) {
        let code = &codes::NOT_FOUND;
        let message = format!("there is no MCP server `{server}`");
        return Err(Error::new(code.class, code.name, message).with("server", server));
    }
    site.session.mcp().forget(server).await?;
    audit(site, "cleared", "mcp", server);
    Ok(json!({"cleared": true, "server": server}))
}

fn decide(site: &Site, path: &str, decision: Decision) -> Result<(String, bool)> {
    let global_root = &site.ground.places.global_root;
    let decided = TrustStore::decide_by_name(global_root, Path::new(path), decision);
    let (target, changed) = decided.map_err(|why| told(&why))?;
    Ok((target.display().to_string(), changed))
}

fn audit(site: &Site, decision: &str, scope: &str, target: &str) {
    let payload = json!({"decision": decision, "scope": scope, "target": target});
    site.audit("TrustDecision", None, payload);
}
