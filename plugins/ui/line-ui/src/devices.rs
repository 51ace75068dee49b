//! What this process reads from and writes to.

use std::io::{self, IsTerminal as _};

use crate::keyboard::Keyboard;
use crate::screen::Output;

/// Standard input, standard output and standard error, or what stands for them in a test.
pub(crate) struct Devices {
    pub(crate) keyboard: Keyboard,
    pub(crate) text: Output,
    pub(crate) notes: Output,
}

impl Devices {
    /// The devices to use.
    pub(crate) fn take() -> io::Result<Self> {
        #[cfg(test)]
        if let Some(devices) = crate::tests::rig::lent() {
            return Ok(devices);
        }
        Self::of_this_process()
    }

    fn of_this_process() -> io::Result<Self> {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        Ok(Self {
            keyboard: Keyboard::of_this_process()?,
            text: Output {
                is_terminal: stdout.is_terminal(),
                writer: Box::new(stdout),
            },
            notes: Output {
                is_terminal: stderr.is_terminal(),
                writer: Box::new(stderr),
            },
        })
    }
}
