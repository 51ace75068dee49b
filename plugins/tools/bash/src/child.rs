//! A shell and everything it starts, as one thing that can be stopped.

use std::io::Result;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};

/// Where a shell is on nearly every system. A fixed path needs no search, and cannot be overridden by another shell.
const SHELL: &str = "/bin/sh";

/// A shell in a process group of its own. Dropping it ends the group.
#[derive(Debug)]
pub(crate) struct Group {
    shell: Child,
    pid: Pid,
    is_reaped: bool,
}

impl Group {
    /// Starts a shell that runs one command line, with nothing to read.
    ///
    /// Nothing here runs between fork and exec, so that the standard library can use the fast way to start a process.
    pub(crate) fn start(line: &str, folder: &Path) -> Result<(Self, ChildStdout, ChildStderr)> {
        let mut shell = Command::new(SHELL)
            .arg("-c")
            .arg(line)
            .current_dir(folder)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pipes = shell.stdout.take().zip(shell.stderr.take());
        let pid = Pid::from_child(&shell);
        let group = Self {
            shell,
            pid,
            is_reaped: false,
        };
        let (stdout, stderr) = pipes.ok_or(std::io::ErrorKind::BrokenPipe)?;
        Ok((group, stdout, stderr))
    }

    /// Something that is readable once the shell has ended, where the system has it.
    #[cfg(target_os = "linux")]
    pub(crate) fn end(&self) -> Option<OwnedFd> {
        rustix::process::pidfd_open(self.pid, rustix::process::PidfdFlags::empty()).ok()
    }

    /// Something that is readable once the shell has ended, where the system has it.
    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "other systems have something to ask")]
    pub(crate) fn end(&self) -> Option<OwnedFd> {
        None
    }

    /// Whether the shell has ended. It stays a zombie, so that its process id, which is the group's, is not reused.
    pub(crate) fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.pid), look);
        status.as_ref().is_ok_and(Option::<WaitIdStatus>::is_some)
    }

    /// Ends everything in the group that has not ended by itself.
    pub(crate) fn kill(&self) {
        // It fails only when the group is gone.
        let _ = kill_process_group(self.pid, Signal::KILL);
    }

    /// The exit code of a shell that has ended or is about to; 128 and the signal for one that was killed.
    pub(crate) fn reap(mut self) -> Result<i32> {
        let status = self.shell.wait()?;
        self.is_reaped = true;
        Ok(exit_code(status))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.kill();
            // No other code reaps it, and a zombie would be left.
            let _ = self.shell.wait();
        }
    }
}

fn exit_code(status: ExitStatus) -> i32 {
    let by_signal = || 128 + status.signal().unwrap_or_default();
    status.code().unwrap_or_else(by_signal)
}
