//! A logger that appends each record to a file.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use stud_sdk::logger::Record;
use stud_sdk::prelude::*;

/// What the operator sets.
#[derive(Config)]
struct Options {
    /// The file that gets a line for each record.
    file: PathBuf,
}

/// Appends each record to a file, as JSON.
#[logger(id = "frozen-logger", accepts(events, audit, diagnostics), config = Options, init = LineLogger::open)]
struct LineLogger {
    file: Mutex<File>,
}

impl LineLogger {
    fn open(_host: Host, options: Options) -> Result<Self> {
        let file = File::options().create(true).append(true).open(options.file);
        Ok(Self {
            file: Mutex::new(file.map_err(Error::failed)?),
        })
    }
}

impl Logger for LineLogger {
    async fn sink(&self, record: Record, _cx: &Cx) -> Result<()> {
        let line = serde_json::to_string(&record).map_err(Error::failed)?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(file, "{line}").map_err(Error::failed)
    }
}
