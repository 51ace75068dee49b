//! How far a prompt has come that can still be settled.

use stud_contract_meta::{Error, Result};
use stud_host_api::refusal;

use super::{Outcome, Prompt};
use crate::fault_injection::{Fault, planted};

/// How far it has come.
pub(super) enum PromptStage {
    /// Its record is on the way. What settles it meanwhile has to wait.
    Announcing(Option<Outcome>),
    /// It can be answered.
    Open,
    /// It has its outcome, whose record is on the way.
    Settling,
}

impl PromptStage {
    /// The record is written. It is open now, unless this gives what settled it meanwhile.
    pub(super) fn announced(&mut self) -> Option<Outcome> {
        match std::mem::replace(self, Self::Open) {
            Self::Announcing(Some(outcome)) => {
                *self = Self::Settling;
                Some(outcome)
            }
            _ => None,
        }
    }

    /// Gives it its outcome, unless it has one. The outcome comes back if it can be written down at once.
    pub(super) fn settle(&mut self, prompt: &Prompt, outcome: Outcome) -> Result<Option<Outcome>> {
        match self {
            Self::Open => {
                *self = Self::Settling;
                Ok(Some(outcome))
            }
            Self::Announcing(early @ None) => {
                *early = Some(outcome);
                Ok(None)
            }
            Self::Settling if planted(Fault::TwoWinners) => Ok(Some(outcome)),
            Self::Announcing(Some(_)) | Self::Settling => Err(too_late(prompt)),
        }
    }
}

/// Another interactor answered first.
pub(super) fn too_late(prompt: &Prompt) -> Error {
    refusal::interaction_already_answered(prompt.id(), &prompt.request.correlation_id)
}
