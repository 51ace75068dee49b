//! Text that is sent as a reference to a file.
//!
//! The file is opened once, beneath the base folder and without following a link; what is read from that descriptor is
//! what is hashed and what becomes the input. Nothing that happens to the path afterward matters.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path};

use data_encoding::HEXLOWER;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::message::{Reference, check_text};
use crate::timestamp;

/// The same words for a path outside the base and for one that leads nowhere: neither tells what is there.
const UNREACHABLE: &str =
    "content_ref_unreachable: the reference leads to no readable file in the base folder";

/// Reads the text that a reference stands for; if it cannot be used, why.
pub(crate) fn read(reference: &Reference, base: &Path, largest: u64) -> Result<String, String> {
    if reference.expires_at.is_some_and(|at| at < timestamp::now()) {
        return Err("content_ref_expired: the reference has expired".to_owned());
    }
    if reference.size_bytes > largest {
        return Err(format!(
            "content_ref_too_large: a referenced file has {largest} bytes at most"
        ));
    }
    let file = open_beneath(base, Path::new(&reference.path)).ok_or(UNREACHABLE)?;
    let metadata = file.metadata().map_err(|_| UNREACHABLE)?;
    if !metadata.is_file() {
        return Err(UNREACHABLE.to_owned());
    }
    if metadata.len() != reference.size_bytes {
        return Err(SIZE_DIFFERS.to_owned());
    }
    let mut bytes = Vec::new();
    let mut file = file.take(reference.size_bytes + 1);
    file.read_to_end(&mut bytes).map_err(|_| UNREACHABLE)?;
    if bytes.len() as u64 != reference.size_bytes {
        return Err(SIZE_DIFFERS.to_owned());
    }
    if sha256(&bytes) != reference.sha256 {
        return Err(
            "content_ref_changed: the file does not have the hash that was sent".to_owned(),
        );
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| "invalid_content: the referenced file is not UTF-8".to_owned())?;
    check_text(&text)?;
    Ok(text)
}

const SIZE_DIFFERS: &str = "content_ref_changed: the file does not have the size that was sent";

/// The SHA-256 of bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Opens a file whose path ends beneath `base` once links and `..` are resolved.
///
/// The path is resolved first and then walked again without following anything, so a link that is put into it in between
/// makes this fail instead of leading elsewhere.
fn open_beneath(base: &Path, path: &Path) -> Option<File> {
    let base = base.canonicalize().ok()?;
    let path = path.canonicalize().ok()?;
    let below = path.strip_prefix(&base).ok()?;
    below.file_name()?;
    let folder = rustix::fs::open(&base, FOLDER, Mode::empty()).ok()?;
    let opened = match open_at_once(&folder, below) {
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => open_step_by_step(folder, below),
        opened => opened,
    };
    opened.ok().map(File::from)
}

const FOLDER: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

/// A pipe or a device must not make the opening wait.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

#[cfg(target_os = "linux")]
fn open_at_once(
    folder: &rustix::fd::OwnedFd,
    below: &Path,
) -> rustix::io::Result<rustix::fd::OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(folder, below, FILE, Mode::empty(), beneath)
}

#[cfg(not(target_os = "linux"))]
fn open_at_once(_: &rustix::fd::OwnedFd, _: &Path) -> rustix::io::Result<rustix::fd::OwnedFd> {
    Err(Errno::NOSYS)
}

/// The same where the system cannot resolve beneath a folder: one folder after the other, none of them a link.
fn open_step_by_step(
    mut folder: rustix::fd::OwnedFd,
    below: &Path,
) -> rustix::io::Result<rustix::fd::OwnedFd> {
    let mut steps = below.components().peekable();
    while let Some(step) = steps.next() {
        let Component::Normal(name) = step else {
            return Err(Errno::XDEV);
        };
        let flags = if steps.peek().is_some() { FOLDER } else { FILE };
        folder = openat(&folder, name, flags, Mode::empty())?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tcp_34_both_ways_of_opening_refuse_links() {
        let base = tempfile::tempdir().unwrap();
        std::fs::create_dir(base.path().join("in")).unwrap();
        std::fs::write(base.path().join("in/file"), "text").unwrap();
        std::os::unix::fs::symlink("in", base.path().join("link")).unwrap();
        std::os::unix::fs::symlink("file", base.path().join("in/last")).unwrap();
        let folder = || rustix::fs::open(base.path(), FOLDER, Mode::empty()).unwrap();
        for (path, opens) in [
            ("in/file", true),
            ("link/file", false),
            ("in/last", false),
            ("../in", false),
        ] {
            let path = Path::new(path);
            assert_eq!(open_step_by_step(folder(), path).is_ok(), opens, "{path:?}");
            match open_at_once(&folder(), path) {
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => assert_eq!(opened.is_ok(), opens, "{path:?}"),
            }
        }
    }
}
