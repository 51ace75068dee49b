//! The way in. Whatever runs a plugin judges, opens and brings it up through these functions, in this order.
//!
//! They are three because the plugins are ordered between the first two, and a session lies between the last two: what
//! was opened once is brought up again for each session.

use crate::activate::{Active, Wanted, activate};
use crate::bind::{Bound, bind};
use crate::discover::Found;
use crate::inspect::inspect;
use crate::load::{PluginStores, load};
use crate::provenance::{Integrity, Refused};
use crate::register::{PluginRuntime, register};
use crate::validate::{Validated, validate};
use stud_config::settings::Settings;
use stud_runtime::limits::Limits;

/// From a file to a plugin that may be loaded. No code of it has run.
pub fn judge(found: Found, settings: &Settings) -> Result<Validated, Refused> {
    validate(inspect(found)?, settings)
}

/// From a plugin that may be loaded to its function table.
pub fn open(plugin: Validated, stores: &PluginStores, limits: &Limits) -> Result<Bound, Refused> {
    open_pinned(plugin, stores, limits, |_| {})
}

/// The same. `on_integrity` is told whether a pinned library is the pinned one, before its entry is called.
pub(crate) fn open_pinned(
    plugin: Validated,
    stores: &PluginStores,
    limits: &Limits,
    on_integrity: impl FnOnce(Integrity),
) -> Result<Bound, Refused> {
    let loaded = load(plugin, stores);
    let provenance = match &loaded {
        Ok(loaded) => loaded.provenance(),
        Err(refusal) => refusal.provenance(),
    };
    if let Some(integrity) = provenance.integrity() {
        on_integrity(integrity);
    }
    bind(loaded?, limits)
}

/// From a function table to a running plugin. A plugin that was opened can be brought up any number of times.
pub fn bring_up(
    bound: &Bound,
    generation: u64,
    wanted: Wanted,
    runtime: &PluginRuntime,
) -> Result<Active, Refused> {
    let registered = register(bound, generation, &runtime.hosts);
    activate(registered, wanted, &runtime.limits)
}
