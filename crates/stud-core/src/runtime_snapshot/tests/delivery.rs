//! Who is told what, when and in which order.

use std::sync::mpsc::RecvTimeoutError;

use super::*;

/// What a plugin hears, in order.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Cwd(String),
    Text(String),
}

fn cwd(text: &str) -> Heard {
    Heard::Cwd(text.to_owned())
}

fn text(text: &str) -> Heard {
    Heard::Text(text.to_owned())
}

fn watch(reader: &Reader, heard: &Sender<Heard>) -> Subscription {
    let heard = heard.clone();
    let tell = move |snapshot: Arc<RuntimeSnapshot>| {
        let _ = heard.send(Heard::Cwd(snapshot.session.cwd.clone()));
    };
    reader.subscribe(Box::new(tell)).unwrap()
}

fn listen(reader: &Reader, heard: &Sender<Heard>) -> Subscription {
    let heard = heard.clone();
    let tell = move |delta: TokenDelta| {
        let _ = heard.send(Heard::Text(delta.delta));
    };
    reader.subscribe_to_tokens(Box::new(tell)).unwrap()
}

/// Only a test that fails waits this long.
const PATIENCE: Duration = Duration::from_secs(20);

fn next<T>(heard: &Receiver<T>) -> T {
    heard.recv_timeout(PATIENCE).expect("nothing more came")
}

fn several<T>(heard: &Receiver<T>, count: usize) -> Vec<T> {
    (0..count).map(|_| next(heard)).collect()
}

/// Everything up to the end, which comes when the last handler is gone.
fn drain<T>(heard: &Receiver<T>) -> Vec<T> {
    let mut all = Vec::new();
    loop {
        match heard.recv_timeout(PATIENCE) {
            Ok(one) => all.push(one),
            Err(RecvTimeoutError::Disconnected) => return all,
            Err(RecvTimeoutError::Timeout) => panic!("a handler is left"),
        }
    }
}

/// What was heard up to the next piece of text, which is said now. Whatever was due before it has been heard by then.
fn heard_so_far(bench: &Bench, heard: &Receiver<Heard>) -> Vec<Heard> {
    bench.collector.tokens(Spent {
        text: "so far",
        ..Spent::default()
    });
    let until = |heard: &Heard| *heard != text("so far");
    std::iter::from_fn(|| Some(next(heard)))
        .take_while(until)
        .collect()
}

/// A gate in a handler: it says when the handler is inside and holds it there.
struct FifoLock {
    entered: Receiver<()>,
    open: Sender<()>,
}

impl FifoLock {
    /// The gate and what the handler calls first.
    fn new() -> (Self, impl Fn() + Send + Sync + 'static) {
        let (enter, entered) = mpsc::channel();
        let (open, opened) = mpsc::channel();
        let opened = Mutex::new(opened);
        let pass = move || {
            let _ = enter.send(());
            let _ = opened.lock().unwrap().recv();
        };
        (Self { entered, open }, pass)
    }
}

#[test]
fn a_window_is_told_once_at_its_end() {
    let bench = Bench::new();
    let reader = bench.reader("status-line");
    let (tell, heard) = mpsc::channel();
    let _subscriptions = (watch(&reader, &tell), listen(&reader, &tell));

    bench.rename("/a");
    bench.pass(DEBOUNCE_MS - 1);
    // A later write joins the window and does not make it longer.
    bench.rename("/b");
    assert_eq!(heard_so_far(&bench, &heard), []);
    bench.pass(1);
    assert_eq!(next(&heard), cwd("/b"));

    bench.pass(10 * DEBOUNCE_MS);
    assert_eq!(heard_so_far(&bench, &heard), []);
    assert_eq!(bench.timer.waiting(), 0);

    bench.rename("/c");
    assert_eq!(bench.timer.waiting(), 1);
    bench.pass(DEBOUNCE_MS);
    assert_eq!(heard_so_far(&bench, &heard), [cwd("/c")]);
}

#[test]
fn a_subscription_alone_changes_nothing() {
    let bench = Bench::new();
    let before = bench.collector.snapshot();
    let reader = bench.reader("status-line");
    let (tell, heard) = mpsc::channel();
    let _subscriptions = (watch(&reader, &tell), listen(&reader, &tell));
    assert_eq!(bench.timer.waiting(), 0);
    assert!(Arc::ptr_eq(&before, &reader.snapshot().unwrap()));
    bench.pass(DEBOUNCE_MS);
    assert_eq!(heard_so_far(&bench, &heard), []);
}

