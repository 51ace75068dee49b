//! Opening the plugins of a plan, each with the plugins of its id to fall back on.

use stud_contract_meta::{ExtId, Kind};

use super::Plugins;
use crate::admission;
use crate::bind::Bound;
use crate::dependency_order::{self, Candidate};
use crate::load::PluginStores;
use crate::provenance::Refused;
use crate::report::{PluginReport, Status};
use crate::validate::Validated;
use stud_config::plugin_scope::Scope;
use stud_runtime::limits::Limits;

/// A plugin that was opened, and those that it shadows.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) bound: Bound,
    pub(super) shadowed: Vec<Validated>,
}

/// What came of opening a candidate.
pub(super) struct Attempt {
    /// The first of its plugins that could be opened.
    pub(super) opened: Option<Opened>,
    /// Its plugins that could not be opened.
    pub(super) refused: Vec<Refused>,
    /// If none could be opened: its plugins that are disabled.
    pub(super) left: Vec<Validated>,
}

impl Opened {
    /// Opens the chosen plugin of a candidate, or else the first of those it shadows that can be opened.
    pub(super) fn first_of(
        candidate: Candidate,
        opened: &[Self],
        stores: &PluginStores,
        limits: &Limits,
    ) -> Attempt {
        let (chosen, mut shadowed) = candidate.into_parts();
        let mut refused = Vec::new();
        let mut next = Some(chosen);
        while let Some(plugin) = next.take() {
            let available = opened.iter().map(|other| identity_of(other.plugin()));
            let bound = depends_only_on(plugin, available)
                .and_then(|plugin| admission::open(plugin, stores, limits));
            match bound {
                Ok(bound) => {
                    return Attempt {
                        opened: Some(Self { bound, shadowed }),
                        refused,
                        left: Vec::new(),
                    };
                }
                Err(refusal) => {
                    refused.push(refusal);
                    next = fallback(&mut shadowed);
                }
            }
        }
        Attempt {
            opened: None,
            refused,
            left: shadowed,
        }
    }

    pub(super) fn plugin(&self) -> &Validated {
        self.bound.plugin()
    }

    pub(super) fn is_store(&self) -> bool {
        self.plugin().manifest().kind == Kind::SessionStore
    }

    pub(super) fn is_ui(&self) -> bool {
        self.plugin().manifest().kind == Kind::Ui
    }

    /// Whether it is a plugin that the program carries, or shadows one.
    pub(super) fn replaces_bundled(&self) -> bool {
        let mut of_its_id = self.shadowed.iter().chain([self.plugin()]);
        of_its_id.any(|plugin| plugin.provenance().scope() == Scope::Bundled)
    }
}

impl Plugins {
    /// Opens the chosen plugin of a candidate, or the first of those it shadows that can be opened.
    pub(super) fn open(&mut self, candidate: Candidate, limits: &Limits) {
        let attempt = Opened::first_of(candidate, &self.opened, &self.stores, limits);
        self.opened.extend(attempt.opened);
        self.refused.extend(attempt.refused);
        self.leave_shadowed(attempt.left);
    }

    /// Reports the plugins that are disabled, and those they shadow.
    pub(super) fn leave_disabled(&mut self, disabled: Vec<Candidate>) {
        for candidate in disabled {
            let (chosen, shadowed) = candidate.into_parts();
            self.idle.push(PluginReport::idle(chosen, Status::Disabled));
            self.leave_shadowed(shadowed);
        }
    }

    fn leave_shadowed(&mut self, shadowed: Vec<Validated>) {
        let shadowed = shadowed.into_iter();
        let reports = shadowed.map(|plugin| PluginReport::idle(plugin, Status::Shadowed));
        self.idle.extend(reports);
    }
}

/// The next shadowed plugin that is switched on. A plugin that is disabled replaces no other.
pub(super) fn fallback(shadowed: &mut Vec<Validated>) -> Option<Validated> {
    let place = shadowed.iter().position(Validated::is_enabled)?;
    Some(shadowed.remove(place))
}

/// What a dependency is matched with: id, category and capabilities of a plugin.
pub(super) type Available<'a> = (&'a ExtId, Kind, &'a Vec<String>);

fn identity_of(plugin: &Validated) -> Available<'_> {
    let manifest = plugin.manifest();
    (&manifest.ext_id, manifest.kind, &manifest.provides)
}

/// Refuses a plugin that depends on one that is not available.
pub(super) fn depends_only_on<'a>(
    plugin: Validated,
    available: impl Iterator<Item = Available<'a>> + Clone,
) -> Result<Validated, Refused> {
    let is_available = |reference: &stud_contract_meta::Reference| {
        let mut available = available.clone();
        available.any(|(id, kind, provides)| reference.matches(id, kind, provides))
    };
    let mut needed = plugin.manifest().depends_on.iter().enumerate();
    match needed.find(|(_, reference)| !is_available(reference)) {
        Some((index, reference)) => {
            let why = dependency_order::missing(&plugin, index, reference);
            Err(plugin.refuse(why))
        }
        None => Ok(plugin),
    }
}
