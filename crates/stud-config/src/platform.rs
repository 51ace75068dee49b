//! The outside world: paths, the environment, the clock. Nothing else in core touches them.

mod directories;

pub use directories::{Directories, directories};
#[cfg(shuttle)]
pub use stud_runtime::clock::pass;
pub use stud_runtime::clock::ticks;

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use jiff::Timestamp;

/// Where things are for this run.
#[derive(Debug, Clone)]
pub struct Places {
    /// The global root, `~/.stud` unless `STUD_HOME` says otherwise.
    pub global_root: PathBuf,
    /// The project root, exactly `<cwd>/.stud`; it need not exist.
    pub project_root: PathBuf,
}

impl Places {
    /// The places of this process; None unless `STUD_HOME`, or `HOME` if that is not set, is an absolute path.
    pub fn of_process() -> io::Result<Option<Self>> {
        let cwd = env::current_dir()?;
        // A path need not be UTF-8, so these two are read as the system gives them.
        #[expect(
            clippy::disallowed_methods,
            reason = "this module is where the environment is read"
        )]
        let path = |name| env::var_os(name).filter(|value| !value.is_empty());
        Ok(Self::new(path("STUD_HOME"), path("HOME"), &cwd))
    }

    /// The places for a home and a working directory.
    ///
    /// A relative home would lie in the working directory, where a project could have put settings and plugins that
    /// would then count as the person's own. So there is none without an absolute path.
    pub fn new(stud_home: Option<OsString>, home: Option<OsString>, cwd: &Path) -> Option<Self> {
        let global_root = match (stud_home, home) {
            (Some(root), _) => PathBuf::from(root),
            (None, home) => PathBuf::from(home?).join(".stud"),
        };
        global_root.is_absolute().then(|| Self {
            global_root,
            project_root: cwd.join(".stud"),
        })
    }
}

/// An environment variable; an empty one counts as unset.
#[expect(
    clippy::disallowed_methods,
    reason = "this module is where the environment is read"
)]
pub fn env_value(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The time, for records that people read.
#[expect(
    clippy::disallowed_methods,
    reason = "this module is where the time is read"
)]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// `time` as RFC 3339 in UTC with milliseconds. A clock that stands before 1970 is taken to stand there.
pub fn rfc3339(time: SystemTime) -> String {
    let time = Timestamp::try_from(time.max(SystemTime::UNIX_EPOCH));
    format!("{:.3}", time.unwrap_or(Timestamp::MAX))
}

/// Why a file's bytes could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is nothing at the path, not even a dangling link.
    #[error("there is no such file")]
    Missing,
    /// Something is there that is not a regular file.
    #[error("it is {0}, not a file")]
    NotAFile(&'static str),
    /// Larger than the caller is ready to take.
    #[error("it is {0} bytes long, more than stud reads")]
    TooLarge(u64),
    /// The operating system said no.
    #[error(transparent)]
    Io(io::Error),
}

/// Reads a regular file of at most `limit` bytes, and never blocks on anything else.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    // A pipe or a device would block when opened, so the kind is settled first.
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => ReadError::NotAFile("a dangling link"),
        io::ErrorKind::NotFound => ReadError::Missing,
        _ => ReadError::Io(error),
    })?;
    if let Some(what) = not_a_file(metadata.file_type()) {
        return Err(ReadError::NotAFile(what));
    }
    if metadata.len() > limit {
        return Err(ReadError::TooLarge(metadata.len()));
    }
    let file = File::open(path).map_err(ReadError::Io)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(ReadError::Io)?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLarge(bytes.len() as u64));
    }
    Ok(bytes)
}

fn not_a_file(file_type: std::fs::FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt as _;
    if file_type.is_file() {
        None
    } else if file_type.is_dir() {
        Some("a directory")
    } else if file_type.is_fifo() {
        Some("a pipe")
    } else if file_type.is_socket() {
        Some("a socket")
    } else {
        Some("a device")
    }
}

/// Whether a file must outlive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Handed to the operating system; enough for what can be made again.
    Written,
    /// On the disk before anyone is told.
    Synced,
}

