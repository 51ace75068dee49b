//! A stream of small pieces, such as the words of a model as they come.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use abi_stable::StableAbi;
use abi_stable::std_types::{RNone, ROption, RSome};

use crate::fault::Fault;
use crate::future::{self, Answer};
use crate::shared::Shared;
use crate::text::Text;

/// One piece of a stream.
///
/// The two kinds that come by the thousand carry their text alone; everything else is JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamItem {
    /// A piece of the answer's text.
    Text(String),
    /// A piece of the model's reasoning.
    Thinking(String),
    /// Any other event, as a JSON object with a `type` member.
    Event(String),
}

/// [`StreamItem`] with a fixed layout. The kind is a number so that a newer side may add one.
#[repr(C)]
#[derive(StableAbi)]
pub(crate) struct RStreamItem {
    kind: u32,
    text: Text,
}

const TEXT: u32 = 0;
const THINKING: u32 = 1;
const EVENT: u32 = 2;

impl From<StreamItem> for RStreamItem {
    fn from(item: StreamItem) -> Self {
        let (kind, text) = match item {
            StreamItem::Text(text) => (TEXT, text),
            StreamItem::Thinking(text) => (THINKING, text),
            StreamItem::Event(text) => (EVENT, text),
        };
        Self {
            kind,
            text: text.into(),
        }
    }
}

impl From<RStreamItem> for StreamItem {
    fn from(item: RStreamItem) -> Self {
        let text = item.text.into();
        match item.kind {
            TEXT => Self::Text(text),
            THINKING => Self::Thinking(text),
            // Kinds added later carry JSON, as the third one does.
            _ => Self::Event(text),
        }
    }
}

/// Where the items of a stream come from.
pub trait StreamSource: Send + 'static {
    /// The next item, or nothing after the last.
    fn poll_next(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<StreamItem, Fault>>>;
}

/// A stream made by a plugin.
pub type BoxStream = Pin<Box<dyn StreamSource>>;

/// A stream with a fixed layout.
#[repr(C)]
#[derive(StableAbi)]
pub(crate) struct RStream {
    source: Shared,
    next: extern "C" fn(&Shared) -> Answer<ROption<RStreamItem>>,
}

struct Source(Mutex<BoxStream>);

impl From<BoxStream> for RStream {
    fn from(stream: BoxStream) -> Self {
        Self {
            source: Shared::new(Arc::new(Source(Mutex::new(stream)))),
            next,
        }
    }
}

extern "C" fn next(source: &Shared) -> Answer<ROption<RStreamItem>> {
    // SAFETY: this function and the object are put into one stream by the `From` above alone.
    let source = unsafe { source.arc::<Source>() };
    future::send("stream", move || Next(source))
}

struct Next(Arc<Source>);

/// Carries `Option<StreamItem>` over `From`.
pub(crate) struct Item(Option<StreamItem>);

impl Future for Next {
    type Output = Result<Item, Fault>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut stream = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        stream
            .as_mut()
            .poll_next(cx)
            .map(|item| item.transpose().map(Item))
    }
}

impl From<Item> for ROption<RStreamItem> {
    fn from(item: Item) -> Self {
        item.0.map_or(RNone, |item| RSome(item.into()))
    }
}

impl From<ROption<RStreamItem>> for Item {
    fn from(item: ROption<RStreamItem>) -> Self {
        Self(item.map(StreamItem::from).into())
    }
}

/// A stream as the host reads it.
#[derive(Debug)]
pub struct Stream(RStream);

impl From<RStream> for Stream {
    fn from(stream: RStream) -> Self {
        Self(stream)
    }
}

impl Stream {
    /// The next item, or nothing after the last. Dropping the stream stops its maker.
    pub async fn next(&mut self) -> Result<Option<StreamItem>, Fault> {
        let future = (self.0.next)(&self.0.source);
        let Item(item) = future::receive("stream", future).await?;
        Ok(item)
    }
}

impl std::fmt::Debug for RStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RStream").finish_non_exhaustive()
    }
}
