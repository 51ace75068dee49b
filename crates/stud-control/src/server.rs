//! The socket and its connections: one line in, one line out, and the end.
//!
//! One thread accepts connections and reads from all of them, so that a connection costs no more than what it has sent.
//! A complete line is answered on a thread of its own, of which there are only so many at a time.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use stud_core::executor::spawn;
use stud_diagnostics::{Diagnostic, codes};
use stud_runtime::clock::Stopwatch;

use crate::attach;
use crate::envelope::Refused;
use crate::receiver::{Answer, Receiver};
use crate::run_dir::{Bound, RunDir, SocketName, private_folder};

/// How long a connection may take to send its line.
const LINE_WITHIN: Duration = Duration::from_secs(10);

/// How long a reply may take to be written.
const WRITTEN_WITHIN: Duration = Duration::from_secs(5);

/// How many lines are answered at a time.
const WORKERS: usize = 32;

/// The most bytes that all connections together may have sent without ending their lines.
const LARGEST_BACKLOG: usize = 64 << 20;

/// The shortest cap of a line: whatever the limits are, a text that is only somewhat too large gets an answer.
const SHORTEST_CAP: usize = 8 << 20;

/// A control socket that is listened at. It ends when this is dropped.
#[derive(Debug)]
pub struct ControlServer {
    bound: Arc<Bound>,
    shared: Arc<Shared>,
    wake: UnixStream,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    is_over: AtomicBool,
    /// How many lines are being answered.
    busy: AtomicUsize,
}

impl ControlServer {
    /// Listens at a socket of the folder, and answers what comes with `receiver`.
    ///
    /// `Session/ControlUnavailable` if that cannot be done.
    pub fn start(
        receiver: Receiver,
        run_dir: &RunDir,
        name: SocketName,
    ) -> Result<Self, Diagnostic> {
        let bound = Arc::new(run_dir.bind(name)?);
        // Without the folder no reference is beneath it; nothing else depends on it.
        let _ = private_folder(&receiver.policy().content_ref_base);
        let started = (|| {
            let (wake, woken) = UnixStream::pair()?;
            wake.set_nonblocking(true)?;
            woken.set_nonblocking(true)?;
            let shared = Arc::<Shared>::default();
            let listening = Listening {
                cap: cap(receiver.policy().hard_limit),
                receiver,
                bound: bound.clone(),
                shared: shared.clone(),
                wake: Arc::new(wake.try_clone()?),
                woken,
                most: most_connections(),
                connections: Vec::new(),
                ready: VecDeque::new(),
            };
            let thread = thread::Builder::new().name("stud-control".to_owned());
            let thread = thread.spawn(move || listening.run())?;
            Ok((shared, wake, thread))
        })();
        let (shared, wake, thread) = started.map_err(|error: io::Error| {
            let message = format!("the control socket cannot be listened at: {error}");
            Diagnostic::error(&codes::CONTROL_UNAVAILABLE, message)
        })?;
        Ok(Self {
            bound,
            shared,
            wake,
            thread: Some(thread),
        })
    }

    /// Where the socket is.
    pub fn path(&self) -> &Path {
        &self.bound.path
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        let _ = self.wake.write(&[0]);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A text as large as the limit may be six times as long in JSON.
fn cap(hard_limit: usize) -> usize {
    hard_limit
        .saturating_mul(6)
        .saturating_add(64 << 10)
        .max(SHORTEST_CAP)
}

/// The session needs descriptors too.
fn most_connections() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let limit = limit.current.unwrap_or(4096);
    usize::try_from(limit / 2)
        .unwrap_or(usize::MAX)
        .clamp(32, 2048)
}

/// A connection whose line has not ended.
struct Connection {
    stream: UnixStream,
    sent: Vec<u8>,
    since: Stopwatch,
}

/// What came of reading from a connection.
enum Heard {
    /// Its line continues.
    Part,
    /// Its line ended, or the sender will send no more.
    Line,
    TooLong,
    Gone,
}

impl Connection {
    fn read(&mut self, cap: usize) -> Heard {
        let mut chunk = [0; 16 << 10];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) if self.sent.is_empty() => return Heard::Gone,
                Ok(0) => return Heard::Line,
                Ok(length) => {
                    let chunk = &chunk[..length];
                    if let Some(end) = chunk.iter().position(|byte| *byte == b'\n') {
                        self.sent.extend_from_slice(&chunk[..end]);
                        return Heard::Line;
                    }
                    self.sent.extend_from_slice(chunk);
                    if self.sent.len() > cap {
                        return Heard::TooLong;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Heard::Part,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Heard::Gone,
            }
        }
    }
}

