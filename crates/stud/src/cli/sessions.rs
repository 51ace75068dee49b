//! The words of `stud sessions`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsVerb {
    /// Show every session, the one used last first.
    List,
    /// Show what was said and done in a session.
    ///
    /// Each part has the number of its record, which `stud sessions fork --at` takes. With `--json`, each record is one
    /// line.
    Show {
        /// The session's id, or its first characters.
        session: String,
        /// Show its subagents too: what each was allowed, how it ended, and what was said in it.
        #[arg(long)]
        tree: bool,
    },
    /// Make a new session that continues from a session, or from an earlier place in it.
    ///
    /// The session itself stays as it is.
    #[command(after_help = "Examples:\n  \
        stud sessions fork 0192f0c1           everything up to now\n  \
        stud sessions fork 0192f0c1 --at 12   up to and including record 12")]
    Fork {
        /// The session's id, or its first characters.
        session: String,
        /// The last record to take over, by its number.
        #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
        at: Option<u64>,
    },
    /// Remove sessions for good, with everything that is kept of them.
    ///
    /// That they were removed stays on record, with the hash of the last record of each audit trail.
    #[command(after_help = "Examples:\n  \
        stud sessions delete 0192f0c1         the session whose id begins with this")]
    Delete {
        /// Their ids, or the beginnings of them.
        #[arg(required = true, value_name = "SESSION")]
        sessions: Vec<String>,
    },
    /// Remove every session that was last used before a time.
    ///
    /// Shows them and removes none, unless `--yes` is given. A session that runs is kept.
    #[command(after_help = "Examples:\n  \
        stud sessions prune --before 2026-01-05        what would go\n  \
        stud sessions prune --before 2026-01-05 --yes  remove it")]
    Prune {
        /// A date, or a time with its zone.
        #[arg(long, value_name = "TIME", value_parser = super::time_of)]
        before: String,
        /// Remove them.
        #[arg(long)]
        yes: bool,
    },
    /// Write a session out, for people or for programs.
    #[command(after_help = "Examples:\n  \
        stud sessions export 0192f0c1 > talk.md\n  \
        stud sessions export 0192f0c1 --format json -o talk.json")]
    Export {
        /// The session's id, or its first characters.
        session: String,
        /// As what; JSON with `--json`, Markdown otherwise.
        #[arg(long, value_enum)]
        format: Option<ExportFormat>,
        /// Write to this file instead of standard output.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// As what a session is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    Markdown,
    Json,
}
