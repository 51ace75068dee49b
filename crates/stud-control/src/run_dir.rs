//! Where sockets are, and who owns them.
//!
//! A process that runs a session listens at `control-PID.sock`, and `stud serve` at `control.sock`, all in one folder
//! that only its owner may enter. A socket that a killed process left behind is removed by the next one that starts; a
//! lock makes sure that none is removed while its process is just coming up.

use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use stud_core::platform;
use stud_diagnostics::{Diagnostic, codes};

/// Which of the sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketName {
    /// The one of `stud serve`, of which there is one for each state folder.
    Serve,
    /// The one of any other process.
    Process,
}

impl SocketName {
    fn file_name(self) -> String {
        match self {
            Self::Serve => "control.sock".to_owned(),
            Self::Process => format!("control-{}.sock", std::process::id()),
        }
    }
}

/// The folder of the sockets.
#[derive(Debug, Clone)]
pub struct RunDir(PathBuf);

/// A socket that is listened at. The file goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) listener: UnixListener,
    pub(crate) path: PathBuf,
    /// Held for as long as the socket is, where only one process may have it.
    _lock: Option<File>,
}

impl Drop for Bound {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl RunDir {
    /// The folder below a state folder.
    pub fn of(state_dir: &Path) -> Self {
        Self(state_dir.join("run"))
    }

    /// The socket of `stud serve`, whether there is one or not.
    pub fn serve_socket(&self) -> PathBuf {
        self.0.join(SocketName::Serve.file_name())
    }

    /// Every socket there is, that of `stud serve` first. Some may be stale.
    pub fn sockets(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| is_socket_name(name))
            .collect();
        // A dot sorts behind a dash, and `stud serve` goes first.
        names.sort_by_key(|name| (name != "control.sock", name.clone()));
        names.into_iter().map(|name| self.0.join(name)).collect()
    }

    /// Listens at a socket.
    ///
    /// `Session/ControlUnavailable` if that cannot be done.
    pub(crate) fn bind(&self, name: SocketName) -> Result<Bound, Diagnostic> {
        let path = self.0.join(name.file_name());
        let bound = private_folder(&self.0).and_then(|()| {
            platform::alone(&self.0.join("control.lock"), || {
                self.bind_alone(name, &path)
            })
        });
        bound.and_then(|bound| bound).map_err(|error| {
            let message = format!(
                "there is no control socket at `{}`: {error}",
                path.display()
            );
            let unavailable = Diagnostic::error(&codes::CONTROL_UNAVAILABLE, message);
            unavailable.with("path", path.display().to_string())
        })
    }

    fn bind_alone(&self, name: SocketName, path: &Path) -> io::Result<Bound> {
        let lock = match name {
            SocketName::Serve => Some(self.lock_for_good()?),
            SocketName::Process => None,
        };
        self.remove_stale();
        let listener = at(path, |path| UnixListener::bind(path))?;
        let bound = Bound {
            listener,
            path: path.to_owned(),
            _lock: lock,
        };
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        bound.listener.set_nonblocking(true)?;
        Ok(bound)
    }

    fn lock_for_good(&self) -> io::Result<File> {
        let mut options = File::options();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.0.join("serve.lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                let what = "another `stud serve` uses the folder; end it, or give this one another `--state-dir`";
                Err(io::Error::new(io::ErrorKind::AddrInUse, what))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Removes stale sockets.
    fn remove_stale(&self) {
        for path in self.sockets() {
            if is_stale(&path) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn is_socket_name(name: &str) -> bool {
    let pid = name
        .strip_prefix("control-")
        .and_then(|rest| rest.strip_suffix(".sock"));
    name == "control.sock"
        || pid.is_some_and(|pid| !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a socket is stale. The test must not block on a busy listener.
fn is_stale(path: &Path) -> bool {
    let kind = (
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::NONBLOCK | SocketFlags::CLOEXEC,
    );
    let Ok(socket) = socket_with(kind.0, kind.1, kind.2, None) else {
        return false;
    };
    let asked = at(path, |path| {
        let address = SocketAddrUnix::new(path)?;
        Ok(connect(&socket, &address))
    });
    matches!(asked, Ok(Err(Errno::CONNREFUSED)))
}

/// Connects to a socket.
pub(crate) fn connect_to(path: &Path) -> io::Result<UnixStream> {
    at(path, |path| UnixStream::connect(path))
}

/// Uses the path of a socket, also where it is longer than the system takes: then through a descriptor of its folder.
fn at<T>(path: &Path, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    /// The system takes 107 bytes on Linux and 103 elsewhere.
    const LONGEST: usize = 100;
    if path.as_os_str().len() <= LONGEST {
        return work(path);
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return work(path);
    };
    let folder = File::open(folder)?;
    work(
        &Path::new("/proc/self/fd")
            .join(folder.as_raw_fd().to_string())
            .join(name),
    )
}

/// Makes a folder that only its owner may enter, with those above it.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let metadata = fs::metadata(path)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        let what = "its folder belongs to another user";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}
