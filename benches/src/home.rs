//! A home with plugins in it, for as long as a benchmark needs one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stud_core::environment::{EmbeddedPlugin, Environment};
use stud_core::host::Hosts;
use stud_core::launch::{Launch, Launched, Resume, launch};
use stud_core::limits::Limits;
use stud_core::platform::Places;
use stud_core::register::PluginRuntime;
use stud_core::startup::{Started, prepare, start};
use stud_tests::{Elf, fixture};
use tempfile::TempDir;

/// A home with plugins in it.
pub(crate) struct Home {
    root: PathBuf,
    _folder: Option<TempDir>,
}

impl Home {
    /// An empty one, gone when it is dropped.
    pub(crate) fn empty() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// The same in a place where temporary files are not kept by default.
    pub(crate) fn below(place: &Path) -> Self {
        match tempfile::tempdir_in(place) {
            Ok(folder) => Self {
                root: folder.path().to_owned(),
                _folder: Some(folder),
            },
            Err(error) => fail(&error.to_string()),
        }
    }

    /// One that another process made and removes.
    pub(crate) fn at(root: &str) -> Self {
        Self {
            root: root.into(),
            _folder: None,
        }
    }

    /// The named plugins as they were built.
    pub(crate) fn with(packages: &[(&str, &str)]) -> Self {
        let home = Self::empty();
        for (kind, package) in packages {
            home.put(kind, package, &Elf::read(&fixture(package)).bytes);
        }
        home
    }

    /// So many tools, each with an id and a tool name of its own.
    pub(crate) fn of_tools(count: usize, library: &Path) -> Self {
        let home = Self::empty();
        let original = Elf::read(library);
        for index in 0..count {
            let id = format!("tool-{index:03}");
            let library = original.clone().with_manifest(|manifest| {
                manifest["extId"] = id.as_str().into();
                manifest["tools"][0]["name"] = format!("repeat_{index}").into();
            });
            home.put("tools", &id, &library.bytes);
        }
        home
    }

    /// The same with so many UIs, each a library of its own as in life.
    pub(crate) fn and_uis(self, count: usize) -> Self {
        let original = Elf::read(&fixture("bench-ui"));
        for index in 0..count {
            let id = format!("ui-{index:03}");
            let library = original
                .clone()
                .with_manifest(|manifest| manifest["extId"] = id.as_str().into());
            self.put("ui", &id, &library.bytes);
        }
        self
    }

    fn put(&self, kind: &str, id: &str, bytes: &[u8]) {
        let folder = self.root.join(kind).join(id);
        let written = std::fs::create_dir_all(&folder).and_then(|()| {
            std::fs::write(
                folder.join(format!("lib{}.so", id.replace('-', "_"))),
                bytes,
            )
        });
        if let Err(error) = written {
            fail(&error.to_string());
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The ground of a stud that carries `bundled`.
    pub(crate) fn ground(&self, bundled: Vec<EmbeddedPlugin>) -> Environment {
        let places = Places {
            global_root: self.root.clone(),
            project_root: self.root.join("no-project"),
        };
        match Environment::survey(places, bundled) {
            Ok(ground) => ground,
            Err(why) => fail(&why.to_string()),
        }
    }

    /// Starts every plugin outside any session.
    pub(crate) fn start(&self) -> Started {
        let ground = self.ground(Vec::new());
        let means = PluginRuntime {
            hosts: Arc::new(Hosts::detached(&ground)),
            limits: Limits::default(),
        };
        start(&ground, &means)
    }

    /// Opens a session with every plugin in it: the one that is named, or a new one.
    pub(crate) fn session(&self, bundled: Vec<EmbeddedPlugin>, resume: Option<&str>) -> Launched {
        let ground = self.ground(bundled);
        let how = Launch {
            headless: true,
            resume: resume.map(|id| Resume::Session(id.to_owned())),
            ..Launch::default()
        };
        match launch(&ground, &prepare(&ground, &how.limits), &how) {
            Ok(launched) => launched,
            Err(error) => fail(&error.to_string()),
        }
    }
}

/// The plugins that stud carries and that need no terminal.
pub(crate) fn bundled() -> Vec<EmbeddedPlugin> {
    vec![
        echo::stud_plugin(),
        file_logger::stud_plugin(),
        filesystem_session_store::stud_plugin(),
    ]
}

#[expect(
    clippy::panic,
    reason = "a benchmark that cannot set itself up must say so and end"
)]
pub(crate) fn fail(why: &str) -> ! {
    panic!("{why}")
}
