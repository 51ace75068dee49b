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
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Box::new(options.open(path)?))
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
}
