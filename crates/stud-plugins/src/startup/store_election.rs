//! Which session store is the active one.

use stud_contract_meta::ExtId;

use super::opened::Opened;
use stud_config::settings::{ActiveSettings, Settings};

/// The store that the settings name; else the first whose config says `active`; else the first that is active by
/// default; else the bundled one or its replacement.
pub(super) fn elect(opened: &[Opened], settings: &Settings) -> Option<ExtId> {
    let stores = || opened.iter().filter(|plugin| plugin.is_store());
    let is_set_active =
        |store: &&Opened| store.plugin().config().get("active") == Some(&true.into());
    let is_default = |store: &&Opened| {
        let rules = &store.plugin().manifest().discovery_rules;
        rules.default_activation == Some(true)
    };
    let elected = match ActiveSettings::of(settings).session_store.value {
        Some(id) => stores().find(|store| store.plugin().manifest().ext_id.as_str() == id),
        None => stores()
            .find(is_set_active)
            .or_else(|| stores().find(is_default))
            .or_else(|| stores().find(|store| store.replaces_bundled())),
    };
    elected.map(|store| store.plugin().manifest().ext_id.clone())
}
