//! Laying out the world of a case: files, plugins, and what was done to them.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use stud_tests::{Elf, World, fixture, section_of, stud_program};

use crate::case::{Case, Change, Instead, Set};

/// A library that was put somewhere.
pub(crate) struct Library {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// Lays out everything; the library is the one the case is about.
pub(crate) fn prepare(world: &World, case: &Case) -> Result<Option<Library>, String> {
    for file in &case.files {
        world.write(&file.path, &file.text);
    }
    for also in &case.also {
        let mut library = Elf::read(&fixture(&also.fixture));
        if !also.set.is_empty() || !also.remove.is_empty() {
            library = library.with_manifest(|manifest| change(manifest, &also.set, &also.remove));
        }
        world.write(&also.install, library.bytes);
    }
    let library = match &case.fixture {
        None => None,
        Some(package) => Some(build(world, case, package)?),
    };
    if case.trust {
        std::fs::create_dir_all(world.project().join(".stud"))
            .map_err(|error| error.to_string())?;
        let answer = world.stud(&["trust"]);
        if answer.status != 0 {
            return Err(format!("trusting the project failed: {answer:#?}"));
        }
    }
    Ok(library)
}

fn build(world: &World, case: &Case, package: &str) -> Result<Library, String> {
    let mut library = Elf::read(&fixture(package));
    if !case.set.is_empty() || !case.remove.is_empty() {
        library = library.with_manifest(|manifest| change(manifest, &case.set, &case.remove));
    }
    let default = [String::from("library/libplugin.so")];
    let places = case.install.as_deref().unwrap_or(&default);
    let first = places.first().ok_or("`install` is empty")?;
    for step in &case.library {
        library = match apply(library, step) {
            Ok(library) => library,
            Err(instead) => return put_instead(world.path(first), instead),
        };
    }
    for place in places {
        world.write(place, &library.bytes);
    }
    Ok(Library {
        path: world.path(first),
        bytes: library.bytes,
    })
}

fn apply(library: Elf, step: &Change) -> Result<Elf, Instead> {
    Ok(match step {
        Change::Truncate { len } => library.truncated(*len),
        Change::Text { text } => Elf {
            bytes: text.clone().into_bytes(),
        },
        Change::Bytes { at, bytes } => library.with_bytes(*at, bytes),
        Change::SectionBytes { at, bytes } => {
            let mut section = library.section();
            section[*at..*at + bytes.len()].copy_from_slice(bytes);
            library.with_section(&section)
        }
        Change::Manifest { text } => library.with_section(&section_of(text.as_bytes())),
        Change::Section { bytes } => library.with_section(bytes),
        Change::SecondManifest => {
            let section = library.section();
            library.with_section(&[section.clone(), section].concat())
        }
        Change::ManifestOf { fixture: other } => {
            let other = Elf::read(&fixture(other)).manifest();
            library.with_manifest(|manifest| {
                let entry = manifest["entry"].take();
                *manifest = other;
                manifest["entry"] = entry;
            })
        }
        Change::Replace { from, to } => library.with_words(from, to),
        Change::Rename { from, to } => library.with_section_named(from, to),
        Change::Program => Elf::read(&stud_program()),
        Change::Instead { what } => return Err(*what),
    })
}

fn put_instead(path: PathBuf, what: Instead) -> Result<Library, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).map_err(failed)?;
    match what {
        Instead::Nothing => {}
        Instead::Folder => std::fs::create_dir(&path).map_err(failed)?,
        Instead::Pipe => {
            let status = Command::new("mkfifo").arg(&path).status().map_err(failed)?;
            if !status.success() {
                return Err(format!("mkfifo: {status}"));
            }
        }
        // The socket stays in its place when the listener is gone.
        Instead::Socket => drop(UnixListener::bind(&path).map_err(failed)?),
        Instead::DanglingLink => std::os::unix::fs::symlink("nowhere", &path).map_err(failed)?,
    }
    Ok(Library {
        path,
        bytes: Vec::new(),
    })
}

fn change(manifest: &mut Value, set: &[Set], remove: &[String]) {
    for Set { at, value } in set {
        put(manifest, at, value.clone());
    }
    for pointer in remove {
        let (parent, last) = pointer.rsplit_once('/').unwrap_or(("", pointer));
        match manifest.pointer_mut(parent) {
            Some(Value::Object(members)) => drop(members.remove(last)),
            Some(Value::Array(items)) => {
                drop(last.parse().ok().map(|index: usize| items.remove(index)));
            }
            _ => {}
        }
    }
}

fn put(document: &mut Value, pointer: &str, value: Value) {
    if pointer.is_empty() {
        *document = value;
        return;
    }
    let (parent, last) = pointer.rsplit_once('/').unwrap_or(("", pointer));
    match document.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.insert(last.to_owned(), value);
        }
        Some(Value::Array(items)) => match last.parse::<usize>() {
            Ok(index) if index < items.len() => items[index] = value,
            _ => items.push(value),
        },
        _ => {}
    }
}
