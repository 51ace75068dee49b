//! Grants: single-use permission for one tool call that is not among the tools of its stage.
//!
//! A grant is bound to the proposal that the person was asked about: this run of the stage, this attempt, this proposal,
//! this tool and these arguments. It is consumed by the call that matches all five, once, and it ends with the attempt.

use std::collections::{BTreeMap, BTreeSet};

use stud_contract_meta::{Error, Result};
use stud_diagnostics::{Code, codes};

use crate::fault_injection::{Fault, planted};
use crate::sync::{Mutex, lock};

/// What a grant is bound to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrantBinding {
    /// The run of the stage.
    pub stage_execution_id: String,
    /// The attempt, from 0.
    pub attempt: u32,
    /// The proposal.
    pub proposal_id: String,
    /// The tool.
    pub tool: String,
    /// Stands for the arguments.
    pub args_digest: String,
}

impl GrantBinding {
    fn scope(&self) -> (String, u32) {
        (self.stage_execution_id.clone(), self.attempt)
    }
}

/// The grants of one workflow.
#[derive(Debug, Default)]
pub struct Grants(Mutex<GrantTable>);

#[derive(Debug, Default)]
struct GrantTable {
    /// Each with whether it was consumed.
    tokens: BTreeMap<GrantBinding, bool>,
    /// The attempts that are over.
    closed: BTreeSet<(String, u32)>,
}

impl Grants {
    /// Adds a grant.
    ///
    /// Fails with `Validation/GrantStageExpired` if the attempt is over: the answer came too late.
    pub fn issue(&self, binding: GrantBinding) -> Result<()> {
        let mut table = lock(&self.0);
        if table.closed.contains(&binding.scope()) {
            return Err(refused(&codes::GRANT_STAGE_EXPIRED, &binding));
        }
        // One that is there already is not made good again.
        table.tokens.entry(binding).or_insert(false);
        Ok(())
    }

    /// Uses a grant up.
    ///
    /// Fails with `Validation/GrantStageExpired`, `Validation/GrantAlreadyConsumed` or `Validation/GrantNotFound`.
    pub fn consume(&self, binding: &GrantBinding) -> Result<()> {
        let mut table = lock(&self.0);
        if table.closed.contains(&binding.scope()) {
            return Err(refused(&codes::GRANT_STAGE_EXPIRED, binding));
        }
        match table.tokens.get_mut(binding) {
            None => Err(refused(&codes::GRANT_NOT_FOUND, binding)),
            Some(true) if planted(Fault::GrantReused) => Ok(()),
            Some(true) => Err(refused(&codes::GRANT_ALREADY_CONSUMED, binding)),
            Some(consumed) => {
                *consumed = true;
                Ok(())
            }
        }
    }

    /// Ends every grant of an attempt.
    pub fn close(&self, stage_execution_id: &str, attempt: u32) {
        let scope = (stage_execution_id.to_owned(), attempt);
        if planted(Fault::GrantOutlives) {
            return;
        }
        let mut table = lock(&self.0);
        table.tokens.retain(|binding, _| binding.scope() != scope);
        table.closed.insert(scope);
    }
}

