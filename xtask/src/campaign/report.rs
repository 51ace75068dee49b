//! `docs/reliability.md`: what the campaigns came to, each in the sizes it was run in.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::failure::Failure;

const PAGE: &str = "docs/reliability.md";

const HEAD: &str = "| Campaign | Size | Date | Result | Took | Figures |";

const OPENING: &str = "\
# Reliability

What was tried to break stud, and what came of it.
`cargo xtask campaign NAME [--size pr|nightly|release]` runs a campaign and writes its row; nothing here is written by hand.
The size `pr` is part of `cargo xtask test`; the other two repeat the same more often.
A size that has no row was not run.

## Results
";

/// What one run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) campaign: String,
    pub(super) size: String,
    pub(super) date: String,
    pub(super) result: String,
    pub(super) took: String,
    pub(super) figures: String,
}

/// The rows of the page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Report(Vec<Row>);

impl Report {
    /// Writes a row into the page, in the place of the one of the same campaign and size.
    pub(super) fn add(
        root: &Path,
        row: Row,
        abouts: &[(&'static str, String)],
    ) -> Result<(), Failure> {
        let path = root.join(PAGE);
        let mut report = Self::read(&fs::read_to_string(&path).unwrap_or_default());
        report.put(row);
        fs::write(&path, report.text(abouts))
            .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
    }

    fn read(page: &str) -> Self {
        let rows = page
            .lines()
            .skip_while(|line| *line != HEAD)
            .skip(2)
            .map_while(Row::read);
        Self(rows.collect())
    }

    fn put(&mut self, row: Row) {
        let key = |row: &Row| (row.campaign.clone(), row.size.clone());
        self.0.retain(|known| key(known) != key(&row));
        self.0.push(row);
        let rank = |row: &Row| super::SIZES.iter().position(|size| *size == row.size);
        self.0.sort_by_key(|row| (row.campaign.clone(), rank(row)));
    }

    fn text(&self, abouts: &[(&'static str, String)]) -> String {
        let mut page = format!("{OPENING}\n{HEAD}\n|---|---|---|---|---|---|\n");
        for row in &self.0 {
            page.push_str(&row.line());
        }
        page.push_str("\n## What they do\n");
        for (name, about) in abouts {
            // One sentence to a line.
            let about = about.replace(". ", ".\n");
            page = format!("{page}\n### {name}\n\n{about}\n");
        }
        page
    }
}

impl Row {
    fn read(line: &str) -> Option<Self> {
        let inner = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let [campaign, size, date, result, took, figures] =
            <[&str; 6]>::try_from(inner.split(" | ").collect::<Vec<_>>()).ok()?;
        Some(Self {
            campaign: campaign.to_owned(),
            size: size.to_owned(),
            date: date.to_owned(),
            result: result.to_owned(),
            took: took.to_owned(),
            figures: figures.to_owned(),
        })
    }

    fn line(&self) -> String {
        let Self {
            campaign,
            size,
            date,
            result,
            took,
            figures,
        } = self;
        format!("| {campaign} | {size} | {date} | {result} | {took} | {figures} |\n")
    }
}

/// The figures of a run, those of one name added up.
pub(super) fn summed(lines: &str) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for line in lines.lines() {
        if let Some((count, what)) = line.split_once('\t')
            && let Ok(count) = count.parse::<u64>()
        {
            *sums.entry(what).or_default() += count;
        }
    }
    let figures: Vec<String> = sums
        .iter()
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    if figures.is_empty() {
        return "no figures".to_owned();
    }
    figures.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(campaign: &str, size: &str, figures: &str) -> Row {
        let text = |text: &str| text.to_owned();
        Row {
            campaign: text(campaign),
            size: text(size),
            date: text("2026-11-19"),
            result: text("passed"),
            took: text("0 min 1 s"),
            figures: text(figures),
        }
    }

    #[test]
    fn a_row_takes_the_place_of_the_one_before_it() {
        let mut report = Report::default();
        for (campaign, size) in [("kill", "release"), ("kill", "pr"), ("crash", "pr")] {
            report.put(row(campaign, size, "1 runs"));
        }
        report.put(row("kill", "pr", "2 runs"));
        let abouts = [("crash", "It falls. It stands up.".to_owned())];
        let page = report.text(&abouts);
        assert_eq!(Report::read(&page), report);
        let kept: Vec<(&str, &str, &str)> = report
            .0
            .iter()
            .map(|row| (&*row.campaign, &*row.size, &*row.figures))
            .collect();
        let expected = [
            ("crash", "pr", "1 runs"),
            ("kill", "pr", "2 runs"),
            ("kill", "release", "1 runs"),
        ];
        assert_eq!(kept, expected);
        assert!(page.contains("It falls.\nIt stands up.\n"), "{page}");
    }

    #[test]
    fn figures_of_one_name_are_added_up() {
        assert_eq!(summed("2\tkills\n3\truns\n5\tkills\n"), "7 kills, 3 runs");
        assert_eq!(summed(""), "no figures");
    }
}
