//! Core run in the test's own process, on a world's home and project.

use std::sync::Arc;
use std::time::Duration;

use stud_core::environment::{EmbeddedPlugin, Environment};
use stud_core::host::Hosts;
use stud_core::limits::Limits;
use stud_core::platform::Places;
use stud_core::register::PluginRuntime;
use stud_core::startup::{Started, start};

use crate::world::World;

/// What core stands on in a test.
#[derive(Debug)]
pub struct Core {
    /// Where things are.
    pub ground: Environment,
    /// How plugins are run: impatiently.
    pub means: PluginRuntime,
}

impl World {
    /// Core on this world, carrying `bundled`.
    pub fn core(&self, bundled: Vec<EmbeddedPlugin>) -> Core {
        let places = Places {
            global_root: self.home(),
            project_root: self.project().join(".stud"),
        };
        let ground = Environment::survey(places, bundled)
            .unwrap_or_else(|why| crate::world::fail(&why.to_string()));
        let means = PluginRuntime {
            hosts: Arc::new(Hosts::detached(&ground)),
            limits: Limits {
                lifecycle: Duration::from_secs(2),
                ..Limits::default()
            },
        };
        Core { ground, means }
    }
}

impl Core {
    /// Starts every plugin.
    pub fn start(&self) -> Started {
        start(&self.ground, &self.means)
    }
}
