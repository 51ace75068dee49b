//! People who leave while they are asked, come back, or do not.

use std::sync::Arc;

use shuttle::thread;
use stud_contract_interaction::{Ask, Status};
use stud_core::executor::block_on;
use stud_diagnostics::codes;

use crate::clock::Clock;
use crate::explore::explore;
use crate::people::Move;
use crate::room::{Asked, GRACE, LETTING_GO, Room, join};
use crate::shelf::StoredSessions;

#[test]
fn whoever_leaves_in_the_middle_leaves_it_to_the_others() {
    explore(|| {
        let room = Room::new();
        room.seat("ann", &[Move::Wait, Move::Accept]);
        room.seat("bob", &[Move::Accept, Move::Accept]);
        let asking = [room.ask(), room.ask()];
        room.prompts.leave("ann");
        let asked = join(asking);
        room.settle(&asked);
    });
}

#[test]
fn whoever_comes_back_is_asked_again() {
    explore(coming_back);
}

/// Ann answers the second time she sees the prompt. If coming back did not show it to her again, nothing else would.
pub(crate) fn coming_back() {
    let room = Room::new();
    let ann = room.seat("ann", &[Move::Wait, Move::Accept]);
    let raised = room.prompts.raise(room.asker(), Ask::default().into());
    let id = raised.interaction_id().to_owned();
    let going = {
        let room = Arc::clone(&room);
        thread::spawn(move || {
            // She has seen it before she goes.
            while ann.diary().calls.is_empty() {
                thread::yield_now();
            }
            room.prompts.leave("ann");
            room.prompts.join(ann);
        })
    };
    let got = Some(block_on(raised));
    going.join().unwrap();
    let asked = [Asked { id, got }];
    assert!(matches!(&asked[0].got, Some(Ok(got)) if got.status == Status::Accepted));
    room.settle(&asked);
}

#[test]
fn a_prompt_ends_when_the_last_one_is_gone_for_good() {
    explore(departing);
}

/// However the departure falls between raising and asking, the asker is told.
pub(crate) fn departing() {
    let room = Room::new();
    room.seat("ann", &[Move::Wait, Move::Wait]);
    let asking = [room.ask(), room.ask()];
    room.prompts.depart("ann");
    let asked = join(asking);
    assert!(asked.iter().all(is_halted));
    room.settle(&asked);
}

#[test]
fn two_go_for_good_at_once() {
    explore(|| {
        let room = Room::new();
        room.seat("ann", &[Move::Wait]);
        room.seat("bob", &[Move::Wait]);
        let asking = room.ask();
        let going = ["ann", "bob"].map(|id| {
            let room = Arc::clone(&room);
            thread::spawn(move || room.prompts.depart(id))
        });
        let asked = join([asking]);
        for going in going {
            going.join().unwrap();
        }
        assert!(is_halted(&asked[0]));
        room.settle(&asked);
    });
}

#[test]
fn the_grace_period_ends_as_somebody_comes_back() {
    explore(grace);
}

pub(crate) fn grace() {
    let room = Room::with(Clock::ringing(GRACE, 1), StoredSessions::new());
    let ann = room.seat("ann", &[Move::Accept, Move::Accept]);
    room.prompts.leave("ann");
    let asking = room.ask();
    let returning = {
        let room = Arc::clone(&room);
        thread::spawn(move || room.prompts.join(ann))
    };
    let asked = join([asking]);
    returning.join().unwrap();
    assert!(is_halted(&asked[0]) || matches!(asked[0].got, Some(Ok(_))));
    // An interactor that is attached now is asked, whatever alarm fired before.
    let again = join([room.ask()]);
    assert!(matches!(&again[0].got, Some(Ok(got)) if got.status == Status::Accepted));
    room.settle(&[asked, again].into_iter().flatten().collect::<Vec<_>>());
}

#[test]
fn everybody_who_goes_is_given_the_whole_grace_period() {
    explore(grace_anew);
}

