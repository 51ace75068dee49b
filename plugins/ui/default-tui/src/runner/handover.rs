//! Giving the terminal to another program, or back to the shell, and taking it again.

use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpgid, getpid, getppid, getsid, kill_current_process_group};
use signal_hook::consts::SIGCONT;
use signal_hook::flag;

use super::{LAST_WORDS, Runner};
use crate::terminal::modes;
use crate::text::row::Look;

impl Runner {
    /// Gives the terminal back: the live area is gone, and every mode is off.
    pub(crate) fn leave(&mut self) {
        if std::mem::replace(&mut self.is_down, true) {
            return;
        }
        let mut last = self.printer.take_down();
        if std::mem::take(&mut self.keyboard_pushed) {
            last.push_str(modes::POP_KEYBOARD);
        }
        if self.app.options.title {
            last.push_str(modes::RESTORE_TITLE);
        }
        last.push_str(modes::LEAVE);
        self.device.write_all(last.as_bytes(), LAST_WORDS);
        self.device.give_back();
    }

    /// Takes the terminal again.
    pub(super) fn come_back(&mut self) -> io::Result<()> {
        self.is_down = false;
        self.title = String::new();
        self.device.resume()?;
        self.printer.forget();
        let size = self.device.size();
        self.app.size = size;
        self.printer.resized(usize::from(size.0));
        self.printer.forget();
        self.put(modes::ENTER)?;
        if self.app.options.title {
            self.put(modes::SAVE_TITLE)?;
        }
        self.put(modes::QUESTIONS)?;
        let now = Instant::now();
        self.owes_answers = Some(now);
        // What was typed meanwhile was meant for something else.
        self.app.came_back(now);
        self.last_frame = None;
        Ok(())
    }

    /// Stops the process group, and resumes when it is continued.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        if !has_job_control() {
            self.app.note(
                "nothing could continue stud here, so it was not stopped",
                Look::Warn,
            );
            return Ok(());
        }
        self.leave();
        let continued = Arc::new(AtomicBool::new(false));
        let registered = flag::register(SIGCONT, continued.clone())?;
        kill_current_process_group(Signal::STOP)?;
        // This thread may run for a moment before it is stopped. Time that it is stopped for does not count.
        for _ in 0..400 {
            if continued.load(Ordering::Acquire) {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        signal_hook::low_level::unregister(registered);
        self.come_back()
    }

    /// Lets the person's editor have the terminal and a text.
    pub(super) fn edit(&mut self, text: &str) -> io::Result<()> {
        let file = tempfile::Builder::new()
            .prefix("stud-")
            .suffix(".md")
            .tempfile();
        let written = file.and_then(|file| std::fs::write(file.path(), text).map(|()| file));
        let file = match written {
            Ok(file) => file,
            Err(error) => {
                self.app
                    .note(&format!("the editor has no file: {error}"), Look::Bad);
                return Ok(());
            }
        };
        self.leave();
        let edited = run_editor(&self.surroundings.editor, file.path());
        self.come_back()?;
        self.app.edited(edited);
        Ok(())
    }
}

/// The text after the editor has ended well, without its last line feed.
fn run_editor(editor: &str, path: &Path) -> Option<String> {
    let script = format!("{editor} \"$1\"");
    let status = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg("sh")
        .arg(path)
        .status();
    if !status.is_ok_and(|status| status.success()) {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// Whether something would continue this process if it were stopped.
fn has_job_control() -> bool {
    let (Ok(session), Ok(group)) = (getsid(None), getpgid(None)) else {
        return false;
    };
    let Some(parent) = getppid() else {
        return false;
    };
    let parent_group = getpgid(Some(parent));
    let parent_session = getsid(Some(parent));
    session != getpid()
        && parent_session.is_ok_and(|other| other == session)
        && parent_group.is_ok_and(|other| other != group)
}
