//! Workflows: a state machine drives a session through its stages.
//!
//! ```text
//! attach → input → plan → stage → boundary → plan → … → end
//!                         │
//!                         Setup → Init → CheckGate → Act → Assert → Exit → Next
//!                                 ↑_________ retry _________|
//! ```
//!
//! Each stage is a turn; parallel stages and their join share one. What stands between two stages is on record before
//! the next one begins, so a workflow continues in another process. A stage that was cut off is entered again only after
//! the person agreed, and whatever was granted in it is gone.
//!
//! The machine is called at the boundaries of a stage alone. In between the model acts, with the tools that the stage
//! lists; a call of any other tool needs a grant ([`Grants`]), which is good for that one call.

mod grants;
mod transcript;
mod attempt;
mod machine_calls;
mod stage_run;
mod siblings;
mod attaching;
mod walk;

pub(crate) use attaching::choose;
pub use attaching::{MachineStatus, attach, detach, status};
pub(crate) use attempt::StageAttempt;
pub use grants::{GrantBinding, Grants};
pub(crate) use walk::answer;

use std::sync::Arc;

use stud_contract_meta::Result;
use stud_host_api::BoxFuture;

use crate::session::{Input, Turn};

/// Lets a model act. The loop of requests and tool calls is the one that answers inputs without a machine.
pub(crate) trait Actor: Send + Sync {
    /// What hooks let pass of an input.
    fn receive<'a>(
        &'a self,
        turn: &'a Arc<Turn>,
        input: &'a Input,
    ) -> BoxFuture<'a, Result<String>>;

    /// Lets the model act in one attempt at a stage. Gives whether the turn cap was reached.
    fn act<'a>(
        &'a self,
        turn: &'a Arc<Turn>,
        attempt: &'a Arc<StageAttempt>,
    ) -> BoxFuture<'a, Result<bool>>;

    /// Answers an input as if no machine were attached.
    fn converse<'a>(
        &'a self,
        turn: &'a Arc<Turn>,
        input: &'a Input,
    ) -> BoxFuture<'a, Result<String>>;

    /// Shows a text as the answer of the turn, and keeps it in the conversation.
    fn render<'a>(&'a self, turn: &'a Arc<Turn>, text: String) -> BoxFuture<'a, Result<String>>;
}
