//! The snapshot of a session: `manifest.json` and the slots that belong to it.
//!
//! Both must change together although no file system renames two files at once. So the manifest decides, and the
//! slots are found by it: they are in `state/`, in a file named after the checksum of the manifest's text. Slots are
//! written first, under a name that no manifest has yet; renaming the manifest then swaps both at once. When the text
//! of the manifest stays the same, renaming the slots does.
//!
//! The file of slots begins with a checksum over itself, and says which manifest, which session and which place in the
//! journal it belongs to. So a snapshot that is not the one that was written is told of when it is read. Older versions
//! wrote the slots alone; those are read too.
//!
//! A person may edit `manifest.json`, and then no file is named after it. As long as there is only one file of slots,
//! it must be the one, and that the manifest was edited is told of as damage is: the two cannot be told apart.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stud_sdk::session_store::{Damage, DamagedPart, SessionManifest, SlotBlob, Stored};
use stud_sdk::{Error, Result};

use crate::STORE_ID;
use crate::anchor::Anchor;
use crate::checksum::checksum;
use crate::disk::{self, Access, Disk};
use crate::failure::{self, At as _, Reason, drift, mismatch, unavailable};
use crate::folder::{self, Folder};
use crate::journal::Failed;
use crate::pretty::pretty;

/// A manifest can change between the reading of it and of its slots; not so often in a row.
const ATTEMPTS: usize = 5;

/// The version of the file of slots. The first had no version, and was the list of slots alone.
const FORMAT: u32 = 2;

/// How a file of slots begins; its checksum follows.
const BEFORE_CHECKSUM: &[u8] = b"{\n  \"checksum\": \"";

/// What stands in the place of the checksum while it is computed.
const NO_CHECKSUM: &[u8] = b"0000000000000000";

/// The slots of a snapshot as they are in their file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SlotsFile {
    /// Over the whole text, with zeros in its own place.
    checksum: String,
    format: u32,
    /// How far the journal had come; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    journal: Option<Anchor>,
    /// The checksum of the manifest's text.
    manifest: String,
    /// The name of the session's folder.
    session: String,
    slots: Vec<SlotBlob>,
}

/// What there is of slots for a manifest.
#[derive(Debug)]
enum FoundSlots {
    /// As they were written, and where the journal was, if that is known.
    Whole(Vec<SlotBlob>, Option<Anchor>),
    /// The file is not the one that was written.
    Altered(PathBuf),
    /// There is no file.
    Missing,
}

/// Reads a snapshot, without any lock, and says what of the session is not what was written.
pub(crate) fn read(disk: &dyn Disk, folder: &Folder) -> Result<Stored> {
    let mut text = read_manifest(disk, folder)?;
    for _ in 0..ATTEMPTS {
        let manifest = parse(&text, folder)?;
        if let Some(found) = read_slots(disk, folder, &text)? {
            return assemble(disk, folder, manifest, found, true);
        }
        let again = read_manifest(disk, folder)?;
        if again == text {
            let found = read_only_slots(disk, folder)?;
            return assemble(disk, folder, manifest, found, false);
        }
        text = again;
    }
    let message = format!(
        "{} changes faster than it can be read",
        folder.manifest().display()
    );
    Err(unavailable(Reason::Io, message))
}

/// A snapshot, and what is wrong with it and with the journal it covers.
fn assemble(
    disk: &dyn Disk,
    folder: &Folder,
    manifest: SessionManifest,
    found: FoundSlots,
    is_named: bool,
) -> Result<Stored> {
    let mut stored = Stored {
        manifest,
        slots: Vec::new(),
        damage: Vec::new(),
    };
    match found {
        FoundSlots::Whole(slots, anchor) => {
            stored.slots = slots;
            if !is_named {
                let what = "it is not the text that the snapshot was written with";
                let damage = damage(DamagedPart::Manifest, "altered", &folder.manifest(), what);
                stored.damage.push(damage);
            }
            if let Some(anchor) = anchor {
                stored.damage.extend(check_journal(disk, folder, &anchor)?);
            }
        }
        FoundSlots::Altered(path) => {
            let what = "its checksum is not that of what it says";
            let damage = damage(DamagedPart::State, "altered", &path, what);
            stored.damage.push(damage);
        }
        FoundSlots::Missing => {
            let what = "the state that belongs to the snapshot is gone";
            let damage = damage(DamagedPart::State, "missing", &folder.state(), what);
            stored.damage.push(damage);
        }
    }
    Ok(stored)
}

fn damage(part: DamagedPart, reason: &str, path: &Path, what: &str) -> Damage {
    Damage {
        part,
        reason: reason.to_owned(),
        message: format!("{}: {what}", path.display()),
        path: Some(path.to_string_lossy().into_owned()),
    }
}

