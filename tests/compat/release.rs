//! The libraries of a release, unpacked once.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ruzstd::decoding::StreamingDecoder;
use stud_tests::{World, target_folder, workspace_root};

/// A plugin of the release.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plugin {
    /// Its category, as the folder of its source is named.
    pub(crate) name: &'static str,
    /// The folder of its category below a scope.
    folder: &'static str,
}

const fn plugin(name: &'static str, folder: &'static str) -> Plugin {
    Plugin { name, folder }
}

/// One plugin of each category.
pub(crate) const PLUGINS: [Plugin; 9] = [
    plugin("provider", "providers"),
    plugin("tool", "tools"),
    plugin("hook", "hooks"),
    plugin("ui", "ui"),
    plugin("logger", "loggers"),
    plugin("state-machine", "state-machines"),
    plugin("command", "commands"),
    plugin("session-store", "session-stores"),
    plugin("context-provider", "context-providers"),
];

impl Plugin {
    pub(crate) fn id(self) -> String {
        format!("frozen-{}", self.name)
    }

    /// Its library in the global scope of a world.
    pub(crate) fn place(self) -> String {
        format!("home/{}/{}/{}", self.folder, self.id(), self.library())
    }

    fn library(self) -> String {
        format!("lib{}.so", self.id().replace('-', "_"))
    }
}

/// Puts a plugin into the global scope.
pub(crate) fn install(world: &World, plugin: Plugin) {
    world.link(plugin.place(), &release().join(plugin.library()));
}

/// The folder with the libraries, unpacked by whichever test needs them first.
fn release() -> PathBuf {
    let archive = workspace_root().join("tests/compat/0.1.0/x86_64-linux.tar.zst");
    let folder = target_folder().join("compat");
    let unpacked = folder.join("0.1.0");
    fs::create_dir_all(&folder).unwrap();
    let alone = File::create(folder.join("lock")).unwrap();
    alone.lock().unwrap();
    if !is_unpacked(&archive, &unpacked) {
        unpack(&archive, &unpacked).unwrap();
    }
    unpacked
}

/// Whether the folder was made from this archive: its date is the mark.
fn is_unpacked(archive: &Path, unpacked: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    changed(unpacked).is_ok_and(|made| changed(archive).is_ok_and(|packed| packed < made))
}

fn unpack(archive: &Path, unpacked: &Path) -> io::Result<()> {
    let fresh = unpacked.with_extension("tmp");
    for old in [&fresh, unpacked] {
        if old.exists() {
            fs::remove_dir_all(old)?;
        }
    }
    let mut packed = File::open(archive)?;
    let mut tar = Vec::new();
    let mut decoder = StreamingDecoder::new(&mut packed).map_err(io::Error::other)?;
    decoder.read_to_end(&mut tar)?;
    tar::Archive::new(tar.as_slice()).unpack(&fresh)?;
    fs::rename(fresh, unpacked)
}
