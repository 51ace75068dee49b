//! A plugin, run as the host would run it.

mod acting;
mod serving;
mod storing;
mod walk;

pub use walk::{Acted, ActingStage, Walked};

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use stud_abi::section::manifest_text;
use stud_abi::{CallContext, EmbeddedPlugin};
use stud_contract_meta::{Kind, Phase, Result};
use stud_diagnostics::codes;
use stud_host_api::wire;

use super::block_on;
use super::bound::Bound;
use super::fake_host::{FakeHost, ids};
use super::record::PluginFacts;
use crate::private::fault::coded;

/// Runs one plugin in a [`FakeHost`], through its entry and its table.
///
/// The first call initializes and activates the plugin with the host's config; [`Harness::start`] does so by itself.
/// Every method blocks until it has its result. A method for another category than the plugin's is an error.
///
/// ```
/// use stud_sdk::prelude::*;
/// use stud_sdk::testing::{FakeHost, Harness};
///
/// /// Says how many there are.
/// #[tool(gated = false)]
/// fn count() -> String {
///     "seven".to_owned()
/// }
///
/// # fn main() -> Result<()> {
/// let harness = Harness::new(stud_plugin(), FakeHost::new());
/// assert_eq!(harness.manifest()["tools"][0]["gated"], false);
/// assert_eq!(harness.tool("count", json!({}))?, Output::text("seven"));
/// # Ok(())
/// # }
/// ```
pub struct Harness {
    host: FakeHost,
    manifest: Value,
    bound: Result<Bound>,
    started: Mutex<bool>,
    seq: AtomicU64,
}

impl Harness {
    /// A plugin in a host. What is wrong with the plugin is reported by the first call.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # /// Says hi.
    /// # #[tool]
    /// # fn new_example() -> &'static str { "hi" }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.tool("new_example", json!({}))?, Output::text("hi"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(plugin: EmbeddedPlugin, host: FakeHost) -> Self {
        let manifest = read_manifest(&plugin);
        let bound = match &manifest {
            Ok(manifest) => bind(&plugin, manifest, &host),
            Err(error) => Err(error.clone()),
        };
        Self {
            host,
            manifest: manifest.unwrap_or_default(),
            bound,
            started: Mutex::new(false),
            seq: AtomicU64::new(0),
        }
    }

    /// The plugin's manifest.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # /// Says hi.
    /// # #[tool]
    /// # fn manifest_example() -> &'static str { "hi" }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.manifest()["extId"], "manifest-example");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn manifest(&self) -> &Value {
        &self.manifest
    }

    /// The host.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # /// Says hi.
    /// # #[tool]
    /// # fn host_example() -> &'static str { "hi" }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert!(harness.host().asked().is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn host(&self) -> &FakeHost {
        &self.host
    }

    /// Initializes and activates the plugin, if that has not happened yet.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # /// Says hi.
    /// # #[tool]
    /// # fn start_example() -> &'static str { "hi" }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// harness.start()?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn start(&self) -> Result<&Self> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if !*started {
            self.run_phase(Phase::Init)?;
            self.run_phase(Phase::Activate)?;
            *started = true;
        }
        Ok(self)
    }

    /// Deactivates the plugin and disposes of it.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # /// Says hi.
    /// # #[tool]
    /// # fn stop_example() -> &'static str { "hi" }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// harness.start()?.stop()?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn stop(&self) -> Result<()> {
        self.lifecycle(Phase::Deactivate)?;
        self.lifecycle(Phase::Dispose)
    }

    /// Runs one phase, whether or not it comes at the right time.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # /// Says hi.
    /// # #[tool]
    /// # fn lifecycle_example() -> &'static str { "hi" }
    /// use stud_sdk::Phase;
    ///
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// harness.lifecycle(Phase::Init)?;
    /// assert!(harness.lifecycle(Phase::Init).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn lifecycle(&self, phase: Phase) -> Result<()> {
        self.run_phase(phase)?;
        if phase == Phase::Activate {
            *self.started.lock().unwrap_or_else(PoisonError::into_inner) = true;
        }
        Ok(())
    }

    fn run_phase(&self, phase: Phase) -> Result<()> {
        let config = match phase {
            Phase::Init => Value::Object(self.host.services().record().config.clone()).to_string(),
            Phase::Activate | Phase::Deactivate | Phase::Dispose => "null".to_owned(),
        };
        block_on(self.bound()?.lifecycle(phase.as_str(), config, self.call()))?;
        if phase == Phase::Dispose {
            self.host.services().record().plugin.disposed = true;
        }
        Ok(())
    }

    fn bound(&self) -> Result<&Bound> {
        self.bound.as_ref().map_err(Clone::clone)
    }

    /// The table of a started plugin.
    fn running(&self) -> Result<&Bound> {
        self.start()?.bound()
    }

    fn call(&self) -> CallContext {
        let record = self.host.services().record();
        let mut ids = ids();
        // Only a tool serves a tool call.
        if record.kind() != "Tool" {
            ids.tool_call_id = None;
        }
        let ids = serde_json::to_string(&ids).unwrap_or_default();
        CallContext::new(record.tool_scope.token(), ids)
    }

    fn next_seq(&self) -> u64 {
        self.seq.fetch_add(1, Ordering::Relaxed) + 1
    }
}

pub(super) fn read_manifest(plugin: &EmbeddedPlugin) -> Result<Value> {
    let text = manifest_text(plugin.section)
        .map_err(|error| coded(&codes::MANIFEST_HEADER_INVALID, format!("{error:?}")))?;
    stud_contract_meta::strict_json::parse(text)
        .map_err(|error| coded(&codes::MANIFEST_MALFORMED, format!("{error:?}")))
}

fn bind(plugin: &EmbeddedPlugin, manifest: &Value, host: &FakeHost) -> Result<Bound> {
    let facts = PluginFacts::read(manifest);
    let kind = facts.kind.as_deref().and_then(Kind::parse);
    let Some(kind) = kind else {
        return Err(coded(&codes::SHAPE_INVALID, "the manifest has no kind"));
    };
    host.services().record().plugin = facts;
    Bound::new(kind, plugin, wire::serve(host.api()))
}

/// Reads the reply of a handler.
fn reply<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        let message = format!("the plugin's reply `{text}` is not what the contract says: {error}");
        coded(&codes::SHAPE_INVALID, message)
    })
}

impl fmt::Debug for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harness")
            .field("extId", &self.manifest["extId"])
            .finish_non_exhaustive()
    }
}
