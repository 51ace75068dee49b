//! The log of the program: `--log`, or the variable `STUD_LOG`. It is off unless one of them is given.
//!
//! Lines are written without the secrets that any session of this process knows, and without control characters. What
//! libraries say about themselves is left out: some of them show whole messages.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use stud_core::platform;
use stud_core::redact::redacted_for_log;
use stud_diagnostics::{Diagnostic, codes, printable};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{FmtSpan, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::cli::{Cli, LOG_LEVELS, LogOptions};
use crate::setup;

/// The crates and plugins that are heard: their names begin with it.
const HEARD: &str = "stud";

/// Where the log of a session with a screen goes if nothing else is said.
const FILE: &str = "stud.log";

/// Starts the log if the command line or the environment asks for one.
pub(crate) fn start(cli: &Cli) -> Result<(), Diagnostic> {
    let LogOptions { log, log_file } = &cli.log;
    let Some(level) = level(log.as_deref())? else {
        return Ok(());
    };
    let file = log_file
        .clone()
        .or_else(|| platform::env_value("STUD_LOG_FILE").map(PathBuf::from));
    let file = match file {
        Some(file) => Some(file),
        None if has_screen(cli) => Some(setup::places()?.global_root.join(FILE)),
        None => None,
    };
    let out: Box<dyn Write + Send> = match &file {
        Some(path) => Box::new(open(path)?),
        None => Box::new(io::stderr()),
    };
    let layer = tracing_subscriber::fmt::layer()
        .with_timer(Clock)
        // The end of a span says how long it took.
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(Mutex::new(Lines(out)))
        .with_filter(Targets::new().with_target(HEARD, level));
    let subscriber = tracing_subscriber::registry().with(layer);
    // Nothing else in the program sets one.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

/// The level that is asked for; none where the log is off.
fn level(flag: Option<&str>) -> Result<Option<LevelFilter>, Diagnostic> {
    let set = platform::env_value("STUD_LOG");
    let Some(word) = flag.map(str::to_owned).or(set) else {
        return Ok(None);
    };
    let known = LOG_LEVELS.contains(&word.as_str());
    match word.parse::<LevelFilter>() {
        Ok(LevelFilter::OFF) if known => Ok(None),
        Ok(level) if known => Ok(Some(level)),
        // The parser of the command line has refused such a word already.
        _ => {
            let message = format!("`STUD_LOG` is `{word}`, which is not a level of the log");
            let help = format!("set `STUD_LOG` to one of: {}", LOG_LEVELS.join(", "));
            Err(Diagnostic::error(&codes::UNKNOWN_FLAG, message).help(help))
        }
    }
}

/// Whether a screen has the terminal, which lines of the log would break.
fn has_screen(cli: &Cli) -> bool {
    let is_session = cli.verb.is_none() && !cli.converse.headless && !cli.json;
    is_session && io::stderr().is_terminal()
}

fn open(path: &Path) -> Result<File, Diagnostic> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600);
    options.open(path).map_err(|error| {
        let message = format!("the log `{}` cannot be opened: {error}", path.display());
        Diagnostic::error(&codes::STARTUP_FAILURE, message)
            .help("name another file with `--log-file`, or leave out `--log`")
    })
}

/// Lines on their way to the log. The subscriber writes each with one call.
struct Lines(Box<dyn Write + Send>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let line = redacted_for_log(text.trim_end_matches('\n'));
        writeln!(self.0, "{}", printable(&line))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The clock of every other record.
struct Clock;

impl FormatTime for Clock {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{}", platform::rfc3339(platform::now()))
    }
}
