//! A run of the store that remembers what it was promised, and holds the store to it.

use std::path::Path;
use std::sync::Arc;

use stud_sdk::Class;
use stud_sdk::session_store::JournalBatch;

use super::faulty_disk::{Aftermath, Deed, Fault, FaultyDisk};
use super::samples::{SESSION, batch, read_all, snapshot, synced};
use crate::store::Store;

/// What core does with a store.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Adds these records, and no others before.
    Append(JournalBatch),
    /// Makes sure of what was added.
    Sync,
    /// Replaces the snapshot.
    Write(u64),
    /// Ends in peace and starts again.
    Reopen,
}

pub(crate) struct Trial {
    pub(crate) disk: FaultyDisk,
    store: Store,
    aftermath: Aftermath,
    batches: Vec<Promise>,
    /// The snapshot that was acknowledged last.
    snapshot: Option<u64>,
    /// Snapshots that failed since.
    in_doubt: Vec<u64>,
}

/// A batch that was handed over.
#[derive(Debug)]
struct Promise {
    seqs: Vec<u64>,
    safety: Safety,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Safety {
    /// The store said that it failed: it is there as a whole or not at all.
    InDoubt,
    Written,
    Synced,
}

impl Trial {
    /// A trial in which whatever ends everything leaves `aftermath` behind.
    pub(crate) fn new(aftermath: Aftermath) -> Self {
        let disk = FaultyDisk::new();
        Self {
            store: open(&disk),
            disk,
            aftermath,
            batches: Vec::new(),
            snapshot: None,
            in_doubt: Vec::new(),
        }
    }

    /// Takes one step, as core would: what fails is tried once more.
    pub(crate) fn take(&mut self, step: &Step) {
        match step {
            Step::Append(batch) => self.append(batch),
            Step::Sync => self.append(&synced([])),
            Step::Write(number) => self.write(*number),
            Step::Reopen => {
                let closed = self.store.sync();
                assert!(closed.is_ok() || !self.batches.is_empty());
                self.start_again();
            }
        }
    }

    /// Everything ends now; or has ended. What is left is what was promised.
    pub(crate) fn end(&mut self, aftermath: Aftermath) {
        self.disk.restart(aftermath);
        self.store = open(&self.disk);
        self.verify(aftermath != Aftermath::Killed);
    }

    /// After all that happened, the session can still be used.
    pub(crate) fn goes_on(&mut self) {
        let last = self.batches.iter().flat_map(|batch| &batch.seqs).max();
        let next = last.map_or(1, |last| last + 1);
        let fresh = snapshot(self.snapshot.map_or(0, |number| number + 1));
        let (appended, _) = self.store.append(SESSION, &synced([next, next + 1]));
        assert_eq!(appended, Ok(()));
        assert_eq!(self.store.write(&fresh).0, Ok(()));
        self.disk.restart(Aftermath::NothingUnsynced);
        self.store = open(&self.disk);
        let seqs = read_all(&self.store).unwrap();
        assert_eq!(seqs[seqs.len() - 2..], [next, next + 1]);
        assert_eq!(self.store.read(SESSION), Ok(fresh));
    }

    fn append(&mut self, batch: &JournalBatch) {
        let mut done = self.store.append(SESSION, batch).0;
        if done.is_err() && !self.disk.is_down() {
            done = self.store.append(SESSION, batch).0;
        }
        let is_synced = batch.durability == stud_sdk::session_store::Durability::Synced;
        let safety = match (&done, is_synced) {
            (Err(error), _) => {
                assert!(error.is(Class::Session, "StoreUnavailable"), "{error}");
                Safety::InDoubt
            }
            (Ok(()), true) => Safety::Synced,
            (Ok(()), false) => Safety::Written,
        };
        if safety == Safety::Synced {
            for promise in &mut self.batches {
                promise.safety = Safety::Synced;
            }
        }
        let seqs: Vec<u64> = batch.records.iter().map(|record| record.seq).collect();
        self.batches.push(Promise { seqs, safety });
        if done.is_err() {
            self.recover();
        }
    }

    fn write(&mut self, number: u64) {
        let stored = snapshot(number);
        let mut done = self.store.write(&stored).0;
        if done.is_err() && !self.disk.is_down() {
            done = self.store.write(&stored).0;
        }
        match done {
            Ok(()) => {
                self.snapshot = Some(number);
                self.in_doubt.clear();
            }
            Err(error) => {
                assert!(error.is(Class::Session, "StoreUnavailable"), "{error}");
                self.in_doubt.push(number);
                self.recover();
            }
        }
    }

