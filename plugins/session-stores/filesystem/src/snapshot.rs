//! The snapshot of a session: `manifest.json` and the slots that belong to it.
//!
//! Both must change together although no file system renames two files at once. So the manifest decides, and the
//! slots are found by it: they are in `state/`, in a file named after the checksum of the manifest's text. Slots are
//! written first, under a name that no manifest has yet; renaming the manifest then swaps both at once. When the text
//! of the manifest stays the same, renaming the slots does.
//!
//! A person may edit `manifest.json`, and then no file is named after it. As long as there is only one file of slots,
//! it must be the one.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stud_sdk::session_store::{SessionManifest, SlotBlob, Stored};
use stud_sdk::{Error, Result};

use crate::STORE_ID;
use crate::checksum::checksum;
use crate::disk::{self, Disk};
use crate::failure::{self, At as _, Reason, drift, mismatch, unavailable};
use crate::folder::{self, Folder};
use crate::journal::Failed;
use crate::pretty::pretty;

/// A manifest can change between the reading of it and of its slots; not so often in a row.
const ATTEMPTS: usize = 5;

/// Reads a snapshot, without any lock.
pub(crate) fn read(disk: &dyn Disk, folder: &Folder) -> Result<Stored> {
    let mut text = read_manifest(disk, folder)?;
    for _ in 0..ATTEMPTS {
        let manifest = parse(&text, folder)?;
        if let Some(slots) = read_slots(disk, folder, &text)? {
            return Ok(Stored { manifest, slots });
        }
        let again = read_manifest(disk, folder)?;
        if again == text {
            let slots = read_only_slots(disk, folder)?;
            return Ok(Stored { manifest, slots });
        }
        text = again;
    }
    let message = format!(
        "{} changes faster than it can be read",
        folder.manifest().display()
    );
    Err(unavailable(Reason::Io, message))
}

/// Replaces the snapshot. When this returns well, it survives the loss of power.
pub(crate) fn write(disk: &dyn Disk, folder: &Folder, stored: &Stored) -> Result<(), Failed> {
    let unwritable =
        |error: serde_json::Error| Failed::Refused(unavailable(Reason::Io, error.to_string()));
    let manifest = pretty(&stored.manifest).map_err(unwritable)?;
    let slots = pretty(&stored.slots).map_err(unwritable)?;
    let (path, state) = (folder.manifest(), folder.state());

    make_state_folder(disk, folder).map_err(Failed::Refused)?;
    let named = slots_file(folder, &manifest);
    let is_same = is_same_manifest(disk, &named, &path, &manifest).map_err(Failed::Refused)?;
    disk::replace(disk, &named, &slots)
        .at("write", &named)
        .map_err(Failed::Refused)?;
    disk.sync_dir(&state)
        .at("sync", &state)
        .map_err(in_doubt(is_same))?;
    if !is_same {
        disk::replace(disk, &path, &manifest)
            .at("write", &path)
            .map_err(Failed::Refused)?;
        disk.sync_dir(folder.path())
            .at("sync", folder.path())
            .map_err(in_doubt(true))?;
    }
    remove_others(disk, &state, &named);
    Ok(())
}

/// After the rename that counts, a failure leaves open which of the two snapshots survives the loss of power.
fn in_doubt(is_renamed: bool) -> fn(Error) -> Failed {
    if is_renamed {
        Failed::InDoubt
    } else {
        Failed::Refused
    }
}

/// Refuses a manifest that could not be read back.
pub(crate) fn check(manifest: &SessionManifest, path: &Path) -> Result<()> {
    let machine = manifest.sm_state.as_ref();
    let texts = [
        ("storeId", Some(&manifest.store_id)),
        ("sessionId", Some(&manifest.session_id)),
        ("projectRoot", Some(&manifest.project_root)),
        ("smState.smExtId", machine.map(|machine| &machine.sm_ext_id)),
        (
            "smState.stateSlotRef",
            machine.map(|machine| &machine.state_slot_ref),
        ),
    ];
    for (field, text) in texts {
        if text.is_some_and(|text| text.trim().is_empty()) {
            return Err(
                drift(path, format!("`{field}` of the manifest is blank")).with("field", field)
            );
        }
    }
    if manifest.store_id != STORE_ID {
        return Err(mismatch(&manifest.store_id, STORE_ID));
    }
    Ok(())
}

fn make_state_folder(disk: &dyn Disk, folder: &Folder) -> Result<()> {
    let state = folder.state();
    if !disk.exists(&state).at("look for", &state)? {
        disk.create_dir(&state).at("make", &state)?;
        disk.sync_dir(folder.path()).at("sync", folder.path())?;
    }
    Ok(())
}

