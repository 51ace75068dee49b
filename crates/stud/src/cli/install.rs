//! The words of the verbs that judge plugins, install them and switch them.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[expect(
    clippy::struct_field_names,
    reason = "the names are those of the flags"
)]
pub(crate) struct Conformance {
    /// Afterward hold the plugin against every conformance case, in a process of its own.
    #[arg(long, conflicts_with = "no_load")]
    pub(crate) conformance: bool,
    /// The folder with `valid.json`, `invalid.json` and `worst-plausible.json`, the plugin's config fixtures.
    #[arg(long, value_name = "DIR", requires = "conformance")]
    pub(crate) fixtures: Option<PathBuf>,
    /// Write the report as `JUnit` too.
    #[arg(long, value_name = "FILE", requires = "conformance")]
    pub(crate) junit: Option<PathBuf>,
    /// The folder in which the cases run; given by stud to itself.
    #[arg(long, value_name = "DIR", requires = "conformance", hide = true)]
    pub(crate) inside: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    stud plugin install libline_count.so            a library\n  \
    stud plugin install ./line-count                a crate, built with cargo first\n  \
    stud plugin install line-count.tar.gz           an archive with a library for this platform\n  \
    stud plugin install --sha256 3b0c… line-count.tar.gz\n\n\
    The library passes every stage of `stud plugin check` before it is moved into place, so this runs its code.\n\
    A plugin that needs config gets it with `--config`, or from settings.json.")]
pub(crate) struct Install {
    /// A library, a folder with a `Cargo.toml` or one library, or a `.tar.gz` archive.
    pub(crate) source: PathBuf,
    /// Install it for this project alone, which has to be trusted.
    #[arg(long)]
    pub(crate) project: bool,
    /// Refuse a plugin of another id.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Refuse a library with another SHA-256.
    #[arg(long, value_name = "HASH", value_parser = super::hash_of)]
    pub(crate) sha256: Option<String>,
    /// The plugin's config; one that is installed already stays as it is.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Accept declarations beyond those of the build that is installed.
    #[arg(long)]
    pub(crate) accept: bool,
    /// Build a folder without `--release`: faster to build, larger to load.
    #[arg(long)]
    pub(crate) debug: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    stud plugin update                      every installed plugin, each from its source\n  \
    stud plugin update line-count           one\n  \
    stud plugin update line-count --from line-count-0.2.0.tar.gz\n  \
    stud plugin update line-count --accept  a build that declares more than the installed one\n  \
    stud plugin update line-count --previous\n\n\
    A build that declares more rights, capabilities or dependencies is held back until it is accepted.\n\
    `--accept` installs the build that was held back and shown.")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own on the command line"
)]
pub(crate) struct Update {
    /// The plugin's id; every installed plugin if omitted.
    pub(crate) id: Option<String>,
    /// Take this source from now on.
    #[arg(
        long,
        value_name = "SOURCE",
        requires = "id",
        conflicts_with = "previous"
    )]
    pub(crate) from: Option<PathBuf>,
    /// Go back to the build that the last update replaced.
    #[arg(long, requires = "id")]
    pub(crate) previous: bool,
    /// Accept declarations beyond those of the build that is installed.
    #[arg(long, requires = "id")]
    pub(crate) accept: bool,
    /// Look at the plugins of this project.
    #[arg(long)]
    pub(crate) project: bool,
    /// Build a folder without `--release`.
    #[arg(long)]
    pub(crate) debug: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    stud plugin bisect\n  \
    stud plugin bisect -- stud --headless 'hello'\n  \
    stud plugin bisect --json -- ./reproduce.sh\n\n\
    The command runs once for each attempt, with `STUD_LEAVE_OUT` set to the ids that take no part.\n\
    It counts as failed if its exit status is not 0, if a signal ends it, or if it takes too long.\n\
    Exit status: 0 if the cause was found, 1 if no plugin causes the failure.")]
pub(crate) struct Bisect {
    /// How long the command may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) timeout: u64,
    /// The command; without one, starting every plugin is what may fail.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    stud plugin dev                  the crate in this folder\n  \
    stud plugin dev line-count\n  \
    stud plugin dev --once --json\n\n\
    It is built without `--release` and installed for this user; every session that runs then reloads it between two turns.\n\
    A build that fails, or is refused, changes nothing. Ctrl-C ends it; the last build stays installed.")]
pub(crate) struct Dev {
    /// The folder of the crate.
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Do it once, and do not wait for changes.
    #[arg(long)]
    pub(crate) once: bool,
}
