//! `contracts bump`: version, changelog and lock of a contract, for a change that has been made.

use std::path::Path;

use super::rule::Level;
use super::{Report, extract};
use crate::failure::Failure;

/// Where the new entry of a changelog is still to be written.
pub(super) const TO_WRITE: &str = "TODO";

/// The version after one of this level; below 1.0.0 the second number is the one that breaks.
pub(super) fn raised(version: &str, level: Level) -> Option<String> {
    let numbers: Vec<u64> = version.split('.').flat_map(str::parse).collect();
    let [major, minor, patch] = numbers[..] else {
        return None;
    };
    Some(match level {
        Level::None => return None,
        Level::Patch => format!("{major}.{minor}.{}", patch + 1),
        Level::Major if major > 0 => format!("{}.0.0", major + 1),
        Level::Minor | Level::Major => format!("{major}.{}.0", minor + 1),
    })
}

/// Raises the version in the crate and in the workspace, and begins an entry in the changelog. Gives the files.
pub(super) fn prepare(
    root: &Path,
    report: &Report,
    level: Level,
) -> Result<(String, Vec<String>), Failure> {
    let name = &report.name;
    let needed = report.level();
    if level < needed {
        let why = format!(
            "the changes of `{name}` are {needed}, and a {level} version is less: see `cargo xtask contracts check`"
        );
        return Err(Failure::failed(why));
    }
    if report.version != report.from {
        let why = format!(
            "`{name}` was raised from {} to {} already",
            report.from, report.version
        );
        return Err(Failure::failed(why));
    }
    let version = raised(&report.version, level)
        .ok_or_else(|| Failure::failed(format!("`{}` is not three numbers", report.version)))?;
    let dir = extract::dir(name);
    let own = format!("{dir}/Cargo.toml");
    edit(root, &own, |text| {
        let old = format!("\nversion = \"{}\"", report.version);
        let new = format!("\nversion = \"{version}\"");
        replaced_once(text, &old, &new)
    })?;
    edit(root, "Cargo.toml", |text| {
        let old = format!("path = \"{dir}\", version = \"{}\"", report.version);
        let new = format!("path = \"{dir}\", version = \"{version}\"");
        replaced_once(text, &old, &new)
    })?;
    let mut files = vec![own, "Cargo.toml".to_owned()];
    let code = format!("{dir}/src/lib.rs");
    let constant = |version: &str| format!("SemVer::new({})", version.replace('.', ", "));
    // The crates that are no category say their version in the manifest alone.
    let says = std::fs::read_to_string(root.join(&code));
    if says.is_ok_and(|text| text.contains(&constant(&report.version))) {
        edit(root, &code, |text| {
            replaced_once(text, &constant(&report.version), &constant(&version))
        })?;
        files.push(code);
    }
    let changelog = format!("{dir}/CHANGELOG.md");
    edit(root, &changelog, |text| {
        Some(with_entry(text, &version, report))
    })?;
    files.push(changelog);
    Ok((version, files))
}

/// The changelog with an entry for the version, which lists what changed.
fn with_entry(text: &str, version: &str, report: &Report) -> String {
    let promise = "what is new, and what an author does about it.";
    let mut lines: Vec<String> = report
        .differences
        .iter()
        .map(|found| {
            format!(
                "- {TO_WRITE}: `{}` {}: {promise}\n",
                found.place, found.what
            )
        })
        .collect();
    if lines.is_empty() {
        lines.push(format!("- {TO_WRITE}: {promise}\n"));
    }
    let entry = format!("## {version}\n\n{}", lines.concat());
    match text.find("\n## ") {
        Some(at) => format!("{}{entry}\n{}", &text[..=at], &text[at + 1..]),
        None => format!("{}\n\n{entry}", text.trim_end()),
    }
}

fn replaced_once(text: &str, old: &str, new: &str) -> Option<String> {
    (text.matches(old).count() == 1).then(|| text.replacen(old, new, 1))
}

fn edit(
    root: &Path,
    file: &str,
    change: impl FnOnce(&str) -> Option<String>,
) -> Result<(), Failure> {
    let path = root.join(file);
    let failed = |why: String| Failure::failed(format!("{file}: {why}"));
    let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
    let changed = change(&text)
        .ok_or_else(|| failed("the version stands there in another form".to_owned()))?;
    std::fs::write(&path, changed).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::rule::{self, Difference};
    use super::*;
    use crate::scratch::Scratch;

    fn report(differences: Vec<Difference>) -> Report {
        Report {
            name: "tool".to_owned(),
            from: "1.1.0".to_owned(),
            version: "1.1.0".to_owned(),
            differences,
            problems: Vec::new(),
            breaks: Vec::new(),
        }
    }

    fn scratch() -> Scratch {
        Scratch::with(&[
            (
                "crates/stud-contracts/tool/src/lib.rs",
                "pub const CONTRACT_VERSION: SemVer = SemVer::new(1, 1, 0);\n",
            ),
            (
                "Cargo.toml",
                "stud-contract-tool = { path = \"crates/stud-contracts/tool\", version = \"1.1.0\" }\n",
            ),
            (
                "crates/stud-contracts/tool/Cargo.toml",
                "[package]\nname = \"stud-contract-tool\"\nversion = \"1.1.0\"\n",
            ),
            (
                "crates/stud-contracts/tool/CHANGELOG.md",
                "# Changelog\n\nWords.\n\n## 1.1.0\n\n- Old.\n",
            ),
        ])
    }

    #[test]
    fn versions_are_raised_by_level() {
        let raised = |version, level| raised(version, level).unwrap();
        assert_eq!(raised("1.2.3", Level::Patch), "1.2.4");
        assert_eq!(raised("1.2.3", Level::Minor), "1.3.0");
        assert_eq!(raised("1.2.3", Level::Major), "2.0.0");
        assert_eq!(raised("0.3.0", Level::Major), "0.4.0");
    }

    #[test]
    fn a_bump_is_laid_out_in_every_file() {
        let scratch = scratch();
        let found = Difference::new(rule::CODE_ADDED, "codes/ToolTerminal/New", "was added");
        let (version, files) = prepare(scratch.path(), &report(vec![found]), Level::Minor).unwrap();
        assert_eq!((version.as_str(), files.len()), ("1.2.0", 4));
        let read = |file: &str| std::fs::read_to_string(scratch.path().join(file)).unwrap();
        assert!(read("Cargo.toml").contains("version = \"1.2.0\""));
        assert!(read("crates/stud-contracts/tool/Cargo.toml").contains("version = \"1.2.0\""));
        let code = read("crates/stud-contracts/tool/src/lib.rs");
        assert!(code.contains("SemVer::new(1, 2, 0)"), "{code}");
        let log = read("crates/stud-contracts/tool/CHANGELOG.md");
        let wanted = "Words.\n\n## 1.2.0\n\n- TODO: `codes/ToolTerminal/New` was added: what is new, and what an author does about it.\n\n## 1.1.0\n";
        assert!(log.contains(wanted), "{log}");
    }

    #[test]
    fn a_bump_that_is_too_small_changes_nothing() {
        let scratch = scratch();
        let found = Difference::new(rule::CODE_REMOVED, "codes/ToolTerminal/Old", "was removed");
        assert!(prepare(scratch.path(), &report(vec![found]), Level::Minor).is_err());
        let text = std::fs::read_to_string(scratch.path().join("Cargo.toml")).unwrap();
        assert!(text.contains("version = \"1.1.0\""), "{text}");
    }
}
