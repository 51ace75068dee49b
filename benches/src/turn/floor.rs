//! The least client: one connection, a request as text, and what the model wants done as directly as can be.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, ExitCode};

use serde_json::Value;

use crate::home::fail;

/// Has the exchange with the model on this port.
pub(crate) fn go_round_here(port: &str) -> ExitCode {
    let port = port.parse().unwrap_or(0);
    let connected = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
    let Ok(stream) = connected else {
        fail("no model listens");
    };
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(&stream);
    let mut messages = String::from(r#"{"role":"user","content":"go"}"#);
    loop {
        let body = format!(r#"{{"model":"script","stream":true,"messages":[{messages}]}}"#);
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let sent = (&stream).write_all(format!("{head}{body}").as_bytes());
        if sent.is_err() {
            fail("the model hung up");
        }
        let Some(call) = listen(&mut reader) else {
            return ExitCode::SUCCESS;
        };
        let result = Value::from(perform(&call));
        let _ = write!(
            messages,
            r#",{{"role":"assistant","content":null}},{{"role":"tool","content":{result}}}"#
        );
    }
}

/// Prints what the model says; gives the function it wants called.
fn listen(reader: &mut impl BufRead) -> Option<Value> {
    let mut wanted = None;
    let mut line = String::new();
    let mut out = std::io::stdout().lock();
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return wanted;
        }
        let Some(event) = line.strip_prefix("data: ") else {
            if line == "0\r\n" {
                let _ = reader.read_line(&mut line);
                return wanted;
            }
            continue;
        };
        let Ok(event) = serde_json::from_str::<Value>(event) else {
            continue;
        };
        let delta = &event["choices"][0]["delta"];
        if let Some(words) = delta["content"].as_str() {
            let _ = out.write_all(words.as_bytes());
        }
        if let Some(call) = delta["tool_calls"].get(0) {
            wanted = Some(call["function"].clone());
        }
    }
}

fn perform(call: &Value) -> String {
    let arguments = call["arguments"].as_str().unwrap_or_default();
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    if let Some(path) = arguments["path"].as_str() {
        return std::fs::read_to_string(path).unwrap_or_default();
    }
    let command = arguments["command"].as_str().unwrap_or_default();
    let output = Command::new("/bin/sh").args(["-c", command]).output();
    let output = output.unwrap_or_else(|error| fail(&error.to_string()));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
