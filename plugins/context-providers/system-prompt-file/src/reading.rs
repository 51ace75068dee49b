//! Reading as much of a file as may be told.

use std::fs::File;
use std::io::{self, Read as _};

use stud_sdk::{Class, Error, ErrorExt as _, Result};

use crate::place::Place;

/// The code of a file that is not text.
const OUTPUT_MALFORMED: &str = "OutputMalformed";

/// No more than this is read, whatever the budget is.
const LARGEST: u64 = 1 << 20;

/// The beginning of the file. It is a little more than the budget, so that core sees what it cuts.
pub(crate) fn read(place: &Place, token_budget: u64) -> Result<String> {
    let Some(path) = place.real()? else {
        return Err(missing(place, "the file does not exist"));
    };
    // A pipe would block when opened.
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Err(missing(place, "it is not a file"));
    }
    // A character has at most four bytes, and a token at least one character.
    let most = token_budget
        .saturating_add(1)
        .saturating_mul(4)
        .min(LARGEST);
    let bytes = beginning(&path, most).map_err(|error| missing(place, &error.to_string()))?;
    let whole = (bytes.len() as u64) < most;
    text(bytes, whole).ok_or_else(|| {
        let path = place.path().display().to_string();
        let why = format!("`{path}` is not UTF-8 text");
        Error::new(Class::ToolTerminal, OUTPUT_MALFORMED, why).with("path", path)
    })
}

fn beginning(path: &std::path::Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes as text. The end may be in the middle of a character if it is not the end of the file.
fn text(bytes: Vec<u8>, whole: bool) -> Option<String> {
    String::from_utf8(bytes)
        .or_else(|error| {
            let is_cut = !whole && error.utf8_error().error_len().is_none();
            let end = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            if is_cut {
                bytes.truncate(end);
            }
            String::from_utf8(bytes)
        })
        .ok()
}

fn missing(place: &Place, why: &str) -> Error {
    let path = place.path().display().to_string();
    Error::not_found(format!("`{path}` cannot be read: {why}")).with("path", path)
}