/// What is answered on a thread of its own.
enum Task {
    Line(UnixStream, Vec<u8>),
    Refuse(UnixStream, &'static str),
}

struct Listening {
    receiver: Receiver,
    bound: Arc<Bound>,
    shared: Arc<Shared>,
    wake: Arc<UnixStream>,
    woken: UnixStream,
    cap: usize,
    most: usize,
    /// Oldest first.
    connections: Vec<Connection>,
    ready: VecDeque<Task>,
}

impl Listening {
    fn run(mut self) {
        while !self.shared.is_over.load(Ordering::Acquire) {
            self.hand_out();
            let Some((accepts, readable)) = self.wait() else {
                continue;
            };
            self.drain_wakes();
            self.read(&readable);
            self.end_late();
            if accepts {
                self.accept();
            }
            self.make_room();
        }
    }

    /// Waits for a new connection, or for data on an open one.
    fn wait(&self) -> Option<(bool, Vec<bool>)> {
        let mut polled = Vec::with_capacity(self.connections.len() + 2);
        polled.push(PollFd::new(&self.bound.listener, PollFlags::IN));
        polled.push(PollFd::new(&self.woken, PollFlags::IN));
        for connection in &self.connections {
            polled.push(PollFd::new(&connection.stream, PollFlags::IN));
        }
        let timeout = self.connections.first().map(|oldest| {
            let left = LINE_WITHIN.saturating_sub(oldest.since.elapsed());
            // A moment more, so that it is over when this wakes.
            let left = left.saturating_add(Duration::from_millis(1));
            Timespec::try_from(left).unwrap_or(Timespec {
                tv_sec: 1,
                tv_nsec: 0,
            })
        });
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return None,
            Err(_) => {
                thread::sleep(Duration::from_millis(100));
                return None;
            }
        }
        let mut ready = polled.iter().map(|polled| !polled.revents().is_empty());
        let accepts = ready.next().unwrap_or(false);
        Some((accepts, ready.skip(1).collect()))
    }

