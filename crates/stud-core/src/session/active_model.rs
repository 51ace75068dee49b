//! Which model answers, and with which parameters.

use stud_host_api::metrics::ProviderInfo;

use super::Session;
use crate::model::Model;
use crate::model_capabilities::Probes;
use crate::params::Params;
use crate::sync::{Mutex, MutexGuard, lock};

/// What was chosen so far.
#[derive(Debug, Default)]
pub(super) struct ActiveModel {
    chosen: Mutex<Chosen>,
    /// Held during a model switch, so that one switch is over before the next begins.
    choosing: Mutex<()>,
    probes: Probes,
}

#[derive(Debug, Default)]
struct Chosen {
    model: Option<Model>,
    params: Params,
    is_changed: bool,
}

impl ActiveModel {
    pub(super) fn of(params: Params) -> Self {
        Self {
            chosen: Mutex::new(Chosen {
                params,
                ..Chosen::default()
            }),
            ..Self::default()
        }
    }

    /// Whether a person chose anything. That is worth remembering, even where nothing was said.
    pub(super) fn is_changed(&self) -> bool {
        lock(&self.chosen).is_changed
    }
}

impl Session {
    /// Which model answers the next turn.
    pub fn model(&self) -> Option<Model> {
        lock(&self.choice.chosen).model.clone()
    }

    /// Which parameters go with the next request.
    pub fn params(&self) -> Params {
        lock(&self.choice.chosen).params.clone()
    }

    /// What use has shown about models.
    pub(crate) fn probes(&self) -> &Probes {
        &self.choice.probes
    }

    /// Keeps everyone else from choosing.
    pub(crate) fn choosing(&self) -> MutexGuard<'_, ()> {
        lock(&self.choice.choosing)
    }

    /// Lets another model answer from the next turn on, with other parameters.
    pub(crate) fn choose(&self, model: Model, params: Params) {
        {
            let mut chosen = lock(&self.choice.chosen);
            chosen.is_changed |= chosen.model.is_some();
            chosen.params = params;
        }
        self.set_model(model);
    }

    /// Sends other parameters with the next request.
    pub(crate) fn set_params(&self, params: Params) {
        let mut chosen = lock(&self.choice.chosen);
        chosen.params = params;
        chosen.is_changed = true;
    }

    /// Lets another model answer from the next turn on.
    pub fn set_model(&self, model: Model) {
        lock(&self.choice.chosen).model = Some(model.clone());
        self.metrics.update(|picture| {
            let available = picture.provider.available.iter();
            let of_provider = available.filter(|info| info.id == model.provider_id);
            let mut known: Vec<_> = of_provider.cloned().collect();
            let place = known
                .iter()
                .position(|info| info.model_id == model.model_id);
            let mut current = match (place, known.is_empty()) {
                (Some(place), _) => known.swap_remove(place),
                (None, false) => known.swap_remove(0),
                (None, true) => ProviderInfo::default(),
            };
            current.id = model.provider_id;
            current.model_id = model.model_id;
            picture.provider.current = current;
        });
    }
}
