//! Which phase may follow which.

use stud_contract_meta::{Error, Phase, Result};
use stud_diagnostics::codes;

use super::fault::coded;

/// Where an instance is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Created,
    Loaded,
    Active,
    Inactive,
    Disposed,
    /// A phase is running.
    Changing,
}

impl Stage {
    /// What a phase leads to, or why it cannot come now.
    ///
    /// Core skips phases a manifest does not declare, so `deactivate` need not have seen an `activate`.
    pub(crate) fn after(self, phase: Phase) -> Result<Self> {
        match (self, phase) {
            (Self::Created, Phase::Init) => Ok(Self::Loaded),
            (Self::Loaded | Self::Inactive, Phase::Activate) => Ok(Self::Active),
            (Self::Loaded | Self::Active, Phase::Deactivate) => Ok(Self::Inactive),
            (Self::Changing, _) => Err(self.refuse(phase.as_str())),
            (_, Phase::Dispose) => Ok(Self::Disposed),
            _ => Err(self.refuse(phase.as_str())),
        }
    }

    /// `ExtensionHost/LifecyclePhaseInvalid`.
    pub(crate) fn refuse(self, wanted: &str) -> Error {
        let now = match self {
            Self::Created => "has not been initialized",
            Self::Loaded => "is loaded and not active",
            Self::Active => "is active",
            Self::Inactive => "is inactive",
            Self::Disposed => "has been disposed of",
            Self::Changing => "is in the middle of another phase",
        };
        let message = format!("`{wanted}` cannot run: the plugin {now}");
        coded(&codes::LIFECYCLE_PHASE_INVALID, message).with("wanted", wanted)
    }
}

/// The phase whose word this is.
pub(crate) fn phase(word: &str) -> Result<Phase> {
    Phase::ALL
        .into_iter()
        .find(|phase| phase.as_str() == word)
        .ok_or_else(|| {
            let message = format!("there is no phase `{word}`");
            coded(&codes::LIFECYCLE_PHASE_INVALID, message).with("wanted", word)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Result<Stage> {
        words
            .iter()
            .try_fold(Stage::Created, |stage, word| stage.after(phase(word)?))
    }

    #[test]
    fn the_usual_life() {
        let life = [
            "init",
            "activate",
            "deactivate",
            "activate",
            "deactivate",
            "dispose",
            "dispose",
        ];
        assert_eq!(run(&life).unwrap(), Stage::Disposed);
        assert_eq!(run(&["dispose"]).unwrap(), Stage::Disposed);
        assert_eq!(run(&["init", "deactivate"]).unwrap(), Stage::Inactive);
    }

    #[test]
    fn what_does_not_follow_is_refused() {
        for wrong in [
            &["activate"][..],
            &["deactivate"],
            &["init", "init"],
            &["init", "activate", "activate"],
            &["init", "activate", "deactivate", "deactivate"],
            &["init", "dispose", "init"],
            &["init", "dispose", "activate"],
            &["start"],
        ] {
            let error = run(wrong).unwrap_err();
            assert_eq!(error.code(), "LifecyclePhaseInvalid", "{wrong:?}");
            assert_eq!(error.context()["wanted"], *wrong.last().unwrap());
        }
    }
}
