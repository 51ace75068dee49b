use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

use serde_json::json;
use stud_contract_meta::Error;
use stud_diagnostics::Class;

use super::*;

/// Counts how often it was woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn next(stream: &mut BoxStream) -> Poll<Option<std::result::Result<StreamItem, Fault>>> {
    next_counting(stream, &Arc::default())
}

fn next_counting(
    stream: &mut BoxStream,
    count: &Arc<Wakes>,
) -> Poll<Option<std::result::Result<StreamItem, Fault>>> {
    let waker = Waker::from(count.clone());
    stream.as_mut().poll_next(&mut Context::from_waker(&waker))
}

/// Everything up to the end, which has to come without waiting.
fn drain(mut stream: BoxStream) -> Vec<std::result::Result<StreamEvent, Error>> {
    let mut events = Vec::new();
    loop {
        match next(&mut stream) {
            Poll::Ready(Some(Ok(item))) => events.push(StreamEvent::read(item)),
            Poll::Ready(Some(Err(fault))) => events.push(Err(fault.into())),
            Poll::Ready(None) => {
                assert_eq!(next(&mut stream), Poll::Ready(None), "the end is the end");
                return events;
            }
            Poll::Pending => panic!("waits after {events:?}"),
        }
    }
}

fn text(delta: &str) -> StreamEvent {
    StreamEvent::TextDelta {
        delta: delta.to_owned(),
    }
}

fn finish(reason: FinishReason) -> StreamEvent {
    StreamEvent::Finish { reason }
}

#[test]
fn pieces_come_in_order_and_one_finish_comes_last() {
    let events = drain(stream(|out| async move {
        out.thinking("hm").await;
        out.text("a").await;
        out.tool_call("c1", "read", json!({"path": "x"})).await;
        out.text("b").await;
        out.usage(Usage {
            input_tokens: 1,
            output_tokens: 2,
            cached_input_tokens: None,
        })
        .await;
        Ok(FinishReason::ToolCalls)
    }));
    let events: Vec<_> = events.into_iter().map(Result::unwrap).collect();
    assert_eq!(
        events,
        [
            StreamEvent::ThinkingDelta {
                delta: "hm".to_owned()
            },
            text("a"),
            StreamEvent::ToolCall {
                tool_call_id: "c1".to_owned(),
                tool_name: "read".to_owned(),
                args: json!({"path": "x"}),
            },
            text("b"),
            StreamEvent::Usage(Usage {
                input_tokens: 1,
                output_tokens: 2,
                cached_input_tokens: None
            }),
            finish(FinishReason::ToolCalls),
        ]
    );
}

#[test]
fn an_empty_answer_still_finishes() {
    let events = drain(stream(|_| async { Ok(FinishReason::Stop) }));
    assert_eq!(events, [Ok(finish(FinishReason::Stop))]);
}

#[test]
fn an_error_comes_after_the_pieces_and_instead_of_a_finish() {
    let error = Error::new(Class::ProviderTransient, "RateLimited", "slow down");
    let failing = error.clone();
    let events = drain(stream(|out| async move {
        out.text("a").await;
        Err(failing)
    }));
    assert_eq!(events, [Ok(text("a")), Err(error)]);
}

#[test]
fn a_fast_provider_waits_at_the_limit() {
    let made = Arc::new(AtomicUsize::new(0));
    let counter = made.clone();
    let mut stream = stream(|out| async move {
        for _ in 0..3 * QUEUE_LIMIT {
            out.text("x").await;
            counter.fetch_add(1, Ordering::Relaxed);
        }
        Ok(FinishReason::Stop)
    });

    assert_eq!(
        made.load(Ordering::Relaxed),
        0,
        "nothing runs before it is read"
    );
    assert!(next(&mut stream).is_ready());
    assert_eq!(made.load(Ordering::Relaxed), QUEUE_LIMIT);
    for _ in 1..QUEUE_LIMIT {
        assert!(next(&mut stream).is_ready());
    }
    assert_eq!(
        made.load(Ordering::Relaxed),
        QUEUE_LIMIT,
        "what is unread is read first"
    );
    assert!(next(&mut stream).is_ready());
    assert_eq!(made.load(Ordering::Relaxed), 2 * QUEUE_LIMIT);

    let events = drain(stream);
    assert_eq!(events.len(), 2 * QUEUE_LIMIT - 1 + 1);
    assert_eq!(events.last(), Some(&Ok(finish(FinishReason::Stop))));
}

