//! `campaign`: repeats one kind of attack or failure many times, and writes down what came of it.

mod report;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::cargo::{build, cargo};
use crate::failure::{Failure, Outcome};
use crate::fixtures;
use crate::workspace::Workspace;
use report::{Report, Row};

/// One campaign. Its tests run with all others in the size `pr`.
#[derive(Debug)]
struct Campaign {
    name: &'static str,
    /// What it does, for the page.
    about: &'static str,
    /// The tests, as arguments of `cargo test`.
    runs: &'static [&'static str],
    /// Whether it loads libraries from tests/fixtures or starts the program.
    needs_fixtures: bool,
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "crash",
        about: "The session store runs on a disk that fails at every operation in turn: it refuses, is full, takes only a part, \
                is interrupted, or everything ends before, inside or after the operation, with torn and lost writes. \
                Then random lives with several failures each. What was acknowledged has to be there, and no damage may be told.",
        runs: &["-p filesystem-session-store --lib tests::crashes"],
        needs_fixtures: false,
    },
    Campaign {
        name: "kill",
        about: "The program is ended by `kill -9` at any moment and started again. \
                What was acknowledged has to be there once, and everything that was begun has to have one end.",
        runs: &["-p stud-tests --test durability"],
        needs_fixtures: true,
    },
    Campaign {
        name: "damage",
        about: "Stored sessions are changed behind the store's back: every bit of a snapshot, lines of the journal, whole files. \
                Every change has to be told of when the session is read.",
        runs: &["-p filesystem-session-store --lib tests::damage"],
        needs_fixtures: false,
    },
    Campaign {
        name: "paths",
        about: "The file tools are given hostile paths, and directories that change places with links while they are walked. \
                Nothing outside the workspace and nothing of stud's own may be read or written.",
        runs: &["-p workspace-files --lib"],
        needs_fixtures: false,
    },
    Campaign {
        name: "audit",
        about: "Audit trails are edited: bits, lines, hashes that are computed anew, whole trails, and the index of their heads. \
                `stud audit verify` has to find each change.",
        runs: &["-p stud-core --lib audit::"],
        needs_fixtures: false,
    },
    Campaign {
        name: "terminal",
        about: "One corpus of hostile text goes through the places that print. \
                No byte of it may steer a terminal, and in approvals none may be invisible.",
        runs: &[
            "-p stud-diagnostics --lib printable",
            "-p line-ui --lib escape",
            "-p default-tui --lib escape",
            "-p stud-tests --test cli hostile_text",
        ],
        needs_fixtures: true,
    },
];

const SIZES: [&str; 3] = ["pr", "nightly", "release"];

/// Runs a campaign, or all of them.
pub(crate) fn run(args: &[String]) -> Outcome {
    let (name, size) = parsed(args)?;
    let chosen: Vec<&Campaign> = CAMPAIGNS
        .iter()
        .filter(|campaign| name == "all" || campaign.name == name)
        .collect();
    if chosen.is_empty() {
        return Err(Failure::usage(format!(
            "there is no campaign `{name}`; there are {} and `all`",
            names()
        )));
    }
    let workspace = Workspace::read()?;
    if chosen.iter().any(|campaign| campaign.needs_fixtures) {
        fixtures::run(&[])?;
        build(&workspace.root, &["--package", "stud"])?;
    }
    let mut failed = Vec::new();
    for campaign in chosen {
        let row = campaign.run(&workspace.root, size)?;
        println!("{}: {}, {}", row.campaign, row.result, row.figures);
        if row.result != "passed" {
            failed.push(row.campaign.clone());
        }
        Report::add(&workspace.root, row, &abouts())?;
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Failure::failed(format!("failed: {}", failed.join(", "))))
    }
}

fn parsed(args: &[String]) -> Result<(&str, &str), Failure> {
    let usage = || {
        Failure::usage(
            "say which campaign to run, as in `cargo xtask campaign crash --size nightly`",
        )
    };
    let (name, size) = match args {
        [name] => (name, "pr"),
        [name, flag, size] if flag == "--size" => (name, size.as_str()),
        _ => return Err(usage()),
    };
    if !SIZES.contains(&size) {
        return Err(Failure::usage(format!(
            "there is no size `{size}`; there are {}",
            SIZES.join(", ")
        )));
    }
    Ok((name, size))
}

fn names() -> String {
    let names: Vec<String> = CAMPAIGNS
        .iter()
        .map(|campaign| format!("`{}`", campaign.name))
        .collect();
    names.join(", ")
}

fn abouts() -> Vec<(&'static str, String)> {
    let about = |campaign: &Campaign| {
        let words: Vec<&str> = campaign.about.split_whitespace().collect();
        (campaign.name, words.join(" "))
    };
    CAMPAIGNS.iter().map(about).collect()
}

impl Campaign {
    fn run(&self, root: &Path, size: &str) -> Result<Row, Failure> {
        let figures = root.join("target/campaign-figures");
        let _ = fs::remove_file(&figures);
        println!("==> campaign {} ({size})", self.name);
        let began = Instant::now();
        let mut passed = true;
        for run in self.runs {
            let status = cargo(root)
                .arg("test")
                .args(run.split(' '))
                .arg("--all-features")
                .env("STUD_CAMPAIGN_SIZE", size)
                .env("STUD_CAMPAIGN_FIGURES", &figures)
                .status()
                .map_err(|error| Failure::failed(format!("cannot start cargo: {error}")))?;
            passed &= status.success();
        }
        let seconds = began.elapsed().as_secs();
        let text = fs::read_to_string(&figures).unwrap_or_default();
        Ok(Row {
            campaign: self.name.to_owned(),
            size: size.to_owned(),
            date: today()?,
            result: if passed { "passed" } else { "FAILED" }.to_owned(),
            took: format!("{} min {} s", seconds / 60, seconds % 60),
            figures: report::summed(&text),
        })
    }
}

fn today() -> Result<String, Failure> {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    let output = output.map_err(|error| Failure::failed(format!("cannot start date: {error}")))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_campaign_has_a_name_and_a_size() {
        assert_eq!(parsed(&args("crash")).unwrap(), ("crash", "pr"));
        let line = args("kill --size release");
        assert_eq!(parsed(&line).unwrap(), ("kill", "release"));
        for line in ["", "crash --size huge", "crash pr", "crash --size"] {
            assert!(
                matches!(parsed(&args(line)), Err(Failure::Usage(_)) | Ok(("", _))),
                "{line}"
            );
        }
    }

    #[test]
    fn every_campaign_says_what_it_does_and_runs_something() {
        for campaign in CAMPAIGNS {
            assert!(
                !campaign.about.is_empty() && !campaign.runs.is_empty(),
                "{}",
                campaign.name
            );
        }
    }
}