#[test]
fn no_clock_runs_for_nobody() {
    let bench = Bench::new();
    let reader = bench.reader("status-line");
    bench.rename("/a");
    assert_eq!(bench.timer.waiting(), 0);

    // Who only wants tokens need not be told of snapshots.
    let (tell, _heard) = mpsc::channel();
    let _tokens = listen(&reader, &tell);
    bench.say("x");
    assert_eq!(bench.timer.waiting(), 0);

    let watcher = watch(&reader, &tell);
    bench.rename("/b");
    assert_eq!(bench.timer.waiting(), 1);
    drop(watcher);
    bench.pass(DEBOUNCE_MS);
    bench.rename("/c");
    assert_eq!(bench.timer.waiting(), 0);
}

#[test]
fn what_is_told_is_what_is_read() {
    let bench = Bench::new();
    let (tell, heard) = mpsc::channel();
    let handler = move |snapshot| tell.send(snapshot).unwrap();
    let _subscription = bench.reader("a").subscribe(Box::new(handler)).unwrap();
    bench.rename("/a");
    bench.pass(DEBOUNCE_MS);
    assert!(Arc::ptr_eq(&next(&heard), &bench.collector.snapshot()));
}

#[test]
fn every_piece_comes_at_once_with_the_counts_of_its_turn() {
    let bench = Bench::new();
    let (tell, heard) = mpsc::channel();
    let handler = move |delta| tell.send(delta).unwrap();
    let reader = bench.reader("a");
    let _subscription = reader.subscribe_to_tokens(Box::new(handler)).unwrap();
    let pieces = [(100, 1, "Hel"), (0, 2, "lo"), (0, 0, "!")];
    for turn in 0..2 {
        bench.collector.turn_began(at(turn));
        for (input, output, text) in pieces {
            bench.collector.tokens(Spent {
                input,
                output,
                text,
            });
        }
        let expected = [(100, 1, "Hel"), (100, 3, "lo"), (100, 3, "!")];
        for (input_tokens, output_tokens, delta) in expected {
            let delta = delta.to_owned();
            let expected = TokenDelta {
                input_tokens,
                output_tokens,
                delta,
            };
            assert_eq!(next(&heard), expected);
        }
    }
    assert_eq!(bench.timer.waiting(), 0);
}

#[test]
fn text_is_heard_before_the_snapshot_that_counts_it() {
    let bench = Bench::new();
    let reader = bench.reader("status-line");
    let (gate, pass) = FifoLock::new();
    let (tell, heard) = mpsc::channel();
    let counted = tell.clone();
    let _subscriptions = (
        reader
            .subscribe(Box::new(move |snapshot| {
                let _ = counted.send(Heard::Cwd(snapshot.tokens.output_total.to_string()));
            }))
            .unwrap(),
        reader
            .subscribe_to_tokens(Box::new(move |delta| {
                if delta.delta == "1" {
                    pass();
                }
                let _ = tell.send(Heard::Text(delta.delta));
            }))
            .unwrap(),
    );
    bench.say("1");
    next(&gate.entered);
    // All of this waits behind the first piece.
    bench.say("2");
    bench.pass(DEBOUNCE_MS);
    bench.say("3");
    bench.pass(DEBOUNCE_MS);
    bench.say("4");
    gate.open.send(()).unwrap();
    assert_eq!(
        several(&heard, 5),
        [text("1"), text("2"), text("3"), cwd("3"), text("4")]
    );
}

#[test]
fn one_that_hangs_holds_up_nobody() {
    let bench = Bench::new();
    let (gate, pass) = FifoLock::new();
    let hanging = bench.reader("hanging");
    let _stuck = hanging.subscribe(Box::new(move |_| pass())).unwrap();
    let reader = bench.reader("status-line");
    let (tell, heard) = mpsc::channel();
    let _subscriptions = (watch(&reader, &tell), listen(&reader, &tell));

    bench.rename("/a");
    bench.pass(DEBOUNCE_MS);
    next(&gate.entered);
    assert_eq!(heard_so_far(&bench, &heard), [cwd("/a")]);
    bench.rename("/b");
    bench.say("x");
    assert_eq!(hanging.snapshot().unwrap().session.cwd, "/b");
    bench.pass(DEBOUNCE_MS);
    assert_eq!(heard_so_far(&bench, &heard), [text("x"), cwd("/b")]);
}

