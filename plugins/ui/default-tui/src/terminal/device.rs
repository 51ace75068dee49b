//! The terminal of this process: taken over, and given back as it was.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, dup, retry_on_intr};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::stdio::{dup2_stderr, dup2_stdout};
use rustix::termios::{
    OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr, ttyname,
};

/// The terminal while the screen has it.
///
/// Keys are bytes without echo, and what else in this process writes to standard output or standard error comes
/// out of a pipe instead of appearing between rows.
#[derive(Debug)]
pub(crate) struct Device {
    input: OwnedFd,
    output: OwnedFd,
    before: Termios,
    diverted: Option<Diverted>,
    /// What is still to be written.
    backlog: Vec<u8>,
}

/// The streams of this process while they lead into a pipe.
#[derive(Debug)]
struct Diverted {
    stdout: OwnedFd,
    stderr: Option<OwnedFd>,
    said: OwnedFd,
}

/// What there is to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is the readiness of a descriptor of its own"
)]
pub(crate) struct Ready {
    pub(crate) input: bool,
    pub(crate) woken: bool,
    pub(crate) said: bool,
    /// The other end of the terminal is gone.
    pub(crate) gone: bool,
}

impl Device {
    /// Takes the terminal at standard input and output.
    pub(crate) fn take() -> io::Result<Self> {
        let (stdin, stdout) = (io::stdin(), io::stdout());
        let input = dup(&stdin)?;
        let before = tcgetattr(&input)?;
        let output = own_description(stdout.as_fd()).or_else(|_| dup(&stdout))?;
        let mut device = Self {
            input,
            output,
            before,
            diverted: None,
            backlog: Vec::new(),
        };
        device.resume()?;
        Ok(device)
    }

    /// Takes the terminal again after it was given back.
    pub(crate) fn resume(&mut self) -> io::Result<()> {
        let mut raw = self.before.clone();
        raw.make_raw();
        tcsetattr(&self.input, OptionalActions::Now, &raw)?;
        if self.diverted.is_none() {
            self.diverted = divert().ok();
        }
        Ok(())
    }

    /// Gives the terminal back as it was. May be called twice.
    pub(crate) fn give_back(&mut self) {
        if let Some(diverted) = self.diverted.take() {
            diverted.end();
        }
        // A terminal that has gone away needs no restoring.
        let _ = tcsetattr(&self.input, OptionalActions::Now, &self.before);
    }

    /// Columns and rows, as the kernel knows them.
    pub(crate) fn size(&self) -> (u16, u16) {
        match tcgetwinsize(&self.output) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
            _ => (80, 24),
        }
    }

    /// Waits for something to do, at most so long.
    pub(crate) fn wait(
        &self,
        wake: BorrowedFd<'_>,
        timeout: Option<Duration>,
    ) -> io::Result<Ready> {
        let output = if self.backlog.is_empty() {
            PollFlags::empty()
        } else {
            PollFlags::OUT
        };
        let said = self.diverted.as_ref().map(|diverted| &diverted.said);
        let mut watched = vec![
            PollFd::new(&self.input, PollFlags::IN),
            PollFd::from_borrowed_fd(wake, PollFlags::IN),
            PollFd::new(&self.output, output),
        ];
        watched.extend(said.map(|said| PollFd::new(said, PollFlags::IN)));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match poll(&mut watched, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let has = |at: usize, flags| {
            watched
                .get(at)
                .is_some_and(|fd| fd.revents().intersects(flags))
        };
        let ended = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        Ok(Ready {
            input: has(0, PollFlags::IN),
            woken: has(1, PollFlags::IN),
            said: has(3, PollFlags::IN),
            gone: (has(0, ended) && !has(0, PollFlags::IN)) || has(2, ended),
        })
    }

    /// Takes what was typed. Nothing at the end of the terminal.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        Ok(retry_on_intr(|| rustix::io::read(&self.input, &mut *into))?)
    }

    /// Takes what something else in this process has written.
    pub(crate) fn overheard(&self) -> Vec<u8> {
        let mut bytes = vec![0; 64 << 10];
        let said = self.diverted.as_ref().map(|diverted| &diverted.said);
        let count = said.and_then(|said| rustix::io::read(said, &mut bytes).ok());
        bytes.truncate(count.unwrap_or(0));
        bytes
    }

    /// Whether everything was taken by the terminal.
    pub(crate) fn is_drained(&self) -> bool {
        self.backlog.is_empty()
    }

    /// Writes as much as the terminal takes now, and keeps the rest.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.backlog.extend_from_slice(bytes);
        while !self.backlog.is_empty() {
            match retry_on_intr(|| rustix::io::write(&self.output, &self.backlog)) {
                Ok(taken) => {
                    self.backlog.drain(..taken);
                }
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Writes everything, unless the terminal takes nothing for too long.
    pub(crate) fn write_all(&mut self, bytes: &[u8], patience: Duration) {
        let until = std::time::Instant::now() + patience;
        let mut result = self.write(bytes);
        while result.is_ok() && !self.backlog.is_empty() {
            let left = until.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return;
            }
            let mut watched = [PollFd::new(&self.output, PollFlags::OUT)];
            let _ = poll(&mut watched, Timespec::try_from(left).ok().as_ref());
            result = self.write(b"");
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl Diverted {
    fn end(self) {
        // Both were good a moment ago, and there is nothing to be done if they are not now.
        let _ = dup2_stdout(&self.stdout);
        if let Some(stderr) = &self.stderr {
            let _ = dup2_stderr(stderr);
        }
    }
}

/// Lets standard output, and standard error where it is a terminal too, lead into a pipe.
fn divert() -> io::Result<Diverted> {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let (said, mouth) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let kept = dup(&stdout)?;
    let diverted = Diverted {
        stdout: kept,
        stderr: if isatty(&stderr) {
            Some(dup(&stderr)?)
        } else {
            None
        },
        said,
    };
    dup2_stdout(&mouth)?;
    if diverted.stderr.is_some() {
        dup2_stderr(&mouth)?;
    }
    Ok(diverted)
}

/// The same terminal, opened anew: so that its non-blocking mode does not affect other users of the file.
fn own_description(terminal: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let name = ttyname(terminal, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(open(name, flags, Mode::empty())?)
}

/// A pipe that wakes a thread waiting for the terminal.
pub(crate) fn wake_pipe() -> io::Result<(File, File)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    Ok((File::from(reader), File::from(writer)))
}
