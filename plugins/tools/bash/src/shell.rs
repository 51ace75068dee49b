//! Running one command line: its output, its exit code, and what ends it early.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::{ChildStderr, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use stud_sdk::CancellationToken;

use crate::capture::{Captured, More};
use crate::child::Group;
use crate::stop::Stop;

/// How long what a shell has left running may still print before it is ended.
///
/// Who wants to leave something running gives it another place to print to.
const GRACE: Duration = Duration::from_millis(500);

/// How often to look whether the shell has ended, on systems that do not tell.
const GLANCE: Duration = Duration::from_millis(10);

/// What became of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    pub(crate) end: End,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with this code.
    Exited(i32),
    /// Its time was over.
    TimedOut,
    /// It was cancelled.
    CalledOff,
}

/// Limits of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) time: Duration,
    pub(crate) bytes_per_stream: usize,
}

/// Runs a command line to its end, or to that of its time.
///
/// It holds the thread it is called on, and needs no other: both pipes, the end of the shell and the cancellation are
/// waited for in one place.
pub(crate) fn run(
    line: &str,
    folder: &Path,
    limits: Limits,
    token: &CancellationToken,
) -> io::Result<Ran> {
    supervise(line, folder, limits, token, Group::end)
}

/// The same, where `end_of` says how the end of the shell is told.
fn supervise(
    line: &str,
    folder: &Path,
    limits: Limits,
    token: &CancellationToken,
    end_of: impl FnOnce(&Group) -> Option<OwnedFd>,
) -> io::Result<Ran> {
    // A time beyond what a clock can count is no limit.
    let deadline = Instant::now().checked_add(limits.time);
    let stop = Stop::watch(token)?;
    let (group, stdout, stderr) = Group::start(line, folder)?;
    let mut watch = Watch {
        exit: end_of(&group),
        group,
        stop,
        stdout: Stream::new(stdout, limits.bytes_per_stream),
        stderr: Stream::new(stderr, limits.bytes_per_stream),
        shell_ended: None,
    };
    let cut_short = watch.until_over(deadline)?;
    watch.finish(cut_short)
}

/// A pipe, for as long as it has a writer, and its contents.
struct Stream<P> {
    pipe: Option<P>,
    captured: Captured,
}

/// Everything a running command is waited for by.
struct Watch {
    group: Group,
    exit: Option<OwnedFd>,
    stop: Stop,
    stdout: Stream<ChildStdout>,
    stderr: Stream<ChildStderr>,
    shell_ended: Option<Instant>,
}

impl Watch {
    /// Waits until the shell has ended and its pipes are closed, or returns the event that came first.
    fn until_over(&mut self, deadline: Option<Instant>) -> io::Result<Option<End>> {
        loop {
            let is_drained = self.stdout.pipe.is_none() && self.stderr.pipe.is_none();
            if self.shell_ended.is_some() && is_drained {
                return Ok(None);
            }
            let until = earliest(deadline, self.shell_ended.map(|ended| ended + GRACE));
            let [stdout, stderr, exit, stop] = self.wait(until)?;
            if stop {
                return Ok(Some(End::CalledOff));
            }
            self.stdout.take(stdout)?;
            self.stderr.take(stderr)?;
            let now = Instant::now();
            if self.shell_ended.is_none() {
                let has_ended = exit || (self.exit.is_none() && self.group.has_ended());
                self.shell_ended = has_ended.then_some(now);
            }
            if until.is_some_and(|until| now >= until) {
                // A shell that made it in time has its result, whatever it has left running.
                return Ok(self.shell_ended.is_none().then_some(End::TimedOut));
            }
        }
    }

    /// Waits for the next thing to happen: on standard output, on standard error, to the shell, to the call.
    fn wait(&self, until: Option<Instant>) -> io::Result<[bool; 4]> {
        let exit = self.exit.as_ref().filter(|_| self.shell_ended.is_none());
        let until = match exit {
            None if self.shell_ended.is_none() => earliest(until, Some(Instant::now() + GLANCE)),
            _ => until,
        };
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let fds = [
            self.stdout.pipe.as_ref().map(|pipe| pipe.as_fd()),
            self.stderr.pipe.as_ref().map(|pipe| pipe.as_fd()),
            exit.map(|exit| exit.as_fd()),
            Some(self.stop.as_fd()),
        ];
        let stop = self.stop.as_fd();
        // A process that is gone is replaced by a valid descriptor, without effect.
        let mut polled = fds.map(|fd| match fd {
            Some(fd) => PollFd::from_borrowed_fd(fd, PollFlags::IN),
            None => PollFd::from_borrowed_fd(stop, PollFlags::empty()),
        });
        match poll(&mut polled, left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(polled.map(|fd| !fd.revents().is_empty()))
    }

    /// Ends what is still there, and says how it went.
    fn finish(mut self, cut_short: Option<End>) -> io::Result<Ran> {
        let is_drained = self.stdout.pipe.is_none() && self.stderr.pipe.is_none();
        if cut_short.is_some() || !is_drained {
            self.group.kill();
            // What was printed before that is in the pipes.
            let [stdout, stderr, ..] = self.wait(Some(Instant::now()))?;
            self.stdout.take(stdout)?;
            self.stderr.take(stderr)?;
        }
        let code = self.group.reap()?;
        Ok(Ran {
            stdout: self.stdout.captured,
            stderr: self.stderr.captured,
            end: cut_short.unwrap_or(End::Exited(code)),
        })
    }
}

impl<P: std::os::fd::AsFd> Stream<P> {
    const fn new(pipe: P, limit: usize) -> Self {
        Self {
            pipe: Some(pipe),
            captured: Captured::new(limit),
        }
    }

    /// Takes what is there, if the pipe is said to have something or to be at its end.
    fn take(&mut self, is_ready: bool) -> io::Result<()> {
        if let (true, Some(pipe)) = (is_ready, &self.pipe)
            && self.captured.take(pipe)? == More::Never
        {
            self.pipe = None;
        }
        Ok(())
    }
}

fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As on a system that does not tell when a shell has ended.
    fn untold(line: &str, millis: u64) -> Ran {
        let limits = Limits {
            time: Duration::from_millis(millis),
            bytes_per_stream: 1000,
        };
        let folder = tempfile::tempdir().unwrap();
        let token = CancellationToken::never();
        supervise(line, folder.path(), limits, &token, |_| None).unwrap()
    }

    #[test]
    fn the_end_of_the_shell_is_noticed_where_nobody_tells() {
        let ran = untold("echo done; exit 3", 600_000);
        assert_eq!(ran.end, End::Exited(3));
        assert_eq!(ran.stdout.into_text(), "done\n");
        assert_eq!(untold("exec >&- 2>&-; exit 4", 600_000).end, End::Exited(4));
        assert_eq!(untold("sleep 1000 & exit 5", 600_000).end, End::Exited(5));
        assert_eq!(untold("sleep 1000", 50).end, End::TimedOut);
    }
}
