//! Which model answers.

use std::sync::Arc;

use serde_json::Value;
use stud_contract_meta::{Error, Kind, Result};
use stud_contract_provider::Capabilities;
use stud_diagnostics::codes;

use crate::activate::Active;
use crate::registry::Registry;
use crate::settings::Settings;
use crate::validate::Members;

/// The model that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The provider plugin.
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
    /// The bundled stand-in answers only where nothing else was chosen.
    pub fn chosen(plugins: &Registry, settings: &Settings) -> Result<Self> {
        let set = |member| settings.get("active", member)?.value.as_str();
        let provider = match set("provider") {
            Some(id) => provider(plugins, id),
            None => provider(plugins, "echo").or_else(|missing| {
                let providers = plugins.of_kind(Kind::Provider);
                providers.first().copied().cloned().ok_or(missing)
            }),
        };
        Self::of(&*provider?, set("model"))
    }

    /// A model of a provider: the one that is named, or its first.
    pub fn of(provider: &Active, named: Option<&str>) -> Result<Self> {
        let provider_id = provider.identity().ext_id.as_str();
        let models = models(provider);
        let model_id = match named {
            Some(named) if models.is_empty() || models.iter().any(|model| model == named) => named,
            Some(named) => return Err(not_of(provider_id, named, &models)),
            None => models.first().map_or(provider_id, String::as_str),
        };
        Ok(Self {
            provider_id: provider_id.to_owned(),
            model_id: model_id.to_owned(),
        })
    }

    /// What the model can do, as far as anyone has said.
    pub fn capabilities(&self, provider: &Active) -> Capabilities {
        let Members::Provider(members) = &*provider.identity().members else {
            return Capabilities::default();
        };
        let declared = members.models.iter();
        let mut declared = declared.filter(|model| model.model_id == self.model_id);
        declared
            .next()
            .map_or(members.capabilities, |model| model.capabilities)
    }
}

/// The models of a provider: those that its config lists, else those that it declares.
pub fn models(provider: &Active) -> Vec<String> {
    let config = &provider.identity().config;
    let listed = config.get("models").and_then(Value::as_array);
    let id_of = |model: &Value| {
        let id = model.as_str().or_else(|| model["id"].as_str());
        id.map(str::to_owned)
    };
    let mut models: Vec<String> = listed.into_iter().flatten().filter_map(id_of).collect();
    if let Some(first) = config.get("model").and_then(id_of)
        && !models.contains(&first)
    {
        models.insert(0, first);
    }
    if models.is_empty()
        && let Members::Provider(members) = &*provider.identity().members
    {
        let declared = members.models.iter();
        models.extend(declared.map(|model| model.model_id.clone()));
    }
    models
}

/// The provider with this id.
pub fn provider(plugins: &Registry, id: &str) -> Result<Arc<Active>> {
    let found = plugins.get(id);
    let provider = found.filter(|plugin| plugin.identity().kind == Kind::Provider);
    provider.cloned().ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> Error {
    let code = &codes::EXTENSION_NOT_FOUND;
    let message = format!("there is no provider `{id}`");
    Error::new(code.class, code.name, message).with("extId", id)
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
