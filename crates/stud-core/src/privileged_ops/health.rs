//! How the session is.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stud_contract_meta::Kind;
use stud_contract_ui::Role;
use stud_diagnostics::Diagnostic;

use super::Site;
use crate::report::PluginReport;
use crate::validate::Members;

/// What takes part and what does not, and how far the session has come.
pub(super) fn report(site: &Site, turn_count_in_audit: bool) -> Value {
    let session = &site.session;
    let plugins = session.plugins();
    let refused = session.refused();
    let (turn_count, last) = session.turns();
    let mut extensions: BTreeMap<String, Value> = BTreeMap::new();
    for report in &refused {
        let (id, kind) = (report.ext_id.clone(), report.kind.map(Kind::as_str));
        let shown = json!({"id": id, "kind": kind, "state": "disabled"});
        extensions.insert(id, shown);
    }
    for plugin in plugins.iter() {
        let (id, kind) = (plugin.identity().ext_id.as_str(), plugin.identity().kind);
        // It runs, but a build that was meant to run in its place does not, or something about it was noticed.
        let is_degraded = extensions.contains_key(id) || !plugin.provenance().warnings().is_empty();
        let state = if is_degraded { "degraded" } else { "loaded" };
        let shown = json!({"id": id, "kind": kind.as_str(), "state": state});
        extensions.insert(id.to_owned(), shown);
    }
    let interactor = plugins.of_kind(Kind::Ui).into_iter().find(|plugin| {
        let is_active = plugin.identity().life.word() == "active";
        let members = &*plugin.identity().members;
        is_active && matches!(members, Members::Ui(ui) if ui.roles.contains(&Role::Interactor))
    });
    let snapshot = session.metrics().snapshot();
    let servers = session.mcp().health().into_iter().map(|server| {
        json!({"server": server.server, "trusted": server.trusted, "healthy": server.healthy})
    });
    let mut health = json!({
        "extensions": extensions.into_values().collect::<Vec<_>>(),
        "activeStore": session.store().store_id(),
        "activeInteractor": interactor.map(|plugin| plugin.identity().ext_id.as_str()),
        "mode": session.facts().mode,
        "mcp": servers.collect::<Vec<_>>(),
        "loop": {"turnCount": turn_count, "lastCorrelationId": last},
        "problems": problems(site, &refused),
    });
    if let Some(machine) = &snapshot.state_machine {
        health["sm"] = json!({
            "smId": machine.id,
            "currentStageId": machine.current_stage,
            "depth": machine.stack.len(),
        });
    }
    let mut looked = json!({});
    if turn_count_in_audit {
        looked["turnCount"] = turn_count.into();
    }
    site.audit("HealthReported", None, looked);
    health
}

/// Why plugins do not take part, and what replaces them. A disabled plugin says
/// so itself.
fn problems(site: &Site, refused: &[PluginReport]) -> Vec<Value> {
    let plugins = site.session.plugins();
    let running = plugins.iter().flat_map(|plugin| {
        let id = plugin.identity().ext_id.as_str();
        let warnings = plugin.provenance().warnings().iter();
        warnings.map(move |problem| (Some(id), problem))
    });
    let refused = refused.iter().flat_map(|report| {
        let problems = report.diagnostics.iter();
        problems.map(|problem| (Some(report.ext_id.as_str()), problem))
    });
    let of_plugins = refused.chain(running);
    let of_plugins = of_plugins.filter(|(_, problem)| is_shown(problem));
    let of_settings = site.ground.settings.dropped().iter();
    of_settings
        .map(|problem| (None, problem))
        .chain(of_plugins)
        .map(|(id, problem)| shown(id, problem))
        .collect()
}

/// Whether the person wanted something else than what holds now.
fn is_shown(problem: &Diagnostic) -> bool {
    problem.is_error() || problem.fallback().is_some()
}

fn shown(id: Option<&str>, problem: &Diagnostic) -> Value {
    let mut shown = json!({
        "class": problem.code.class.as_str(),
        "code": problem.code.name,
        "message": problem.message,
        "severity": problem.severity.as_str(),
    });
    if let Some(id) = id {
        shown["extId"] = id.into();
    }
    if let Some(fallback) = problem.fallback() {
        shown["fallback"] = fallback.clone();
    }
    shown
}
