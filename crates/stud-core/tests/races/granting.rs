//! Grants of parallel stages: each is asked for, given and used while other stages do the same, the turn is cancelled or an
//! interactor leaves.

use std::sync::Arc;

use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread::{self, JoinHandle};
use stud_abi::{CancellationSource, CancellationToken};
use stud_contract_interaction::Status;
use stud_core::workflow::{GrantBinding, Grants};

use crate::explore::explore;
use crate::people::Move;
use crate::room::{Asked, Room};

fn binding(stage: &str) -> GrantBinding {
    GrantBinding {
        stage_execution_id: stage.to_owned(),
        attempt: 0,
        proposal_id: format!("{stage}-p1"),
        tool: "bash".to_owned(),
        args_digest: "d1".to_owned(),
    }
}

/// A stage that asks for a grant, and has two threads that want to run a call on it. Gives how many calls ran.
fn stage(
    room: &Arc<Room>,
    grants: &Arc<Grants>,
    id: &'static str,
    cancelled: CancellationToken,
) -> JoinHandle<(Asked, usize)> {
    let (room, grants) = (room.clone(), grants.clone());
    thread::spawn(move || {
        let mut asker = room.asker();
        asker.cancelled = cancelled;
        let asked = room.ask_as(asker).join().unwrap();
        let granted = matches!(&asked.got, Some(Ok(got)) if got.status == Status::Accepted);
        if granted {
            let _ = grants.issue(binding(id));
        }
        let ran = Arc::new(AtomicUsize::new(0));
        let calls: Vec<JoinHandle<()>> = (0..2)
            .map(|_| {
                let (grants, ran) = (grants.clone(), ran.clone());
                thread::spawn(move || {
                    if grants.consume(&binding(id)).is_ok() {
                        ran.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        for call in calls {
            call.join().unwrap();
        }
        let ran = ran.load(Ordering::SeqCst);
        assert!(ran <= usize::from(granted), "{ran} calls ran on one grant");
        (asked, ran)
    })
}

#[test]
fn siblings_use_their_own_grants_once() {
    explore(siblings);
}

pub(crate) fn siblings() {
    let room = Room::new();
    room.seat("ann", &[Move::Accept, Move::Accept]);
    let grants = Arc::new(Grants::default());
    let never = CancellationToken::never();
    let stages = ["a", "b"].map(|id| stage(&room, &grants, id, never.clone()));
    let mut all = Vec::new();
    for stage in stages {
        let (asked, ran) = stage.join().unwrap();
        assert_eq!(ran, 1, "what was granted runs");
        all.push(asked);
    }
    room.settle(&all);
}

#[test]
fn an_attempt_that_ends_takes_its_grants_with_it() {
    explore(ending);
}

pub(crate) fn ending() {
    let room = Room::new();
    room.seat("ann", &[Move::Accept, Move::Accept]);
    let grants = Arc::new(Grants::default());
    let source = CancellationSource::new();
    let stages = ["a", "b"].map(|id| stage(&room, &grants, id, source.token()));
    let closing = {
        let grants = grants.clone();
        thread::spawn(move || {
            source.cancel();
            for id in ["a", "b"] {
                grants.close(id, 0);
                assert!(
                    grants.issue(binding(id)).is_err(),
                    "an attempt that is over takes no grant"
                );
                assert!(
                    grants.consume(&binding(id)).is_err(),
                    "a grant outlives its attempt"
                );
            }
        })
    };
    closing.join().unwrap();
    let all: Vec<Asked> = stages.map(|stage| stage.join().unwrap().0).into();
    for id in ["a", "b"] {
        assert!(grants.consume(&binding(id)).is_err());
    }
    room.settle(&all);
}

#[test]
fn an_interactor_that_leaves_leaves_no_stage_behind() {
    explore(|| {
        let room = Room::new();
        room.seat("ann", &[Move::Accept, Move::Accept]);
        room.seat("bob", &[Move::Wait, Move::Wait]);
        let grants = Arc::new(Grants::default());
        let never = CancellationToken::never();
        let stages = ["a", "b"].map(|id| stage(&room, &grants, id, never.clone()));
        room.prompts.depart("bob");
        let all: Vec<Asked> = stages.map(|stage| stage.join().unwrap().0).into();
        assert!(all.iter().all(|asked| asked.got.is_some()));
        room.settle(&all);
    });
}
