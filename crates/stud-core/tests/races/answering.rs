//! Several interactors, one prompt: the first answer wins, and all see the same one.

use std::sync::Arc;
use std::time::Duration;

use shuttle::thread;
use stud_abi::CancellationSource;
use stud_contract_interaction::Status;
use stud_core::events::Service;
use stud_diagnostics::codes;

use crate::clock::Clock;
use crate::explore::explore;
use crate::hearing::Slow;
use crate::people::Move;
use crate::room::{HELD_UP, Room, join};
use crate::shelf::StoredSessions;

#[test]
fn two_answers_have_one_winner() {
    explore(two_answers);
}

pub(crate) fn two_answers() {
    let room = Room::new();
    room.seat("ann", &[Move::Accept]);
    room.seat("bob", &[Move::Accept]);
    let asked = join([room.ask()]);
    assert_eq!(status(&asked[0]), Some(Status::Accepted));
    room.settle(&asked);
    room.everybody_was_asked(&asked);
}

#[test]
fn a_no_wins_like_a_yes() {
    explore(|| {
        let room = Room::new();
        room.seat("ann", &[Move::Accept]);
        room.seat("bob", &[Move::Reject]);
        room.seat("cat", &[Move::Wait]);
        let asked = join([room.ask()]);
        assert!(status(&asked[0]).is_some_and(Status::settles));
        room.settle(&asked);
    });
}

#[test]
fn eight_people_in_every_mood_agree_on_one_answer() {
    explore(eight_people);
}

pub(crate) fn eight_people() {
    let room = Room::new();
    room.seat("ann", &[Move::Accept]);
    room.seat("bob", &[Move::Reject]);
    room.seat("cat", &[Move::Dismiss]);
    room.seat("dan", &[Move::TimeOut]);
    room.seat("eli", &[Move::Misshape, Move::Accept]);
    room.seat("fay", &[Move::Fail]);
    room.seat("gus", &[Move::Respond]);
    room.seat("hal", &[Move::Belated]);
    let asked = join([room.ask()]);
    assert!(status(&asked[0]).is_some_and(Status::settles));
    room.settle(&asked);
    room.everybody_was_asked(&asked);
}

#[test]
fn a_subscriber_that_is_stuck_keeps_no_question_back() {
    explore(held_up);
}

/// A subscriber does not return from the event `InteractionRaised` before the prompt is answered.
pub(crate) fn held_up() {
    let room = Room::with(Clock::ringing(HELD_UP, 1), StoredSessions::new());
    let stuck = Slow::new("stuck", Duration::ZERO);
    room.books.bus.subscribe(stuck.clone(), Service::Shared);
    room.seat("ann", &[Move::Accept]);
    let asked = join([room.ask()]);
    assert_eq!(status(&asked[0]), Some(Status::Accepted));
    stuck.gate.open();
    room.settle(&asked);
    room.everybody_was_asked(&asked);
}

#[test]
fn an_answer_of_the_wrong_shape_leaves_the_prompt_open() {
    explore(|| {
        let room = Room::new();
        room.seat(
            "ann",
            &[
                Move::Misshape,
                Move::Misshape,
                Move::Misshape,
                Move::Misshape,
            ],
        );
        room.seat("bob", &[Move::Misshape, Move::Misshape, Move::Accept]);
        let asked = join([room.ask()]);
        let heard = room.settle(&asked);
        let answered = heard
            .iter()
            .find(|event| event.name == "InteractionAnswered");
        assert_eq!(answered.unwrap().payload["extId"], "bob");
    });
}

#[test]
fn silence_is_no_answer() {
    explore(silence);
}

/// No answer comes, in four different ways, until the asker cancels.
pub(crate) fn silence() {
    let room = Room::new();
    room.seat("ann", &[Move::Dismiss]);
    room.seat("bob", &[Move::TimeOut]);
    room.seat("cat", &[Move::Fail]);
    room.seat("dan", &[Move::Wait]);
    let enough = CancellationSource::new();
    let mut asker = room.asker();
    asker.cancelled = enough.token();
    let asking = room.ask_as(asker);
    thread::spawn(move || enough.cancel());
    let asked = join([asking]);
    let error = asked[0].got.as_ref().unwrap().as_ref().unwrap_err();
    assert_eq!(error.code(), codes::TURN_CANCELLED.name);
    room.settle(&asked);
}

#[test]
fn an_answer_given_by_hand_races_one_that_is_returned() {
    explore(by_hand);
}

pub(crate) fn by_hand() {
    let room = Room::new();
    let ann = room.seat("ann", &[Move::Insist]);
    let bob = room.seat("bob", &[Move::Respond]);
    room.seat("cat", &[Move::Accept]);
    let asked = join([room.ask()]);
    let heard = room.settle(&asked);
    let answered = heard
        .iter()
        .find(|event| event.name == "InteractionAnswered")
        .unwrap();
    // An answer through `respond` reports immediately whether it won.
    for person in [ann, bob] {
        let (diary, words) = (person.diary(), person.words(&asked[0].id));
        let won = !diary.won.is_empty();
        assert!(diary.won.len() + diary.refused.len() <= 1);
        assert!(!won || answered.payload["value"] == words);
    }
}

#[test]
fn late_answers_are_refused() {
    explore(late_answers);
}

pub(crate) fn late_answers() {
    let room = Room::new();
    room.seat("ann", &[Move::Belated, Move::Belated]);
    room.seat("bob", &[Move::Belated, Move::Reject]);
    room.seat("cat", &[Move::Accept, Move::Accept]);
    let asked = join([room.ask(), room.ask()]);
    room.settle(&asked);
}

#[test]
fn three_askers_are_served_one_after_the_other() {
    explore(three_askers);
}

pub(crate) fn three_askers() {
    let room = Room::new();
    room.seat("ann", &[Move::Accept, Move::Accept, Move::Accept]);
    room.seat("bob", &[Move::Wait, Move::Reject, Move::Respond]);
    let asked = join([room.ask(), room.ask(), room.ask()]);
    assert!(
        asked
            .iter()
            .all(|asked| status(asked).is_some_and(Status::settles))
    );
    room.settle(&asked);
}

#[test]
fn children_ask_through_the_registry_of_their_parent() {
    explore(|| {
        let room = Room::new();
        room.seat("ann", &[Move::Accept, Move::Accept, Move::Accept]);
        let ask_from = |name: &str, spawned_at: u64| {
            let mut asker = room.asker();
            asker.books = room.child(name);
            asker.spawned_at = Some(spawned_at);
            room.ask_as(asker)
        };
        let asked = join([ask_from("first", 1), ask_from("second", 2), room.ask()]);
        let heard = room.settle(&asked);
        let of_children = heard
            .iter()
            .filter(|event| event.payload.get("subagentId").is_some());
        assert_eq!(
            of_children.count(),
            4,
            "two prompts, each raised and answered"
        );
    });
}

#[test]
fn whoever_joins_while_something_is_asked_is_asked_too() {
    explore(joining_late);
}

/// Only the one who comes late answers, so the prompt is settled only if it reaches her.
pub(crate) fn joining_late() {
    let room = Room::new();
    room.seat("ann", &[Move::Wait]);
    let bob = room.person("bob", &[Move::Accept]);
    let asking = room.ask();
    let joining = {
        let room = Arc::clone(&room);
        thread::spawn(move || room.prompts.join(bob))
    };
    joining.join().unwrap();
    let asked = join([asking]);
    room.settle(&asked);
}

fn status(asked: &crate::room::Asked) -> Option<Status> {
    let got = asked.got.as_ref()?.as_ref().ok()?;
    Some(got.status)
}
