//! Which model answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use stud_contract_meta::{Capability, Error, Kind, Result};
use stud_contract_provider::{Capabilities, ContextWindow};
use stud_diagnostics::codes;

use crate::activate::Active;
use crate::did_you_mean::nearest;
use crate::identity::Identity;
use crate::model_capabilities::claim_mut;
use crate::provenance::told;
use crate::provider_entry;
use crate::registry::Registry;
use crate::report::PluginReport;
use crate::settings::{ActiveSettings, Settings};
use crate::validate::Members;

pub use crate::settings::STAND_IN;

/// Whom the settings let answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderChoice<'a> {
    /// The provider that `active.provider` names.
    Chosen(&'a str),
    /// Not chosen: the first configured one by id, and how many are configured.
    Configured(&'a str, usize),
    /// None is configured.
    StandIn,
}

impl<'a> ProviderChoice<'a> {
    /// What the settings say.
    pub fn of(settings: &'a Settings) -> Self {
        let chosen = ActiveSettings::of(settings).provider;
        if chosen.is_set() {
            return Self::Chosen(chosen.value);
        }
        let entries = settings.entries(Kind::Provider).into_iter();
        let configured = entries.filter(|(id, entry)| {
            let is_off = entry.value.get("enabled") == Some(&Value::Bool(false))
                || entry.value.get("disable") == Some(&Value::Bool(true));
            *id != STAND_IN && !is_off
        });
        let ids: Vec<&str> = configured.map(|(id, _)| id).collect();
        match ids.first() {
            Some(first) => Self::Configured(first, ids.len()),
            None => Self::StandIn,
        }
    }

    /// The provider's id.
    pub const fn id(&self) -> &'a str {
        match self {
            Self::Chosen(id) | Self::Configured(id, _) => id,
            Self::StandIn => STAND_IN,
        }
    }

    /// The model, as far as the settings name one.
    pub fn model(&self, settings: &'a Settings) -> Option<&'a str> {
        let model = model_set(settings);
        let entry = || {
            settings
                .get("providers", self.id())
                .map(|entry| entry.value)
        };
        model.or_else(|| {
            let first = |listed: &'a Value| listed.get(0).and_then(id_of);
            let named = |entry: &'a Value| entry.get("model").and_then(id_of);
            let entry = entry()?;
            named(entry).or_else(|| entry.get("models").and_then(first))
        })
    }
}

/// The model that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The entry of the settings: a provider plugin, or one more instance of one.
    pub provider_id: String,
    /// What the provider calls the model.
    pub model_id: String,
}

impl Model {
    /// The provider among these plugins.
    pub fn provider(&self, plugins: &Registry) -> Result<Arc<Active>> {
        provider(plugins, &self.provider_id)
    }

    /// The model that the settings name, or the first there is.
    ///
    /// The bundled stand-in answers only where nothing else was chosen or configured. `refused` are the plugins that do
    /// not take part: one of them may be why no model is available.
    pub fn chosen(
        plugins: &Registry,
        settings: &Settings,
        refused: &[PluginReport],
    ) -> Result<Self> {
        let provider = match ProviderChoice::of(settings) {
            ProviderChoice::Chosen(id) | ProviderChoice::Configured(id, _) => {
                provider(plugins, id).map_err(|_| absent(plugins, id, settings, refused))
            }
            ProviderChoice::StandIn => provider(plugins, STAND_IN).or_else(|missing| {
                let providers = plugins.of_kind(Kind::Provider);
                providers.first().copied().cloned().ok_or(missing)
            }),
        }?;
        let model = model_set(settings);
        Self::of(provider.identity(), model)
    }

    /// A model of a provider: the one that is named, or its first.
    pub fn of(provider: &Identity, named: Option<&str>) -> Result<Self> {
        let provider_id = provider.ext_id.as_str();
        let models = models(provider);
        let model_id = match named {
            Some(named) if models.is_empty() || models.iter().any(|model| model == named) => named,
            Some(named) => return Err(not_of(provider_id, named, &models)),
            // A provider that lists none knows its own id for the model it would begin with.
            None => models.first().map_or(provider.plugin_id(), String::as_str),
        };
        Ok(Self {
            provider_id: provider_id.to_owned(),
            model_id: model_id.to_owned(),
        })
    }