    fn drain_wakes(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.woken.read(&mut bytes), Ok(length) if length > 0) {}
    }

    fn read(&mut self, readable: &[bool]) {
        let mut readable = readable.iter();
        let mut waiting = Vec::with_capacity(self.connections.len());
        for mut connection in std::mem::take(&mut self.connections) {
            let heard = match readable.next() {
                Some(true) => connection.read(self.cap),
                _ => Heard::Part,
            };
            let Connection {
                stream,
                sent,
                since,
            } = connection;
            match heard {
                Heard::Part => waiting.push(Connection {
                    stream,
                    sent,
                    since,
                }),
                Heard::Line => self.ready.push_back(Task::Line(stream, sent)),
                Heard::TooLong => self
                    .ready
                    .push_back(Task::Refuse(stream, "the line is too long")),
                Heard::Gone => {}
            }
        }
        self.connections = waiting;
    }

    fn end_late(&mut self) {
        let late = self
            .connections
            .iter()
            .take_while(|connection| connection.since.elapsed() > LINE_WITHIN);
        let late = late.count();
        for connection in self.connections.drain(..late) {
            self.ready.push_back(Task::Refuse(
                connection.stream,
                "the line did not end in time",
            ));
        }
    }

    fn accept(&mut self) {
        /// So many at once, so that those that sent something are not kept waiting.
        const AT_ONCE: usize = 64;
        for _ in 0..AT_ONCE {
            match self.bound.listener.accept() {
                Ok((stream, _)) => {
                    if is_owner(&stream) && stream.set_nonblocking(true).is_ok() {
                        self.connections.push(Connection {
                            stream,
                            sent: Vec::new(),
                            since: Stopwatch::start(),
                        });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    // No descriptor is left for another one. The oldest makes room; without one, time does.
                    if !self.end_oldest() {
                        thread::sleep(Duration::from_millis(100));
                    }
                    return;
                }
            }
        }
    }

    /// Ends connections that take up too much: the oldest first, since a sender that means it sends at once.
    fn make_room(&mut self) {
        while self.connections.len() > self.most {
            self.end_oldest();
        }
        let mut sent: usize = self
            .connections
            .iter()
            .map(|connection| connection.sent.len())
            .sum();
        while sent > LARGEST_BACKLOG {
            let lengths = self
                .connections
                .iter()
                .map(|connection| connection.sent.len());
            let Some((place, length)) = lengths.enumerate().max_by_key(|(_, length)| *length)
            else {
                return;
            };
            sent -= length;
            let connection = self.connections.remove(place);
            self.ready.push_back(Task::Refuse(connection.stream, BUSY));
        }
    }

    fn end_oldest(&mut self) -> bool {
        if self.connections.is_empty() {
            return false;
        }
        let oldest = self.connections.remove(0);
        // It is told if it listens, and not waited for.
        let _ = (&oldest.stream).write(Refused::unread(BUSY).reply().as_bytes());
        true
    }

    /// Has lines answered, as many at a time as there may be.
    fn hand_out(&mut self) {
        while self.shared.busy.load(Ordering::Acquire) < WORKERS {
            let Some(task) = self.ready.pop_front() else {
                return;
            };
            self.shared.busy.fetch_add(1, Ordering::AcqRel);
            let worker = Worker {
                shared: self.shared.clone(),
                wake: self.wake.clone(),
            };
            let receiver = self.receiver.clone();
            spawn(move || {
                match task {
                    Task::Line(stream, line) => match receiver.take(&line) {
                        Answer::Line(answer) => reply(stream, &answer, false),
                        Answer::Screen(screen, greeting) => {
                            // It stays for as long as its user likes, and keeps no line of others waiting.
                            drop(worker);
                            return attach::serve(stream, screen, &greeting);
                        }
                    },
                    Task::Refuse(stream, why) => reply(stream, &Refused::unread(why).reply(), true),
                }
                drop(worker);
            });
        }
    }
}

const BUSY: &str = "too many connections are open; connect again";

/// Makes room for the next line when it is dropped, however that comes about.
struct Worker {
    shared: Arc<Shared>,
    wake: Arc<UnixStream>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.busy.fetch_sub(1, Ordering::AcqRel);
        let _ = (&*self.wake).write(&[0]);
    }
}

/// Writes the reply and ends the connection. A sender that is not done yet is let finish, or it would not read.
fn reply(mut stream: UnixStream, line: &str, is_sending: bool) {
    let set = stream.set_nonblocking(false);
    let set = set.and_then(|()| stream.set_write_timeout(Some(WRITTEN_WITHIN)));
    let set = set.and_then(|()| stream.set_read_timeout(Some(Duration::from_millis(200))));
    let written = set.and_then(|()| stream.write_all(line.as_bytes()));
    if written.is_err() || !is_sending {
        return;
    }
    let _ = stream.shutdown(Shutdown::Write);
    let began = Stopwatch::start();
    let mut rest = [0; 16 << 10];
    while began.elapsed() < WRITTEN_WITHIN
        && matches!(stream.read(&mut rest), Ok(length) if length > 0)
    {}
}

/// Whether the process at the other end belongs to the same user.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_owner(stream: &UnixStream) -> bool {
    let peer = rustix::net::sockopt::socket_peercred(stream);
    peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// The folder is private to the user.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_owner(_: &UnixStream) -> bool {
    true
}