/// Only the alarm of the first absence may ring, and that absence is over before anything is asked. So the prompt waits
/// through the second one, and ann answers it.
pub(crate) fn grace_anew() {
    let room = Room::with(Clock::ringing(GRACE, 1), StoredSessions::new());
    let ann = room.seat("ann", &[Move::Accept]);
    room.prompts.leave("ann");
    room.prompts.join(ann.clone());
    let asking = room.ask();
    room.prompts.leave("ann");
    room.prompts.join(ann);
    let asked = join([asking]);
    assert!(matches!(asked[0].got, Some(Ok(_))), "{:?}", asked[0].got);
    room.settle(&asked);
}

#[test]
fn a_reload_waits_until_the_prompt_is_over() {
    explore(reloading);
}

pub(crate) fn reloading() {
    let room = Room::new();
    let ann = room.seat("ann", &[Move::Accept, Move::Accept, Move::Accept]);
    room.seat("bob", &[Move::Wait, Move::Accept]);
    let asking = [room.ask(), room.ask()];
    let reloading = {
        let room = Arc::clone(&room);
        thread::spawn(move || {
            block_on(room.prompts.drain_interactor("ann"));
            room.prompts.leave("ann");
            room.prompts.join(ann);
        })
    };
    let asked = join(asking);
    reloading.join().unwrap();
    assert!(asked.iter().all(|asked| matches!(asked.got, Some(Ok(_)))));
    room.settle(&asked);
}

#[test]
fn whoever_does_not_let_go_holds_up_nobody() {
    explore(|| {
        let room = Room::with(Clock::ringing(LETTING_GO, 8), StoredSessions::new());
        let ann = room.seat("ann", &[Move::Cling, Move::Accept, Move::Accept]);
        room.seat("bob", &[Move::Accept, Move::Accept]);
        let mut asked = join([room.ask(), room.ask()]);
        block_on(room.prompts.idle("ann"));
        ann.let_go();
        // When she has let go she is asked again.
        room.prompts.leave("bob");
        asked.extend(join([room.ask()]));
        let words = Some(ann.words(&asked[2].id));
        assert!(matches!(&asked[2].got, Some(Ok(got)) if got.value == words));
        room.settle(&asked);
    });
}

#[test]
fn whoever_does_not_let_go_of_a_later_prompt_holds_up_nobody() {
    explore(|| {
        let room = Room::with(Clock::ringing(LETTING_GO, 12), StoredSessions::new());
        let ann = room.seat("ann", &[Move::Dismiss, Move::Cling]);
        room.seat("bob", &[Move::Accept, Move::Accept, Move::Accept]);
        let asked = join([room.ask(), room.ask(), room.ask()]);
        block_on(room.prompts.idle("ann"));
        ann.let_go();
        room.settle(&asked);
    });
}

#[test]
fn whoever_lets_go_after_leaving_is_not_asked_again() {
    explore(letting_go_too_late);
}

pub(crate) fn letting_go_too_late() {
    let room = Room::with(Clock::ringing(LETTING_GO, 8), StoredSessions::new());
    let ann = room.seat("ann", &[Move::Cling]);
    room.seat("bob", &[Move::Accept, Move::Accept]);
    let mut asked = join([room.ask()]);
    let letting_go = {
        let ann = ann.clone();
        thread::spawn(move || ann.let_go())
    };
    room.prompts.leave("ann");
    letting_go.join().unwrap();
    asked.extend(join([room.ask()]));
    room.settle(&asked);
    assert!(!room.prompts.has("ann"));
    let seen = ann.diary().calls;
    assert!(seen.iter().all(|call| call.prompt != asked[1].id));
}

fn is_halted(asked: &Asked) -> bool {
    let code = codes::HEADLESS_INTERACTION_REQUIRED.name;
    matches!(&asked.got, Some(Err(error)) if error.code() == code)
}
