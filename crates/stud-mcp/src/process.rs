//! A server's process and everything it starts, as one thing that can be ended.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use secrecy::ExposeSecret as _;
use stud_core::mcp::{ConnectionError, Reach};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::bounded::{Bounded, LONGEST};

/// What a server is given of stud's environment besides what is configured. Nothing of it is a secret.
const INHERITED: [&str; 14] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// How long a server may take to end by itself once its input has ended.
const LEAVE: Duration = Duration::from_millis(500);

/// How many of its last words are kept.
const LAST_WORDS: usize = 5;

/// A server's process, in a group of its own. Dropping it ends the group.
pub(crate) struct Process {
    child: Child,
    group: Arc<Group>,
    said: Said,
    /// Listens to what it says beside the protocol, to the end.
    ear: Option<JoinHandle<()>>,
}

/// The group of a process.
struct Group {
    pid: Pid,
    /// Whether its number may be another one's by now.
    is_over: AtomicBool,
}

/// The last lines of a server's standard error.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<VecDeque<String>>>);

pub(crate) type Transport = AsyncRwTransport<RoleClient, Bounded<ChildStdout>, ChildStdin>;

/// The variables that a server gets from stud's own environment.
#[expect(
    clippy::disallowed_methods,
    reason = "they are passed on to a program, unread"
)]
fn inherited() -> impl Iterator<Item = (&'static str, OsString)> {
    let names = INHERITED.iter();
    names.filter_map(|name| Some((*name, std::env::var_os(name)?)))
}

impl Process {
    /// Starts it. This has to happen inside the runtime.
    pub(crate) fn start(reach: &Reach) -> Result<Self, ConnectionError> {
        let Reach::Process {
            command,
            args,
            env,
            cwd,
        } = reach
        else {
            return Err(ConnectionError::Lost("it is not a process".to_owned()));
        };
        let mut started = Command::new(command);
        started
            .args(args)
            .env_clear()
            .envs(inherited())
            .envs(
                env.iter()
                    .map(|(name, value)| (name, value.expose_secret())),
            )
            .current_dir(cwd)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = started.spawn().map_err(|error| {
            ConnectionError::Lost(format!("`{command}` cannot be started: {error}"))
        })?;
        let pid = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        let pid = pid.ok_or_else(|| ConnectionError::Lost("it ended at once".to_owned()))?;
        let said = Said::default();
        let stderr = child.stderr.take();
        let ear = stderr.map(|stderr| tokio::spawn(listen(stderr, said.clone())));
        Ok(Self {
            child,
            group: Arc::new(Group {
                pid,
                is_over: AtomicBool::new(false),
            }),
            said,
            ear,
        })
    }

    /// Its input and output, which can be had once.
    pub(crate) fn transport(&mut self) -> Result<Transport, ConnectionError> {
        let pipes = self.child.stdout.take().zip(self.child.stdin.take());
        let (stdout, stdin) =
            pipes.ok_or_else(|| ConnectionError::Lost("it has no pipes".to_owned()))?;
        let transport = AsyncRwTransport::new(Bounded::new(stdout, LONGEST), stdin);
        Ok(transport.with_max_line_length(usize::MAX))
    }

    /// A handle of the process: dropping it kills the process group immediately.
    pub(crate) fn leash(&self) -> Leash {
        Leash(Some(self.group.clone()))
    }

    /// Why it is gone, with what it said last.
    pub(crate) async fn explain(mut self, why: &str) -> String {
        let mut why = why.to_owned();
        if let Some(code) = self.end().await {
            why = format!("{why}; it ended with {code}");
        }
        // Its last words are still on the way, though not for long: the process is gone.
        if let Some(ear) = self.ear.take() {
            let _ = tokio::time::timeout(LEAVE, ear).await;
        }
        match self.said.last() {
            said if said.is_empty() => why,
            said => format!("{why}; it said: {said}"),
        }
    }

    /// Ends it and everything it has started. Gives how it ended, if it did so by itself.
    pub(crate) async fn end(&mut self) -> Option<String> {
        let by_itself = tokio::time::timeout(LEAVE, self.group.ended())
            .await
            .is_ok();
        // Before the process is reaped, because then its number, which is the group's, could be another one's.
        self.group.kill();
        self.group.is_over.store(true, Ordering::Relaxed);
        let status = self.child.wait().await.ok()?;
        by_itself.then(|| status.to_string())
    }
}

impl Group {
    /// Waits until the leader has ended. It stays a zombie.
    async fn ended(&self) {
        const LOOK: Duration = Duration::from_millis(10);
        loop {
            let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            match waitid(WaitId::Pid(self.pid), look) {
                Ok(None) => tokio::time::sleep(LOOK).await,
                Ok(Some(_)) | Err(_) => return,
            }
        }
    }

    fn kill(&self) {
        if !self.is_over.load(Ordering::Relaxed) {
            // It fails only when the group is gone.
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The runtime reaps a child that was dropped.
        self.group.kill();
        self.group.is_over.store(true, Ordering::Relaxed);
    }
}

/// See [`Process::leash`].
pub(crate) struct Leash(Option<Arc<Group>>);

impl Leash {
    /// Releases the process to its new owner.
    pub(crate) fn let_go(mut self) {
        self.0 = None;
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        if let Some(group) = &self.0 {
            group.kill();
        }
    }
}

/// Takes what a server says beside the protocol, so that it never blocks on an unread pipe.
async fn listen(stderr: ChildStderr, said: Said) {
    const LONGEST_LINE: u64 = 4 << 10;
    let mut lines = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut piece = (&mut lines).take(LONGEST_LINE);
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => said.add(&String::from_utf8_lossy(&line)),
        }
    }
}

impl Said {
    fn add(&self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(line.to_owned());
        if lines.len() > LAST_WORDS {
            lines.pop_front();
        }
    }

    fn last(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        lines.join(" / ")
    }
}
