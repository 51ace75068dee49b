//! Server-sent events, as they come out of a connection: in pieces cut anywhere.

use std::ops::ControlFlow;

use memchr::memchr2;

use crate::failure::Failure;

/// The most one event may have.
pub const MAX_FRAME_BYTES: usize = 16 * 1024 * 1024;

/// The field name and the colon before what counts against [`MAX_FRAME_BYTES`].
const FIELD_SLACK: usize = 64;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// What kind of event it is; empty when the stream does not say.
    pub name: &'a str,
    /// Its data, lines joined by line feeds.
    pub data: &'a [u8],
}

/// What has come and was not whole yet.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    /// A line without its end.
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    name: String,
    /// The last byte was a carriage return, so a line feed that follows belongs to it.
    after_return: bool,
    /// The first line has been seen, and with it the mark it may begin with.
    begun: bool,
}

impl Parser {
    /// Takes more of the stream and gives every event that is whole to `take`, until that has enough.
    pub(crate) fn feed<B>(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(Event<'_>) -> Result<ControlFlow<B>, Failure>,
    ) -> Result<ControlFlow<B>, Failure> {
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr2(b'\r', b'\n', rest) {
            let line = &rest[..end];
            let was_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if was_return {
                self.after_return = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            let flow = if self.line.is_empty() {
                self.line(line, &mut take)?
            } else {
                self.hold(line)?;
                let mut whole = std::mem::take(&mut self.line);
                let flow = self.line(&whole, &mut take)?;
                whole.clear();
                self.line = whole;
                flow
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        self.hold(rest)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Takes the end of the stream, which also ends the last line and the last event.
    pub(crate) fn end<B>(
        &mut self,
        take: impl FnMut(Event<'_>) -> Result<ControlFlow<B>, Failure>,
    ) -> Result<ControlFlow<B>, Failure> {
        self.after_return = false;
        self.feed(b"\n\n", take)
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let length = self.line.len() + bytes.len() + self.data.len();
        if length > MAX_FRAME_BYTES + FIELD_SLACK {
            return Err(too_large());
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn line<B>(
        &mut self,
        line: &[u8],
        take: &mut impl FnMut(Event<'_>) -> Result<ControlFlow<B>, Failure>,
    ) -> Result<ControlFlow<B>, Failure> {
        let line = if self.begun {
            line
        } else {
            self.begun = true;
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        };
        if line.is_empty() {
            return self.dispatch(take);
        }
        // A line that begins with a colon is a comment: its field has no name.
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.data.len() + value.len() > MAX_FRAME_BYTES {
                    return Err(too_large());
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn dispatch<B>(
        &mut self,
        take: &mut impl FnMut(Event<'_>) -> Result<ControlFlow<B>, Failure>,
    ) -> Result<ControlFlow<B>, Failure> {
        let flow = if self.has_data {
            take(Event {
                name: &self.name,
                data: &self.data,
            })?
        } else {
            ControlFlow::Continue(())
        };
        self.name.clear();
        self.data.clear();
        self.has_data = false;
        Ok(flow)
    }
}

fn too_large() -> Failure {
    Failure::malformed(format!(
        "an event of the answer is larger than {MAX_FRAME_BYTES} bytes"
    ))
}

#[cfg(test)]
mod tests;
