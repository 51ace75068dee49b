//! Another provider, another model.

use serde_json::{Value, json};
use stud_contract_meta::{Kind, Result};

use super::Site;
use crate::model;
use crate::model_switch::{self, SwitchTarget};
use crate::params::Problem;
use crate::plugin_scope::Scope;

/// Lets another provider or another model answer from the next turn on; with neither, tells what there is.
#[expect(
    clippy::unused_async,
    reason = "every deed is waited for, and this one is done at once"
)]
pub(super) async fn switch(
    site: &Site,
    provider: Option<String>,
    model: Option<String>,
) -> Result<Value> {
    let target = SwitchTarget {
        provider: provider.as_deref(),
        model: model.as_deref(),
    };
    if provider.is_none() && model.is_none() {
        return Ok(choices(site));
    }
    let switched = model_switch::switch(&site.session, &site.ground, &site.means, target)?;
    Ok(json!({
        "providerId": switched.model.provider_id,
        "modelId": switched.model.model_id,
        "warnings": switched.warnings,
        "unheeded": switched.unheeded.iter().map(Problem::to_json).collect::<Vec<_>>(),
    }))
}

/// The active model, and the alternatives: configured entries and installed providers.
///
/// A bundled provider that is not configured is not a choice.
fn choices(site: &Site) -> Value {
    // A session that is just beginning has not chosen yet.
    drop(site.session.choosing());
    let plugins = site.session.plugins();
    let current = site.session.model();
    let answers = current.as_ref().map(|model| model.provider_id.as_str());
    // Entries that came into the settings since the start can be brought up too.
    let now = site.ground.with_settings_of_now();
    let settings = now
        .as_ref()
        .map_or(&site.ground.settings, |now| &now.settings);
    let configured = settings.entries(Kind::Provider);
    let mut entries = Vec::new();
    for id in model::entries(&plugins) {
        let Some(provider) = plugins.get(&id) else {
            continue;
        };
        let identity = provider.identity();
        let is_installed = identity.scope != Scope::Bundled;
        if is_installed || answers == Some(&*id) || configured.contains_key(&*id) {
            entries.push(json!({
                "id": id,
                "protocol": model::protocol(identity),
                "models": model::models(identity),
            }));
        }
    }
    for (id, entry) in configured {
        let is_listed = entries.iter().any(|listed| listed["id"] == id);
        if let Some(protocol) = entry.value.get("protocol").filter(|_| !is_listed) {
            entries.push(json!({"id": id, "protocol": protocol, "models": []}));
        }
    }
    json!({
        "providerId": current.as_ref().map(|model| &model.provider_id),
        "modelId": current.as_ref().map(|model| &model.model_id),
        "entries": entries,
    })
}
