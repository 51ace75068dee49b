//! The phases of a stage that belong to its machine, as they cross the boundary.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::Cx;

use crate::context::StageContext;
use crate::state_machine::StateMachine;

/// A phase of a stage that its machine takes part in.
///
/// The two others, putting the body together and letting the model act, are core's alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum StagePhase {
    /// Fills the context.
    Setup,
    /// Decides whether to begin.
    CheckGate,
    /// Judges what was done.
    Assert,
    /// Tidies up.
    Exit,
    /// Decides where to go.
    Next,
}

impl StagePhase {
    /// All five, in order.
    pub const ALL: [Self; 5] = [
        Self::Setup,
        Self::CheckGate,
        Self::Assert,
        Self::Exit,
        Self::Next,
    ];

    /// The subject of the call.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::CheckGate => "checkGate",
            Self::Assert => "assert",
            Self::Exit => "exit",
            Self::Next => "next",
        }
    }

    /// The phase whose word this is.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == word)
    }
}

impl fmt::Display for StagePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The subject of the call when a machine is attached; it is not a phase of a stage.
const ATTACH: &str = "attach";

/// What every phase is given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PhaseInput {
    /// The stage.
    pub stage: String,
    /// What it knows.
    #[serde(default)]
    pub context: StageContext,
}

/// Serves one call of the `phase` handler: calls the method for the subject, and gives its reply as JSON.
///
/// An unknown subject is `ExtensionHost/NotImplemented`.
pub async fn run_phase<M: StateMachine>(
    machine: &M,
    subject: &str,
    input: PhaseInput,
    cx: &Cx,
) -> Result<Value> {
    let PhaseInput { stage, context } = input;
    if subject == ATTACH {
        machine.attach(cx).await?;
        return Ok(Value::Null);
    }
    let Some(phase) = StagePhase::parse(subject) else {
        return Err(Error::new(
            codes::NOT_IMPLEMENTED.class,
            codes::NOT_IMPLEMENTED.name,
            format!("a stage has no phase `{subject}`"),
        )
        .with("phase", subject));
    };
    let reply = match phase {
        StagePhase::Setup => serde_json::to_value(machine.setup(&stage, context, cx).await?),
        StagePhase::CheckGate => {
            serde_json::to_value(machine.check_gate(&stage, &context, cx).await?)
        }
        StagePhase::Assert => serde_json::to_value(machine.assess(&stage, &context, cx).await?),
        StagePhase::Exit => serde_json::to_value(machine.exit(&stage, &context, cx).await?),
        StagePhase::Next => serde_json::to_value(machine.next(&stage, &context, cx).await?),
    };
    // Words and objects with texts for keys: nothing in them can fail to be written.
    Ok(reply.unwrap_or_default())
}

#[cfg(test)]
mod tests;
