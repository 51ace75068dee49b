//! The file system of the machine.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::{Access, Disk, DiskFile};

/// The file system of the machine. What it makes is for the user alone: sessions are private.
#[derive(Debug)]
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        match access {
            Access::Read => options.read(true),
            Access::Update => options.read(true).write(true).create(true),
            Access::Replace => options.write(true).create(true).truncate(true),
            Access::New => options.write(true).create_new(true),
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            // Opening a pipe would wait for its other end, and opening a device may do anything.
            only_files(path)?;
            options.mode(0o600).custom_flags(NEVER_WAITS);
        }
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(not_a_file());
        }
        Ok(Box::new(file))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        // With `recursive` a folder created by another process is not an error.
        builder.recursive(true).create(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // Other systems cannot open a folder, and make names safe by themselves; so do file systems that refuse this.
        if !cfg!(unix) {
            return Ok(());
        }
        match File::open(path)?.sync_all() {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::InvalidInput | ErrorKind::Unsupported
                ) =>
            {
                Ok(())
            }
            done => done,
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn names(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(dir)?
            .map(|entry| Ok(entry?.file_name()))
            .collect()
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn signature(&self) -> String {
        format!("{}\n{}\n", std::process::id(), numbering())
    }

    fn has_ended(&self, signature: &str) -> bool {
        let mut lines = signature.lines();
        let pid = lines.next().and_then(|pid| pid.parse().ok());
        let pid = pid.and_then(rustix::process::Pid::from_raw);
        let here = numbering();
        // The number of a process elsewhere says nothing here.
        if here.is_empty() || lines.next() != Some(&here) {
            return false;
        }
        pid.is_some_and(|pid| {
            let asked = rustix::process::test_kill_process(pid);
            matches!(asked, Err(rustix::io::Errno::SRCH))
        })
    }
}

impl DiskFile for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        file.read(into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.seek(SeekFrom::Start(offset))?;
        self.write(bytes)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn try_lock(&self) -> io::Result<bool> {
        match File::try_lock(self) {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        File::unlock(self)
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt as _;
        let (open, named) = (self.metadata()?, fs::metadata(path)?);
        Ok((open.dev(), open.ino()) == (named.dev(), named.ino()))
    }
}

/// Where the numbers of processes mean what they mean here: this run of this machine, and this container. Empty where
/// the system does not say.
fn numbering() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let container = fs::read_link("/proc/self/ns/pid");
    match (boot, container) {
        (Ok(boot), Ok(container)) => format!("{} {}", boot.trim(), container.display()),
        _ => String::new(),
    }
}

/// Flags with which opening never waits, whatever was put in the place of a file meanwhile.
#[cfg(unix)]
const NEVER_WAITS: i32 = rustix::fs::OFlags::NONBLOCK
    .union(rustix::fs::OFlags::NOCTTY)
    .bits()
    .cast_signed();

/// Passes if there is a file, or nothing.
#[cfg(unix)]
fn only_files(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(not_a_file()),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn not_a_file() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is not a file")
}
