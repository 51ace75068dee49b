//! The transcript of a child session: a file beside the records of its parent, one record in each line.
//!
//! It is for readers. A child is never resumed, so nothing but its records is kept.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use stud_contract_meta::Result;
use stud_contract_session_store::{
    Durability, JournalBatch, JournalPage, JournalRecord, Page, Stored,
};

use crate::store::{Store, unavailable};
use crate::sync::{Mutex, lock};

/// The folder of a session that holds the transcripts of its children.
pub(crate) const FOLDER: &str = "subagents";

/// The file of one child.
pub(crate) struct TranscriptFile {
    path: PathBuf,
    /// Opened with the first record.
    file: Mutex<Option<File>>,
}

impl TranscriptFile {
    /// A file that is made with its first record.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: Mutex::new(None),
        }
    }

    fn write(&self, batch: &JournalBatch) -> io::Result<()> {
        let mut file = lock(&self.file);
        let file = match &mut *file {
            Some(file) => file,
            closed => closed.insert(open(&self.path)?),
        };
        let mut lines = Vec::new();
        for record in &batch.records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        file.write_all(&lines)?;
        if batch.durability == Durability::Synced {
            file.sync_data()?;
        }
        Ok(())
    }
}

/// What was said is for the user of this machine alone.
fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        }
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// The records of a child's transcript. A last line that a crash cut off is left out.
pub fn read(path: &Path) -> io::Result<Vec<JournalRecord>> {
    let mut records = Vec::new();
    for line in BufReader::new(File::open(path)?).split(b'\n') {
        records.extend(serde_json::from_slice::<JournalRecord>(&line?));
    }
    Ok(records)
}

impl Store for TranscriptFile {
    fn store_id(&self) -> &'static str {
        "subagents"
    }

    fn journals(&self) -> bool {
        true
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn append(&self, session_id: &str, batch: &JournalBatch) -> Result<()> {
        self.write(batch)
            .map_err(|error| unavailable(&error.to_string()).with("sessionId", session_id))
    }

    /// There are no snapshots of a child.
    fn write(&self, _: &Stored) -> Result<()> {
        Ok(())
    }

    fn read(&self, session_id: &str) -> Result<Stored> {
        Err(unavailable("a child session has no snapshot").with("sessionId", session_id))
    }

    fn read_journal(&self, session_id: &str, page: Page) -> Result<JournalPage> {
        let failed =
            |error: io::Error| unavailable(&error.to_string()).with("sessionId", session_id);
        let records = read(&self.path).map_err(failed)?;
        let after = page.after_seq.unwrap_or(0);
        let limit = usize::try_from(page.limit.unwrap_or(1000)).unwrap_or(usize::MAX);
        let start = records.partition_point(|record| record.seq <= after);
        let rest = &records[start..];
        let records = rest[..limit.min(rest.len())].to_vec();
        let next_after_seq = records
            .last()
            .filter(|_| records.len() < rest.len())
            .map(|record| record.seq);
        Ok(JournalPage {
            records,
            next_after_seq,
        })
    }

    fn list(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}
