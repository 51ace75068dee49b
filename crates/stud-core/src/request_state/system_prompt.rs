//! What the model is told first, in a file that its owner may change at any time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use crate::platform;
use crate::sync::{Mutex, lock};

/// A larger file is a mistake: it would be sent with every request.
const LARGEST: u64 = 256 << 10;

/// The file, and what was last read from it.
#[derive(Debug)]
pub(crate) struct SystemPrompt {
    path: Option<PathBuf>,
    read: Mutex<Option<Read>>,
}

#[derive(Debug)]
struct Read {
    stamp: Stamp,
    text: Option<Arc<str>>,
}

/// What changes when a file does.
type Stamp = Option<(SystemTime, u64)>;

impl SystemPrompt {
    pub(super) fn at(path: Option<PathBuf>) -> Self {
        Self {
            path,
            read: Mutex::default(),
        }
    }

    /// The text as of now. Nothing if there is no file, or nothing in it.
    ///
    /// The file is read when it is first needed and again only when it has changed.
    pub(crate) fn text(&self) -> Result<Option<Arc<str>>> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        let stamp = stamp(path);
        let mut read = lock(&self.read);
        if let Some(read) = &*read
            && read.stamp == stamp
        {
            return Ok(read.text.clone());
        }
        let text = match stamp {
            None => None,
            Some(_) => load(path)?,
        };
        *read = Some(Read {
            stamp,
            text: text.clone(),
        });
        Ok(text)
    }
}

fn stamp(path: &Path) -> Stamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn load(path: &Path) -> Result<Option<Arc<str>>> {
    let bytes = match platform::read_file(path, LARGEST) {
        Ok(bytes) => bytes,
        // It was there a moment ago.
        Err(platform::ReadError::Missing) => return Ok(None),
        Err(error) => return Err(unreadable(path, &error.to_string())),
    };
    let text = String::from_utf8(bytes)
        .map_err(|error| unreadable(path, &format!("it is not UTF-8: {}", error.utf8_error())))?;
    let text = text.trim_end();
    Ok((!text.is_empty()).then(|| text.into()))
}

fn unreadable(path: &Path, why: &str) -> Error {
    let code = &codes::SYSTEM_PROMPT_UNREADABLE;
    let path = path.display().to_string();
    let message = format!("`{path}` cannot be used as the system prompt: {why}");
    Error::new(code.class, code.name, message)
        .with("path", path)
        .with("largestBytes", LARGEST)
}
