//! Sessions: what is said is answered once, whatever ends when.

use serde_json::json;
use shuttle::thread::{self, JoinHandle};
use stud_abi::CancellationToken;
use stud_contract_interaction::Ask;
use stud_core::executor::block_on;
use stud_core::session::Ending;
use stud_diagnostics::codes;

use crate::explore::explore;
use crate::parlor::{Parlor, reopen};
use crate::people::Move;
use crate::shelf::StoredSessions;

#[test]
fn inputs_outlive_a_session_that_closes_among_them() {
    explore(inputs);
}

pub(crate) fn inputs() {
    let parlor = Parlor::new(&StoredSessions::new());
    let saying = [parlor.say("one"), parlor.say("two"), parlor.say("three")];
    let answering = parlor.answer();
    let closing = {
        let session = parlor.session.clone();
        thread::spawn(move || session.close().unwrap())
    };
    let acknowledged = acknowledged(saying);
    let answered = answering.join().unwrap();
    closing.join().unwrap();
    if parlor.shelf.journal(parlor.session.id()).is_empty() {
        assert!(acknowledged.is_empty());
        return;
    }
    parlor.reopen().has_all_of(&acknowledged, &answered);
}

#[test]
fn a_turn_ends_as_its_session_closes() {
    explore(closing_in_a_turn);
}

pub(crate) fn closing_in_a_turn() {
    let parlor = Parlor::new(&StoredSessions::new());
    let acknowledged = [parlor.say("one").join().unwrap().unwrap()];
    let answering = parlor.answer();
    parlor.session.close().unwrap();
    let answered = answering.join().unwrap();
    parlor.reopen().has_all_of(&acknowledged, &answered);
}

#[test]
fn inputs_outlive_a_process_that_ends_without_a_word() {
    explore(crashing);
}

pub(crate) fn crashing() {
    let parlor = Parlor::new(&StoredSessions::new());
    let saying = [parlor.say("one"), parlor.say("two")];
    let answering = parlor.answer();
    let acknowledged = acknowledged(saying);
    let left = parlor.shelf.after_a_crash(parlor.session.id());
    reopen(&left, parlor.session.id()).has_all_of(&acknowledged, &[]);
    parlor.session.end_of_input();
    assert_eq!(
        answering.join().unwrap().len(),
        2,
        "the end of input is not the end of answers"
    );
    parlor.heard();
}

#[test]
fn the_end_of_input_leaves_nothing_unread() {
    explore(end_of_input);
}

pub(crate) fn end_of_input() {
    let parlor = Parlor::new(&StoredSessions::new());
    let saying = [parlor.say("one"), parlor.say("two")];
    let answering = parlor.answer();
    parlor.session.end_of_input();
    let acknowledged = acknowledged(saying);
    let mut answered = answering.join().unwrap();
    answered.sort_unstable();
    assert_eq!(answered, acknowledged);
}

#[test]
fn an_input_that_the_store_refuses_is_not_acknowledged() {
    explore(|| {
        let parlor = Parlor::new(&StoredSessions::failing(1..5));
        let saying = [parlor.say("one"), parlor.say("two"), parlor.say("three")];
        let answering = parlor.answer();
        let acknowledged = acknowledged(saying);
        parlor.session.end_of_input();
        let answered = answering.join().unwrap();
        assert_eq!(
            answered, acknowledged,
            "all that was acknowledged is answered, in its order"
        );
    });
}

#[test]
fn what_is_said_as_a_prompt_is_settled_elsewhere_is_answered() {
    explore(|| {
        let parlor = Parlor::new(&StoredSessions::new());
        let first = parlor.say("one").join().unwrap().unwrap();
        let input = block_on(parlor.session.next_input()).unwrap();
        let turn = parlor.session.begin_turn(&input).unwrap();
        // One of them answers, and the other one types meanwhile.
        parlor.seat("ann", &[Move::Accept]);
        parlor.seat("bob", &[Move::Wait]);
        let raised = parlor
            .session
            .ask(Some("tool"), turn.cancelled(), Ask::default().into());
        let saying = parlor.say("two");
        assert!(block_on(raised).is_ok());
        let then = parlor.say("three");
        block_on(turn.end(&Ending::Completed, false)).unwrap();
        let answering = parlor.answer();
        let acknowledged = acknowledged([saying, then]);
        assert_eq!(acknowledged.len(), 2, "both are taken");
        parlor.session.end_of_input();
        assert_eq!(answering.join().unwrap(), acknowledged);
        parlor.session.close().unwrap();
        let all = [first, acknowledged[0], acknowledged[1]];
        parlor.reopen().has_all_of(&all, &all);
    });
}

#[test]
fn a_prompt_ends_with_its_turn() {
    explore(|| {
        let parlor = Parlor::new(&StoredSessions::new());
        parlor.say("one").join().unwrap();
        let input = block_on(parlor.session.next_input()).unwrap();
        let turn = parlor.session.begin_turn(&input).unwrap();
        parlor.seat("ann", &[Move::Accept, Move::Accept]);
        parlor.seat("bob", &[Move::Wait, Move::Belated]);
        let cancelling = {
            let session = parlor.session.clone();
            thread::spawn(move || assert!(session.cancel_turn()))
        };
        let raised = parlor
            .session
            .ask(Some("tool"), turn.cancelled(), Ask::default().into());
        let ending = match block_on(raised) {
            Ok(_) => Ending::Completed,
            Err(error) => {
                assert_eq!(error.code(), codes::TURN_CANCELLED.name);
                Ending::of(error)
            }
        };
        cancelling.join().unwrap();
        block_on(turn.end(&ending, false)).unwrap();
        // The session continues.
        let after = parlor
            .session
            .ask(None, CancellationToken::never(), Ask::default().into());
        assert!(block_on(after).is_ok());
        for id in ["ann", "bob"] {
            block_on(parlor.session.prompts().idle(id));
        }
        parlor.heard();
    });
}

