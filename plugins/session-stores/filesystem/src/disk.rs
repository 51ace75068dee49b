//! Everything this plugin asks of a file system, so that tests can put one in its place that fails at every step.

mod real;

use std::ffi::OsString;
use std::io;
use std::path::Path;

pub(crate) use real::RealDisk;

/// A file system, as far as a session store needs one.
pub(crate) trait Disk: Send + Sync {
    /// Opens a file.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>>;

    /// Makes one folder; it may be there already.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Returns once the names in a folder survive the loss of power.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name, in place of whatever has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// The names in a folder.
    fn names(&self, dir: &Path) -> io::Result<Vec<OsString>>;

    /// Whether there is something of that name.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// What this process writes into a lock: its number on the first line, and where that number holds on the second.
    fn signature(&self) -> String {
        format!("{}\n", std::process::id())
    }

    /// Whether the process with this signature has ended, if that can be told from here.
    fn has_ended(&self, _signature: &str) -> bool {
        false
    }

    /// How many bytes of a journal may be written and not synced. What a loss of power can take is at the end of the
    /// file then, and that is all that has to be looked at when a journal is opened.
    fn unsynced_bytes(&self) -> u64 {
        512 * 1024
    }
}

/// An open file.
pub(crate) trait DiskFile: Send {
    /// How many bytes it has.
    fn len(&self) -> io::Result<u64>;

    /// Reads some bytes, none only at the end.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Writes some of the bytes, and says how many.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts it to that many bytes.
    fn truncate(&mut self, len: u64) -> io::Result<()>;

    /// Returns once the content survives the loss of power.
    fn sync(&mut self) -> io::Result<()>;

    /// Takes the lock of the file for as long as it is open, unless it is taken.
    fn try_lock(&self) -> io::Result<bool>;

    /// Gives the lock back, for every process that has it with this file.
    fn unlock(&self) -> io::Result<()>;

    /// Whether this is the file of that name.
    fn is_at(&self, path: &Path) -> io::Result<bool>;
}

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// To read what is there.
    Read,
    /// To read and write, made if it is missing.
    Update,
    /// To write from the start, whatever was there.
    Replace,
    /// To write what must not be there yet.
    New,
}

/// Makes a folder and those above it.
pub(crate) fn create_dirs(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    if disk.exists(path)? {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_dirs(disk, parent)?;
    }
    disk.create_dir(path)
}

/// Returns once a folder, the names in it and the way to it survive the loss of power.
///
/// All of it, because the process that created a part may have ended before that part was synced.
pub(crate) fn sync_way(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    for dir in path.ancestors() {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        match disk.sync_dir(dir) {
            // A process that cannot read a folder has created nothing in it.
            Err(error) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) => {}
            done => done?,
        }
    }
    Ok(())
}

/// The whole content of a file.
pub(crate) fn read(disk: &dyn Disk, path: &Path) -> io::Result<Vec<u8>> {
    let file = disk.open(path, Access::Read)?;
    read_range(&*file, 0, file.len()?)
}

/// The bytes from one offset to another, or fewer if the file ends before.
pub(crate) fn read_range(file: &dyn DiskFile, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let size = usize::try_from(to.saturating_sub(from)).map_err(io::Error::other)?;
    let mut bytes = vec![0; size];
    let mut filled = 0;
    while filled < size {
        match file.read_at(from + filled as u64, &mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Writes all of the bytes: in one call of the system, unless the system takes only some of them.
pub(crate) fn write_all(file: &mut dyn DiskFile, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let mut written = 0;
    while written < bytes.len() {
        match file.write_at(offset + written as u64, &bytes[written..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Puts new content in the place of a file's, all or nothing: written beside it, made safe, renamed.
///
/// The new name survives the loss of power once the folder has been synced.
pub(crate) fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".tmp");
    let beside = Path::new(&beside);
    let done = fill(disk, beside, bytes).and_then(|()| disk.rename(beside, path));
    if done.is_err() {
        // It is harmless and the next write replaces it, so a failure here changes nothing.
        let _ = disk.remove(beside);
    }
    done
}

fn fill(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = disk.open(path, Access::Replace)?;
    write_all(&mut *file, 0, bytes)?;
    file.sync()
}
