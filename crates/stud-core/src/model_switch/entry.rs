//! The provider that a switch leads to.

use std::sync::Arc;

use serde_json::Value;
use stud_contract_meta::{Error, ExtId, Kind, Result};
use stud_diagnostics::codes;

use crate::activate::{Active, Wanted};
use crate::admission::bring_up;
use crate::environment::Environment;
use crate::identity::Identity;
use crate::limits::Limits;
use crate::model;
use crate::provenance::told;
use crate::provider_entry::{speaker, taken};
use crate::register::PluginRuntime;
use crate::registry::Registry;
use crate::retire::retire;
use crate::session::Session;
use crate::settings::Settings;

/// A provider that is active, perhaps since a moment ago.
#[derive(Debug)]
pub(super) struct Candidate {
    provider: Arc<Active>,
    /// Whether it was brought up for this switch.
    is_raised: bool,
}

impl Candidate {
    /// The provider of this id. An entry that came into the settings later, or did not come up then, is brought up now.
    pub(super) fn find(
        session: &Session,
        id: &str,
        ground: &Environment,
        means: &PluginRuntime,
    ) -> Result<Self> {
        let plugins = &session.plugins();
        if let Ok(provider) = model::provider(plugins, id) {
            return Ok(Self {
                provider,
                is_raised: false,
            });
        }
        let now = ground.with_settings_of_now();
        let now = now.map_err(|problem| told(&problem))?.settings;
        let absent = || model::absent(plugins, id, &now, &session.refused());
        let provider = raise(plugins, id, &now, means, absent)?;
        Ok(Self {
            provider: Arc::new(provider),
            is_raised: true,
        })
    }

    pub(super) fn identity(&self) -> &Identity {
        self.provider.identity()
    }

    /// Takes part in the session from now on.
    pub(super) fn join(self, session: &Session, plugins: &Registry) {
        if self.is_raised {
            session.set_plugins(plugins.clone().with(self.provider));
        }
    }

    /// Takes back what was done for the switch.
    pub(super) fn withdraw(self, limits: &Limits) {
        if self.is_raised {
            // It was never used, so its report is not needed.
            retire(&self.provider, limits);
        }
    }
}

fn raise(
    plugins: &Registry,
    id: &str,
    settings: &Settings,
    means: &PluginRuntime,
    absent: impl Fn() -> Error,
) -> Result<Active> {
    let entries = settings.entries(Kind::Provider);
    let protocol = entries.get(id).map(|entry| {
        let protocol = entry.value.get("protocol").and_then(Value::as_str);
        protocol.unwrap_or(id)
    });
    let providers = plugins.of_kind(Kind::Provider);
    let providers = providers.iter().map(|provider| provider.bound());
    let provider = protocol.and_then(|protocol| speaker(providers, protocol));
    let (Some(provider), Ok(ext_id)) = (provider, ExtId::parse(id)) else {
        return Err(absent());
    };
    if let Some(holder) = plugins.get(id) {
        let code = &codes::REGISTRATION_CONFLICT;
        let message = taken(id, holder.identity().kind);
        return Err(Error::new(code.class, code.name, message).with("extId", id));
    }
    let bound = provider.for_entry(&ext_id, settings);
    let bound = bound.map_err(|refusal| told(refusal.why()))?;
    if !bound.plugin().is_enabled() {
        return Err(absent());
    }
    bring_up(&bound, 1, Wanted::Active, means).map_err(|refusal| told(refusal.why()))
}