    /// What the model can do, as far as anyone has said: the operator in `models`, else the provider.
    pub fn capabilities(&self, provider: &Identity) -> Capabilities {
        capabilities(provider, &self.model_id)
    }
}

/// The model that the settings name. It belongs to the provider it was chosen with, and not to one that a higher scope
/// puts in its place.
fn model_set(settings: &Settings) -> Option<&str> {
    let active = ActiveSettings::of(settings);
    let belongs = !active.provider.is_set() || active.model.scope >= active.provider.scope;
    active.model.value.filter(|_| belongs)
}

/// What a model of a provider can do, as far as anyone has said.
pub fn capabilities(provider: &Identity, model_id: &str) -> Capabilities {
    let mut claims = declared(provider, model_id);
    let listed = provider.setting("models").and_then(Value::as_array);
    let entry = listed
        .into_iter()
        .flatten()
        .find(|model| id_of(model) == Some(model_id));
    let Some(said) = entry.and_then(Value::as_object) else {
        return claims;
    };
    for name in Capability::ALL {
        let Some(value) = said.get(name.as_str()) else {
            continue;
        };
        match claim_mut(&mut claims, name) {
            Some(claim) => {
                if let Ok(level) = serde_json::from_value(value.clone()) {
                    *claim = level;
                }
            }
            None => {
                if let Ok(window) = ContextWindow::try_from(value.clone()) {
                    claims.context_window = window;
                }
            }
        }
    }
    claims
}

fn declared(provider: &Identity, model_id: &str) -> Capabilities {
    let Members::Provider(members) = &*provider.members else {
        return Capabilities::default();
    };
    let mut declared = members.models.iter();
    let model = declared.find(|model| model.model_id == model_id);
    model.map_or(members.capabilities, |model| model.capabilities)
}

/// The models of a provider: those that its config lists, else those that it declares.
pub fn models(provider: &Identity) -> Vec<String> {
    let listed = provider.setting("models").and_then(Value::as_array);
    let ids = listed.into_iter().flatten().filter_map(id_of);
    let mut models: Vec<String> = ids.map(str::to_owned).collect();
    if let Some(first) = provider.setting("model").and_then(id_of)
        && !models.iter().any(|model| model == first)
    {
        models.insert(0, first.to_owned());
    }
    if models.is_empty()
        && let Members::Provider(members) = &*provider.members
    {
        let declared = members.models.iter();
        models.extend(declared.map(|model| model.model_id.clone()));
    }
    models
}

/// The models that a provider's manifest, or its entry in the settings, declares again and otherwise. The first
/// declaration of each is the one that counts.
pub(crate) fn declared_otherwise(provider: &Identity) -> Vec<Error> {
    let mut again = BTreeSet::new();
    if let Members::Provider(members) = &*provider.members {
        let mut first = BTreeMap::new();
        for model in &members.models {
            let known = first.entry(&*model.model_id).or_insert(model.capabilities);
            if *known != model.capabilities {
                again.insert(&*model.model_id);
            }
        }
    }
    let listed = provider.setting("models").and_then(Value::as_array);
    let mut first = BTreeMap::new();
    for model in listed.into_iter().flatten() {
        let Some(id) = id_of(model) else { continue };
        let said = |name: Capability| model.get(name.as_str());
        let said = Capability::ALL.map(said);
        if *first.entry(id).or_insert(said) != said {
            again.insert(id);
        }
    }
    let provider_id = provider.ext_id.as_str();
    let errors = again.into_iter().map(|model_id| {
        let code = &codes::DUPLICATE_MODEL_DECLARATION;
        let message = format!(
            "`{provider_id}` declares the model `{model_id}` twice, and not the same both times"
        );
        Error::new(code.class, code.name, message)
            .with("extId", provider_id)
            .with("providerId", provider_id)
            .with("modelId", model_id)
    });
    errors.collect()
}

fn id_of(model: &Value) -> Option<&str> {
    let id = model.get("id").or_else(|| model.get("modelId"));
    model.as_str().or_else(|| id?.as_str())
}

/// The parameters that an entry has for every request.
pub fn default_params(provider: &Identity) -> Map<String, Value> {
    let params = provider.setting("defaultParams").and_then(Value::as_object);
    params.cloned().unwrap_or_default()
}

