//! Everything that can go wrong, at every operation of the disk.

use std::io::ErrorKind;

use super::faulty_disk::{Aftermath, Deed, Fault};
use super::random::Random;
use super::samples::batch;
use super::trial::{Step, Trial, run};
use stud_observed::campaign;
use stud_sdk::session_store::Durability;

/// Enough for every fault to come often and at every kind of step.
fn lives() -> u64 {
    campaign::times(150, 5_000, 100_000)
}

const AFTERMATHS: [Aftermath; 7] = [
    Aftermath::Killed,
    Aftermath::NothingUnsynced,
    Aftermath::EverythingWritten,
    Aftermath::SomeFirst(1),
    Aftermath::SomeFirst(2),
    Aftermath::SomeBlocks(3),
    Aftermath::SomeBlocks(4),
];

/// Repeats the script with something going wrong at each of its operations in turn, as far as they are `deeds`.
fn at_every(deeds: &[Deed], aftermaths: &[Aftermath], faults: impl Fn(u64) -> Vec<(u64, Fault)>) {
    let done = run(&[], Aftermath::Killed);
    let operations = done
        .iter()
        .zip(0..)
        .filter(|(deed, _)| deeds.contains(deed));
    let operations: Vec<u64> = operations.map(|(_, number)| number).collect();
    assert!(operations.len() > 20, "{operations:?}");
    for aftermath in aftermaths {
        for operation in &operations {
            let planned = faults(*operation);
            // A failed assertion says which run it was.
            let ran = std::panic::catch_unwind(|| run(&planned, *aftermath));
            assert!(ran.is_ok(), "with {planned:?} and {aftermath:?}");
        }
    }
    let runs = aftermaths.len() * operations.len();
    campaign::figure("runs with faults at every operation in turn", runs as u64);
}

const ANY: &[Deed] = &[Deed::Look, Deed::Change, Deed::Write];

#[test]
fn nothing_goes_wrong() {
    for aftermath in AFTERMATHS {
        run(&[], aftermath);
    }
}

#[test]
fn an_operation_fails() {
    at_every(ANY, &AFTERMATHS[..4], |operation| {
        vec![(operation, Fault::Fails(ErrorKind::Other))]
    });
}

#[test]
fn an_operation_is_interrupted() {
    at_every(ANY, &AFTERMATHS[..2], |operation| {
        vec![(operation, Fault::Fails(ErrorKind::Interrupted))]
    });
}

#[test]
fn the_disk_is_full_for_two_operations() {
    at_every(ANY, &AFTERMATHS[..3], |operation| {
        let full = Fault::Fails(ErrorKind::StorageFull);
        vec![(operation, full), (operation + 1, full)]
    });
}

#[test]
fn the_disk_fills_up_in_the_middle_of_a_write() {
    for part in [0, 3, 7] {
        at_every(&[Deed::Write], &AFTERMATHS, |operation| {
            vec![
                (operation, Fault::Short(part)),
                (operation + 1, Fault::Fails(ErrorKind::StorageFull)),
            ]
        });
    }
}

#[test]
fn a_write_takes_more_than_one_call() {
    at_every(&[Deed::Write], &AFTERMATHS[..2], |operation| {
        vec![
            (operation, Fault::Short(2)),
            (operation + 1, Fault::Short(5)),
        ]
    });
}

#[test]
fn everything_ends_before_or_after_an_operation() {
    at_every(&[Deed::Change, Deed::Write], &AFTERMATHS, |operation| {
        vec![(operation, Fault::DiesBefore)]
    });
    // Only one operation has no other after it.
    let last = run(&[], Aftermath::Killed).len() as u64 - 1;
    for aftermath in AFTERMATHS {
        run(&[(last, Fault::DiesAfter)], aftermath);
    }
}

#[test]
fn everything_ends_in_the_middle_of_a_write() {
    for part in [1, 4, 7] {
        at_every(&[Deed::Write], &AFTERMATHS, |operation| {
            vec![(operation, Fault::DiesInside(part))]
        });
    }
}

#[test]
fn everything_ends_soon_after_something_failed() {
    at_every(ANY, &AFTERMATHS[..4], |operation| {
        vec![
            (operation, Fault::Fails(ErrorKind::Other)),
            (operation + 3, Fault::DiesAfter),
        ]
    });
}

/// Random steps, with several failures in a row.
#[test]
fn random_lives() {
    for seed in 0..lives() {
        let ran = std::panic::catch_unwind(|| live(seed));
        assert!(ran.is_ok(), "with the seed {seed}");
    }
    campaign::figure("random lives", lives());
}

fn live(seed: u64) {
    let mut random = Random::new(seed);
    let mut trial = Trial::new(aftermath(&mut random));
    let mut seq = 0;
    let mut number = 0;
    for _ in 0..30 {
        if random.below(3) == 0 {
            let fault = fault(&mut random);
            trial.disk.plan([(random.below(25) as u64, fault)]);
        }
        let step = match random.below(10) {
            0..6 => {
                let count = 1 + random.below(4) as u64;
                let seqs: Vec<u64> = (0..count)
                    .map(|_| {
                        seq += 1 + random.below(3) as u64;
                        seq
                    })
                    .collect();
                let durability = [Durability::Written, Durability::Synced][random.below(2)];
                Step::Append(batch(seqs, durability))
            }
            6 => Step::Sync,
            7 | 8 => {
                number += 1 + random.below(2) as u64;
                Step::Write(number)
            }
            _ => Step::Reopen,
        };
        trial.take(&step);
        if random.below(12) == 0 {
            trial.end(aftermath(&mut random));
        }
    }
    trial.disk.plan([]);
    trial.end(aftermath(&mut random));
    trial.goes_on();
}

fn fault(random: &mut Random) -> Fault {
    match random.below(6) {
        0 => Fault::Fails(ErrorKind::Other),
        1 => Fault::Fails(ErrorKind::StorageFull),
        2 => Fault::Short(random.below(8)),
        3 => Fault::DiesBefore,
        4 => Fault::DiesAfter,
        _ => Fault::DiesInside(random.below(9)),
    }
}

fn aftermath(random: &mut Random) -> Aftermath {
    match random.below(5) {
        0 => Aftermath::Killed,
        1 => Aftermath::NothingUnsynced,
        2 => Aftermath::EverythingWritten,
        3 => Aftermath::SomeFirst(random.below(1000) as u64),
        _ => Aftermath::SomeBlocks(random.below(1000) as u64),
    }
}