/// Replaces a file atomically: a reader sees the old bytes or the new, never a part.
pub fn replace_file(
    path: &Path,
    bytes: &[u8],
    mode: u32,
    durability: Durability,
) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;

    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let (temporary, mut file) = temporary_beside(path, folder, |name| {
        File::options()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(name)
    })?;
    let written = (|| {
        file.write_all(bytes)?;
        if durability == Durability::Synced {
            file.sync_all()?;
        }
        std::fs::rename(&temporary, path)?;
        if durability == Durability::Synced {
            sync_names(folder)?;
        }
        Ok(())
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Returns once the names in a folder survive the loss of power. A file system that cannot promise that is used without.
fn sync_names(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// Makes a new file beside `path`, under a unique name.
///
/// A process that was killed may have left a file behind, and a later one may have its number.
fn temporary_beside(
    path: &Path,
    folder: &Path,
    create: impl Fn(&Path) -> io::Result<File>,
) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    loop {
        let unique = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary = folder.join(format!(".{name}.{}.{unique}.tmp", std::process::id()));
        match create(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Runs `work` while no other process that asks for the same lock does.
///
/// The lock is the operating system's, so it goes with the process that holds it, however that ends.
pub fn alone<T>(lock: &Path, work: impl FnOnce() -> T) -> io::Result<T> {
    if let Some(folder) = lock.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // Opening a pipe would wait for a reader, perhaps for ever.
    if std::fs::metadata(lock).is_ok_and(|found| !found.is_file()) {
        let why = format!("`{}` is not a file", lock.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(lock)?;
    file.lock()?;
    Ok(work())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_global_root_is_found_without_surprises() {
        let cwd = Path::new("/somewhere");
        let home = |stud: Option<&str>, home: Option<&str>| {
            let places = Places::new(stud.map(OsString::from), home.map(OsString::from), cwd);
            places.map(|places| places.global_root)
        };
        assert_eq!(home(Some("/s"), Some("/h")), Some("/s".into()));
        assert_eq!(home(Some("/s"), None), Some("/s".into()));
        assert_eq!(home(None, Some("/h")), Some("/h/.stud".into()));
        for relative in [".", "rel", "./rel", "../rel", "~", " /s"] {
            assert_eq!(home(Some(relative), Some("/h")), None, "{relative}");
            assert_eq!(home(None, Some(relative)), None, "{relative}");
        }
        assert_eq!(home(None, None), None);
    }

    #[test]
    fn times_are_written_in_utc() {
        let at = |seconds| rfc3339(SystemTime::UNIX_EPOCH + Duration::from_millis(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_827_696_789), "2000-02-29T12:34:56.789Z");
        assert_eq!(at(1_798_761_599_999), "2026-12-31T23:59:59.999Z");
        let early = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(rfc3339(early), "1970-01-01T00:00:00.000Z");
        let late = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
        assert!(
            rfc3339(late).starts_with("9999-12-"),
            "a clock that is far off is no panic"
        );
    }

    #[test]
    fn what_a_killed_process_left_behind_is_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for number in 0..2000 {
            let left = format!(".file.{}.{number}.tmp", std::process::id());
            std::fs::write(folder.path().join(left), "half").unwrap();
        }
        replace_file(&file, b"whole", 0o600, Durability::Written).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"whole");
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert!(matches!(
            read_file(&link, 10),
            Err(ReadError::NotAFile("a dangling link"))
        ));
        assert!(matches!(
            read_file(folder.path(), 10),
            Err(ReadError::NotAFile("a directory"))
        ));
        assert!(matches!(
            read_file(&folder.path().join("none"), 10),
            Err(ReadError::Missing)
        ));
        let file = folder.path().join("file");
        replace_file(&file, b"0123456789A", 0o600, Durability::Synced).unwrap();
        assert!(matches!(read_file(&file, 10), Err(ReadError::TooLarge(11))));
        assert_eq!(read_file(&file, 11).unwrap(), b"0123456789A");
    }
}
