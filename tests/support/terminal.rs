//! The program at a terminal, here a pseudo-terminal: what a person types, and what they see.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

use crate::wait::eventually;
use crate::world::fail;

/// A program that runs at a terminal of its own.
#[derive(Debug)]
pub struct Terminal {
    person: File,
    child: Child,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Starts a program with all three of its streams at a new terminal.
    pub fn start(command: &mut Command) -> Self {
        let (person, screen) = pair();
        let end = || {
            let end = screen.try_clone();
            Stdio::from(end.unwrap_or_else(|error| fail(&error.to_string())))
        };
        // Which screen has the terminal is for the test to say.
        if !command.get_envs().any(|(name, _)| name == "TERM") {
            command.env("TERM", "dumb");
        }
        let spawned = command.stdin(end()).stdout(end()).stderr(end()).spawn();
        let child = spawned.unwrap_or_else(|error| fail(&error.to_string()));
        // The terminal ends with the program, so no other descriptor may stay open.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
        let mut reader = person
            .try_clone()
            .unwrap_or_else(|error| fail(&error.to_string()));
        let paper = seen.clone();
        drop(screen);
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut chunk) {
                let mut paper = paper.lock().unwrap_or_else(PoisonError::into_inner);
                paper.extend_from_slice(&chunk[..count]);
            }
        });
        Self {
            person,
            child,
            seen,
            reader: Some(reader),
        }
    }

    /// The process id of the program.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or(-1)
    }

    /// Types keys, one after the other.
    pub fn types(&self, keys: &str) {
        let typed = (&self.person).write_all(keys.as_bytes());
        typed.unwrap_or_else(|error| fail(&error.to_string()));
    }

    /// Waits until this is on the screen, and then types.
    pub fn answers(&self, question: &str, keys: &str) {
        self.sees(question);
        self.types(keys);
    }

    /// Waits until this is on the screen.
    pub fn sees(&self, text: &str) {
        eventually(&format!("`{text}` in {:?}", self.so_far()), || {
            self.so_far().contains(text).then_some(())
        });
    }

    /// Everything that was on the screen so far, what was typed and shown included.
    pub fn so_far(&self) -> String {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&seen).into_owned()
    }

    /// Whether the terminal shows what is typed.
    pub fn shows_keys(&self) -> bool {
        let modes = tcgetattr(&self.person);
        modes.is_ok_and(|modes| modes.local_modes.contains(LocalModes::ECHO))
    }

    /// Waits for the end of the program: its status, and everything that was on the screen.
    pub fn end(mut self) -> (i32, String) {
        let status = eventually("the end of the program", || {
            self.child.try_wait().ok().flatten()
        });
        // Once the other end is closed, reading ends with what was written before.
        if let Some(reader) = self.reader.take() {
            eventually("the rest of the screen", || {
                reader.is_finished().then_some(())
            });
        }
        (status.code().unwrap_or(-1), self.so_far())
    }
}

impl Drop for Terminal {
    #[expect(
        clippy::print_stdout,
        reason = "the test runner shows it if the test fails"
    )]
    fn drop(&mut self) {
        // A failing test leaves no process behind, and shows the output.
        let _ = self.child.kill();
        let _ = self.child.wait();
        println!("{}", self.so_far());
    }
}

/// Both ends of a terminal: a person's and a program's.
fn pair() -> (File, OwnedFd) {
    let made = (|| {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&person)?;
        unlockpt(&person)?;
        let name = ptsname(&person, Vec::new())?;
        let screen = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())?;
        Ok::<_, rustix::io::Errno>((File::from(person), screen))
    })();
    made.unwrap_or_else(|error| fail(&error.to_string()))
}
