//! A bounded queue from a provider to the reader of its answer.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use serde_json::Value;
use stud_abi::{BoxStream, Fault, StreamItem, StreamSource};
use stud_contract_meta::Result;

use crate::event::{FinishReason, StreamEvent, Usage};

/// How many pieces may wait to be read before a provider has to.
pub const QUEUE_LIMIT: usize = 256;

/// Where a provider puts the pieces of an answer.
///
/// Each call waits while [`QUEUE_LIMIT`] pieces are unread, so that a fast backend does not fill the memory of a host
/// that is slow to show them.
/// When the reader is gone the pieces are dropped; [`Sink::is_closed`] says so.
/// Clones feed the same answer.
#[derive(Clone)]
pub struct Sink(Arc<Queue>);

/// The other end of a [`Sink`].
pub struct Items(Arc<Queue>);

/// A sink and what comes out of it.
///
/// Most need [`stream`] alone, which also keeps the two together with the provider that writes.
pub fn sink() -> (Sink, Items) {
    let queue = Arc::new(Queue::default());
    (Sink(queue.clone()), Items(queue))
}

/// The answer of a provider as the stream that crosses the boundary.
///
/// The pieces come in the order they were put in; then, once the provider has returned, exactly one finish with its
/// reason, or its error. Dropping the stream drops the provider's future with it.
///
/// ```
/// use stud_contract_provider::{FinishReason, stream};
///
/// let answer = stream(|out| async move {
///     out.text("Hello").await;
///     Ok(FinishReason::Stop)
/// });
/// # drop(answer);
/// ```
pub fn stream<F>(make: impl FnOnce(Sink) -> F) -> BoxStream
where
    F: Future<Output = Result<FinishReason>> + Send + 'static,
{
    let (sink, items) = sink();
    let producer = make(sink);
    items.produced_by(producer)
}

impl Sink {
    /// More of the text.
    pub async fn text(&self, delta: impl Into<String> + Send) {
        self.push(StreamItem::Text(delta.into())).await;
    }

    /// More of the reasoning.
    pub async fn thinking(&self, delta: impl Into<String> + Send) {
        self.push(StreamItem::Thinking(delta.into())).await;
    }

    /// A call the model proposes. The arguments are complete: pieces of them are the provider's to put together.
    pub async fn tool_call(
        &self,
        id: impl Into<String> + Send,
        name: impl Into<String> + Send,
        args: impl Into<Value> + Send,
    ) {
        let event = StreamEvent::ToolCall {
            tool_call_id: id.into(),
            tool_name: name.into(),
            args: args.into(),
        };
        self.push(event.into()).await;
    }

    /// What the request cost so far. The last one counts.
    pub async fn usage(&self, usage: Usage) {
        self.push(StreamEvent::Usage(usage).into()).await;
    }

    /// Whether the reader is gone. A task of the provider's own should then end.
    pub fn is_closed(&self) -> bool {
        self.0.lock().closed
    }

    async fn push(&self, item: StreamItem) {
        let mut item = Some(item);
        poll_fn(|cx| self.0.poll_push(&mut item, cx)).await;
    }
}

impl Items {
    /// The stream of these items, made by this future: it is polled when nothing is left to read.
    pub fn produced_by<F>(self, producer: F) -> BoxStream
    where
        F: Future<Output = Result<FinishReason>> + Send + 'static,
    {
        Box::pin(Answer {
            items: self,
            state: State::Producing(Box::pin(producer)),
        })
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[derive(Default)]
struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    items: VecDeque<StreamItem>,
    reader: Option<Waker>,
    writers: Vec<Waker>,
    closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // The queue stays whole whatever panicked while it was held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll_push(&self, item: &mut Option<StreamItem>, cx: &mut Context<'_>) -> Poll<()> {
        let reader = {
            let mut waiting = self.lock();
            if waiting.closed {
                return Poll::Ready(());
            }
            if waiting.items.len() >= QUEUE_LIMIT {
                if !waiting
                    .writers
                    .iter()
                    .any(|waker| waker.will_wake(cx.waker()))
                {
                    waiting.writers.push(cx.waker().clone());
                }
                return Poll::Pending;
            }
            waiting.items.extend(item.take());
            waiting.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
        Poll::Ready(())
    }

    fn pop(&self) -> Option<StreamItem> {
        let (item, writers) = {
            let mut waiting = self.lock();
            (
                waiting.items.pop_front()?,
                std::mem::take(&mut waiting.writers),
            )
        };
        writers.into_iter().for_each(Waker::wake);
        Some(item)
    }

    /// The next item, or a promise to wake the reader when there is one.
    fn pop_or_wait(&self, cx: &Context<'_>) -> Option<StreamItem> {
        let item = self.pop();
        if item.is_some() {
            return item;
        }
        let mut waiting = self.lock();
        waiting.reader = Some(cx.waker().clone());
        // Another thread may have put something in since the look above.
        waiting.items.pop_front()
    }

    fn close(&self) {
        let writers = {
            let mut waiting = self.lock();
            waiting.closed = true;
            std::mem::take(&mut waiting.writers)
        };
        writers.into_iter().for_each(Waker::wake);
    }
}

struct Answer {
    items: Items,
    state: State,
}

enum State {
    /// The provider is at work.
    Producing(Pin<Box<dyn Future<Output = Result<FinishReason>> + Send>>),
    /// It has returned, and pieces may still wait.
    Ending(Result<FinishReason>),
    /// Everything was read.
    Ended,
}

impl StreamSource for Answer {
    fn poll_next(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<StreamItem, Fault>>> {
        let this = self.get_mut();
        let queue = &this.items.0;
        if let Some(item) = queue.pop() {
            return Poll::Ready(Some(Ok(item)));
        }
        if let State::Producing(producer) = &mut this.state {
            let Poll::Ready(result) = producer.as_mut().poll(cx) else {
                let item = queue.pop_or_wait(cx);
                return item.map_or(Poll::Pending, |item| Poll::Ready(Some(Ok(item))));
            };
            // A task the provider has left behind can add nothing after the end.
            queue.close();
            this.state = State::Ending(result);
            if let Some(item) = queue.pop() {
                return Poll::Ready(Some(Ok(item)));
            }
        }
        Poll::Ready(match std::mem::replace(&mut this.state, State::Ended) {
            State::Ending(Ok(reason)) => Some(Ok(StreamEvent::Finish { reason }.into())),
            State::Ending(Err(error)) => Some(Err(error.into())),
            State::Producing(_) | State::Ended => None,
        })
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink")
            .field("unread", &self.0.lock().items.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items")
            .field("unread", &self.0.lock().items.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
