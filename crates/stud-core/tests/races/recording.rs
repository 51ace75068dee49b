//! What is written down: in one order, completely, and before it has an effect.

use std::sync::Arc;

use serde_json::json;
use shuttle::sync::Mutex;
use shuttle::thread;
use stud_contract_interaction::Status;
use stud_contract_session_store::Durability;
use stud_core::executor::block_on;
use stud_core::ledger::{Draft, Ledger};
use stud_core::redact::Redactor;
use stud_diagnostics::codes;

use crate::clock::Clock;
use crate::explore::explore;
use crate::people::Move;
use crate::room::{Room, join};
use crate::shelf::StoredSessions;

fn ledger(shelf: &Arc<StoredSessions>) -> Arc<Ledger> {
    let first = draft("session_start");
    Ledger::new(
        "s1",
        0,
        first,
        shelf.clone(),
        Arc::new(Redactor::new()),
        Clock::silent(),
    )
}

fn draft(kind: &'static str) -> Draft {
    Draft {
        kind,
        payload: json!({}),
        ..Draft::default()
    }
}

#[test]
fn consequences_happen_in_the_order_of_records() {
    explore(consequences);
}

pub(crate) fn consequences() {
    let shelf = StoredSessions::new();
    let ledger = ledger(&shelf);
    let happened = Arc::new(Mutex::new(Vec::new()));
    let writers = ["a", "b", "c"].map(|kind| {
        let (ledger, happened, shelf) = (ledger.clone(), happened.clone(), shelf.clone());
        thread::spawn(move || {
            for durability in [Durability::Written, Durability::Synced] {
                let (happened, shelf) = (happened.clone(), shelf.clone());
                ledger.commit(vec![draft(kind), draft(kind)], durability, move |seq| {
                    let seq = seq.unwrap();
                    let journal = shelf.journal("s1");
                    assert!(
                        journal
                            .iter()
                            .any(|record| record.seq == seq && record.kind == kind)
                    );
                    let safe = durability == Durability::Written || shelf.is_safe("s1", seq);
                    assert!(safe, "a synced record has an effect before it is safe");
                    happened.lock().unwrap().push(seq);
                });
            }
        })
    });
    for writer in writers {
        writer.join().unwrap();
    }
    let last = block_on(ledger.append(Vec::new(), Durability::Written)).unwrap();
    assert_eq!(last, 13, "a start and twelve records");
    let happened = happened.lock().unwrap().clone();
    assert_eq!(happened, [3, 5, 7, 9, 11, 13]);
    assert_eq!((ledger.last_seq(), shelf.journal("s1").len()), (13, 13));
}

#[test]
fn a_store_that_fails_leaves_no_gap_and_tells_everybody() {
    explore(|| {
        let shelf = StoredSessions::failing(0..3);
        let ledger = ledger(&shelf);
        let writers = ["a", "b", "c"].map(|kind| {
            let (ledger, shelf) = (ledger.clone(), shelf.clone());
            thread::spawn(move || {
                let written = block_on(ledger.append(vec![draft(kind)], Durability::Synced));
                let found = shelf
                    .journal("s1")
                    .into_iter()
                    .find(|record| record.kind == kind);
                match written {
                    Ok(seq) => {
                        assert_eq!(found.map(|record| record.seq), Some(seq));
                        assert!(shelf.is_safe("s1", seq));
                        1
                    }
                    Err(error) => {
                        assert_eq!(error.code(), codes::STORE_UNAVAILABLE.name);
                        0
                    }
                }
            })
        });
        let written: usize = writers.map(|writer| writer.join().unwrap()).iter().sum();
        assert!(shelf.journal("s1").len() >= written);
        assert_eq!(
            ledger.last_seq(),
            shelf.journal("s1").last().map_or(0, |record| record.seq)
        );
    });
}

#[test]
fn cit_11_a_prompt_whose_record_fails_is_shown_to_no_interactor() {
    explore(|| {
        // The first two calls are the record of the first prompt and its second try.
        let room = Room::with(Clock::silent(), StoredSessions::failing(0..2));
        room.seat("ann", &[Move::Accept, Move::Accept]);
        room.seat("bob", &[Move::Respond, Move::Respond]);
        let asked = join([room.ask(), room.ask()]);
        let failed = asked
            .iter()
            .filter(|asked| matches!(asked.got, Some(Err(_))));
        assert_eq!(failed.count(), 1, "one is not asked, and the other is");
        room.settle(&asked);
    });
}

#[test]
fn an_answer_whose_record_fails_has_no_effect() {
    explore(|| {
        // The record of the prompt is kept, and that of the first answer is not.
        let room = Room::with(Clock::silent(), StoredSessions::failing(1..3));
        room.seat("ann", &[Move::Accept, Move::Accept]);
        room.seat("bob", &[Move::Respond, Move::Respond]);
        let asked = join([room.ask()]);
        let error = asked[0].got.as_ref().unwrap().as_ref().unwrap_err();
        assert_eq!(error.code(), codes::STORE_UNAVAILABLE.name);
        let again = join([room.ask()]);
        assert!(matches!(&again[0].got, Some(Ok(got)) if got.status == Status::Accepted));
        room.settle(&[asked, again].into_iter().flatten().collect::<Vec<_>>());
    });
}

#[test]
fn a_failing_store_tells_nobody_of_a_prompt_that_nobody_saw() {
    explore(unseen_and_unwritten);
}

/// No interactor is attached, so the prompt is settled by rule and leaves no record. What fails beside it is not its own.
pub(crate) fn unseen_and_unwritten() {
    let room = Room::with(Clock::silent(), StoredSessions::failing(0..8));
    let asking = room.ask();
    let noting = {
        let ledger = room.books.ledger.clone();
        thread::spawn(move || block_on(ledger.append(vec![draft("note")], Durability::Written)))
    };
    let asked = join([asking]);
    assert!(noting.join().unwrap().is_err());
    room.settle(&asked);
}
