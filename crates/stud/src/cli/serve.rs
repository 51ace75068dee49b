//! The words of `stud serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// What `--help` ends with.
pub(super) const EXAMPLES: &str = "Examples:\n  \
    stud serve --open                     open the page in a browser\n  \
    stud serve --listen 127.0.0.1:0       let the system choose the port\n  \
    stud serve --token-file ~/.stud/token the same token each time, and none on standard output\n\n\
    Beyond loopback it needs TLS and the names it may be called: `serve.allowedHosts` in settings.json.\n\n\
    Exit status: 0 asked to end, 1 failed or refused, 2 wrong usage.";

/// What the help of `stud attach` ends with.
pub(super) const ATTACH_EXAMPLES: &str = "Examples:\n  \
    stud attach              the only session that is open\n  \
    stud attach 0192f0c1     the session whose id begins with this\n\n\
    Exit status: 0 left the session, or it has ended, 1 failed or refused, 2 wrong usage.";

/// What `stud attach` takes.
#[derive(Debug, Args)]
pub(crate) struct Attach {
    /// The session's id, or the beginning of it; the one that is open when there is only one.
    #[arg(value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The folder of the server's control socket, as `stud serve --state-dir` was given.
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
}

/// What `stud serve` takes.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The address to listen at; port 0 lets the system choose one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7777", value_parser = address_of)]
    pub(crate) listen: SocketAddr,
    /// The folder of the control socket; stud's home without it.
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// Keep the token in this file instead of printing it; it is written if it is not there.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The certificate chain, as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of the certificate, as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Open the page in a browser.
    #[arg(long)]
    pub(crate) open: bool,
}

fn address_of(word: &str) -> Result<SocketAddr, String> {
    let named = word
        .strip_prefix("localhost:")
        .map(|port| format!("127.0.0.1:{port}"));
    let word = named.as_deref().unwrap_or(word);
    word.parse()
        .map_err(|_| "write it as 127.0.0.1:7777 or [::1]:7777".to_owned())
}
