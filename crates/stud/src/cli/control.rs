//! The words of `stud control`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ControlVerb {
    /// Type text into a session.
    ///
    /// The text is taken from the command line, or from standard input without one. It is one input, with its line ends,
    /// and waits for the running turn. When this command succeeds, the session has it and keeps it, whatever happens to
    /// its process; it need not have been answered yet.
    #[command(after_help = "Examples:\n  \
        stud control send 'and now run the tests'\n  \
        stud control send --session 0192f0c1 < review.md\n  \
        stud control send --interrupt 'stop, use the other branch'\n  \
        stud control send --request-id nightly-7 'again, if you have not'\n\n\
        Exit status: 0 the session has it, 1 it has not or that is not known, 2 wrong usage.")]
    Send {
        /// The text.
        text: Vec<String>,
        /// Cancel the running turn, and have the text answered next.
        #[arg(long)]
        interrupt: bool,
        #[command(flatten)]
        to: Addressee,
    },
    /// Cancel the running turn of a session.
    Interrupt {
        #[command(flatten)]
        to: Addressee,
    },
    /// Show what the process of a session understands.
    Capabilities {
        /// The session's id, or the beginning of it; any process without one.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Show every session that a process has open now.
    Sessions,
}

/// Who sends, and to whom.
#[derive(Debug, Args)]
pub(crate) struct Addressee {
    /// The session's id, or the beginning of it; the one that is open when there is only one.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The agent of the session.
    #[arg(long, value_name = "ID", default_value = stud_control::MAIN_AGENT)]
    pub(crate) agent: String,
    /// The member of the team who sends.
    #[arg(long, value_name = "NAME", default_value = stud_core::settings::OWNER)]
    pub(crate) sender: String,
    /// The team; that of the session without one.
    #[arg(long, value_name = "NAME")]
    pub(crate) team: Option<String>,
    /// The id of this send. What is sent again with the same id takes effect once.
    #[arg(long, value_name = "ID")]
    pub(crate) request_id: Option<String>,
    /// How long to wait for the acknowledgment, in milliseconds; as `control.ackTimeoutMs` says without it.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// How often to try again; as `control.retries` says without it.
    #[arg(long, value_name = "COUNT")]
    pub(crate) retries: Option<u32>,
}