    /// Something failed twice: core gives up, or everything is over.
    fn recover(&mut self) {
        if self.disk.is_down() {
            return self.end(self.aftermath);
        }
        self.disk.plan([]);
        // A user of this store never sees a record that it refused.
        let acknowledged = self
            .batches
            .iter()
            .filter(|batch| batch.safety != Safety::InDoubt);
        let acknowledged: Vec<u64> = acknowledged.flat_map(|batch| batch.seqs.clone()).collect();
        assert_eq!(read_all(&self.store), Ok(acknowledged));
        self.start_again();
    }

    fn start_again(&mut self) {
        if self.disk.is_down() {
            return self.end(self.aftermath);
        }
        self.disk.plan([]);
        self.store.close();
        self.store = open(&self.disk);
        self.verify(false);
    }

    /// Compares what is there with what was promised, and continues from what is there.
    fn verify(&mut self, lost_power: bool) {
        self.verify_journal(lost_power);
        self.verify_snapshot(lost_power);
        let is_known =
            self.snapshot.is_some() || self.batches.iter().any(|batch| !batch.seqs.is_empty());
        if is_known {
            assert_eq!(self.store.list(), Ok(vec![SESSION.to_owned()]));
        }
    }

    fn verify_journal(&mut self, lost_power: bool) {
        let found = read_all(&self.store).unwrap();
        let mut known: Vec<u64> = self
            .batches
            .iter()
            .flat_map(|batch| batch.seqs.clone())
            .collect();
        known.retain(|seq| found.contains(seq));
        assert_eq!(found, known, "a record nobody wrote");
        let mut is_lost = false;
        for batch in &mut self.batches {
            let there = batch.seqs.iter().filter(|seq| found.contains(seq)).count();
            assert!(
                there == 0 || there == batch.seqs.len(),
                "half of {batch:?} in {found:?}"
            );
            let is_missing = there < batch.seqs.len();
            let must_be_there = match batch.safety {
                Safety::InDoubt => false,
                Safety::Written => !lost_power,
                Safety::Synced => true,
            };
            assert!(
                !(is_missing && must_be_there),
                "{batch:?} is missing in {found:?}"
            );
            if batch.safety != Safety::InDoubt {
                is_lost |= is_missing;
                assert!(
                    is_missing == is_lost || batch.seqs.is_empty(),
                    "{batch:?} without one before it in {found:?}"
                );
            }
        }
        self.batches
            .retain(|batch| batch.seqs.iter().any(|seq| found.contains(seq)));
        for batch in &mut self.batches {
            batch.safety = match batch.safety {
                _ if lost_power => Safety::Synced,
                Safety::InDoubt => Safety::Written,
                kept => kept,
            };
        }
    }

    fn verify_snapshot(&mut self, lost_power: bool) {
        match &self.store.read(SESSION) {
            Err(error) => {
                assert_eq!(self.snapshot, None, "{error}");
                assert_eq!(error.class(), "Session");
            }
            Ok(stored) => {
                let mut possible = self.snapshot.iter().chain(&self.in_doubt);
                let found = possible
                    .find(|number| snapshot(**number) == *stored)
                    .copied();
                assert!(
                    found.is_some(),
                    "{stored:?} is no snapshot that was written last"
                );
                // One that failed may be there now and go with the power.
                if lost_power {
                    self.snapshot = found;
                    self.in_doubt.clear();
                }
            }
        }
    }
}

fn open(disk: &FaultyDisk) -> Store {
    Store::new(
        Arc::new(disk.clone()),
        Path::new("/stud/sessions").to_owned(),
    )
}

/// A day in the life of a session.
pub(crate) fn script() -> Vec<Step> {
    use Step::{Append, Reopen, Sync, Write};
    use stud_sdk::session_store::Durability::{Synced, Written};
    vec![
        Append(batch([1], Written)),
        Append(batch([2, 3, 4], Written)),
        Sync,
        Write(0),
        Append(batch([5], Synced)),
        Append(batch([6, 7], Written)),
        Append(batch([8], Written)),
        Write(1),
        Append(batch([9, 12], Written)),
        Reopen,
        Append(batch([13, 14], Written)),
        Append(batch([15, 16, 17], Synced)),
        Write(2),
        Write(4),
        Append(batch([18], Written)),
        Append(batch([27, 28], Written)),
        Append(batch([29], Written)),
        Write(5),
        Sync,
        Append(batch([30, 31], Written)),
    ]
}

/// Runs the script with something going wrong, and tells what its operations have done.
pub(crate) fn run(faults: &[(u64, Fault)], aftermath: Aftermath) -> Vec<Deed> {
    let mut trial = Trial::new(aftermath);
    trial.disk.plan(faults.iter().copied());
    for step in script() {
        trial.take(&step);
    }
    let done = trial.disk.done();
    trial.end(aftermath);
    trial.goes_on();
    done
}
