//! The few lines around each label of a source, cut and made printable.

use std::ops::Range;

use crate::json::floor;
use crate::{Label, Source, printable};

/// How many lines are shown before and after a labeled one.
const BEFORE: usize = 2;
const AFTER: usize = 1;

/// How far apart two labeled lines may be to be shown together with all lines between them.
const NEAR: usize = 5;

/// The longest underline, in characters.
const UNDERLINE: usize = 80;

/// How many labels are shown; the primary one is always among them.
const LABELS: usize = 3;

/// Consecutive lines with at least one label on them.
pub(super) struct Hunk {
    pub(super) text: String,
    pub(super) first_line: usize,
    pub(super) labels: Vec<Label>,
}

struct Spot<'a> {
    line: usize,
    /// Bytes within that line.
    range: Range<usize>,
    label: &'a Label,
}

/// Cuts a source into the pieces worth showing, the one with the primary label first.
pub(super) fn hunks(source: &Source) -> Vec<Hunk> {
    let lines: Vec<&str> = source.text.split('\n').collect();
    let mut labels: Vec<_> = source.labels.iter().collect();
    labels.sort_by_key(|label| !label.primary);
    let mut spots: Vec<_> = labels
        .into_iter()
        .take(LABELS)
        .map(|label| spot(&source.text, &lines, label))
        .collect();
    spots.sort_by_key(|spot| (spot.line, spot.range.start));

    let near = |left: &Spot<'_>, right: &Spot<'_>| right.line - left.line <= NEAR;
    let mut hunks: Vec<_> = spots
        .chunk_by(near)
        .map(|spots| hunk(source, &lines, spots))
        .collect();
    hunks.sort_by_key(|hunk| !hunk.labels.iter().any(|label| label.primary));
    hunks
}

/// Narrows a label to the first line it covers.
fn spot<'a>(text: &str, lines: &[&str], label: &'a Label) -> Spot<'a> {
    let start = floor(text, label.range.start);
    let line = text[..start].matches('\n').count();
    let column = start - text[..start].rfind('\n').map_or(0, |at| at + 1);
    let rest = lines[line][column..].trim_end();
    let wanted = floor(rest, label.range.end.saturating_sub(start));
    let shown = rest[..wanted].char_indices().nth(UNDERLINE);
    Spot {
        line,
        range: column..column + shown.map_or(wanted, |(at, _)| at),
        label,
    }
}

fn hunk(source: &Source, lines: &[&str], spots: &[Spot<'_>]) -> Hunk {
    let first = spots[0].line.saturating_sub(BEFORE);
    let last = (spots[spots.len() - 1].line + AFTER).min(lines.len() - 1);
    let mut hunk = Hunk {
        text: String::new(),
        first_line: source.first_line + first,
        labels: Vec::new(),
    };
    for (number, line) in (first..).zip(&lines[first..=last]) {
        if number > first {
            hunk.text.push('\n');
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line_start = hunk.text.len();
        hunk.text.push_str(&printable(line));
        let place = |at: usize| line_start + printable(&line[..at.min(line.len())]).len();
        for spot in spots.iter().filter(|spot| spot.line == number) {
            hunk.labels.push(Label {
                range: place(spot.range.start)..place(spot.range.end),
                primary: spot.label.primary,
                text: spot.label.text.clone(),
            });
        }
    }
    hunk
}
