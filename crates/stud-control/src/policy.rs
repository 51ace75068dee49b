//! The settings of the section `control`, as a receiver holds to them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use stud_core::settings::{ControlSettings, Settings};
use stud_diagnostics::Diagnostic;

use crate::roster::{Roster, invalid};

/// What a receiver accepts, from whom and how much of it.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Whether there is a socket at all.
    pub enabled: bool,
    /// The team of every session; without one each belongs to the team named after its project folder.
    pub team: Option<String>,
    /// Who may send what.
    pub(crate) roster: Roster,
    /// The bytes of inline text above which a sender is warned.
    pub soft_limit: usize,
    /// The most bytes of inline text.
    pub hard_limit: usize,
    /// The folder that referenced files must lie in.
    pub content_ref_base: PathBuf,
    /// The most bytes of a referenced file.
    pub content_ref_max: u64,
    /// How old a request may be.
    pub max_age: Duration,
    /// How far in the future its time may lie.
    pub max_skew: Duration,
    /// How long an accepted request is remembered.
    pub dedupe_ttl: Duration,
    /// How many accepted requests of a session are remembered.
    pub dedupe_capacity: usize,
    /// How many inputs of a session may wait.
    pub queue_capacity: usize,
    /// Whether running turns may be interrupted.
    pub interrupt: bool,
    /// Whether the text of requests is put on record.
    pub log_text: bool,
    /// How long a sender waits for an acknowledgment, and a receiver takes to decide.
    pub ack_timeout: Duration,
    /// How often a sender tries again.
    pub retries: u32,
}

impl Policy {
    /// The policy that the settings describe, for a process whose state is kept in `state_dir`.
    ///
    /// What a project says is left out: it must not decide who may type into its sessions.
    ///
    /// `Validation/ControlSettingsInvalid` if settings contradict each other.
    pub fn of(settings: &Settings, state_dir: &Path) -> Result<Self, Diagnostic> {
        let settings = settings.without_project();
        let set = ControlSettings::of(&settings);
        let base = set.content_ref_base.value.map(PathBuf::from);
        if let Some(base) = base.as_ref().filter(|base| !base.is_absolute()) {
            let message = format!(
                "`control.contentRefBase` is `{}`, and must be an absolute path",
                base.display()
            );
            return Err(invalid(message, "contentRefBase"));
        }
        let window = set
            .max_age_secs
            .value
            .saturating_add(set.max_skew_secs.value);
        if window > set.dedupe_ttl_secs.value {
            let message = format!(
                "`control.maxAgeSecs` and `control.maxSkewSecs` are {window} seconds together, and \
                 `control.dedupeTtlSecs` is {}: a request could be repeated after it was forgotten",
                set.dedupe_ttl_secs.value
            );
            return Err(invalid(message, "dedupeTtlSecs")
                .help(format!("set `control.dedupeTtlSecs` to {window} or more")));
        }
        if set.soft_limit_bytes.value > set.hard_limit_bytes.value {
            let message = "`control.softLimitBytes` is above `control.hardLimitBytes`";
            return Err(invalid(message.to_owned(), "softLimitBytes"));
        }
        Ok(Self {
            enabled: set.enabled.value,
            team: set.team.value.map(str::to_owned),
            roster: Roster::of(&set)?,
            soft_limit: count(set.soft_limit_bytes.value),
            hard_limit: count(set.hard_limit_bytes.value),
            content_ref_base: base.unwrap_or_else(|| state_dir.join("share")),
            content_ref_max: set.content_ref_max_bytes.value,
            max_age: Duration::from_secs(set.max_age_secs.value),
            max_skew: Duration::from_secs(set.max_skew_secs.value),
            dedupe_ttl: Duration::from_secs(set.dedupe_ttl_secs.value),
            dedupe_capacity: count(set.dedupe_capacity.value),
            queue_capacity: count(set.queue_capacity.value),
            interrupt: set.interrupt.value,
            log_text: set.log_text.value,
            ack_timeout: set.ack_timeout.value,
            retries: set.retries.value,
        })
    }
}

impl Policy {
    /// The team of a session: the one that is set, or one with the name of the session's project folder.
    pub fn team_of(&self, project_root: &Path) -> String {
        let folder = || project_root.parent().and_then(Path::file_name);
        let of_project = || folder().map_or_else(|| "root".into(), |name| name.to_string_lossy());
        self.team
            .clone()
            .unwrap_or_else(|| of_project().into_owned())
    }
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
