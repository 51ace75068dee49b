//! The program with pipes for a terminal: what is typed, and what it says.

use std::io::{Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use stud_tests::eventually;

/// A program that runs.
pub(crate) struct Talk {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Paper,
    stderr: Paper,
}

impl Talk {
    pub(crate) fn begin(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: Paper::take(child.stdout.take().unwrap()),
            stderr: Paper::take(child.stderr.take().unwrap()),
            child,
        }
    }

    /// Types a line.
    pub(crate) fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Waits until it has said this on standard output.
    pub(crate) fn hears(&self, text: &str) {
        self.stdout.wait_for(text);
    }

    /// Waits until it has asked or noted this on standard error.
    pub(crate) fn is_asked(&self, text: &str) {
        self.stderr.wait_for(text);
    }

    /// Waits until it has asked or noted this so many times.
    pub(crate) fn is_asked_times(&self, text: &str, times: usize) {
        eventually(&format!("`{text}` {times} times"), || {
            let asked = self.stderr.so_far().matches(text).count();
            (asked == times).then_some(())
        });
    }

    /// Types a line until this is noted: a prompt that is about to be closed may take it, and says that it was not sent.
    pub(crate) fn says_until(&mut self, line: &str, text: &str) {
        eventually(&format!("`{text}`"), || {
            self.say(line);
            std::thread::sleep(std::time::Duration::from_millis(300));
            self.stderr.so_far().contains(text).then_some(())
        });
    }

    /// Says no more, and waits for the end: the status, and everything it said on both.
    pub(crate) fn end(mut self) -> (i32, String, String) {
        drop(self.stdin.take());
        let status = self.child.wait().unwrap();
        (
            status.code().unwrap_or(-1),
            self.stdout.whole(),
            self.stderr.whole(),
        )
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // A failing test leaves no process behind, and shows the output.
        let _ = self.child.kill();
        let _ = self.child.wait();
        println!("{}\n{}", self.stdout.so_far(), self.stderr.so_far());
    }
}

/// What comes out of one pipe.
struct Paper {
    text: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Paper {
    fn take(mut pipe: impl Read + Send + 'static) -> Self {
        let text: Arc<Mutex<Vec<u8>>> = Arc::default();
        let paper = text.clone();
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                paper.lock().unwrap().extend_from_slice(&chunk[..count]);
            }
        });
        Self {
            text,
            reader: Some(reader),
        }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }

    fn wait_for(&self, text: &str) {
        eventually(&format!("`{text}`"), || {
            self.so_far().contains(text).then_some(())
        });
    }

    fn whole(&mut self) -> String {
        self.reader.take().unwrap().join().unwrap();
        self.so_far()
    }
}
