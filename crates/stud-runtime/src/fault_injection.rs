//! Faults that a model plants in core, to see whether the tests of races would notice them.
//!
//! An ordinary build has none: [`planted`] is then a constant.

/// Something that core could get wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A prompt is settled without a look at whether it was settled before.
    TwoWinners,
    /// A prompt is put to interactors before subscribers are told of it.
    RaisedLate,
    /// A prompt is put to interactors before its record is written.
    AskedEarly,
    /// An answer takes effect when it is written and not yet on the disk.
    AnswerUnsafe,
    /// Those who did not win are not told that it is over.
    LosersForgotten,
    /// Interactors that were not asked before the first answer are not asked any more.
    LosersUnasked,
    /// A subscriber that is stuck keeps a prompt from being asked.
    HeldUp,
    /// The next prompt in line is not asked when one is over.
    LineStands,
    /// An interactor is given a prompt while it is busy with another.
    TwoAtOnce,
    /// The alarm of an absence that is over ends the next one.
    StaleAlarm,
    /// An input is acknowledged before it is on record.
    AckedEarly,
    /// A waiter for inputs is not woken.
    SleepingReader,
    /// A snapshot claims records whose consequences it does not have.
    SnapshotAhead,
    /// A lane goes to rest where a publisher does not see it.
    RestsUnseen,
    /// A subscriber is called by the lane it was moved away from.
    MovedAndCalled,
    /// A grant stays good when it was used.
    GrantReused,
    /// An attempt that ends leaves its grants behind.
    GrantOutlives,
}

/// Whether a model planted this fault; never in an ordinary build.
#[cfg(not(shuttle))]
pub const fn planted(_: Fault) -> bool {
    false
}

#[cfg(shuttle)]
pub use model::{Planted, planted};

#[cfg(shuttle)]
mod model {
    use std::cell::Cell;

    use super::Fault;

    thread_local! {
        // All threads of a model are one thread of the system, and other models run beside it on others.
        static PLANTED: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    /// Whether the model on this thread planted this fault.
    pub fn planted(fault: Fault) -> bool {
        PLANTED.get() == Some(fault)
    }

    /// A fault that is there until this is dropped.
    #[derive(Debug)]
    #[must_use = "dropping it takes the fault out again"]
    pub struct Planted(());

    impl Fault {
        /// Plants it in every model that runs on this thread.
        pub fn plant(self) -> Planted {
            PLANTED.set(Some(self));
            Planted(())
        }
    }

    impl Drop for Planted {
        fn drop(&mut self) {
            PLANTED.set(None);
        }
    }
}