/// Whether the journal still has what the snapshot covers.
fn check_journal(disk: &dyn Disk, folder: &Folder, anchor: &Anchor) -> Result<Option<Damage>> {
    let path = folder.journal();
    let told = |reason, what: &str| {
        let until = match anchor.last_seq {
            Some(seq) => {
                format!("{what}; it had records up to {seq} when the snapshot was written")
            }
            None => what.to_owned(),
        };
        Ok(Some(damage(DamagedPart::Journal, reason, &path, &until)))
    };
    let file = match disk.open(&path, Access::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return told("missing", "the journal is gone");
        }
        Err(error) => return Err(error).at("open", &path),
    };
    if anchor.is_held(&*file, folder.key()).at("read", &path)? {
        return Ok(None);
    }
    if file.len().at("read", &path)? < anchor.end {
        return told("shortened", "the journal is shorter than it was");
    }
    told(
        "altered",
        "the journal is not the one that the snapshot covers",
    )
}

/// How much of the journal the snapshot covers; nothing if that is not known.
pub(crate) fn covered(disk: &dyn Disk, folder: &Folder) -> u64 {
    let text = read_manifest(disk, folder);
    let found = text.and_then(|text| match read_slots(disk, folder, &text)? {
        Some(found) => Ok(found),
        None => read_only_slots(disk, folder),
    });
    match found {
        Ok(FoundSlots::Whole(_, Some(anchor))) => anchor.end,
        _ => 0,
    }
}

/// Replaces the snapshot. When this returns well, it survives the loss of power.
pub(crate) fn write(
    disk: &dyn Disk,
    folder: &Folder,
    stored: &Stored,
    journal: Option<Anchor>,
) -> Result<(), Failed> {
    let unwritable =
        |error: serde_json::Error| Failed::Refused(unavailable(Reason::Io, error.to_string()));
    let manifest = pretty(&stored.manifest).map_err(unwritable)?;
    let slots = slots_text(folder, &manifest, &stored.slots, journal).map_err(unwritable)?;
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
fn read_slots(disk: &dyn Disk, folder: &Folder, manifest: &[u8]) -> Result<Option<FoundSlots>> {
    let path = slots_file(folder, manifest);
    match disk::read(disk, &path) {
        Ok(text) => Ok(Some(parse_slots(&text, folder, Some(manifest), path))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failure::disk("read", &path, &error)),
    }
}

/// The slots of a manifest that none are named after.
fn read_only_slots(disk: &dyn Disk, folder: &Folder) -> Result<FoundSlots> {
    let state = folder.state();
    let files = match slots_files(disk, &state) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        files => files.at("look into", &state)?,
    };
    match &*files {
        [] => Ok(FoundSlots::Missing),
        [path] => {
            let text = disk::read(disk, path).at("read", path)?;
            Ok(parse_slots(&text, folder, None, path.clone()))
        }
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

/// The text of a file of slots.
fn slots_text(
    folder: &Folder,
    manifest: &[u8],
    slots: &[SlotBlob],
    journal: Option<Anchor>,
) -> serde_json::Result<Vec<u8>> {
    let name = folder.path().file_name().unwrap_or_default();
    let file = SlotsFile {
        checksum: String::from_utf8_lossy(NO_CHECKSUM).into_owned(),
        format: FORMAT,
        journal,
        manifest: digits(manifest),
        session: name.to_string_lossy().into_owned(),
        slots: slots.to_vec(),
    };
    let mut text = pretty(&file)?;
    let sum = digits(&text);
    let start = BEFORE_CHECKSUM.len();
    text[start..start + sum.len()].copy_from_slice(sum.as_bytes());
    Ok(text)
}

/// Reads a file of slots, which belongs to this text of a manifest unless that was edited.
fn parse_slots(text: &[u8], folder: &Folder, manifest: Option<&[u8]>, path: PathBuf) -> FoundSlots {
    if text.first() == Some(&b'[') {
        return match serde_json::from_slice(text) {
            Ok(slots) => FoundSlots::Whole(slots, None),
            Err(_) => FoundSlots::Altered(path),
        };
    }
    let name = folder.path().file_name().unwrap_or_default();
    match whole_slots(text) {
        Some(file)
            if file.format == FORMAT
                && file.session == name.to_string_lossy()
                && manifest.is_none_or(|manifest| file.manifest == digits(manifest)) =>
        {
            FoundSlots::Whole(file.slots, file.journal)
        }
        _ => FoundSlots::Altered(path),
    }
}

/// A file of slots whose checksum is that of its text.
fn whole_slots(text: &[u8]) -> Option<SlotsFile> {
    let start = BEFORE_CHECKSUM.len();
    let end = start + NO_CHECKSUM.len();
    let sum = text.get(start..end)?;
    let mut without = text.to_vec();
    without[start..end].copy_from_slice(NO_CHECKSUM);
    if !text.starts_with(BEFORE_CHECKSUM) || digits(&without).as_bytes() != sum {
        return None;
    }
    serde_json::from_slice(text).ok()
}

fn digits(bytes: &[u8]) -> String {
    format!("{:016x}", checksum(bytes))
}

/// Where the slots of a manifest are.
fn slots_file(folder: &Folder, manifest: &[u8]) -> PathBuf {
    folder.state().join(format!("{}.json", digits(manifest)))
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
