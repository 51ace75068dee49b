//! From a file, a folder or an archive to one library.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use data_encoding::HEXLOWER;
use flate2::read::GzDecoder;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use stud_config::platform;
use stud_diagnostics::Diagnostic;
use stud_plugins::discover::LARGEST_LIBRARY;
use stud_plugins::plugin_check::TARGET;

use crate::lock_file::{Digest, Origin};
use crate::refusal::source_invalid;

/// An archive may hold no more libraries than this.
const MOST_LIBRARIES: usize = 64;

/// What cargo builds a folder with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// `cargo build --release`.
    #[default]
    Release,
    /// `cargo build`.
    Debug,
}

/// One library, read from its source.
#[derive(Debug)]
pub struct Library {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Where it came from.
    pub origin: Origin,
    /// A config that lies beside it.
    pub config: Option<PathBuf>,
    /// The digests of this library and of its builds for other platforms.
    pub platforms: BTreeMap<String, Digest>,
}

impl Library {
    /// SHA-256 of the bytes.
    pub fn sha256(&self) -> String {
        sha256(&self.bytes)
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Reads the library that `source` stands for. A folder with a `Cargo.toml` is built first. Of a folder, nothing is read
/// that is closed, wherever a link in it leads.
pub fn read(
    source: &Path,
    profile: Profile,
    is_closed: &dyn Fn(&Path) -> bool,
) -> Result<Library, Diagnostic> {
    let path = source.canonicalize().map_err(|error| {
        source_invalid(source, format!("the source cannot be read: {error}"))
            .help("name a library file, a folder with a `Cargo.toml` or a library, or a `.tar.gz` archive")
    })?;
    if path.is_dir() {
        from_folder(&path, profile, is_closed)
    } else if is_archive(&path) {
        from_archive(&path)
    } else {
        from_file(&path, "file", &path)
    }
}

fn from_file(library: &Path, kind: &str, origin: &Path) -> Result<Library, Diagnostic> {
    let bytes = platform::read_file(library, LARGEST_LIBRARY)
        .map_err(|error| source_invalid(library, format!("the library cannot be read: {error}")))?;
    Ok(library_of(bytes, kind, origin))
}

fn library_of(bytes: Vec<u8>, kind: &str, origin: &Path) -> Library {
    let digest = Digest {
        sha256: sha256(&bytes),
    };
    Library {
        bytes,
        origin: Origin {
            kind: kind.to_owned(),
            path: origin.to_owned(),
        },
        config: None,
        platforms: BTreeMap::from([(TARGET.to_owned(), digest)]),
    }
}

fn from_folder(
    folder: &Path,
    profile: Profile,
    is_closed: &dyn Fn(&Path) -> bool,
) -> Result<Library, Diagnostic> {
    let manifest = folder.join("Cargo.toml");
    if manifest.is_file() {
        return from_file(&build(&manifest, profile)?, "folder", folder);
    }
    let entries = fs::read_dir(folder)
        .map_err(|error| source_invalid(folder, format!("the folder cannot be listed: {error}")))?;
    let mut libraries: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| is_library(path))
        .collect();
    libraries.sort();
    let [library] = &libraries[..] else {
        let message = format!(
            "the folder has no `Cargo.toml` and holds {} libraries",
            libraries.len()
        );
        return Err(source_invalid(folder, message).help("name the library itself"));
    };
    if is_closed(library) {
        let message = "the library leads into a project that is not trusted";
        return Err(source_invalid(library, message).help("`stud trust` decides about the project"));
    }
    let mut read = from_file(library, "folder", folder)?;
    let config = folder.join("config.json");
    read.config = (!is_closed(&config) && config.is_file()).then_some(config);
    Ok(read)
}

/// Builds the package of this manifest with cargo and gives its library. Cargo's own messages go to standard error.
fn build(manifest: &Path, profile: Profile) -> Result<PathBuf, Diagnostic> {
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "build",
            "--lib",
            "--message-format=json-render-diagnostics",
            "--manifest-path",
        ])
        .arg(manifest)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    if profile == Profile::Release {
        cargo.arg("--release");
    }
    let output = cargo.output().map_err(|error| {
        source_invalid(manifest, format!("cargo cannot be run: {error}"))
            .help("install Rust from https://rustup.rs, or name a library that is already built")
    })?;
    if !output.status.success() {
        return Err(source_invalid(manifest, format!("`cargo build` failed: {}", output.status))
            .help("cargo's own messages are above; `cargo build --release` in that folder repeats them"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut libraries: Vec<PathBuf> = text
        .lines()
        .flat_map(|line| artifacts(line, manifest))
        .collect();
    match libraries.len() {
        1 => Ok(libraries.swap_remove(0)),
        0 => Err(
            source_invalid(manifest, "the package builds no dynamic library")
                .help("author: set `crate-type = [\"cdylib\"]` below `[lib]` in Cargo.toml"),
        ),
        many => Err(
            source_invalid(manifest, format!("the folder builds {many} libraries"))
                .help("name the folder of one package"),
        ),
    }
}

/// The dynamic libraries of the package with this manifest, out of a message of cargo.
fn artifacts(message: &str, manifest: &Path) -> Vec<PathBuf> {
    let Ok(message) = serde_json::from_str::<Value>(message) else {
        return Vec::new();
    };
    let is_ours = message["manifest_path"].as_str().map(Path::new) == Some(manifest);
    if message["reason"] != "compiler-artifact" || !is_ours {
        return Vec::new();
    }
    let files = message["filenames"].as_array().into_iter().flatten();
    files
        .filter_map(Value::as_str)
        .map(PathBuf::from)
        .filter(|path| is_library(path))
        .collect()
}

/// The library for this platform out of an archive, and the digests of the others.
///
/// Only contents are taken: no path of the archive is ever written.
fn from_archive(archive: &Path) -> Result<Library, Diagnostic> {
    let unusable = |error: io::Error| {
        source_invalid(archive, format!("the archive cannot be read: {error}"))
            .help("make it with `tar -czf plugin.tar.gz libplugin.so`")
    };
    let file = File::open(archive).map_err(unusable)?;
    let reader: Box<dyn Read> = if has_suffix(archive, ".tar") {
        Box::new(file)
    } else {
        Box::new(GzDecoder::new(file))
    };
    // One more than what a library may have, so that one that is too large does not look complete.
    let mut archived = tar::Archive::new(reader.take(LARGEST_LIBRARY + 1));
    let mut libraries: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for entry in archived.entries().map_err(unusable)? {
        let mut entry = entry.map_err(unusable)?;
        let path = entry.path().map_err(unusable)?.into_owned();
        if !entry.header().entry_type().is_file() || !is_library(&path) {
            continue;
        }
        if libraries.len() == MOST_LIBRARIES {
            let message = format!("the archive holds more than {MOST_LIBRARIES} libraries");
            return Err(source_invalid(archive, message));
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(unusable)?;
        libraries.push((path, bytes));
    }
    let mut platforms = BTreeMap::new();
    for (path, bytes) in &libraries {
        if let Some(target) = target_of(path) {
            platforms.insert(
                target.to_owned(),
                Digest {
                    sha256: sha256(bytes),
                },
            );
        }
    }
    let here = |path: &Path| target_of(path) == Some(TARGET);
    let chosen = match libraries.iter().position(|(path, _)| here(path)) {
        Some(place) => Some(place),
        None if libraries.len() == 1 && target_of(&libraries[0].0).is_none() => Some(0),
        None => None,
    };
    let Some(chosen) = chosen else {
        let found: Vec<String> = libraries
            .iter()
            .map(|(path, _)| path.display().to_string())
            .collect();
        let message = format!("the archive holds no library for {TARGET}");
        return Err(source_invalid(archive, message)
            .with("libraries", found)
            .with("target", TARGET)
            .help(format!("author: put one library into the archive, or one for each platform, such as `{TARGET}/libplugin.so`")));
    };
    let mut library = library_of(libraries.swap_remove(chosen).1, "archive", archive);
    library.platforms.extend(platforms);
    Ok(library)
}

/// The platform a path in an archive names: `x86_64-unknown-linux-gnu/libx.so`.
fn target_of(path: &Path) -> Option<&str> {
    let folder = path.parent()?.file_name()?.to_str()?;
    (folder.matches('-').count() >= 2).then_some(folder)
}

fn is_archive(path: &Path) -> bool {
    [".tar.gz", ".tgz", ".tar"]
        .iter()
        .any(|suffix| has_suffix(path, suffix))
}

fn has_suffix(path: &Path, suffix: &str) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().ends_with(suffix))
}

fn is_library(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_diagnostics::codes;

    fn archive(folder: &Path, name: &str, files: &[(&str, &[u8])]) -> PathBuf {
        let path = folder.join(name);
        let file = File::create(&path).unwrap();
        let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(
            file,
            flate2::Compression::fast(),
        ));
        for (name, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, name, *bytes).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap();
        path
    }

    #[test]
    fn an_archive_gives_the_library_of_this_platform() {
        let folder = tempfile::tempdir().unwrap();
        let here = format!("plugin-1.0/{TARGET}/libx.so");
        let there = "plugin-1.0/riscv64gc-unknown-linux-gnu/libx.so";
        let files: [(&str, &[u8]); 3] =
            [("README.md", b"text"), (there, b"there"), (&here, b"here")];
        let read = read(
            &archive(folder.path(), "x.tar.gz", &files),
            Profile::Release,
            &|_| false,
        )
        .unwrap();
        assert_eq!(
            (read.bytes.as_slice(), read.origin.kind.as_str()),
            (b"here".as_slice(), "archive")
        );
        let digests: Vec<&str> = read.platforms.keys().map(String::as_str).collect();
        assert_eq!(digests, ["riscv64gc-unknown-linux-gnu", TARGET]);
        assert_eq!(read.platforms[TARGET].sha256, sha256(b"here"));
    }

    #[test]
    fn an_archive_with_one_library_needs_no_folders() {
        let folder = tempfile::tempdir().unwrap();
        let read = read(
            &archive(folder.path(), "x.tgz", &[("libx.so", b"it")]),
            Profile::Release,
            &|_| false,
        )
        .unwrap();
        assert_eq!(read.bytes, b"it");
    }

    #[test]
    fn sources_that_hold_no_plugin_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("broken.tar.gz"), "no gzip").unwrap();
        fs::create_dir(at("empty")).unwrap();
        fs::create_dir(at("two")).unwrap();
        fs::write(at("two/liba.so"), "a").unwrap();
        fs::write(at("two/libb.so"), "b").unwrap();
        archive(folder.path(), "text.tar.gz", &[("README.md", b"text")]);
        archive(
            folder.path(),
            "foreign.tar.gz",
            &[("riscv64gc-unknown-linux-gnu/libx.so", b"x")],
        );
        archive(
            folder.path(),
            "several.tar.gz",
            &[("a/libx.so", b"x"), ("b/libx.so", b"y")],
        );
        for name in [
            "none",
            "broken.tar.gz",
            "empty",
            "two",
            "text.tar.gz",
            "foreign.tar.gz",
            "several.tar.gz",
        ] {
            let refused = read(&at(name), Profile::Release, &|_| false).unwrap_err();
            assert_eq!(refused.code, &codes::INSTALL_SOURCE_INVALID, "{name}");
        }
    }

    #[test]
    fn only_the_package_that_was_named_counts() {
        let manifest = Path::new("/p/Cargo.toml");
        let message = |path: &str| {
            serde_json::json!({
                "reason": "compiler-artifact", "manifest_path": path,
                "filenames": ["/t/libx.so", "/t/libx.rlib"],
            })
            .to_string()
        };
        assert_eq!(
            artifacts(&message("/p/Cargo.toml"), manifest),
            [PathBuf::from("/t/libx.so")]
        );
        assert!(artifacts(&message("/other/Cargo.toml"), manifest).is_empty());
        assert!(artifacts("not json", manifest).is_empty());
    }
}