#[test]
fn one_that_is_slow_hears_only_the_newest() {
    let bench = Bench::new();
    let reader = bench.reader("slow");
    let (gate, pass) = FifoLock::new();
    let (tell, heard) = mpsc::channel();
    let _tokens = listen(&reader, &tell);
    let handler = move |snapshot: Arc<RuntimeSnapshot>| {
        if snapshot.session.cwd == "/1" {
            pass();
        }
        let _ = tell.send(Heard::Cwd(snapshot.session.cwd.clone()));
    };
    let _snapshots = reader.subscribe(Box::new(handler)).unwrap();
    for name in ["/1", "/2", "/3", "/4"] {
        bench.rename(name);
        bench.pass(DEBOUNCE_MS);
        if name == "/1" {
            next(&gate.entered);
        }
    }
    gate.open.send(()).unwrap();
    assert_eq!(several(&heard, 2), [cwd("/1"), cwd("/4")]);
    assert_eq!(heard_so_far(&bench, &heard), []);
}

/// A plugin that hangs in its first piece of text, and the reports about it.
fn hanging(bench: &Bench) -> (FifoLock, Receiver<String>, Receiver<Stuck>, Subscription) {
    let (gate, pass) = FifoLock::new();
    let (tell, heard) = mpsc::channel();
    let (report, reports) = mpsc::channel();
    let reader = bench.collector.reader("hanging", move |stuck| {
        let _ = report.send(stuck.clone());
    });
    let handler = move |delta: TokenDelta| {
        pass();
        let _ = tell.send(delta.delta);
    };
    let subscription = reader.subscribe_to_tokens(Box::new(handler)).unwrap();
    bench.say("first");
    next(&gate.entered);
    (gate, heard, reports, subscription)
}

#[test]
fn one_that_never_takes_its_tokens_gets_no_more_and_is_reported() {
    let bench = Bench::new();
    let (gate, heard, reports, _subscription) = hanging(&bench);
    for _ in 0..PENDING_TOKENS {
        bench.say("x");
    }
    assert!(reports.try_recv().is_err());
    bench.say("one too many");
    let stuck = Stuck {
        ext_id: "hanging".to_owned(),
        unheard: PENDING_TOKENS + 1,
    };
    assert_eq!(reports.try_recv(), Ok(stuck));
    bench.say("never heard");
    assert!(reports.try_recv().is_err());

    // Its handler goes away once it returns, and with it the channel.
    gate.open.send(()).unwrap();
    assert_eq!(drain(&heard), ["first"]);
    let spoken = bench.collector.snapshot().tokens.output_total;
    assert_eq!(spoken, PENDING_TOKENS as u64 + 3);
}

#[test]
fn much_text_is_as_bad_as_many_pieces() {
    let bench = Bench::new();
    let (_gate, _heard, reports, _subscription) = hanging(&bench);
    let half = "x".repeat(PENDING_BYTES / 2 + 1);
    bench.say(&half);
    assert!(reports.try_recv().is_err());
    bench.say(&half);
    assert_eq!(reports.try_recv().map(|stuck| stuck.unheard), Ok(2));
}

#[test]
fn a_large_piece_alone_is_nobodys_fault() {
    let bench = Bench::new();
    let reader = bench.reader("fine");
    let (tell, heard) = mpsc::channel();
    let _subscription = listen(&reader, &tell);
    let large = "x".repeat(PENDING_BYTES + 1);
    bench.say(&large);
    assert_eq!(next(&heard), Heard::Text(large));
}

/// Where a handler finds a subscription to end.
type Slot = Arc<Mutex<Option<Subscription>>>;

#[test]
fn a_handler_may_leave_while_it_is_called() {
    let bench = Bench::new();
    let reader = bench.reader("leaving");
    let (tell, heard) = mpsc::channel();
    let slot = Slot::default();
    let (mine, told) = (slot.clone(), tell.clone());
    let handler = move |delta: TokenDelta| {
        let _ = told.send(Heard::Cwd(delta.delta));
        drop(mine.lock().unwrap().take());
    };
    *slot.lock().unwrap() = Some(reader.subscribe_to_tokens(Box::new(handler)).unwrap());
    let _other = listen(&reader, &tell);
    bench.say("a");
    bench.say("b");
    assert_eq!(
        heard_so_far(&bench, &heard),
        [cwd("a"), text("a"), text("b")]
    );
}

