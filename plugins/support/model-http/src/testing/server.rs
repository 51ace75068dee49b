//! The server.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A request as it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Received {
    /// Such as `POST`.
    pub method: String,
    /// The path with what follows it.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Which connection it came over, counted from 0.
    pub connection: usize,
}

impl Received {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }

    /// The body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// One thing the server does in answer to a request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Writes these bytes at once.
    Send(Vec<u8>),
    /// Writes these bytes one at a time.
    Trickle(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Closes the connection.
    Close,
    /// Waits until the other side closes the connection, and notes that it did.
    AwaitClose,
    /// Says that nothing more will come, and does the same.
    CloseFirst,
}

/// A server that answers each request as it is told. Every connection has a thread of its own.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

type Answer = Box<dyn Fn(&Received) -> Vec<Step> + Send + Sync>;

struct Shared {
    answer: Answer,
    seen: Mutex<Seen>,
    changed: Condvar,
    stopping: AtomicBool,
}

#[derive(Default)]
struct Seen {
    received: Vec<Received>,
    connections: usize,
    closed: usize,
    /// The connections, to end with the server.
    streams: Vec<TcpStream>,
}

impl Server {
    /// Begins to serve on a free port.
    pub fn start(
        answer: impl Fn(&Received) -> Vec<Step> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            answer: Box::new(answer),
            seen: Mutex::default(),
            changed: Condvar::new(),
            stopping: AtomicBool::new(false),
        });
        let serving = shared.clone();
        thread::spawn(move || serving.accept(&listener));
        Ok(Self { address, shared })
    }

    /// Answers every request with these bytes.
    pub fn always(bytes: Vec<u8>) -> io::Result<Self> {
        Self::start(move |_| vec![Step::Send(bytes.clone())])
    }

    /// `http://127.0.0.1:…`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.shared.seen().received.clone()
    }

    /// How many connections there were.
    pub fn connections(&self) -> usize {
        self.shared.seen().connections
    }

    /// Waits until a request has come.
    pub fn await_request(&self, within: Duration) -> bool {
        self.await_seen(within, |seen| !seen.received.is_empty())
    }

    /// Waits until the other side has closed a connection on which that was waited for.
    pub fn await_close(&self, within: Duration) -> bool {
        self.await_closes(1, within)
    }

    /// Waits until the other side has closed so many of them.
    pub fn await_closes(&self, count: usize, within: Duration) -> bool {
        self.await_seen(within, |seen| seen.closed >= count)
    }

    fn await_seen(&self, within: Duration, is_there: impl Fn(&Seen) -> bool) -> bool {
        let seen = self.shared.seen();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(seen, within, |seen| !is_there(seen));
        waited.is_ok_and(|(seen, _)| is_there(&seen))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        // No answer may be sent over a connection of a stopped server: another may get its port.
        for stream in self.shared.seen().streams.drain(..) {
            drop(stream.shutdown(Shutdown::Both));
        }
        // A waiting accept gets a connection, and sees that the server is stopped.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen());
        self.changed.notify_all();
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        while let Ok((stream, _)) = listener.accept() {
            if self.stopping.load(Ordering::Relaxed) {
                return;
            }
            let mut connection = 0;
            self.note(|seen| {
                connection = seen.connections;
                seen.connections += 1;
                seen.streams.extend(stream.try_clone());
            });
            let shared = self.clone();
            // The other side may go away at any time, which is part of what is tested.
            thread::spawn(move || drop(shared.serve(&stream, connection)));
        }
    }

    fn serve(&self, stream: &TcpStream, connection: usize) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(mut received) = read_request(&mut reader)? {
            received.connection = connection;
            let steps = (self.answer)(&received);
            self.note(|seen| seen.received.push(received));
            for step in steps {
                if !self.perform(step, stream)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Whether the connection is open afterward.
    fn perform(&self, step: Step, mut stream: &TcpStream) -> io::Result<bool> {
        match step {
            Step::Send(bytes) => stream.write_all(&bytes)?,
            Step::Trickle(bytes) => {
                for byte in bytes.chunks(1) {
                    stream.write_all(byte)?;
                }
            }
            Step::Pause(length) => thread::sleep(length),
            Step::Close => {
                stream.shutdown(Shutdown::Both)?;
                return Ok(false);
            }
            Step::CloseFirst => {
                stream.shutdown(Shutdown::Write)?;
                return self.perform(Step::AwaitClose, stream);
            }
            Step::AwaitClose => {
                let mut rest = [0; 1024];
                while stream.read(&mut rest).is_ok_and(|count| count > 0) {}
                self.note(|seen| seen.closed += 1);
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Received>> {
    let mut received = Received::default();
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    received.method = words.next().unwrap_or_default();
    received.target = words.next().unwrap_or_default();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let value = value.trim().to_owned();
        received.headers.push((name.to_ascii_lowercase(), value));
    }
    let length = received.header("content-length");
    let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    received.body = vec![0; length];
    reader.read_exact(&mut received.body)?;
    Ok(Some(received))
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