fn refused(code: &Code, binding: &GrantBinding) -> Error {
    let GrantBinding { tool, attempt, .. } = binding;
    let message = if code == &codes::GRANT_STAGE_EXPIRED {
        format!("the attempt {attempt} in which `{tool}` was granted is over")
    } else if code == &codes::GRANT_ALREADY_CONSUMED {
        format!("the grant of `{tool}` was used already")
    } else {
        format!("no grant of `{tool}` fits this proposal and these arguments")
    };
    Error::new(code.class, code.name, message)
        .with("tool", tool.as_str())
        .with("attempt", *attempt)
        .with("proposalId", binding.proposal_id.as_str())
        .with("stageExecutionId", binding.stage_execution_id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding() -> GrantBinding {
        GrantBinding {
            stage_execution_id: "e1".to_owned(),
            attempt: 0,
            proposal_id: "p1".to_owned(),
            tool: "bash".to_owned(),
            args_digest: "d1".to_owned(),
        }
    }

    #[test]
    fn a_grant_is_good_once() {
        let grants = Grants::default();
        let error = grants.consume(&binding()).unwrap_err();
        stud_observed::covers!(GRANT_NOT_FOUND, error);
        grants.issue(binding()).unwrap();
        grants.consume(&binding()).unwrap();
        let error = grants.consume(&binding()).unwrap_err();
        stud_observed::covers!(GRANT_ALREADY_CONSUMED, error);
        // To issue it once more does not make it good again.
        grants.issue(binding()).unwrap();
        assert!(grants.consume(&binding()).is_err());
    }

    #[test]
    fn a_grant_fits_nothing_that_differs_in_one_of_the_five() {
        let grants = Grants::default();
        grants.issue(binding()).unwrap();
        let changes: [fn(&mut GrantBinding); 5] = [
            |other| other.stage_execution_id.push('x'),
            |other| other.attempt = 1,
            |other| other.proposal_id.push('x'),
            |other| other.tool.push('x'),
            |other| other.args_digest.push('x'),
        ];
        for change in changes {
            let mut other = binding();
            change(&mut other);
            let error = grants.consume(&other).unwrap_err();
            assert_eq!(error.code(), "GrantNotFound", "{other:?}");
        }
        grants.consume(&binding()).unwrap();
    }

    #[test]
    fn a_grant_ends_with_its_attempt_and_no_other_does() {
        let grants = Grants::default();
        let next = GrantBinding {
            attempt: 1,
            ..binding()
        };
        grants.issue(binding()).unwrap();
        grants.issue(next.clone()).unwrap();
        grants.close("e1", 0);
        let error = grants.consume(&binding()).unwrap_err();
        stud_observed::covers!(GRANT_STAGE_EXPIRED, error);
        assert_eq!(
            grants.issue(binding()).unwrap_err().code(),
            "GrantStageExpired"
        );
        grants.consume(&next).unwrap();
    }

    /// Numbers that are the same in each run.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u64) -> u64 {
            // Marsaglia's xorshift.
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % sides
        }

        fn binding(&mut self) -> GrantBinding {
            GrantBinding {
                stage_execution_id: format!("e{}", self.roll(2)),
                attempt: u32::try_from(self.roll(2)).unwrap(),
                proposal_id: format!("p{}", self.roll(2)),
                tool: format!("t{}", self.roll(2)),
                args_digest: format!("d{}", self.roll(2)),
            }
        }
    }

    #[test]
    fn no_order_of_events_lets_a_call_run_on_a_grant_that_is_not_its_own() {
        for seed in 1..=500 {
            let mut dice = Dice(seed);
            let grants = Grants::default();
            let mut unused: BTreeSet<GrantBinding> = BTreeSet::new();
            let mut seen: BTreeSet<GrantBinding> = BTreeSet::new();
            let mut over: BTreeSet<(String, u32)> = BTreeSet::new();
            for _ in 0..200 {
                let binding = dice.binding();
                match dice.roll(8) {
                    0 => {
                        grants.close(&binding.stage_execution_id, binding.attempt);
                        unused.retain(|other| other.scope() != binding.scope());
                        over.insert(binding.scope());
                    }
                    1..=3 => {
                        let issued = grants.issue(binding.clone()).is_ok();
                        assert_eq!(issued, !over.contains(&binding.scope()));
                        if issued && seen.insert(binding.clone()) {
                            unused.insert(binding);
                        }
                    }
                    _ => {
                        let runs = grants.consume(&binding).is_ok();
                        assert_eq!(runs, unused.remove(&binding), "seed {seed}: {binding:?}");
                    }
                }
            }
        }
    }
}