#[test]
fn closing_in_the_middle_of_a_prompt_ends_it_once() {
    explore(|| {
        let parlor = Parlor::new(&StoredSessions::new());
        parlor.say("one").join().unwrap();
        let input = block_on(parlor.session.next_input()).unwrap();
        let turn = parlor.session.begin_turn(&input).unwrap();
        let ann = parlor.seat("ann", &[Move::Respond]);
        let closing = {
            let session = parlor.session.clone();
            thread::spawn(move || session.close().unwrap())
        };
        let raised = parlor
            .session
            .ask(Some("tool"), turn.cancelled(), Ask::default().into());
        let id = raised.interaction_id().to_owned();
        let got = block_on(raised);
        let won = !ann.diary().won.is_empty();
        match &got {
            Ok(_) => assert_eq!(parlor.shelf.about(&id, "interaction_response").len(), 1),
            Err(error) => {
                let codes = [codes::SESSION_CANCELLED.name, codes::TURN_CANCELLED.name];
                assert!(codes.contains(&error.code()), "{error}");
                assert!(!won, "ann was told that she won");
            }
        }
        let _ = block_on(turn.end(&Ending::Cancelled, false));
        closing.join().unwrap();
        parlor.reopen();
    });
}

#[test]
fn what_a_session_leaves_open_is_tied_up_when_it_is_opened_again() {
    explore(loose_ends);
}

/// A tool is called and asks, and the process ends as soon as the session is closed.
pub(crate) fn loose_ends() {
    let parlor = Parlor::new(&StoredSessions::new());
    parlor.say("one").join().unwrap();
    let input = block_on(parlor.session.next_input()).unwrap();
    let turn = parlor.session.begin_turn(&input).unwrap();
    parlor.seat("ann", &[Move::Wait]);
    let closing = {
        let session = parlor.session.clone();
        thread::spawn(move || session.close().unwrap())
    };
    let call = json!({"toolCallId": "c1", "toolName": "asker"});
    block_on(turn.record("tool_call", None, call)).unwrap();
    let cancelled = turn.cancelled();
    let raised = parlor
        .session
        .ask(Some("asker"), cancelled, Ask::default().into());
    closing.join().unwrap();
    let left = parlor.shelf.after_a_crash(parlor.session.id());
    reopen(&left, parlor.session.id());
    assert!(block_on(raised).is_err());
}

#[test]
fn a_turn_that_cannot_begin_does_not_revive_its_session() {
    explore(|| {
        // The store keeps the input and then fails.
        let parlor = Parlor::new(&StoredSessions::failing(2..100));
        parlor.say("one").join().unwrap().unwrap();
        let input = block_on(parlor.session.next_input()).unwrap();
        let closing = {
            let session = parlor.session.clone();
            thread::spawn(move || assert!(session.close().is_err()))
        };
        assert!(parlor.session.begin_turn(&input).is_err());
        closing.join().unwrap();
        let error = parlor.session.begin_turn(&input).unwrap_err();
        assert_eq!(error.code(), codes::ILLEGAL_TRANSITION.name);
    });
}

#[test]
fn closing_one_session_does_nothing_to_another() {
    explore(|| {
        let shelf = StoredSessions::new();
        let (one, other) = (Parlor::new(&shelf), Parlor::new(&shelf));
        one.seat("ann", &[Move::Wait]);
        other.seat("ann", &[Move::Accept]);
        let ask = |parlor: &Parlor| {
            let session = parlor.session.clone();
            thread::spawn(move || {
                let raised = session.ask(None, CancellationToken::never(), Ask::default().into());
                block_on(raised)
            })
        };
        let (asking, also) = (ask(&one), ask(&other));
        let (saying, answering) = (other.say("still there?"), other.answer());
        one.session.close().unwrap();
        let error = asking.join().unwrap().unwrap_err();
        assert_eq!(error.code(), codes::SESSION_CANCELLED.name);
        assert!(
            also.join().unwrap().is_ok(),
            "the other's prompt is answered"
        );
        let acknowledged = acknowledged([saying]);
        assert_eq!(acknowledged.len(), 1, "the other's input is taken");
        other.session.end_of_input();
        assert_eq!(answering.join().unwrap(), acknowledged);
        assert!(!other.session.scope().is_cancelled());
        other.heard();
        let told = other.witness.heard();
        assert!(told.iter().all(|event| event.name != "SessionClosed"));
        other.session.close().unwrap();
        other.reopen().has_all_of(&acknowledged, &acknowledged);
    });
}

/// The numbers of the inputs that were acknowledged, in order.
fn acknowledged(saying: impl IntoIterator<Item = JoinHandle<Option<u64>>>) -> Vec<u64> {
    let mut numbers: Vec<u64> = saying
        .into_iter()
        .filter_map(|say| say.join().unwrap())
        .collect();
    numbers.sort_unstable();
    numbers
}
