//! How the session is.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stud_contract_meta::Kind;
use stud_contract_ui::Role;
use stud_diagnostics::{Diagnostic, Severity};

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
        let is_degraded = extensions.contains_key(id) || !plugin.track().warnings.is_empty();
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
        "problems": refused.iter().flat_map(problems).collect::<Vec<_>>(),
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

/// Why a plugin does not take part. One that somebody switched off says so itself.
fn problems(report: &PluginReport) -> Vec<Value> {
    let errors = report.diagnostics.iter();
    let errors = errors.filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| shown(report, problem)).collect()
}

fn shown(report: &PluginReport, problem: &Diagnostic) -> Value {
    json!({
        "extId": report.ext_id,
        "class": problem.code.class.as_str(),
        "code": problem.code.name,
        "message": problem.message,
    })
}
