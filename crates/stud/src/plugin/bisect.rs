//! `stud plugin bisect`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use stud_core::admission::judge;
use stud_core::discover::discover;
use stud_core::environment::{Environment, LEAVE_OUT};
use stud_diagnostics::{Diagnostic, codes};
use stud_install::bisect::{Candidates, Found, find};

use crate::cli::Bisect;
use crate::output::{Outcome, Output, Verdict};
use crate::setup;

pub(crate) fn run(asked: &Bisect, output: &Output) -> Verdict {
    let (ground, _) = setup::ground()?;
    let candidates = candidates(&ground);
    let mut runs: Vec<Value> = Vec::new();
    let found = find(&candidates, |taking_part| {
        let left_out: Vec<&str> = candidates
            .needs
            .keys()
            .filter(|id| !taking_part.contains(*id))
            .map(String::as_str)
            .collect();
        let failed = fails(asked, &left_out)?;
        if !output.is_json() {
            let with = words(taking_part);
            output.line(format!(
                "{}  with {with}",
                if failed { "fails " } else { "passes" }
            ));
        }
        runs.push(json!({"plugins": taking_part, "failed": failed}));
        Ok::<_, Diagnostic>(failed)
    })?;
    let (status, cause, text) = match found {
        Found::Cause(cause) => {
            let last = format!("it fails because of {}", cause.join(" together with "));
            ("found", cause, last)
        }
        Found::NeverFails => (
            "neverFails",
            Vec::new(),
            "it passes with every plugin".to_owned(),
        ),
        Found::FailsWithoutAny => {
            let text = "it fails without any installed plugin: the cause is the command, a bundled plugin or stud itself";
            ("failsWithoutAny", Vec::new(), text.to_owned())
        }
    };
    if output.is_json() {
        output.document(&json!({"status": status, "cause": cause, "runs": runs}))?;
    } else {
        output.line(format!("\n{}", output.bold(&text)));
        if let [only] = &cause[..] {
            output.line(format!("`stud plugin disable {only}` switches it off; `stud plugin remove {only}` removes it"));
        }
    }
    Ok(if status == "found" {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}

fn words(ids: &BTreeSet<String>) -> String {
    match ids.len() {
        0 => "no plugin".to_owned(),
        1..=6 => ids
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", "),
        many => format!("{many} plugins"),
    }
}

/// Every library that may take part, and the libraries it depends on. A refused one can be the cause as well.
fn candidates(ground: &Environment) -> Candidates {
    let mut needs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut plugins = Vec::new();
    let discovered = discover(ground);
    for refused in discovered.refused {
        needs.insert(refused.provenance().name().to_owned(), Vec::new());
    }
    for found in discovered.found {
        match judge(found, &ground.settings) {
            Ok(plugin) if plugin.provenance().path().is_some() => {
                plugins.push(plugin.manifest().clone());
            }
            Err(refused) if refused.provenance().path().is_some() => {
                needs.insert(refused.provenance().name().to_owned(), Vec::new());
            }
            Ok(_) | Err(_) => {}
        }
    }
    for plugin in &plugins {
        let depends_on = plugins.iter().filter(|other| {
            let mut references = plugin.depends_on.iter();
            references
                .any(|reference| reference.matches(&other.ext_id, other.kind, &other.provides))
        });
        let ids = depends_on.map(|other| other.ext_id.to_string());
        needs.insert(plugin.ext_id.to_string(), ids.collect());
    }
    Candidates { needs }
}

/// Runs the command once without these plugins.
fn fails(asked: &Bisect, left_out: &[&str]) -> Result<bool, Diagnostic> {
    let unable = |error: &io::Error| {
        Diagnostic::error(
            &codes::STARTUP_FAILURE,
            format!("the command cannot be run: {error}"),
        )
        .help("give a program that exists, behind `--`")
    };
    let is_own = asked.command.is_empty();
    let mut command = if let Some((program, arguments)) = asked.command.split_first() {
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::null());
        command
    } else {
        let program = std::env::current_exe().map_err(|error| unable(&error))?;
        let mut command = Command::new(program);
        command
            .args(["plugin", "list", "--json"])
            .stdout(Stdio::piped());
        command
    };
    command
        .env(LEAVE_OUT, left_out.join(","))
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let child = command.spawn().map_err(|error| unable(&error))?;
    let (status, said) =
        wait(child, Duration::from_secs(asked.timeout)).map_err(|error| unable(&error))?;
    Ok(match status {
        // Too late.
        None => true,
        Some(status) if !status.success() => true,
        Some(_) => is_own && names_an_error(&said),
    })
}

/// Waits for a command and gives what it said. No status if it took too long and was ended.
fn wait(mut child: Child, timeout: Duration) -> io::Result<(Option<ExitStatus>, Vec<u8>)> {
    const PAUSE: Duration = Duration::from_millis(10);
    let out = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut said = Vec::new();
        if let Some(mut out) = out {
            // What cannot be read names no error.
            let _ = io::copy(&mut out, &mut said);
        }
        said
    });
    let mut waited = Duration::ZERO;
    while waited < timeout {
        if let Some(status) = child.try_wait()? {
            // The output ends with the command, or with the last process it left behind.
            return Ok((Some(status), reader.join().unwrap_or_default()));
        }
        thread::sleep(PAUSE);
        waited += PAUSE;
    }
    child.kill()?;
    child.wait()?;
    Ok((None, Vec::new()))
}

/// Whether the list of plugins says that one was refused.
fn names_an_error(list: &[u8]) -> bool {
    let list: Value = serde_json::from_slice(list).unwrap_or_default();
    let is_error = |diagnostic: &Value| diagnostic["severity"] == "error";
    let plugins = list["plugins"].as_array().into_iter().flatten();
    let told = plugins.chain([&list]);
    told.flat_map(|entry| entry["diagnostics"].as_array().into_iter().flatten())
        .any(is_error)
}
