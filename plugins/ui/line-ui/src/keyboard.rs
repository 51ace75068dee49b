//! Where lines come from: a pipe, a file or a terminal.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, retry_on_intr};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, isatty, tcflush, tcgetattr, tcsetattr,
};

/// The input, read byte by byte as it arrives.
///
/// The standard library's handle is not used, since it keeps what it has read ahead to itself, and this plugin has to
/// know what came before a prompt was shown.
#[derive(Debug)]
pub(crate) struct Keyboard {
    input: OwnedFd,
    is_terminal: bool,
}

impl Keyboard {
    pub(crate) fn new(input: OwnedFd) -> Self {
        let is_terminal = isatty(&input);
        Self { input, is_terminal }
    }

    pub(crate) fn of_this_process() -> io::Result<Self> {
        Ok(Self::new(io::stdin().as_fd().try_clone_to_owned()?))
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Waits until there is something to read or the input is at its end; false once the other end of `hang_up` is
    /// closed.
    ///
    /// Nothing is consumed from the input, so a later reader misses nothing.
    pub(crate) fn wait(&self, hang_up: &PipeReader) -> bool {
        let mut watched = [
            PollFd::new(hang_up, PollFlags::IN),
            PollFd::new(&self.input, PollFlags::IN),
        ];
        retry_on_intr(|| poll(&mut watched, None)).is_ok() && watched[0].revents().is_empty()
    }

    /// Whether a read would return at once: with bytes, with the end, or with an error.
    pub(crate) fn has_input(&self) -> bool {
        let mut watched = [PollFd::new(&self.input, PollFlags::IN)];
        let at_once = Timespec::default();
        retry_on_intr(|| poll(&mut watched, Some(&at_once))).is_ok_and(|ready| ready > 0)
    }

    /// Takes what is there; none is the end of the input, and an interrupted read is tried again.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        Ok(retry_on_intr(|| read(&self.input, &mut *into))?)
    }

    /// Throws away what was typed and not read yet, a half-typed line included. Only a terminal can do that.
    pub(crate) fn discard(&self) {
        if self.is_terminal {
            // A terminal that has gone away has nothing left to throw away.
            let _ = tcflush(&self.input, QueueSelector::IFlush);
        }
    }

    /// Stops showing what is typed, until the guard is dropped.
    pub(crate) fn hide(self: &Arc<Self>) -> io::Result<Hidden> {
        if !self.is_terminal {
            return Err(Errno::NOTTY.into());
        }
        let before = tcgetattr(&self.input)?;
        let mut quiet = before.clone();
        quiet.local_modes -= LocalModes::ECHO | LocalModes::ECHONL;
        tcsetattr(&self.input, OptionalActions::Now, &quiet)?;
        Ok(Hidden {
            keyboard: self.clone(),
            before,
        })
    }
}

/// A terminal that does not show what is typed. Dropped, it is as it was before.
#[derive(Debug)]
pub(crate) struct Hidden {
    keyboard: Arc<Keyboard>,
    before: Termios,
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that has gone away needs no restoring.
        let _ = tcsetattr(&self.keyboard.input, OptionalActions::Now, &self.before);
    }
}
