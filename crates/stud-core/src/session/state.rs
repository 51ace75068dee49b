//! Where a session is in its life.

use std::fmt;

use stud_contract_meta::Result;
use stud_host_api::events::SessionTrigger;

pub use stud_host_api::events::SessionState as State;

use super::deferred_jobs::Waiting;
use super::illegal;

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

impl Trigger {
    /// The state after `from`. A transition that is not listed is refused, and the session stays in its state.
    pub fn next_state(self, from: State) -> Result<State> {
        match (from, self) {
            (State::Idle | State::Active | State::Persisted | State::Resumed, Self::Turn) => {
                Ok(State::Active)
            }
            (State::Active, Self::Snapshot) => Ok(State::Persisted),
            (State::Persisted | State::Closed, Self::Resume) => Ok(State::Resumed),
            (
                State::Idle | State::Active | State::Persisted | State::Resumed,
                Self::Close | Self::Sigterm,
            ) => Ok(State::Closed),
            (from, trigger) => Err(illegal(from, trigger)),
        }
    }

    /// The word in errors.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "Turn",
            Self::Snapshot => "Snapshot",
            Self::Resume => "Resume",
            Self::Close => "Close",
            Self::Sigterm => "Sigterm",
        }
    }

    /// The trigger as subscribers are told it, for a session that was in the state `from`.
    pub(super) fn told(self, from: State) -> SessionTrigger {
        match self {
            Self::Turn | Self::Snapshot if from == State::Idle => SessionTrigger::FirstTurn,
            Self::Turn | Self::Snapshot => SessionTrigger::NextTurn,
            Self::Resume => SessionTrigger::Resume,
            Self::Close => SessionTrigger::Close,
            Self::Sigterm => SessionTrigger::Sigterm,
        }
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
        let leads = |from: State| triggers.map(|trigger| trigger.next_state(from).ok());
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
        let error = Trigger::Turn.next_state(State::Closed).unwrap_err();
        assert_eq!(
            (error.class(), error.code()),
            ("Session", "IllegalTransition")
        );
        assert_eq!(error.context()["from"], "Closed");
        assert_eq!(error.context()["trigger"], "Turn");
    }
}
