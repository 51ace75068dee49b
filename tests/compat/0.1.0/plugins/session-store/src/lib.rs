//! A session store of two files for each session: the last snapshot, and the journal.
#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use stud_sdk::prelude::*;
use stud_sdk::session_store::{JournalBatch, JournalPage, JournalRecord, Page, Stored};

/// What the operator sets.
#[derive(Config)]
struct Options {
    /// The folder to keep sessions in.
    path: PathBuf,
}

/// Keeps sessions in one folder.
#[session_store(
    id = "frozen-session-store",
    store_id = "frozen-session-store",
    journaling,
    config = Options,
    init = TwoFiles::open
)]
struct TwoFiles {
    folder: PathBuf,
}

impl TwoFiles {
    fn open(_host: Host, options: Options) -> Self {
        Self {
            folder: options.path,
        }
    }

    fn file(&self, session_id: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{session_id}.{extension}"))
    }
}

fn unavailable(error: impl std::fmt::Display) -> Error {
    Error::new(Class::Session, "StoreUnavailable", error.to_string())
}

impl SessionStore for TwoFiles {
    async fn read(&self, session_id: &str, _cx: &Cx) -> Result<Stored> {
        let text = fs::read_to_string(self.file(session_id, "json"));
        let text = text.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::new(Class::Session, "NoSnapshot", "there is no snapshot"),
            _ => unavailable(error),
        })?;
        serde_json::from_str(&text).map_err(unavailable)
    }

    async fn write(&self, stored: Stored, _cx: &Cx) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(unavailable)?;
        let text = serde_json::to_string(&stored).map_err(unavailable)?;
        let fresh = self.file(&stored.manifest.session_id, "tmp");
        fs::write(&fresh, text).map_err(unavailable)?;
        let place = self.file(&stored.manifest.session_id, "json");
        fs::rename(fresh, place).map_err(unavailable)
    }

    async fn list(&self, _cx: &Cx) -> Result<Vec<String>> {
        let Ok(files) = fs::read_dir(&self.folder) else {
            return Ok(Vec::new());
        };
        let names = files
            .flatten()
            .filter_map(|file| file.file_name().into_string().ok());
        let ids = names.filter_map(|name| Some(name.strip_suffix(".jsonl")?.to_owned()));
        Ok(ids.collect())
    }

    async fn append(&self, session_id: &str, batch: JournalBatch, _cx: &Cx) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(unavailable)?;
        let place = self.file(session_id, "jsonl");
        let file = File::options().create(true).append(true).open(place);
        let mut file = file.map_err(unavailable)?;
        let mut lines = String::new();
        for record in &batch.records {
            lines += &serde_json::to_string(record).map_err(unavailable)?;
            lines.push('\n');
        }
        file.write_all(lines.as_bytes()).map_err(unavailable)?;
        file.sync_data().map_err(unavailable)
    }

    async fn read_journal(&self, session_id: &str, page: Page, _cx: &Cx) -> Result<JournalPage> {
        let text = fs::read_to_string(self.file(session_id, "jsonl"));
        let text =
            text.map_err(|_| Error::new(Class::Session, "NoSnapshot", "there is no journal"))?;
        let records = text.lines().map(serde_json::from_str::<JournalRecord>);
        let mut records = records
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(unavailable)?;
        let after = page.after_seq.unwrap_or(0);
        records.retain(|record| record.seq > after);
        let all = records.len();
        let limit = page.limit.and_then(|limit| usize::try_from(limit).ok());
        records.truncate(limit.unwrap_or(all));
        let last = records.last().filter(|_| records.len() < all);
        Ok(JournalPage {
            next_after_seq: last.map(|record| record.seq),
            records,
        })
    }
}
