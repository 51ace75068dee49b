//! Prompts that end without an answer, at the very moment one is given.

use std::sync::Arc;

use shuttle::thread;
use stud_abi::CancellationSource;
use stud_contract_interaction::{Ask, Status};
use stud_core::executor::block_on;
use stud_diagnostics::codes;

use crate::clock::Clock;
use crate::explore::explore;
use crate::people::Move;
use crate::room::{Asked, PATIENCE, Room, join};
use crate::shelf::StoredSessions;

#[test]
fn calling_off_races_an_answer() {
    explore(calling_off);
}

pub(crate) fn calling_off() {
    let room = Room::new();
    room.seat("ann", &[Move::Accept]);
    room.seat("bob", &[Move::Wait]);
    let source = CancellationSource::new();
    let mut asker = room.asker();
    asker.cancelled = source.token();
    let asking = room.ask_as(asker);
    let cancelling = thread::spawn(move || source.cancel());
    let asked = join([asking]);
    cancelling.join().unwrap();
    if let Some(Err(error)) = &asked[0].got {
        assert_eq!(error.code(), codes::TURN_CANCELLED.name);
    }
    room.settle(&asked);
}

#[test]
fn an_asker_that_goes_away_races_an_answer() {
    explore(|| {
        let room = Room::new();
        room.seat("ann", &[Move::Accept]);
        room.seat("bob", &[Move::Respond]);
        room.seat("cat", &[Move::Wait]);
        let going = {
            let room = Arc::clone(&room);
            thread::spawn(move || {
                let raised = room.prompts.raise(room.asker(), Ask::default().into());
                let id = raised.interaction_id().to_owned();
                thread::yield_now();
                drop(raised);
                Asked { id, got: None }
            })
        };
        // Another prompt shows when the first one is over, and is not affected by its end.
        let gone = join([going]);
        let other = room.ask();
        room.prompts
            .join(room.person("dan", &[Move::Accept, Move::Accept]));
        let asked: Vec<Asked> = gone.into_iter().chain(join([other])).collect();
        assert!(matches!(&asked[1].got, Some(Ok(got)) if got.status == Status::Accepted));
        room.settle(&asked);
    });
}

#[test]
fn time_runs_out_as_somebody_answers() {
    explore(time_runs_out);
}

pub(crate) fn time_runs_out() {
    let room = Room::with(Clock::ringing(PATIENCE, 2), StoredSessions::new());
    room.seat("ann", &[Move::Accept, Move::Wait]);
    room.seat("bob", &[Move::Belated, Move::Belated]);
    let hasty = || {
        let mut asker = room.asker();
        asker.timeout = Some(PATIENCE);
        room.ask_as(asker)
    };
    let asked = join([hasty(), hasty()]);
    // The second question waits for nothing but its alarm.
    assert!(
        asked
            .iter()
            .any(|asked| matches!(&asked.got, Some(Ok(got)) if got.status == Status::Timeout))
    );
    room.settle(&asked);
}

#[test]
fn a_prompt_in_line_can_be_withdrawn_unseen() {
    explore(withdrawing);
}

/// The first one blocks the line until its asker gives up, so the others move only if the line does.
pub(crate) fn withdrawing() {
    let room = Room::new();
    room.seat("ann", &[Move::Wait, Move::Wait, Move::Wait]);
    let sources = [(); 3].map(|()| CancellationSource::new());
    let asking = sources.each_ref().map(|source| {
        let mut asker = room.asker();
        asker.cancelled = source.token();
        room.ask_as(asker)
    });
    let cancelling = thread::spawn(move || sources.iter().for_each(CancellationSource::cancel));
    let asked = join(asking);
    cancelling.join().unwrap();
    assert!(asked.iter().all(|asked| matches!(asked.got, Some(Err(_)))));
    room.settle(&asked);
}

#[test]
fn the_line_moves_on_when_its_head_is_called_off() {
    explore(moving_on);
}

pub(crate) fn moving_on() {
    let room = Room::new();
    room.seat("ann", &[Move::Wait, Move::Wait]);
    let source = CancellationSource::new();
    let mut first = room.asker();
    first.cancelled = source.token();
    let raised = room.prompts.raise(first, Ask::default().into());
    let id = raised.interaction_id().to_owned();
    let second = room.ask();
    source.cancel();
    let got = Some(block_on(raised));
    let mut asked = vec![Asked { id, got }];
    // Only the second prompt is left for him, and only if it is asked at all.
    room.seat("bob", &[Move::Accept]);
    asked.extend(join([second]));
    assert!(matches!(&asked[1].got, Some(Ok(got)) if got.status == Status::Accepted));
    room.settle(&asked);
}

#[test]
fn closing_ends_every_prompt() {
    explore(closing);
}

pub(crate) fn closing() {
    let room = Room::new();
    room.seat("ann", &[Move::Accept]);
    room.seat("bob", &[Move::Wait, Move::Belated, Move::Wait]);
    let asking = [room.ask(), room.ask(), room.ask()];
    let closing = {
        let room = Arc::clone(&room);
        thread::spawn(move || room.prompts.close())
    };
    let asked = join(asking);
    closing.join().unwrap();
    for asked in &asked {
        if let Some(Err(error)) = &asked.got {
            assert_eq!(error.code(), codes::SESSION_CANCELLED.name);
        }
    }
    let answered = asked
        .iter()
        .filter(|asked| matches!(asked.got, Some(Ok(_))));
    assert!(answered.count() <= 1, "only ann answers, and only once");
    room.settle(&asked);
}
