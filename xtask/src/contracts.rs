//! `contracts`: the contract crates held against their locks, versions and changelogs.

mod bump;
mod compare;
mod extract;
mod rule;
mod schema;
#[cfg(test)]
mod tests;

use std::process::Command;

use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::problem::Problem;
use crate::tree::Tree;
use crate::workspace::Workspace;
use rule::{Difference, Level};

const USAGE: &str = "usage: cargo xtask contracts check [--json] [--base REV] | lock [--base REV] | bump CONTRACT patch|minor|major";

/// What was found out about one contract.
#[derive(Debug)]
struct Report {
    name: String,
    from: String,
    version: String,
    differences: Vec<Difference>,
    problems: Vec<String>,
    breaks: Vec<String>,
}

impl Report {
    fn level(&self) -> Level {
        let levels = self.differences.iter().map(|found| found.rule.level);
        levels.max().unwrap_or(Level::None)
    }
}

/// Runs `check` or `lock`.
pub(crate) fn run(args: &[String]) -> Outcome {
    let mut words = args.iter().map(String::as_str);
    let verb = words.next().unwrap_or_default();
    if verb == "bump" {
        return match args {
            [_, name, level] => raise(name, level),
            _ => Err(Failure::usage(USAGE)),
        };
    }
    let (mut is_json, mut base) = (false, None);
    while let Some(word) = words.next() {
        match word {
            "--json" if verb == "check" => is_json = true,
            "--base" => base = Some(words.next().ok_or_else(|| Failure::usage(USAGE))?),
            _ => return Err(Failure::usage(USAGE)),
        }
    }
    let workspace = Workspace::read()?;
    let tree = Tree::read(&workspace.root)?;
    match verb {
        "check" => {
            let reports = reports(&workspace, &tree, base, true)?;
            show(&reports, is_json);
            if reports.iter().all(|report| report.problems.is_empty()) {
                return Ok(());
            }
            Err(Failure::failed("a contract and its version do not agree"))
        }
        "lock" => lock(&workspace, &tree, base),
        _ => Err(Failure::usage(USAGE)),
    }
}

/// The check among those of `cargo xtask check`.
pub(crate) fn problems(workspace: &Workspace, tree: &Tree) -> Vec<Problem> {
    let fix = "see `cargo xtask contracts check`";
    match reports(workspace, tree, None, true) {
        Ok(reports) => reports
            .into_iter()
            .flat_map(|report| {
                let file = format!("{}/contract.lock", extract::dir(&report.name));
                let problem = move |text| Problem::new(file.clone(), 1, text, fix);
                report.problems.into_iter().map(problem)
            })
            .collect(),
        Err(Failure::Usage(text) | Failure::Failed(text)) => {
            vec![Problem::new("Cargo.toml", 1, text, fix)]
        }
        Err(Failure::Exit(code)) => {
            vec![Problem::new(
                "Cargo.toml",
                1,
                format!("exit code {code}"),
                fix,
            )]
        }
    }
}

fn reports(
    workspace: &Workspace,
    tree: &Tree,
    base: Option<&str>,
    must_be_locked: bool,
) -> Result<Vec<Report>, Failure> {
    let contracts = extract::extract(workspace, tree)?;
    let mut reports = Vec::new();
    for (name, new) in &contracts {
        let path = format!("{}/contract.lock", extract::dir(name));
        let committed = tree
            .text(&path)
            .and_then(|text| serde_json::from_str(text).ok());
        let old = match base {
            Some(rev) => at_revision(workspace, rev, &path)?,
            None => committed.clone(),
        };
        let changelog = tree.text(&format!("{}/CHANGELOG.md", extract::dir(name)));
        let mut report = judge(name, old.as_ref(), new, changelog.unwrap_or_default());
        if must_be_locked && committed.as_ref() != Some(new) {
            let text =
                format!("{path} is not what the code says: `cargo xtask contracts lock` writes it");
            report.problems.push(text);
        }
        if report.level() == Level::Major {
            report.breaks = plugins(workspace, tree, new["kind"].as_str());
        }
        reports.push(report);
    }
    Ok(reports)
}

