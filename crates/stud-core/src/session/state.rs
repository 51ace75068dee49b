//! Where a session is in its life.

use std::fmt;

use stud_contract_meta::Result;

use super::deferred_jobs::Waiting;
use super::illegal;

/// Where a session is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Open, and no turn yet.
    Idle,
    /// A turn runs.
    Active,
    /// Its last turn is on the disk.
    Persisted,
    /// Read back, and no turn since.
    Resumed,
    /// Over.
    Closed,
}

/// What moves a session on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// An input begins a turn.
    Turn,
    /// The store has acknowledged the snapshot.
    Snapshot,
    /// It was read back.
    Resume,
    /// It ends.
    Close,
    /// It ends because the process was asked to.
    Sigterm,
}

/// How far a session has come.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) state: State,
    /// The turn that runs.
    pub(super) turn: Option<String>,
    /// Whether that turn has its answer, and only its end is left.
    pub(super) is_answered: bool,
    /// How many turns are on record.
    pub(super) turn_count: u64,
    /// The turn that began last.
    pub(super) last_turn: Option<String>,
    /// What is done at moments of the running turn.
    pub(super) waiting: Waiting,
}

impl State {
    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "Idle",
            Self::Active => "Active",
            Self::Persisted => "Persisted",
            Self::Resumed => "Resumed",
            Self::Closed => "Closed",
        }
    }

    /// Where `trigger` leads from here. Anything but what is listed is refused, and the session stays where it is.
    pub fn after(self, trigger: Trigger) -> Result<Self> {
        match (self, trigger) {
            (Self::Idle | Self::Active | Self::Persisted | Self::Resumed, Trigger::Turn) => {
                Ok(Self::Active)
            }
            (Self::Active, Trigger::Snapshot) => Ok(Self::Persisted),
            (Self::Persisted | Self::Closed, Trigger::Resume) => Ok(Self::Resumed),
            (
                Self::Idle | Self::Active | Self::Persisted | Self::Resumed,
                Trigger::Close | Trigger::Sigterm,
            ) => Ok(Self::Closed),
            (from, trigger) => Err(illegal(from, trigger)),
        }
    }
}

impl Trigger {
    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "Turn",
            Self::Snapshot => "Snapshot",
            Self::Resume => "Resume",
            Self::Close => "Close",
            Self::Sigterm => "Sigterm",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turn => "begin a turn",
            Self::Snapshot => "be persisted",
            Self::Resume => "be resumed",
            Self::Close | Self::Sigterm => "be closed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_moves_only_along_its_transitions() {
        use State::{Active, Closed, Idle, Persisted, Resumed};
        let states = [Idle, Active, Persisted, Resumed, Closed];
        let triggers = [
            Trigger::Turn,
            Trigger::Snapshot,
            Trigger::Resume,
            Trigger::Close,
            Trigger::Sigterm,
        ];
        let leads = |from: State| triggers.map(|trigger| from.after(trigger).ok());
        let table = states.map(leads);
        assert_eq!(
            table,
            [
                [Some(Active), None, None, Some(Closed), Some(Closed)],
                [
                    Some(Active),
                    Some(Persisted),
                    None,
                    Some(Closed),
                    Some(Closed)
                ],
                [
                    Some(Active),
                    None,
                    Some(Resumed),
                    Some(Closed),
                    Some(Closed)
                ],
                [Some(Active), None, None, Some(Closed), Some(Closed)],
                [None, None, Some(Resumed), None, None],
            ]
        );
    }

    #[test]
    fn a_refusal_names_both_ends() {
        let error = State::Closed.after(Trigger::Turn).unwrap_err();
        assert_eq!(
            (error.class(), error.code()),
            ("Session", "IllegalTransition")
        );
        assert_eq!(error.context()["from"], "Closed");
        assert_eq!(error.context()["trigger"], "Turn");
    }
}
