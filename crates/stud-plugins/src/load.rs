//! load: a [`Candidate`](crate::dependency_order::Candidate)'s plugin → [`Loaded`]. The first stage in which code of the plugin runs.
//!
//! The library is copied to a cache under a name made of its bytes, and the copy is opened: whatever happens to the author's file,
//! the mapped bytes stay the ones that were checked, and a rebuilt plugin gets a path of its own.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use stud_abi::PluginEntry;
use stud_abi::library::{self, Image};
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::discover::LARGEST_LIBRARY;
use crate::provenance::{Integrity, Origin, Provenance, Refused};
use crate::validate::Validated;
use stud_config::platform::{self, Durability, ReadError};

/// A plugin whose library is open. Only [`load`] makes one.
#[derive(Debug)]
pub struct Loaded {
    plugin: Validated,
    entry: &'static PluginEntry,
}

impl Loaded {
    /// What is known of it.
    pub(crate) fn provenance(&self) -> &Provenance {
        self.plugin.provenance()
    }

    /// What the library exports.
    pub(crate) fn entry(&self) -> &'static PluginEntry {
        self.entry
    }

    /// What the next stage binds.
    pub(crate) fn into_parts(self) -> (Validated, &'static PluginEntry) {
        (self.plugin, self.entry)
    }
}

/// The folders with copies of libraries and with pins.
#[derive(Debug, Clone)]
pub struct PluginStores {
    /// Copies of libraries, by hash.
    pub cache: PathBuf,
    /// One file for each plugin whose bytes are pinned.
    pub integrity: PathBuf,
}

impl PluginStores {
    /// The folders below the global root.
    pub fn below(global_root: &Path) -> Self {
        Self {
            cache: global_root.join("cache").join("plugins"),
            integrity: global_root.join("integrity"),
        }
    }

    /// The file that pins a plugin.
    pub fn pin_of(&self, ext_id: &str) -> PathBuf {
        self.integrity.join(format!("{ext_id}.json"))
    }
}

/// Opens a plugin's library, or takes the entry of an embedded one.
pub fn load(mut plugin: Validated, stores: &PluginStores) -> Result<Loaded, Refused> {
    let opened = match plugin.provenance().origin().clone() {
        Origin::Embedded(embedded) => Ok(embedded.entry),
        Origin::Library(path) => open(&mut plugin, &path, stores),
    };
    match opened {
        Ok(entry) => {
            plugin.pass(Stage::Load);
            Ok(Loaded { plugin, entry })
        }
        Err(why) => Err(plugin.refuse(why)),
    }
}

fn open(
    plugin: &mut Validated,
    path: &Path,
    stores: &PluginStores,
) -> Result<&'static PluginEntry, Diagnostic> {
    let bytes = platform::read_file(path, LARGEST_LIBRARY)
        .map_err(|error| failed(plugin.provenance(), &error.to_string()))?;
    // The file may have been replaced since its manifest was read; what is opened must be what was checked.
    let unchanged = Image::parse(&bytes).is_ok_and(|image| image.section() == plugin.section());
    if !unchanged {
        return Err(plugin
            .provenance()
            .error(
                Stage::Load,
                &codes::INTEGRITY_FAILED,
                "the library changed while it was being checked",
            )
            .help("run the command again"));
    }
    let pinned = check_pin(plugin, &bytes, stores);
    plugin.set_integrity(match &pinned {
        Ok(pinned) => pinned.then_some(Integrity::Ok),
        Err(_) => Some(Integrity::Mismatch),
    });
    pinned?;
    let provenance = plugin.provenance();
    let copy = cache(&bytes, path, &stores.cache).map_err(|error| {
        let why = format!("its copy in the cache cannot be written: {error}");
        failed(provenance, &why).help(format!("make `{}` writable", stores.cache.display()))
    })?;
    library::open(&copy, &plugin.manifest().entry).map_err(|error| {
        failed(provenance, &error)
            .with("loader", error)
            .note(format!(
                "built with rustc {} for {}",
                plugin.manifest().rustc_version,
                plugin.manifest().target
            ))
            .help("author: link what the library needs into it; the loader's own words are above")
    })
}

fn failed(provenance: &Provenance, why: &str) -> Diagnostic {
    let message = format!("the library cannot be opened: {why}");
    provenance.error(Stage::Load, &codes::OPEN_FAILED, message)
}