/// Differences, and whether version and changelog follow from them.
fn judge(name: &str, old: Option<&Value>, new: &Value, changelog: &str) -> Report {
    let text = |lock: &Value| lock["version"].as_str().unwrap_or_default().to_owned();
    let version = text(new);
    let mut report = Report {
        name: name.to_owned(),
        from: old.map_or_else(|| version.clone(), text),
        version,
        differences: old
            .map(|old| compare::compare(old, new))
            .unwrap_or_default(),
        problems: Vec::new(),
        breaks: Vec::new(),
    };
    let needed = report.level();
    let bump = bump(&report.from, &report.version);
    let Some(bump) = bump else {
        let text = format!("version {} is below {}", report.version, report.from);
        report.problems.push(text);
        return report;
    };
    // Below 1.0.0 the second number is the one that breaks.
    let needed_here = if report.from.starts_with("0.") {
        needed.min(Level::Minor)
    } else {
        needed
    };
    if bump < needed_here {
        report.problems.push(format!(
            "this is a {needed} change, and version {} became {}: raise it by a {needed_here} version",
            report.from, report.version
        ));
    }
    let section = section(changelog, &report.version);
    if bump > Level::None && section.trim().is_empty() {
        let text = format!("CHANGELOG.md says nothing about {}", report.version);
        report.problems.push(text);
    }
    if section.contains(bump::TO_WRITE) {
        let text = format!(
            "CHANGELOG.md still has `{}` below {}",
            bump::TO_WRITE,
            report.version
        );
        report.problems.push(text);
    }
    for found in &report.differences {
        let field = found.word.as_deref().unwrap_or_default();
        if found.rule == rule::DEFAULT_CHANGED && !section.contains(field) {
            let text = format!("CHANGELOG.md does not name `{field}`, whose default changed");
            report.problems.push(text);
        }
    }
    report
}

/// Which number was raised; nothing when the version went down.
fn bump(from: &str, to: &str) -> Option<Level> {
    let numbers = |text: &str| -> Vec<u64> { text.split('.').flat_map(str::parse).collect() };
    let (before, after) = (numbers(from), numbers(to));
    if after < before {
        return None;
    }
    let place = before
        .iter()
        .zip(&after)
        .position(|(before, after)| before != after);
    Some(match place {
        Some(0) => Level::Major,
        Some(1) => Level::Minor,
        Some(_) => Level::Patch,
        None => Level::None,
    })
}

fn section<'a>(changelog: &'a str, version: &str) -> &'a str {
    let heading = format!("\n## {version}\n");
    let rest = changelog.split_once(&heading).map_or("", |(_, rest)| rest);
    rest.split("\n## ").next().unwrap_or_default()
}

fn at_revision(workspace: &Workspace, rev: &str, path: &str) -> Result<Option<Value>, Failure> {
    let git = |args: &[&str]| {
        Command::new("git")
            .current_dir(&workspace.root)
            .args(args)
            .output()
            .map_err(|error| Failure::failed(format!("cannot run git: {error}")))
    };
    let commit = format!("{rev}^{{commit}}");
    if !git(&["rev-parse", "--verify", "--quiet", &commit])?
        .status
        .success()
    {
        return Err(Failure::usage(format!("git knows no revision `{rev}`")));
    }
    let shown = git(&["show", &format!("{rev}:{path}")])?;
    Ok(serde_json::from_slice(&shown.stdout).ok())
}

