//! The tool as the model calls it, against servers on this machine.

mod pages;
mod policies;
mod redirects;
mod stopping;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Error, Value, json};

/// A request as it arrived: its first line, then its headers in lower case.
type Head = Vec<String>;

/// A server that gives every connection to `serve`.
struct Server {
    port: u16,
    heads: Receiver<Head>,
}

impl Server {
    fn new(serve: impl Fn(&Head, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, heads) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let head = read_head(&stream);
                let _ = sender.send(head.clone());
                serve(&head, &mut stream);
            }
        });
        Self { port, heads }
    }

    /// The same bytes for everyone.
    fn answering(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::new(move |_, stream| {
            // The client may close the connection early.
            let _ = stream.write_all(&bytes);
        })
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The next request.
    fn head(&self) -> Head {
        self.heads.recv().unwrap()
    }

    /// How many requests were received and not inspected.
    fn unseen(&self) -> usize {
        self.heads.try_iter().count()
    }
}

fn read_head(stream: &TcpStream) -> Head {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines
        .take_while(|line| !line.is_empty())
        .enumerate()
        .map(|(at, line)| {
            if at == 0 {
                line
            } else {
                line.to_ascii_lowercase()
            }
        })
        .collect()
}

/// A whole response with a length.
fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut bytes =
        format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn harness(config: Value) -> Harness {
    Harness::new(crate::stud_plugin(), FakeHost::new().config(config))
}

fn fetch(args: Value) -> Result<Value, Error> {
    fetch_with(json!({}), args)
}

fn fetch_with(config: Value, args: Value) -> Result<Value, Error> {
    let output = harness(config).tool("web-fetch", args)?;
    Ok(output.value().clone())
}

fn name(error: &Error) -> String {
    format!("{}/{}", error.class(), error.code())
}