/// Whether the plugin is pinned. One that is not the pinned one is `ExtensionHost/IntegrityFailed`.
fn check_pin(
    plugin: &Validated,
    library: &[u8],
    stores: &PluginStores,
) -> Result<bool, Diagnostic> {
    let path = stores.pin_of(plugin.manifest().ext_id.as_str());
    let pin = platform::read_file(&path, 64 * 1024);
    if matches!(pin, Err(ReadError::Missing)) {
        return Ok(false);
    }
    let hash = HEXLOWER.encode(&Sha256::digest(library));
    let failed = |message: String| {
        plugin
            .provenance()
            .error(Stage::Load, &codes::INTEGRITY_FAILED, message)
            .with("actual", hash.as_str())
            .with("pin", path.display().to_string())
    };
    let bytes =
        pin.map_err(|error| failed(format!("the pin of this plugin cannot be read: {error}")))?;
    let pin: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let (Some("sha256"), Some(expected)) = (pin["algorithm"].as_str(), pin["value"].as_str())
    else {
        return Err(failed(
            "the pin of this plugin is not `{\"algorithm\":\"sha256\",\"value\":…}`".to_owned(),
        )
        .help(format!(
            "operator: write it again with `stud plugin pin {}`",
            plugin.provenance().name()
        )));
    };
    if expected.eq_ignore_ascii_case(&hash) {
        return Ok(true);
    }
    Err(
        failed("the library's bytes are not the pinned ones".to_owned())
            .with("expected", expected)
            .help(format!(
                "operator: if the new build is meant, accept it with `stud plugin pin {}`",
                plugin.provenance().name()
            )),
    )
}

/// The hash a plugin's library has now.
pub fn hash_of(path: &Path) -> Result<String, ReadError> {
    let bytes = platform::read_file(path, LARGEST_LIBRARY)?;
    Ok(HEXLOWER.encode(&Sha256::digest(&bytes)))
}

/// A file of exactly these bytes that is never written again.
fn cache(bytes: &[u8], origin: &Path, cache: &Path) -> std::io::Result<PathBuf> {
    let name = origin.file_name().unwrap_or_default();
    let copy = cache.join(key(bytes)).join(name);
    if holds(&copy, bytes).unwrap_or(false) {
        return Ok(copy);
    }
    private_folder(cache)?;
    // A copy that a power cut spoiled is noticed by the comparison above and written again.
    platform::replace_file(&copy, bytes, 0o500, Durability::Written)?;
    Ok(copy)
}

/// Whether a file is exactly these bytes, read piece by piece: a library's worth of fresh memory costs more than reading.
fn holds(path: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    let mut file = fs::File::open(path)?;
    if file.metadata()?.len() != bytes.len() as u64 {
        return Ok(false);
    }
    let mut piece = [0; 16 * 1024];
    for expected in bytes.chunks(piece.len()) {
        let piece = &mut piece[..expected.len()];
        file.read_exact(piece)?;
        if piece != expected {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The folder of a copy, by what is in it.
///
/// The name is not a safeguard: a copy is used only if its bytes match. So it may be quick to make,
/// which counts when a hundred libraries are opened. In a debug build each call is made where it stands, so the loop has
/// as few as can be: the widest words there are, found by index.
fn key(bytes: &[u8]) -> String {
    const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let (words, rest) = bytes.as_chunks::<16>();
    // Two at a time, because neither waits for the other.
    let (mut one, mut other): (u128, u128) = (1, 2);
    let mut at = 1;
    while at < words.len() {
        // A product carries each bit upward only; the shift brings the upper half down again.
        let product = (one ^ u128::from_le_bytes(words[at - 1])).wrapping_mul(FACTOR);
        one = product ^ (product >> 64);
        let product = (other ^ u128::from_le_bytes(words[at])).wrapping_mul(FACTOR);
        other = product ^ (product >> 64);
        at += 2;
    }
    let fold = |hash: u128, value: u128| {
        let product = (hash ^ value).wrapping_mul(FACTOR);
        product ^ (product >> 64)
    };
    let odd = words.get(at - 1).copied().map(u128::from_le_bytes);
    let tail = rest.iter().map(|byte| u128::from(*byte));
    let hash = [one, other].into_iter().chain(odd).chain(tail);
    let hash = hash.fold(bytes.len() as u128, fold);
    format!("{:x}-{:016x}", bytes.len(), hash & u128::from(u64::MAX))
}

fn private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_changes_with_any_byte() {
        let bytes: Vec<u8> = (0..100).collect();
        let mut names =
            std::collections::BTreeSet::from([key(&bytes), key(&bytes[..99]), key(&[])]);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x40;
            names.insert(key(&changed));
        }
        assert_eq!(names.len(), 103);
    }

    #[test]
    fn a_spoiled_copy_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let copy = cache(b"library", Path::new("lib.so"), folder.path()).unwrap();
        fs::remove_file(&copy).unwrap();
        fs::write(&copy, b"garbage").unwrap();
        assert_eq!(
            cache(b"library", Path::new("lib.so"), folder.path()).unwrap(),
            copy
        );
        assert_eq!(fs::read(&copy).unwrap(), b"library");
    }
}
