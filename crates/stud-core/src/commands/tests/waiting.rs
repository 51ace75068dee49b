use super::*;
use crate::sync::promise;

/// A command that waits until the test lets it go, and tells when it has begun.
fn held(
    room: &Arc<Room>,
    ext_id: &'static str,
    name: &str,
) -> (mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (begun, has_begun) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let released = Mutex::new(released);
    room.add(ext_id, name, |fake| {
        fake.run = Box::new(move |_, _, _| {
            let _ = begun.send(());
            let _ = lock(&released).recv();
            Box::pin(async { Ok(Rendered::from("")) })
        });
    });
    (has_begun, release)
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn commands_run_in_the_order_they_were_dispatched() {
    let room = room();
    let (begun, release) = held(&room, "slow-command", "slow");
    room.add("b-command", "b", |_| {});
    room.add("c-command", "c", |_| {});
    let mut slow = pin!(room.dispatch("slow", "".into()));
    assert!(poll(slow.as_mut()).is_pending());
    begun.recv().unwrap();
    let mut c = pin!(room.dispatch("c", "".into()));
    let mut b = pin!(room.dispatch("b", "".into()));
    assert!(poll(c.as_mut()).is_pending());
    assert!(poll(b.as_mut()).is_pending());
    assert_eq!(*lock(&room.ran), ["slow-command"]);
    release.send(()).unwrap();
    block_on(slow).unwrap();
    // The one that came later is asked first, and still has to wait.
    assert!(poll(b.as_mut()).is_pending());
    block_on(c).unwrap();
    block_on(b).unwrap();
    assert_eq!(*lock(&room.ran), ["slow-command", "c-command", "b-command"]);
}

#[test]
fn a_turn_that_has_its_answer_is_waited_for() {
    let room = room();
    room.add("model-command", "model", |fake| {
        fake.commands[0].turn_safe = false;
    });
    let (end, ended) = promise();
    *lock(&room.turn) = Some("t1".to_owned());
    *lock(&room.closing) = Some(ended);
    let mut model = pin!(room.dispatch("model", "".into()));
    assert!(poll(model.as_mut()).is_pending());
    assert!(lock(&room.ran).is_empty());
    end.keep(());
    let ran = block_on(model).unwrap();
    assert!(matches!(ran, CommandResult::Done { .. }), "{ran:?}");
    let (name, correlation_id, _) = room.event();
    assert_eq!(name, "CommandDispatched");
    assert_ne!(correlation_id, "t1", "it is no part of that turn");
}

#[test]
fn a_command_that_waits_for_a_turn_ends_with_the_session() {
    let room = room();
    room.add("model-command", "model", |fake| {
        fake.commands[0].turn_safe = false;
    });
    let (_end, ended) = promise();
    *lock(&room.turn) = Some("t1".to_owned());
    *lock(&room.closing) = Some(ended);
    let mut model = pin!(room.dispatch("model", "".into()));
    assert!(poll(model.as_mut()).is_pending());
    room.scope.cancel();
    let error = block_on(model).unwrap_err();
    assert_eq!(full(&error), "Cancellation/SessionCancelled");
    assert!(lock(&room.ran).is_empty());
}

#[test]
fn a_failure_holds_up_nobody() {
    let room = room();
    room.add("bad-command", "bad", |fake| {
        fake.run = fails(&Error::new(Class::Session, "Said", "oh"));
    });
    room.add("b-command", "b", |_| {});
    for name in ["bad", "unknown"] {
        assert!(block_on(room.dispatch(name, "".into())).is_err());
        assert!(
            block_on(room.dispatch("b", "".into())).is_ok(),
            "after {name}"
        );
    }
}

#[test]
fn a_command_that_nobody_waits_for_any_more_is_called_off_and_lets_the_next_one_run() {
    let room = room();
    let (told, was_told) = mpsc::channel();
    let (begun, has_begun) = mpsc::channel();
    room.add("slow-command", "slow", |fake| {
        fake.run = Box::new(move |_, _, cx| {
            let _ = begun.send(());
            let (told, off) = (told.clone(), cx.cancellation().clone());
            Box::pin(async move {
                let drops = Told(told, off);
                std::future::pending::<()>().await;
                drop(drops);
                Ok(Rendered::from(""))
            })
        });
    });
    room.add("b-command", "b", |_| {});
    {
        let mut slow = pin!(room.dispatch("slow", "".into()));
        assert!(poll(slow.as_mut()).is_pending());
        has_begun.recv().unwrap();
    }
    assert!(was_told.recv().unwrap(), "its token has fired");
    assert!(block_on(room.dispatch("b", "".into())).is_ok());
    let told: Vec<_> = std::iter::repeat_with(|| room.event()).take(2).collect();
    assert_eq!(told[1].2["status"], "cancelled");
}

/// Tells, when it is dropped, whether the token has fired.
struct Told(mpsc::Sender<bool>, CancellationToken);

impl Drop for Told {
    fn drop(&mut self) {
        let _ = self.0.send(self.1.is_cancelled());
    }
}

#[test]
fn one_that_gives_up_waiting_leaves_the_line() {
    let room = room();
    let (begun, release) = held(&room, "slow-command", "slow");
    room.add("b-command", "b", |_| {});
    room.add("c-command", "c", |_| {});
    let mut slow = pin!(room.dispatch("slow", "".into()));
    assert!(poll(slow.as_mut()).is_pending());
    begun.recv().unwrap();
    let mut b = Box::pin(room.dispatch("b", "".into()));
    assert!(poll(b.as_mut()).is_pending());
    let mut c = pin!(room.dispatch("c", "".into()));
    assert!(poll(c.as_mut()).is_pending());
    drop(b);
    release.send(()).unwrap();
    block_on(slow).unwrap();
    block_on(c).unwrap();
    assert_eq!(*lock(&room.ran), ["slow-command", "c-command"]);
}

#[test]
fn the_end_of_the_session_ends_running_waiting_and_later_commands() {
    let room = room();
    // It ignores its cancellation, and blocks the thread it runs on.
    let (begun, release) = held(&room, "stuck-command", "stuck");
    room.add("b-command", "b", |_| {});
    let mut stuck = pin!(room.dispatch("stuck", "".into()));
    assert!(poll(stuck.as_mut()).is_pending());
    begun.recv().unwrap();
    let mut b = pin!(room.dispatch("b", "".into()));
    assert!(poll(b.as_mut()).is_pending());
    room.scope.cancel();
    let ended = [
        block_on(stuck).unwrap_err(),
        block_on(b).unwrap_err(),
        block_on(room.dispatch("b", "".into())).unwrap_err(),
    ];
    for error in ended {
        assert_eq!(full(&error), "Cancellation/SessionCancelled");
    }
    assert_eq!(*lock(&room.ran), ["stuck-command"]);
    drop(release);
}

#[test]
fn commands_that_one_runs_side_by_side_run_one_after_the_other() {
    let room = room();
    let (begun, release) = held(&room, "slow-command", "slow");
    room.add("b-command", "b", |_| {});
    let (reached, has_reached) = mpsc::channel();
    room.add("outer-command", "outer", |fake| {
        fake.run = Box::new(move |room, _, _| {
            let reached = reached.clone();
            Box::pin(async move {
                let run = |name| {
                    room.commands
                        .dispatch(&*room, "outer-command", name, "".into())
                };
                let mut slow = pin!(run("slow"));
                let mut b = pin!(run("b"));
                assert!(poll(slow.as_mut()).is_pending());
                assert!(poll(b.as_mut()).is_pending());
                let _ = reached.send(());
                slow.await?;
                b.await?;
                Ok(Rendered::from("both"))
            })
        });
    });
    let mut outer = pin!(room.dispatch("outer", "".into()));
    assert!(poll(outer.as_mut()).is_pending());
    has_reached.recv().unwrap();
    begun.recv().unwrap();
    assert_eq!(*lock(&room.ran), ["outer-command", "slow-command"]);
    release.send(()).unwrap();
    assert_eq!(block_on(outer), Ok(done("both")));
    assert_eq!(
        *lock(&room.ran),
        ["outer-command", "slow-command", "b-command"]
    );
}

#[test]
fn what_a_command_asks_lives_as_long_as_the_command() {
    let room = room();
    assert!(room.commands.called_off("a-command").is_none());
    let (token, tokens) = mpsc::channel();
    room.add("a-command", "a", |fake| {
        fake.run = Box::new(move |room, _, _| {
            let _ = token.send(room.commands.called_off("a-command"));
            Box::pin(async { Ok(Rendered::from("")) })
        });
    });
    block_on(room.dispatch("a", "".into())).unwrap();
    let during = tokens.recv().unwrap().unwrap();
    assert!(during.is_cancelled(), "nobody waits for it any more");
    assert!(room.commands.called_off("a-command").is_none());
}

#[test]
fn a_command_whose_thread_ends_broke_off_and_holds_up_nobody() {
    let room = room();
    room.add("bad-command", "bad", |fake| {
        fake.run = Box::new(|_, _, _| Box::pin(async { panic!("this thread ends here") }));
    });
    room.add("b-command", "b", |_| {});
    let error = block_on(room.dispatch("bad", "".into())).unwrap_err();
    assert_eq!(full(&error), "ExtensionHost/CallPanicked");
    assert!(block_on(room.dispatch("b", "".into())).is_ok());
}
