//! What the operator settles for every turn of a session.

use std::sync::Arc;
use std::time::Duration;

use stud_contract_meta::Result;
use stud_host_api::session::SecurityMode;

use crate::approvals::{Approvals, Asked, ToolApprovals};
use crate::hook_order::Ordering;
use crate::network_policy::Policy;
use crate::settings::{LoopSettings, RetrySettings, Settings};
use crate::sync::{Mutex, lock};

/// What holds in every turn.
#[derive(Debug)]
pub struct TurnPolicy {
    /// Whether the person approved everything in advance. It is a flag of the launch, not a mode.
    pub yolo: bool,
    /// What tools are allowed to do.
    pub approvals: Approvals,
    /// What tools have kept for themselves.
    pub tool_approvals: ToolApprovals,
    /// Whether calls of the bundled tools that only read are asked about as well.
    pub ask_for_reads: bool,
    /// In which order hooks run.
    pub ordering: Ordering,
    /// How often a turn may go back to the model.
    pub max_continuations: u32,
    /// What is done about a provider that fails for the moment.
    pub retry: Retry,
    /// The default tool timeout. Time spent waiting for the user is excluded.
    pub tool: Duration,
    /// How long a hook may take.
    pub hook: Duration,
    /// How long a phase of a state machine may take. Time spent waiting for the user is excluded.
    pub phase: Duration,
    /// How many stages one workflow may run.
    pub max_stages: u32,
    /// Which hosts tools may reach. A command may change it while the session runs.
    pub network: Network,
}

/// Which hosts tools may reach, as of now.
#[derive(Debug, Clone, Default)]
pub struct Network(Arc<Mutex<Policy>>);

impl Network {
    /// As the settings of all scopes say, the nearest first.
    pub fn read(settings: &Settings) -> Self {
        Self(Arc::new(Mutex::new(policy(settings))))
    }

    /// The policy as of now.
    pub fn now(&self) -> Policy {
        lock(&self.0).clone()
    }

    /// What the settings say from now on.
    pub(crate) fn change(&self, settings: &Settings) {
        *lock(&self.0) = policy(settings);
    }
}

fn policy(settings: &Settings) -> Policy {
    let mut policy = Policy::default();
    for entries in settings.each("network", "allow") {
        Policy::add(&mut policy.allow, entries.value);
    }
    for entries in settings.each("network", "deny") {
        Policy::add(&mut policy.deny, entries.value);
    }
    policy
}

/// When a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// How often, after the first time.
    pub attempts: u32,
    /// How long to wait the first time; each further time twice as long.
    pub first: Duration,
    /// The longest wait, also where a server asks for more.
    pub longest: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self::of(&RetrySettings::default())
    }
}

impl Retry {
    /// How long to wait before the retry with this number, which begins at 0. The server may ask for longer.
    pub fn pause(self, number: u32, asked_for: Option<Duration>) -> Duration {
        let own = self.first.saturating_mul(1 << number.min(16));
        own.max(asked_for.unwrap_or_default()).min(self.longest)
    }

    fn of(set: &RetrySettings<'_>) -> Self {
        Self {
            attempts: set.attempts.value,
            first: set.first.value,
            longest: set.longest.value,
        }
    }
}

impl Default for TurnPolicy {
    fn default() -> Self {
        Self::read(&Settings::default())
    }
}

impl TurnPolicy {
    /// As the settings say.
    pub fn read(settings: &Settings) -> Self {
        let turns = LoopSettings::of(settings);
        Self {
            yolo: false,
            approvals: Approvals::default(),
            tool_approvals: ToolApprovals::default(),
            ask_for_reads: settings
                .each("securityMode", "askForReads")
                .any(|set| set.value == true),
            ordering: Ordering::default(),
            max_continuations: turns.max_continuations.value,
            retry: Retry::of(&RetrySettings::of(settings)),
            tool: turns.tool_timeout.value,
            hook: turns.hook_timeout.value,
            phase: turns.phase_timeout.value,
            max_stages: turns.max_stages.value,
            network: Network::read(settings),
        }
    }

    /// What holds in the turns of a child session: the same, but for what a person has allowed so far.
    #[must_use]
    pub fn for_child(&self) -> Self {
        Self {
            yolo: self.yolo,
            approvals: self.approvals.for_child(),
            tool_approvals: ToolApprovals::default(),
            ask_for_reads: self.ask_for_reads,
            ordering: self.ordering.clone(),
            max_continuations: self.max_continuations,
            retry: self.retry,
            tool: self.tool,
            hook: self.hook,
            phase: self.phase,
            max_stages: self.max_stages,
            network: self.network.clone(),
        }
    }
}

/// The bundled tools that read inside the workspace, or ask the person, and do nothing else.
const READ_ONLY: [&str; 7] = [
    "ask-user", "catalog", "diff", "glob", "grep", "list", "read",
];

impl TurnPolicy {
    /// Whether a tool runs unasked in the mode `ask`, because all it does is read inside the workspace.
    ///
    /// Only tools that the program carries are among these: what any other says about itself does not count.
    pub fn is_unasked_read(&self, mode: SecurityMode, tool: &str, is_bundled: bool) -> bool {
        let is_read = is_bundled && READ_ONLY.contains(&tool);
        mode == SecurityMode::Ask && !self.yolo && !self.ask_for_reads && is_read
    }

    /// Whether the gate lets a call run in this mode without a prompt.
    ///
    /// Fails with `Session/ApprovalCacheUnavailable` if what the project allows cannot be read.
    pub fn is_preapproved(&self, mode: SecurityMode, asked: Asked<'_>) -> Result<bool> {
        Ok(match mode {
            _ if self.yolo => true,
            SecurityMode::Yolo => true,
            _ if self.approvals.allowed_by_run().allows(asked) => true,
            SecurityMode::Allowlist => self.approvals.allowlist().allows(asked),
            SecurityMode::Ask => self.approvals.find(asked)?.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_twice_the_last_and_a_server_may_ask_for_more() {
        let retry = Retry::default();
        let waits = [0, 1, 2].map(|number| retry.pause(number, None).as_millis());
        assert_eq!(waits, [500, 1000, 2000]);
        let asked_for = |secs| retry.pause(0, Some(Duration::from_secs(secs))).as_secs();
        assert_eq!((asked_for(5), asked_for(3600)), (5, 60));
        assert_eq!(retry.pause(u32::MAX, None), retry.longest);
    }

    #[test]
    fn settings_change_what_they_name() {
        let folder = tempfile::tempdir().unwrap();
        let text =
            r#"{"loop":{"maxContinuations":2},"providers":{"retry":{"attempts":0,"firstMs":1}}}"#;
        std::fs::write(folder.path().join("settings.json"), text).unwrap();
        let mut settings = Settings::default();
        settings
            .layer(crate::plugin_scope::Scope::Global, folder.path())
            .unwrap();
        let rules = TurnPolicy::read(&settings);
        assert_eq!(rules.max_continuations, 2);
        assert_eq!(
            (rules.retry.attempts, rules.retry.first.as_millis()),
            (0, 1)
        );
        assert_eq!(rules.tool, TurnPolicy::default().tool);
    }
}