/// The API that a provider speaks.
pub fn protocol(provider: &Identity) -> &str {
    provider_entry::protocol(&provider.ext_id, &provider.members)
}

/// The provider that is active under this id.
pub fn provider(plugins: &Registry, id: &str) -> Result<Arc<Active>> {
    let found = plugins.get(id).filter(|plugin| is_provider(plugin));
    found.cloned().ok_or_else(|| unknown(plugins, id))
}

/// The ids of all providers that are active, by scope and then by id.
pub fn entries(plugins: &Registry) -> Vec<String> {
    let providers = plugins.of_kind(Kind::Provider).into_iter();
    providers
        .filter(|plugin| is_provider(plugin))
        .map(|plugin| plugin.identity().ext_id.to_string())
        .collect()
}

fn is_provider(plugin: &Active) -> bool {
    let identity = plugin.identity();
    identity.kind == Kind::Provider && identity.life.word() == "active"
}

fn unknown(plugins: &Registry, id: &str) -> Error {
    let code = &codes::UNKNOWN_CONFIG_KEY;
    let known = entries(plugins);
    let mut message = format!("there is no provider `{id}`");
    if let Some(near) = nearest(id, known.iter().map(String::as_str)) {
        message.push_str("; did you mean `");
        message.push_str(near);
        message.push_str("`?");
    }
    Error::new(code.class, code.name, message)
        .with("extId", "providers")
        .with("key", id)
        .with("known", known)
}

/// Why a provider id is unavailable: it is not configured, its config is invalid, its protocol is unknown, or it
/// did not come up.
pub fn absent(
    plugins: &Registry,
    id: &str,
    settings: &Settings,
    refused: &[PluginReport],
) -> Error {
    let entries = settings.entries(Kind::Provider);
    let Some(entry) = entries.get(id) else {
        return unknown(plugins, id);
    };
    let mut reports = refused.iter().filter(|report| report.ext_id == id);
    if let Some(violation) = reports.find_map(|report| violation(id, report)) {
        return violation;
    }
    let protocol = entry.value.get("protocol").and_then(Value::as_str);
    let protocol = protocol.unwrap_or(id);
    let mut providers = plugins.of_kind(Kind::Provider).into_iter();
    if !providers.any(|provider| speaks(provider.identity(), protocol)) {
        return unspoken(id, protocol);
    }
    let code = &codes::LIFECYCLE_FAILURE;
    let message = format!("the entry `{id}` did not come up; `stud plugin list` tells why");
    Error::new(code.class, code.name, message)
        .with("extId", id)
        .with("phase", "init")
}

/// What is wrong with the config of a provider, if that is why it was refused: its schema does not fit, or the provider
/// itself says so.
fn violation(id: &str, report: &PluginReport) -> Option<Error> {
    let code = &codes::CONFIG_SCHEMA_VIOLATION;
    let said = code.to_string();
    report.diagnostics.iter().find_map(|problem| {
        if problem.code == code {
            return Some(told(problem));
        }
        let is_said = problem.context.get("cause") == Some(&Value::from(said.as_str()));
        is_said
            .then(|| Error::new(code.class, code.name, problem.message.clone()).with("extId", id))
    })
}

/// Whether an entry that asks for `protocol` can be an instance of this provider.
pub(crate) fn speaks(provider: &Identity, protocol: &str) -> bool {
    provider_entry::speaks(&provider.ext_id, &provider.members, protocol)
}

/// `Validation/UnknownProtocol`: an entry asks for a protocol that no provider speaks.
fn unspoken(id: &str, protocol: &str) -> Error {
    let code = &codes::UNKNOWN_PROTOCOL;
    let message = format!(
        "the entry `{id}` wants the protocol `{protocol}`, which no provider that is on speaks"
    );
    Error::new(code.class, code.name, message)
        .with("entry", id)
        .with("protocol", protocol)
}

fn not_of(provider_id: &str, named: &str, models: &[String]) -> Error {
    let code = &codes::MODEL_NOT_IN_PROVIDER;
    let message = format!(
        "`{provider_id}` has no model `{named}`; it has {}",
        models.join(", ")
    );
    Error::new(code.class, code.name, message)
        .with("providerId", provider_id)
        .with("modelId", named)
        .with("models", models.to_vec())
}