/// Whether the manifest has the text already that it is to have; then its slots are named the same too.
fn is_same_manifest(disk: &dyn Disk, named: &Path, path: &Path, text: &[u8]) -> Result<bool> {
    if !disk.exists(named).at("look for", named)? || !disk.exists(path).at("look for", path)? {
        return Ok(false);
    }
    Ok(disk::read(disk, path).at("read", path)? == text)
}

/// Removes slots no manifest is left for, and what a crash left half written. What cannot be removed does no
/// harm, and the next write tries again.
fn remove_others(disk: &dyn Disk, state: &Path, named: &Path) {
    for name in disk.names(state).unwrap_or_default() {
        let path = state.join(&name);
        let text = name.to_str().unwrap_or_default();
        if path != named && is_slots(text.strip_suffix(".tmp").unwrap_or(text)) {
            let _ = disk.remove(&path);
        }
    }
}

fn read_manifest(disk: &dyn Disk, folder: &Folder) -> Result<Vec<u8>> {
    let path = folder.manifest();
    let error = match disk::read(disk, &path) {
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    // If the folder can be looked into, the manifest is at fault, and otherwise the place.
    match disk.names(folder.path()) {
        Ok(_) if error.kind() == ErrorKind::NotFound => {
            Err(drift(&path, format!("{} is missing", path.display())).with("missing", true))
        }
        Ok(_) => Err(drift(
            &path,
            format!("cannot read {}: {error}", path.display()),
        )),
        Err(missing) if missing.kind() == ErrorKind::NotFound => {
            Err(unavailable(Reason::NoSession, "there is no such session"))
        }
        Err(unreadable) => Err(failure::disk("look into", folder.path(), &unreadable)),
    }
}

/// What another store wrote is refused as such, whatever else it looks like.
fn parse(text: &[u8], folder: &Folder) -> Result<SessionManifest> {
    let path = folder.manifest();
    let broken = |error: serde_json::Error| {
        drift(
            &path,
            format!("{} is not a manifest: {error}", path.display()),
        )
    };
    let value: Value = serde_json::from_slice(text).map_err(broken)?;
    if let Some(store_id) = value["storeId"]
        .as_str()
        .filter(|id| !id.trim().is_empty() && *id != STORE_ID)
    {
        // Finding the newest session needs the time at which this one was written.
        let foreign = mismatch(store_id, STORE_ID);
        return Err(match value["updatedAt"].as_str() {
            Some(at) => foreign.with("updatedAt", at),
            None => foreign,
        });
    }
    let manifest: SessionManifest = serde_json::from_value(value).map_err(broken)?;
    check(&manifest, &path)?;
    if folder::name(&manifest.session_id).map(AsRef::as_ref) != folder.path().file_name() {
        let message = format!(
            "{} is the manifest of the session `{}`",
            path.display(),
            manifest.session_id
        );
        return Err(drift(&path, message).with("field", "sessionId"));
    }
    Ok(manifest)
}

/// The slots named after a manifest, if there are any.
fn read_slots(disk: &dyn Disk, folder: &Folder, manifest: &[u8]) -> Result<Option<Vec<SlotBlob>>> {
    let path = slots_file(folder, manifest);
    match disk::read(disk, &path) {
        Ok(text) => parse_slots(&text, &path).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failure::disk("read", &path, &error)),
    }
}

/// The slots of a manifest that none are named after.
fn read_only_slots(disk: &dyn Disk, folder: &Folder) -> Result<Vec<SlotBlob>> {
    let state = folder.state();
    let files = match slots_files(disk, &state) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        files => files.at("look into", &state)?,
    };
    match &*files {
        [] => Ok(Vec::new()),
        [path] => parse_slots(&disk::read(disk, path).at("read", path)?, path),
        _ => {
            let message = format!(
                "none of the slots in {} belongs to {}; remove those that are not wanted",
                state.display(),
                folder.manifest().display()
            );
            Err(drift(&state, message))
        }
    }
}

fn parse_slots(text: &[u8], path: &Path) -> Result<Vec<SlotBlob>> {
    serde_json::from_slice(text).map_err(|error| {
        drift(
            path,
            format!("{} has no readable slots: {error}", path.display()),
        )
    })
}

/// Where the slots of a manifest are.
fn slots_file(folder: &Folder, manifest: &[u8]) -> PathBuf {
    folder
        .state()
        .join(format!("{:016x}.json", checksum(manifest)))
}

/// Every file of slots.
fn slots_files(disk: &dyn Disk, state: &Path) -> std::io::Result<Vec<PathBuf>> {
    let names = disk.names(state)?;
    let ours = names
        .into_iter()
        .filter(|name| name.to_str().is_some_and(is_slots));
    Ok(ours.map(|name| state.join(name)).collect())
}

/// Whether a file is one of slots; nothing else in the folder is ours.
fn is_slots(name: &str) -> bool {
    let stem = name.strip_suffix(".json");
    stem.is_some_and(|stem| stem.len() == 16 && u64::from_str_radix(stem, 16).is_ok())
}
