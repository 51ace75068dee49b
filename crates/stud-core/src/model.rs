//! Which model answers.

use std::sync::Arc;

use stud_contract_meta::{Error, Kind, Result};
use stud_diagnostics::codes;

use crate::activate::Active;
use crate::registry::Registry;

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
        let id = &self.provider_id;
        let found = plugins.get(id);
        let provider = found.filter(|plugin| plugin.identity().kind == Kind::Provider);
        provider.cloned().ok_or_else(|| {
            let code = &codes::EXTENSION_NOT_FOUND;
            let message = format!("there is no provider `{id}`");
            Error::new(code.class, code.name, message).with("extId", id.as_str())
        })
    }
}
