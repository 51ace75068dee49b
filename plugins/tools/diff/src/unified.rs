//! The unified format.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};
use stud_sdk::prelude::*;

use crate::Difference;

/// After this time the difference that is shown is a right one and perhaps not the shortest.
const PATIENCE: Duration = Duration::from_secs(1);

/// One of two texts, and what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) label: String,
    pub(crate) text: String,
}

/// How `new` differs from `old`, with so many lines around each change, in at most `most` bytes.
pub(crate) fn unified(
    old: &Side,
    new: &Side,
    context: usize,
    most: usize,
    cx: &Cx,
) -> Result<Difference> {
    let mut difference = Difference {
        diff: String::new(),
        identical: old.text == new.text,
        lines_added: 0,
        lines_removed: 0,
        truncated: false,
    };
    if difference.identical {
        return Ok(difference);
    }
    let lines = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(&old.text, &new.text);
    if cx.is_cancelled() {
        return Err(Error::cancelled());
    }
    for change in lines.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => difference.lines_added += 1,
            ChangeTag::Delete => difference.lines_removed += 1,
            ChangeTag::Equal => {}
        }
    }
    difference.diff = format!("--- {}\n+++ {}\n", plain(&old.label), plain(&new.label));
    let mut format = lines.unified_diff();
    for hunk in format.context_radius(context).iter_hunks() {
        if cx.is_cancelled() {
            return Err(Error::cancelled());
        }
        let hunk = hunk.to_string();
        if difference.diff.len() + hunk.len() > most {
            difference.truncated = true;
            let room = most.saturating_sub(difference.diff.len());
            difference.diff.push_str(whole_lines(&hunk, room));
            break;
        }
        difference.diff.push_str(&hunk);
    }
    Ok(difference)
}

/// A name that cannot be taken for lines of the difference.
fn plain(label: &str) -> String {
    label.replace(char::is_control, "?")
}

/// The lines of a text that fit into so many bytes.
fn whole_lines(text: &str, most: usize) -> &str {
    let fits = text.as_bytes().get(..most).unwrap_or(text.as_bytes());
    let end = fits.iter().rposition(|byte| *byte == b'\n');
    &text[..end.map_or(0, |at| at + 1)]
}
