//! Children of a session: they ask through the queue of their orchestrator, and end with it.

use std::sync::Arc;

use shuttle::thread;
use stud_abi::CancellationSource;
use stud_contract_interaction::Status;
use stud_core::interactions::Asker;
use stud_diagnostics::codes;

use crate::explore::explore;
use crate::people::Move;
use crate::room::{Asked, Room, join};

#[test]
fn two_children_ask_while_their_parent_is_cancelled() {
    explore(parent_cancelled);
}

/// Two children and the orchestrator ask, one interactor leaves, and the orchestrator is cancelled with its children.
pub(crate) fn parent_cancelled() {
    let room = Room::new();
    room.seat("ann", &[Move::Accept, Move::Accept, Move::Accept]);
    room.seat("bob", &[Move::Wait, Move::Wait, Move::Wait]);
    let parent = CancellationSource::new();
    let children = [parent.child(), parent.child()];
    let asker = |scope: &CancellationSource| Asker {
        cancelled: scope.token(),
        ..room.asker()
    };
    let of_child = |place: usize, name: &str| Asker {
        books: room.child(name),
        spawned_at: Some(place as u64),
        ..asker(&children[place])
    };
    let asking = [
        room.ask_as(of_child(0, "first")),
        room.ask_as(of_child(1, "second")),
        room.ask_as(asker(&parent)),
    ];
    let leaving = {
        let room = Arc::clone(&room);
        thread::spawn(move || room.prompts.leave("bob"))
    };
    let cancelling = thread::spawn(move || parent.cancel());
    let asked = join(asking);
    leaving.join().unwrap();
    cancelling.join().unwrap();
    for prompt in &asked {
        assert!(is_over(prompt), "{prompt:?}");
    }
    room.settle(&asked);
}

/// A prompt was answered, or cancelled with who asked.
fn is_over(prompt: &Asked) -> bool {
    match prompt.got.as_ref().unwrap() {
        Ok(response) => response.status == Status::Accepted,
        Err(error) => error.code() == codes::TURN_CANCELLED.name,
    }
}

#[test]
fn a_child_that_is_cancelled_leaves_the_prompts_of_the_others() {
    explore(child_cancelled);
}

/// One child is cancelled, and what the other asks is answered.
pub(crate) fn child_cancelled() {
    let room = Room::new();
    room.seat("ann", &[Move::Accept, Move::Accept]);
    let parent = CancellationSource::new();
    let [first, second] = [parent.child(), parent.child()];
    let ask_from = |name: &str, spawned_at: u64, scope: &CancellationSource| {
        room.ask_as(Asker {
            books: room.child(name),
            spawned_at: Some(spawned_at),
            cancelled: scope.token(),
            ..room.asker()
        })
    };
    let asking = [ask_from("first", 1, &first), ask_from("second", 2, &second)];
    let cancelling = thread::spawn(move || first.cancel());
    let asked = join(asking);
    cancelling.join().unwrap();
    assert!(is_over(&asked[0]));
    let other = asked[1].got.as_ref().unwrap().as_ref().unwrap();
    assert_eq!(other.status, Status::Accepted);
    assert!(!parent.token().is_cancelled());
    room.settle(&asked);
}
