//! What was decided outside any session: about projects, providers and the files of the global root.
//!
//! The file is `<globalRoot>/audit.jsonl`. Before it would grow beyond [`LARGEST`] it is set aside under the time, and
//! the [`KEPT`] newest of those are kept.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stud_contract_meta::Result;

use super::unavailable;
use crate::ids;
use crate::platform::{self, Durability};

/// The file does not grow beyond this.
pub const LARGEST: u64 = 2 << 20;

/// How many of those set aside are kept.
pub const KEPT: usize = 10;

const FILE: &str = "audit.jsonl";

/// Something that was decided outside any session.
#[derive(Debug, Clone)]
pub struct Deed {
    /// What it was, such as `ProjectTrusted`.
    pub kind: &'static str,
    /// The family of the record, where it has one.
    pub class: Option<&'static str>,
    /// The facts; never a secret.
    pub payload: Value,
}

impl Deed {
    /// A deed of no family.
    pub fn new(kind: &'static str, payload: Value) -> Self {
        Self {
            kind,
            class: None,
            payload,
        }
    }
}

/// Puts deeds on record, in order, before they are done.
///
/// `Session/AuditTrailUnavailable` if that is not possible; what cannot be put on record must not be done.
pub fn note(global_root: &Path, deeds: &[Deed], durability: Durability) -> Result<()> {
    let path = global_root.join(FILE);
    let lines: String = deeds.iter().map(line).collect();
    let noted = platform::alone(&global_root.join("audit.lock"), || {
        make_room(&path, lines.len() as u64)?;
        append(&path, lines.as_bytes(), durability)
    });
    let noted = noted.and_then(|noted| noted);
    noted.map_err(|error| unavailable(&path, &error.to_string()))
}

fn line(deed: &Deed) -> String {
    let mut record = json!({
        "type": deed.kind,
        "correlationId": ids::fresh(),
        "timestamp": platform::rfc3339(platform::now()),
        "payload": deed.payload,
    });
    if let Some(class) = deed.class {
        record["class"] = class.into();
    }
    format!("{record}\n")
}

/// Sets the file aside if it would grow too large, and removes the oldest of those set aside.
fn make_room(path: &Path, more: u64) -> io::Result<()> {
    let length = match std::fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if length == 0 || length + more <= LARGEST {
        return Ok(());
    }
    let time = platform::rfc3339(platform::now()).replace([':', '.'], "-");
    let mut aside = path.with_file_name(format!("{FILE}.{time}"));
    let mut again = 0;
    while aside.exists() {
        again += 1;
        aside = path.with_file_name(format!("{FILE}.{time}-{again}"));
    }
    std::fs::rename(path, aside)?;
    let mut old = set_aside(path)?;
    old.sort();
    let surplus = old.len().saturating_sub(KEPT);
    for oldest in &old[..surplus] {
        std::fs::remove_file(oldest)?;
    }
    Ok(())
}

fn set_aside(path: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut old = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let is_old = name
            .to_str()
            .and_then(|name| name.strip_prefix(FILE)?.strip_prefix('.'))
            .is_some_and(|time| time.starts_with(|first: char| first.is_ascii_digit()));
        if is_old {
            old.push(folder.join(name));
        }
    }
    Ok(old)
}

fn append(path: &Path, lines: &[u8], durability: Durability) -> io::Result<()> {
    // Opening a pipe would wait for its other end.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a file",
        ));
    }
    let mut file = File::options()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    let mut bytes = Vec::with_capacity(lines.len() + 1);
    if is_torn(&mut file)? {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(lines);
    file.write_all(&bytes)?;
    match durability {
        Durability::Synced => file.sync_all(),
        Durability::Written => Ok(()),
    }
}

/// Whether the last line lacks its end, as after a loss of power.
fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != [b'\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deed(payload: Value) -> Deed {
        Deed::new("ProviderRegistered", payload)
    }

    fn lines(path: &Path) -> Vec<Value> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[test]
    fn deeds_follow_one_another_even_after_a_torn_one() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(FILE);
        let first = deed(json!({"providerId": "a"}));
        note(root.path(), &[first], Durability::Synced).unwrap();
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"type\":\"Pro").unwrap();
        let trusted = Deed {
            class: Some("TrustDecision"),
            ..deed(json!({}))
        };
        note(root.path(), &[trusted], Durability::Written).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let [first, torn, last] = &text.lines().collect::<Vec<_>>()[..] else {
            panic!("{text}");
        };
        let first: Value = serde_json::from_str(first).unwrap();
        assert_eq!(first["payload"], json!({"providerId": "a"}));
        assert_eq!(*torn, "{\"type\":\"Pro");
        let last: Value = serde_json::from_str(last).unwrap();
        assert_eq!(last["class"], "TrustDecision");
        assert_ne!(last["correlationId"], first["correlationId"]);
    }

    #[test]
    fn the_file_is_set_aside_before_it_is_too_large_and_the_oldest_go() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(FILE);
        for round in 0..KEPT + 3 {
            let full = "x".repeat(usize::try_from(LARGEST).unwrap() - 10);
            std::fs::write(&path, full + "\n").unwrap();
            let round = deed(json!({"round": round}));
            note(root.path(), &[round], Durability::Written).unwrap();
        }
        assert_eq!(lines(&path).len(), 1);
        assert_eq!(lines(&path)[0]["payload"]["round"], KEPT + 2);
        let old = set_aside(&path).unwrap();
        assert_eq!(old.len(), KEPT);
        let name = old[0].file_name().unwrap().to_str().unwrap().to_owned();
        assert!(!name[FILE.len() + 1..].contains([':', '.']), "{name}");
    }

    #[test]
    fn what_cannot_be_put_on_record_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join(FILE)).unwrap();
        let error = note(root.path(), &[deed(json!({}))], Durability::Written).unwrap_err();
        assert_eq!(error.code(), "AuditTrailUnavailable");
    }
}
