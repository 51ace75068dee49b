//! A secret that a plugin was trusted with turns up in nothing that stud writes down or tells.
#![forbid(unsafe_code)]
#![cfg(test)]

use std::path::Path;
use std::process::Stdio;

use serde_json::json;
use stud_tests::{World, fixture};

/// Where each canary is put, and what it is. None looks like a key, so that only knowing it helps.
const CANARIES: [(&str, &str); 3] = [
    ("CANARY_OF_THE_SYSTEM", "wren-4410-\"quoted\"-system"),
    ("CANARY_OF_THE_SETTINGS", "finch-7731-settings"),
    ("CANARY_OF_THE_VAULT", "siskin-9052-vault"),
];

/// Files that hold a canary because they are where it was put.
const SOURCES: [&str; 2] = ["settings.json", "secrets.json"];

fn world() -> World {
    use std::os::unix::fs::PermissionsExt as _;

    let mut world = World::new();
    for package in ["leaky-tool", "keen-ui"] {
        let name = format!("lib{}.so", package.replace('-', "_"));
        let folder = if package == "keen-ui" { "ui" } else { "tools" };
        let library = std::fs::read(fixture(package)).unwrap();
        world.write(format!("home/{folder}/{package}/{name}"), library);
    }
    let (system, settings, vault) = (CANARIES[0], CANARIES[1], CANARIES[2]);
    world.set(system.0, system.1);
    world.write(
        "home/settings.json",
        json!({"env": {settings.0: settings.1}, "loggers": {"file-logger": {"level": "trace"}}})
            .to_string(),
    );
    let file = world.write(
        "home/secrets.json",
        json!({"entries": {vault.0: vault.1}}).to_string(),
    );
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
    world
}

/// Every file below a folder in which one of the `needles` stands.
fn files_with(folder: &Path, needles: &[&str], found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            files_with(&path, needles, found);
        } else if !SOURCES.contains(&name) && path.extension().is_none_or(|kind| kind != "so") {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            let hits = needles.iter().filter(|needle| text.contains(**needle));
            found.extend(hits.map(|needle| format!("{needle} in {}", path.display())));
        }
    }
}

#[test]
fn no_canary_is_in_any_file_or_on_the_screen() {
    let mut world = world();
    // The interactor of this library answers with a secret of its own, and logs only what was acknowledged.
    world.write(
        "home/ui/keen-ui/config.json",
        json!({"log": world.path("acknowledged"), "lead": "r"}).to_string(),
    );
    world.set("STUD_LOG", "trace");
    let mut script = String::new();
    for (name, _) in CANARIES {
        for fail in [false, true] {
            let args = json!({"name": name, "fail": fail}).to_string();
            script = script + "!tool leak " + &args + "\n";
        }
    }
    script += "!auth the safe\n";
    let mut child = world
        .command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("RESULT"), "{said}");
    assert!(said.contains("AUTH"), "{said}");

    let mut needles: Vec<&str> = CANARIES.iter().map(|(_, value)| *value).collect();
    needles.push("wren-4410");
    needles.push("not-for-any-file-7f3a");
    for needle in &needles {
        assert!(!said.contains(needle), "{needle} in {said}");
    }
    let mut found = Vec::new();
    files_with(&world.home(), &needles, &mut found);
    files_with(&world.project(), &needles, &mut found);
    assert!(found.is_empty(), "{found:?}");

    // That it was kept from the model is on record, once for each message that it stood in.
    let sessions = std::fs::read_dir(world.home().join("sessions")).unwrap();
    let session = sessions.map(|entry| entry.unwrap().path()).next().unwrap();
    let trail = std::fs::read_to_string(session.join("audit/trail.jsonl")).unwrap();
    for (name, _) in CANARIES {
        let records = trail.lines().map(|line| line.parse().unwrap());
        let told = records.filter(|record: &serde_json::Value| {
            record["class"] == "IsolationViolation"
                && record["payload"]["identifier"] == name
                && record["payload"]["matchedOn"] == "history"
        });
        assert_eq!(told.count(), 2, "{name}");
    }

    // What was written down is there, without it.
    let mut redacted = Vec::new();
    files_with(&world.home(), &["[REDACTED]"], &mut redacted);
    for kind in ["journal.log", "trail.jsonl", "session-", "manifest.json"] {
        let is_there = redacted.iter().any(|place| place.contains(kind));
        assert!(is_there, "nothing was redacted in {kind}: {redacted:?}");
    }
}