/// The bundled and fixture plugins of a category, or all of them.
fn plugins(workspace: &Workspace, tree: &Tree, kind: Option<&str>) -> Vec<String> {
    let attribute = kind.map(|kind| {
        let mut word = String::from("#[");
        for (index, letter) in kind.char_indices() {
            if letter.is_uppercase() && index > 0 && kind != "UI" {
                word.push('_');
            }
            word.push(letter.to_ascii_lowercase());
        }
        word
    });
    let packages = workspace.packages.iter();
    packages
        .filter(|package| package.is_plugin_library())
        .filter(|package| {
            let Some(word) = &attribute else { return true };
            let src = format!("{}/src/", package.dir);
            tree.rust()
                .any(|(path, text)| path.starts_with(&src) && text.contains(word))
        })
        .map(|package| package.name.clone())
        .collect()
}

fn show(reports: &[Report], is_json: bool) {
    if is_json {
        let all: Vec<Value> = reports.iter().map(as_json).collect();
        println!("{}", json!({"contracts": all}));
        return;
    }
    for report in reports {
        println!("{} {}: {}", report.name, report.version, report.level());
        for found in &report.differences {
            println!("  {found}");
        }
        if !report.breaks.is_empty() {
            println!("  breaks: {}", report.breaks.join(", "));
        }
        for problem in &report.problems {
            println!("  to do: {problem}");
        }
    }
}

fn as_json(report: &Report) -> Value {
    let differences = report.differences.iter().map(|found| {
        json!({
            "level": found.rule.level.as_str(), "rule": found.rule.id, "why": found.rule.why,
            "place": found.place, "what": found.what,
        })
    });
    json!({
        "contract": report.name, "from": report.from, "version": report.version,
        "level": report.level().as_str(), "differences": differences.collect::<Vec<_>>(),
        "breaks": report.breaks, "problems": report.problems,
    })
}

/// Raises the version of one contract, begins its changelog entry, and writes its lock.
fn raise(name: &str, level: &str) -> Outcome {
    let levels = [Level::Patch, Level::Minor, Level::Major];
    let level = levels.into_iter().find(|known| known.as_str() == level);
    let level = level.ok_or_else(|| Failure::usage(USAGE))?;
    let workspace = Workspace::read()?;
    let tree = Tree::read(&workspace.root)?;
    let reports = reports(&workspace, &tree, None, false)?;
    let Some(report) = reports.iter().find(|report| report.name == name) else {
        let known: Vec<&str> = reports.iter().map(|report| report.name.as_str()).collect();
        let hint = crate::suggest::hint(name, known.iter().copied());
        let text = format!(
            "there is no contract `{name}`{hint}\nthe contracts are {}",
            known.join(", ")
        );
        return Err(Failure::usage(text));
    };
    let (version, files) = bump::prepare(&workspace.root, report, level)?;
    for file in files {
        println!("changed {file}");
    }
    // The lock is made from the files as they are now.
    let workspace = Workspace::read()?;
    let tree = Tree::read(&workspace.root)?;
    let contracts = extract::extract(&workspace, &tree)?;
    let file = format!("{}/contract.lock", extract::dir(name));
    let path = workspace.root.join(&file);
    std::fs::write(&path, format!("{:#}\n", contracts[name]))
        .map_err(|error| Failure::failed(format!("cannot write {file}: {error}")))?;
    println!("wrote {file}");
    println!(
        "now: write the entry {version} in the changelog, and give the absence of anything new a meaning where \
         crates/stud-plugins/src/bind.rs takes older tables; `cargo xtask contracts check` passes when the entry is written"
    );
    Ok(())
}

/// Writes the locks, unless a version is too low for what changed.
fn lock(workspace: &Workspace, tree: &Tree, base: Option<&str>) -> Outcome {
    let reports = reports(workspace, tree, base, false)?;
    if reports.iter().any(|report| !report.problems.is_empty()) {
        show(&reports, false);
        return Err(Failure::failed("no lock was written"));
    }
    for (name, lock) in extract::extract(workspace, tree)? {
        let path = workspace
            .root
            .join(extract::dir(&name))
            .join("contract.lock");
        let text = format!("{lock:#}\n");
        std::fs::write(&path, text).map_err(|error| {
            Failure::failed(format!("cannot write {}: {error}", path.display()))
        })?;
        println!("{}", path.display());
    }
    Ok(())
}