#[test]
fn a_piece_from_another_task_wakes_the_reader() {
    let (out, items) = sink();
    let mut stream = items.produced_by(std::future::pending());
    let count = Arc::<Wakes>::default();
    assert!(next_counting(&mut stream, &count).is_pending());
    assert_eq!(count.0.load(Ordering::Relaxed), 0);

    let mut push = Box::pin(out.text("a"));
    assert!(
        push.as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    );
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    assert_eq!(
        next_counting(&mut stream, &count),
        Poll::Ready(Some(Ok(StreamItem::Text("a".to_owned()))))
    );
    assert!(next_counting(&mut stream, &count).is_pending());
}

#[test]
fn reading_wakes_a_writer_that_waits() {
    let (out, items) = sink();
    let mut stream = items.produced_by(std::future::pending());
    let count = Arc::<Wakes>::default();
    let waker = Waker::from(count.clone());
    let mut cx = Context::from_waker(&waker);
    for _ in 0..QUEUE_LIMIT {
        assert!(Box::pin(out.text("x")).as_mut().poll(&mut cx).is_ready());
    }
    let mut push = Box::pin(out.text("y"));
    assert!(push.as_mut().poll(&mut cx).is_pending());
    assert!(push.as_mut().poll(&mut cx).is_pending());
    assert_eq!(count.0.load(Ordering::Relaxed), 0);

    assert!(next(&mut stream).is_ready());
    assert_eq!(
        count.0.load(Ordering::Relaxed),
        1,
        "woken once, though it asked twice"
    );
    assert!(push.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn a_writer_that_outlives_its_reader_is_let_go() {
    let (out, items) = sink();
    let stream = items.produced_by(std::future::pending());
    let count = Arc::<Wakes>::default();
    let waker = Waker::from(count.clone());
    let mut cx = Context::from_waker(&waker);
    for _ in 0..QUEUE_LIMIT {
        assert!(Box::pin(out.text("x")).as_mut().poll(&mut cx).is_ready());
    }
    let mut push = Box::pin(out.text("y"));
    assert!(push.as_mut().poll(&mut cx).is_pending());
    assert!(!out.is_closed());

    drop(stream);
    assert!(out.is_closed());
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    assert!(push.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn nothing_comes_after_the_finish() {
    let left_behind = Arc::new(Mutex::new(None));
    let keep = left_behind.clone();
    let mut stream = stream(|out| async move {
        *keep.lock().unwrap() = Some(out);
        Ok(FinishReason::Stop)
    });
    assert!(next(&mut stream).is_ready());
    let out = left_behind.lock().unwrap().take().unwrap();
    assert!(out.is_closed());
    let mut push = Box::pin(out.text("late"));
    assert!(
        push.as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    );
    assert_eq!(next(&mut stream), Poll::Ready(None));
}

#[test]
fn dropping_the_stream_drops_the_provider() {
    let alive = Arc::new(());
    let held = alive.clone();
    let mut stream = stream(|out| async move {
        out.text("a").await;
        std::future::pending::<()>().await;
        drop(held);
        Ok(FinishReason::Stop)
    });
    assert!(next(&mut stream).is_ready());
    assert_eq!(Arc::strong_count(&alive), 2);
    drop(stream);
    assert_eq!(Arc::strong_count(&alive), 1);
}