#[test]
fn a_handler_may_send_the_next_one_away() {
    let bench = Bench::new();
    let reader = bench.reader("leaving");
    let (tell, heard) = mpsc::channel();
    let slot = Slot::default();
    let theirs = slot.clone();
    let handler = move |_: TokenDelta| drop(theirs.lock().unwrap().take());
    let _first = reader.subscribe_to_tokens(Box::new(handler)).unwrap();
    let sent_away = tell.clone();
    let handler = move |_: TokenDelta| drop(sent_away.send(cwd("called")));
    *slot.lock().unwrap() = Some(reader.subscribe_to_tokens(Box::new(handler)).unwrap());
    let _last = listen(&reader, &tell);
    bench.say("a");
    assert_eq!(heard_so_far(&bench, &heard), [text("a")]);
}

#[test]
fn who_comes_during_a_call_hears_what_comes_after() {
    let bench = Bench::new();
    let reader = Arc::new(bench.reader("growing"));
    let (tell, heard) = mpsc::channel();
    let slot = Slot::default();
    let (mine, again, told) = (slot.clone(), Arc::downgrade(&reader), tell.clone());
    let handler = move |_: TokenDelta| {
        let reader = again.upgrade().unwrap();
        let mut slot = mine.lock().unwrap();
        if slot.is_none() {
            *slot = Some(listen(&reader, &told));
        }
        let _ = told.send(cwd("first"));
    };
    let _first = reader.subscribe_to_tokens(Box::new(handler)).unwrap();
    bench.say("a");
    assert_eq!(next(&heard), cwd("first"));
    bench.say("b");
    assert_eq!(several(&heard, 2), [cwd("first"), text("b")]);
}

#[test]
fn who_has_left_hears_nothing_more() {
    let bench = Bench::new();
    let reader = bench.reader("status-line");
    let (tell, heard) = mpsc::channel();
    let _tokens = listen(&reader, &tell);
    let watcher = watch(&reader, &tell);
    bench.rename("/a");
    watcher.unsubscribe();
    bench.pass(DEBOUNCE_MS);
    assert_eq!(heard_so_far(&bench, &heard), []);
}

#[test]
fn closing_ends_all_of_one_plugin_and_none_of_another() {
    let bench = Bench::new();
    let (closed, open) = (bench.reader("closed"), bench.reader("open"));
    let (tell_closed, heard_closed) = mpsc::channel();
    let (tell, heard) = mpsc::channel();
    let kept = (watch(&closed, &tell_closed), listen(&closed, &tell_closed));
    let _subscriptions = (watch(&open, &tell), listen(&open, &tell));
    drop(tell_closed);
    closed.close();
    bench.rename("/a");
    bench.pass(DEBOUNCE_MS);
    assert_eq!(heard_so_far(&bench, &heard), [cwd("/a")]);
    // Its handlers are gone, so there is no sender left.
    assert_eq!(drain(&heard_closed), []);
    drop(kept);
}

#[test]
fn after_the_end_nobody_is_told_and_nothing_changes() {
    let bench = Bench::new();
    let reader = bench.reader("status-line");
    let (tell, heard) = mpsc::channel();
    let subscriptions = (watch(&reader, &tell), listen(&reader, &tell));
    bench.rename("/a");
    assert_eq!(bench.timer.waiting(), 1);
    let last = bench.collector.snapshot();

    bench.collector.dispose();
    bench.collector.dispose();
    assert_eq!(bench.timer.waiting(), 0);
    bench.rename("/b");
    bench.say("x");
    bench.collector.turn_began(at(0));
    bench.collector.turn_ended(at(0));
    bench.collector.diagnostic(problem(Level::Error, "late"));
    assert!(Arc::ptr_eq(&last, &reader.snapshot().unwrap()));

    let late = watch(&reader, &tell);
    bench.rename("/c");
    bench.pass(DEBOUNCE_MS);
    drop((tell, late));
    // All handlers are gone, and none was called.
    assert_eq!(drain(&heard), []);
    drop(subscriptions);
}

#[test]
fn a_collector_that_is_dropped_calls_its_alarm_off() {
    let Bench { timer, collector } = Bench::new();
    let (tell, _heard) = mpsc::channel();
    let reader = collector.reader("a", |_| {});
    let subscription = watch(&reader, &tell);
    collector.turn_began(at(0));
    assert_eq!(timer.waiting(), 1);
    drop((reader, collector));
    assert_eq!(timer.waiting(), 0);
    drop(subscription);
}
