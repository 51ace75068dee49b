//! Paths and ids.

use std::path::PathBuf;

use stud_contract_meta::Result;

/// Where the session runs and which one it is.
pub trait WorkspaceInfo: Send + Sync {
    /// `<cwd>/.stud/`, whether it exists or not. stud never looks further up.
    fn project_root(&self) -> Result<PathBuf>;

    /// `~/.stud/`, or what takes its place.
    fn global_root(&self) -> Result<PathBuf>;

    /// The turn that runs, if one does.
    fn correlation_id(&self) -> Result<Option<String>>;

    /// The session this host belongs to.
    fn session_id(&self) -> Result<String>;
}
