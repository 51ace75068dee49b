//! What a session is opened with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stud_host_api::session::SecurityMode;

use crate::audit::Index;
use crate::interactions::Absence;
use crate::limits::Limits;
use crate::mcp;
use crate::params::Params;
use crate::redact::Redactor;
use crate::request_state::Terms;
use crate::runtime_snapshot::Collector;
use crate::store::Store;
use crate::timer::Timer;
use crate::turn_policy::TurnPolicy;

/// What a session is opened with.
pub struct SessionConfig {
    /// Its project's `.stud` folder.
    pub project_root: PathBuf,
    /// How tool calls are gated; one that is resumed keeps its own.
    pub mode: SecurityMode,
    /// Where it is kept.
    pub store: Arc<dyn Store>,
    /// Where audit trails are kept, one folder for each session; none keeps none.
    pub trails: Option<PathBuf>,
    /// Where the heads of the trails are kept besides; none keeps none.
    pub index: Option<Index>,
    /// What must not be written down.
    pub redactor: Arc<Redactor>,
    /// What happens without an interactor.
    pub absence: Absence,
    /// How long a tool's prompt waits unless the tool says otherwise.
    pub tool_timeout: Duration,
    /// What holds in every turn.
    pub rules: TurnPolicy,
    /// The provider that the settings let answer, for the record.
    pub provider: Option<String>,
    /// The model, for the record.
    pub model: Option<String>,
    /// What the launch sets of the provider's parameters.
    pub params: Params,
    /// How often the call of a tool may ask again when it is not content with an answer.
    pub most_reprompts: u32,
    /// How long plugins may take.
    pub limits: Limits,
    /// What the operator set for putting requests together.
    pub terms: Terms,
    /// The MCP servers it may use; none without one.
    pub mcp: Option<mcp::Setup>,
    /// The clock.
    pub timer: Arc<dyn Timer>,
    /// What it looks like from inside.
    pub metrics: Arc<Collector>,
}

impl std::fmt::Debug for SessionConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionConfig")
            .field("project_root", &self.project_root)
            .finish_non_exhaustive()
    }
}
