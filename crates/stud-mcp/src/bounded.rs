//! A stream of lines none of which may be too long.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// The longest message a server may send.
pub(crate) const LONGEST: usize = 16 << 20;

/// Reads until a line is too long, and then no further.
///
/// A message that is too long would be dropped below, and its waiter would wait forever. The end of the
/// stream is an answer.
pub(crate) struct Bounded<R> {
    inner: R,
    /// Bytes since the last line break.
    length: usize,
    limit: usize,
}

impl<R> Bounded<R> {
    pub(crate) fn new(inner: R, limit: usize) -> Self {
        Self {
            inner,
            length: 0,
            limit,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.length > self.limit {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let read = &buffer.filled()[before..];
        self.length = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(place) => read.len() - place - 1,
            None => self.length + read.len(),
        };
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    fn read(text: &str, limit: usize) -> io::Result<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let mut all = String::new();
        let mut bounded = Bounded::new(text.as_bytes(), limit);
        runtime.block_on(async {
            let mut byte = [0; 1];
            while bounded.read(&mut byte).await? > 0 {
                all.push(char::from(byte[0]));
            }
            Ok(all)
        })
    }

    #[test]
    fn lines_may_be_many_but_not_long() {
        assert_eq!(
            read("12345\n12345\n12345", 5).unwrap(),
            "12345\n12345\n12345"
        );
        assert!(read("12345\n123456\n", 5).is_err());
    }
}
