//! The provider that a switch leads to.

use std::sync::Arc;

use serde_json::Value;
use stud_contract_meta::{Error, ExtId, Kind, Result};
use stud_diagnostics::codes;

use crate::activate::{Active, Identity, Means, Wanted, activate};
use crate::bind::Bound;
use crate::environment::Environment;
use crate::limits::Limits;
use crate::model;
use crate::provenance::told;
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
        means: &Means,
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
            // Nobody has used it, so nobody misses what it had to say.
            retire(&self.provider, limits);
        }
    }
}

fn raise(
    plugins: &Registry,
    id: &str,
    settings: &Settings,
    means: &Means,
    absent: impl Fn() -> Error,
) -> Result<Active> {
    let entries = settings.entries(Kind::Provider);
    let protocol = entries.get(id).map(|entry| {
        let protocol = entry.value.get("protocol").and_then(Value::as_str);
        protocol.unwrap_or(id)
    });
    let providers = plugins.of_kind(Kind::Provider);
    let speaker = protocol.and_then(|protocol| {
        let mut speakers = providers.iter();
        speakers.find(|provider| model::speaks(provider.identity(), protocol))
    });
    let (Some(speaker), Ok(ext_id)) = (speaker, ExtId::parse(id)) else {
        return Err(absent());
    };
    if let Some(holder) = plugins.get(id) {
        let code = &codes::REGISTRATION_CONFLICT;
        let kind = holder.identity().kind;
        let message = format!("`{id}` is the id of a {kind}, so no entry can have it");
        return Err(Error::new(code.class, code.name, message).with("extId", id));
    }
    let Bound { plugin, table } = speaker.bound();
    let plugin = plugin.as_entry(&ext_id, settings);
    let plugin = plugin.map_err(|refusal| told(&refusal.why))?;
    if !plugin.enabled {
        return Err(absent());
    }
    let bound = Bound {
        plugin,
        table: *table,
    };
    activate(&bound, 1, Wanted::Active, means).map_err(|refusal| told(&refusal.why))
}
