//! `stud audit`: trails that are whole, changed, torn; and what of them is shown.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use stud_core::audit::{CORE, Entry, FILE, Trail, folder};
use stud_tests::World;

use crate::support::{code, codes, failure, is_harmless, keys, make_pipe, opened, soon};

const ONE: &str = "0192f0c1-7b1e-7c3a-9a57-2f1f0f7b7c11";
const OTHER: &str = "0192f0c4-02aa-7d10-8f4e-6a0d5d6a9b02";

/// Writes a trail with a turn for each number.
fn write(world: &World, session: &str, turns: std::ops::RangeInclusive<u64>) -> PathBuf {
    let folder = folder(&world.home(), session);
    let trail = Trail::open(&folder, session, Arc::default()).unwrap().trail;
    for number in turns {
        let payload = json!({ "turnId": format!("t{number}"), "historyLength": number });
        trail
            .append(entry("Turn", "TurnStarted", number, payload))
            .unwrap();
        let payload = json!({ "toolId": "grep", "decision": "approve" });
        trail
            .append(entry("Approval", "Decided", number, payload))
            .unwrap();
    }
    folder.join(FILE)
}

fn entry(class: &str, kind: &str, turn: u64, payload: Value) -> Entry {
    Entry {
        class: class.to_owned(),
        kind: Some(kind.to_owned()),
        correlation_id: format!("turn-{turn}"),
        actor: CORE.to_owned(),
        payload: payload.as_object().unwrap().clone(),
        ..Entry::default()
    }
}

/// The status and the standard output, with hashes as they are.
fn said(world: &World, arguments: &[&str]) -> (i32, String) {
    let output = soon(world.command().args(arguments));
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text)
}

fn verify(world: &World, arguments: &[&str]) -> (i32, Value) {
    let all: Vec<&str> = ["audit", "verify", "--json"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    let (status, text) = said(world, &all);
    (status, serde_json::from_str(&text).unwrap())
}

/// The records `stud audit show --json` gives for these arguments.
fn shown(world: &World, arguments: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["audit", "show", "--json"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    let (status, text) = said(world, &all);
    assert_eq!(status, 0, "{text}");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_trail_is_verified() {
    let world = World::new();
    write(&world, ONE, 1..=2);
    write(&world, OTHER, 1..=1);
    let (status, report) = verify(&world, &[]);
    assert_eq!((status, &report["ok"]), (0, &json!(true)));
    let trails = report["trails"].as_array().unwrap();
    assert_eq!(trails.len(), 2);
    assert_eq!(
        keys(&trails[0]),
        [
            "diagnostics",
            "lastHash",
            "path",
            "records",
            "sessionId",
            "status"
        ]
    );
    assert_eq!(
        (&trails[0]["sessionId"], &trails[0]["records"]),
        (&json!(ONE), &json!(4))
    );
    assert_eq!(
        (&trails[1]["status"], &trails[1]["records"]),
        (&json!("whole"), &json!(2))
    );
    let answer = world.stud(&["audit", "verify"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    assert_eq!(
        answer.stdout,
        format!(
            "whole       {ONE}  4 records  last hash <hash>\nwhole       {OTHER}  2 records  last hash <hash>\n"
        )
    );
}

#[test]
fn without_sessions_there_is_nothing_to_find() {
    let world = World::new();
    let answer = world.stud(&["audit", "verify"]);
    assert_eq!(
        (answer.status, answer.stdout.as_str()),
        (0, "no session has an audit trail\n")
    );
    assert_eq!(verify(&world, &[]), (0, json!({"ok": true, "trails": []})));
    let diagnostic = failure(&world.stud(&["audit", "show", "x", "--json"]));
    assert_eq!(code(&diagnostic), "Session/SessionNotFound");
    assert!(std::fs::read_dir(world.home()).unwrap().next().is_none());
}

#[test]
fn a_change_is_named_with_its_line() {
    let world = World::new();
    let path = write(&world, ONE, 1..=3);
    write(&world, OTHER, 1..=1);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"t2\"", "\"t9\"")).unwrap();
    let (status, report) = verify(&world, &[]);
    assert_eq!((status, &report["ok"]), (1, &json!(false)));
    let trail = &report["trails"][0];
    assert_eq!(
        (&trail["status"], &trail["records"]),
        (&json!("broken"), &json!(2))
    );
    assert_eq!(codes(trail), ["Session/AuditTrailBroken"]);
    let context = &trail["diagnostics"][0]["context"];
    assert_eq!(
        context,
        &json!({"line": 3, "reason": "altered", "seq": 3, "wholeRecords": 2})
    );
    assert_eq!(report["trails"][1]["status"], "whole");

    let answer = world.stud(&["audit", "verify", ONE]);
    assert_eq!((answer.status, answer.stderr.as_str()), (1, ""));
    let lines: Vec<&str> = answer.stdout.lines().collect();
    assert_eq!(lines[0], format!("broken      {ONE}  2 records"));
    assert_eq!(
        lines[2],
        "error[Session/AuditTrailBroken]: the audit trail is broken at line 3"
    );
}

#[test]
fn a_crash_is_no_change() {
    let world = World::new();
    let path = write(&world, ONE, 1..=1);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
    let (status, report) = verify(&world, &[ONE]);
    assert_eq!(status, 1);
    let trail = &report["trails"][0];
    assert_eq!(
        (&trail["status"], &trail["records"]),
        (&json!("torn"), &json!(1))
    );
    assert_eq!(codes(trail), ["Session/AuditTrailTorn"]);
    // Opening the session repairs it.
    write(&world, ONE, 2..=2);
    assert_eq!(verify(&world, &[ONE]).0, 0);
}

#[test]
fn a_trail_of_another_session_is_not_this_ones() {
    let world = World::new();
    let path = write(&world, ONE, 1..=1);
    let copy = folder(&world.home(), OTHER);
    std::fs::create_dir_all(&copy).unwrap();
    std::fs::copy(path, copy.join(FILE)).unwrap();
    let (status, report) = verify(&world, &[OTHER]);
    assert_eq!(status, 1);
    let context = &report["trails"][0]["diagnostics"][0]["context"];
    assert_eq!(
        (&context["line"], &context["reason"]),
        (&json!(1), &json!("otherSession"))
    );
}

#[test]
fn a_hash_noted_earlier_finds_what_was_cut_off() {
    let world = World::new();
    let path = write(&world, ONE, 1..=1);
    let hash = |report: &Value| report["trails"][0]["lastHash"].as_str().unwrap().to_owned();
    let noted = hash(&verify(&world, &[ONE]).1);
    let (status, text) = said(&world, &["audit", "show", ONE]);
    assert_eq!(status, 0);
    assert!(
        text.ends_with(&format!("2 of 2 records; last hash {noted}\n")),
        "{text}"
    );

    write(&world, ONE, 2..=2);
    let (status, report) = verify(&world, &[ONE, "--expect", &noted.to_uppercase()]);
    assert_eq!(
        (status, &report["trails"][0]["expectedSeq"]),
        (0, &json!(2))
    );
    let answer = world.stud(&["audit", "verify", ONE, "--expect", &noted]);
    assert!(
        answer
            .stdout
            .contains("record 2 has the expected hash; 2 came after it"),
        "{}",
        answer.stdout
    );

    let newest = hash(&report);
    let text = std::fs::read_to_string(&path).unwrap();
    let cut: String = text.split_inclusive('\n').take(3).collect();
    std::fs::write(&path, cut).unwrap();
    assert_eq!(verify(&world, &[ONE]).0, 0);
    assert_eq!(verify(&world, &[ONE, "--expect", &noted]).0, 0);
    let (status, report) = verify(&world, &[ONE, "--expect", &newest]);
    assert_eq!(status, 1);
    assert_eq!(codes(&report["trails"][0]), ["Session/AuditTrailBroken"]);
    assert_eq!(
        report["trails"][0]["diagnostics"][0]["context"]["reason"],
        "expectedHashMissing"
    );
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id() {
    let world = World::new();
    write(&world, ONE, 1..=1);
    write(&world, OTHER, 1..=2);
    assert_eq!(shown(&world, &["0192f0c1"]).len(), 2);
    assert_eq!(shown(&world, &[OTHER]).len(), 4);
    for word in ["0192f0", "", "0192f0c2", "../sessions", "x\u{1b}[2J"] {
        let answer = world.stud(&["audit", "verify", word]);
        assert_eq!((answer.status, answer.stdout.as_str()), (1, ""), "{word}");
        assert!(is_harmless(&answer.stderr), "{}", answer.stderr);
    }
    let ambiguous = failure(&world.stud(&["audit", "show", "0192f0", "--json"]));
    assert_eq!(code(&ambiguous), "Session/SessionAmbiguous");
    assert_eq!(ambiguous["context"]["candidates"], json!([ONE, OTHER]));
    let unknown = failure(&world.stud(&["audit", "show", "0192f0c4-02ab", "--json"]));
    assert_eq!(code(&unknown), "Session/SessionNotFound");
    assert_eq!(unknown["help"][0], format!("did you mean `{OTHER}`?"));
}

#[test]
fn records_are_shown_by_what_they_are() {
    let world = World::new();
    write(&world, ONE, 1..=3);
    let seqs = |arguments: &[&str]| -> Vec<u64> {
        let all: Vec<&str> = [ONE].into_iter().chain(arguments.iter().copied()).collect();
        let records = shown(&world, &all);
        records
            .iter()
            .map(|record| record["seq"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(seqs(&[]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(seqs(&["--class", "Approval"]), [2, 4, 6]);
    assert_eq!(
        seqs(&["--kind", "TurnStarted", "--correlation", "turn-2"]),
        [3]
    );
    assert_eq!(seqs(&["--since", "2020-01-01"]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(seqs(&["--since", "2999-01-01T00:00:00+01:00"]), [0; 0]);
    assert_eq!(seqs(&["--class", "Nothing"]), [0; 0]);

    let record = &shown(&world, &[ONE])[0];
    assert_eq!(
        keys(record),
        [
            "actor",
            "class",
            "correlationId",
            "hash",
            "kind",
            "payload",
            "prevHash",
            "seq",
            "sessionId",
            "timestamp"
        ]
    );
    assert_eq!(
        record["payload"],
        json!({"turnId": "t1", "historyLength": 1})
    );
    let answer = world.stud(&["audit", "show", ONE, "--class", "Turn"]);
    let lines: Vec<&str> = answer.stdout.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("    1  20"), "{}", lines[0]);
    assert!(
        lines[0].ends_with(r#"Turn TurnStarted  core  turn-1  {"historyLength":1,"turnId":"t1"}"#),
        "{}",
        lines[0]
    );
    assert_eq!(lines[3], "3 of 6 records; last hash <hash>");
}

#[test]
fn nothing_a_record_says_steers_a_terminal() {
    let world = World::new();
    let folder = folder(&world.home(), ONE);
    let trail = Trail::open(&folder, ONE, Arc::default()).unwrap().trail;
    let hostile = "a\u{1b}[2Jb\u{202e}c\nd\u{9b}31m";
    trail
        .append(Entry {
            actor: hostile.to_owned(),
            correlation_id: hostile.to_owned(),
            ..entry(hostile, hostile, 1, json!({ "text": hostile, hostile: 1 }))
        })
        .unwrap();
    drop(trail);
    let answer = world.stud(&["audit", "show", ONE]);
    assert_eq!(answer.status, 0, "{answer:?}");
    assert!(is_harmless(&answer.stdout), "{}", answer.stdout);
    assert_eq!(answer.stdout.lines().count(), 2, "{}", answer.stdout);
    let (_, json) = said(&world, &["audit", "show", ONE, "--json"]);
    assert!(is_harmless(&json), "{json}");
    assert_eq!(shown(&world, &[ONE])[0]["actor"], hostile);
}

#[test]
fn a_broken_trail_is_shown_and_told() {
    let world = World::new();
    let path = write(&world, ONE, 1..=2);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1] = "gib\u{1b}berish";
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let answer = world.stud(&["audit", "show", ONE]);
    assert_eq!(answer.status, 1);
    assert_eq!(answer.stdout.lines().count(), 5, "{}", answer.stdout);
    assert!(is_harmless(&answer.stdout), "{}", answer.stdout);
    assert!(
        answer
            .stderr
            .starts_with("error[Session/AuditTrailBroken]: the audit trail is broken at line 2"),
        "{}",
        answer.stderr
    );
}

#[test]
fn what_blocks_or_is_no_file_is_told_and_the_others_are_verified() {
    let world = World::new();
    write(&world, OTHER, 1..=1);
    make_pipe(&world, &format!("home/sessions/{ONE}/audit/{FILE}"));
    world.write("home/sessions/stray-file", "");
    world.write("home/sessions/no-audit/manifest.json", "{}");
    let (status, report) = verify(&world, &[]);
    assert_eq!(status, 1);
    assert_eq!(report["trails"].as_array().unwrap().len(), 2);
    assert_eq!(report["trails"][0]["status"], "unreadable");
    assert_eq!(
        codes(&report["trails"][0]),
        ["Session/AuditTrailUnavailable"]
    );
    assert_eq!(report["trails"][1]["status"], "whole");
}

#[test]
fn wrong_words_are_told_the_right_ones() {
    let world = World::new();
    write(&world, ONE, 1..=1);
    for (arguments, told) in [
        (
            &["audit", "show", ONE, "--since", "yesterday"][..],
            "2026-01-05",
        ),
        (
            &["audit", "verify", ONE, "--expect", "abc"],
            "64 hexadecimal digits",
        ),
        (&["audit", "verify", "--expect", &"0".repeat(64)], "SESSION"),
        (&["audit", "verfy"], "verify"),
        (&["audit"], "verify"),
        (&["audit", "show"], "SESSION"),
    ] {
        let answer = world.stud(arguments);
        assert_eq!(answer.status, 2, "{arguments:?}");
        assert!(
            answer.stderr.contains(told),
            "{arguments:?}: {}",
            answer.stderr
        );
    }
    let help = world.stud(&["audit", "verify", "--help"]);
    assert!(help.stdout.contains("--expect") && help.stdout.contains("Examples:"));
}

#[test]
fn no_plugin_and_no_setting_is_touched() {
    let world = World::new();
    world.write("home/settings.json", "{ broken");
    make_pipe(&world, "home/tools/piped/libpiped.so");
    write(&world, ONE, 1..=1);
    assert_eq!(verify(&world, &[]).0, 0);
    assert_eq!(shown(&world, &[ONE]).len(), 2);
    assert_eq!(opened(&world), [""; 0]);
}

/// Says something in a session; gives its id.
fn talked(world: &World) -> String {
    let said = world.stud(&["--headless", "--json", "hello"]);
    assert_eq!(said.status, 0, "{said:#?}");
    let first: Value = serde_json::from_str(said.stdout.lines().next().unwrap()).unwrap();
    first["sessionId"].as_str().unwrap().to_owned()
}

fn trail_of(world: &World, session: &str) -> PathBuf {
    folder(&world.home(), session).join(FILE)
}

/// The reason of the first problem of the trail that belongs to a session.
fn reason_of(world: &World, session: &str) -> Value {
    let (status, report) = verify(world, &[]);
    assert_eq!(status, 1, "{report:#}");
    let trails = report["trails"].as_array().unwrap();
    let trail = trails.iter().find(|trail| trail["sessionId"] == session);
    trail.unwrap()["diagnostics"][0]["context"]["reason"].clone()
}

#[test]
fn a_trail_that_is_gone_or_another_is_found_by_the_index() {
    let world = World::new();
    let (one, other) = (talked(&world), talked(&world));
    let (status, report) = verify(&world, &[]);
    assert_eq!(status, 0, "{report:#}");
    assert_eq!(report["index"]["status"], "whole");
    for trail in report["trails"].as_array().unwrap() {
        assert_eq!(trail["indexed"], true, "{report:#}");
    }
    let path = trail_of(&world, &one);
    let whole = std::fs::read_to_string(&path).unwrap();

    // The last record with another text and a hash of its own.
    std::fs::remove_file(&path).unwrap();
    let trail = Trail::open(&folder(&world.home(), &one), &one, Arc::default()).unwrap();
    for line in whole.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let mut forged = entry(
            record["class"].as_str().unwrap(),
            record["kind"].as_str().unwrap_or("none"),
            1,
            record["payload"].clone(),
        );
        forged.payload.insert("forged".to_owned(), true.into());
        trail.trail.append(forged).unwrap();
    }
    trail.trail.close().unwrap();
    assert_eq!(reason_of(&world, &one), "replaced");

    let shorter: String = whole.split_inclusive('\n').take(2).collect();
    std::fs::write(&path, shorter).unwrap();
    assert_eq!(reason_of(&world, &one), "cutOff");

    std::fs::remove_dir_all(folder(&world.home(), &one)).unwrap();
    assert_eq!(reason_of(&world, &one), "trailMissing");
    let (status, report) = verify(&world, &[&one]);
    assert_eq!(
        (status, &report["trails"][0]["status"]),
        (1, &json!("missing"))
    );

    // What stud removes is not missing.
    let other_world = World::new();
    let removed = talked(&other_world);
    let deleted = other_world.stud(&["sessions", "delete", &removed]);
    assert_eq!(deleted.status, 0, "{deleted:#?}");
    assert_eq!(verify(&other_world, &[]).0, 0);
    assert!(other.len() > 8);
}

#[test]
fn an_index_that_was_edited_or_removed_is_found() {
    let world = World::new();
    let session = talked(&world);
    let index = stud_core::audit::index_path(&world.home());
    let text = std::fs::read_to_string(&index).unwrap();
    std::fs::write(&index, text.replacen("\"records\":", "\"records\":1", 1)).unwrap();
    let (status, report) = verify(&world, &[]);
    assert_eq!((status, &report["index"]["status"]), (1, &json!("broken")));
    std::fs::remove_file(&index).unwrap();
    assert_eq!(reason_of(&world, &session), "notIndexed");
}

#[test]
fn an_index_is_sealed_with_the_key_that_the_settings_refer_to() {
    let world = World::new();
    let settings = json!({"audit": {"key": {"kind": "file", "name": "audit.key"}}});
    world.write("home/settings.json", settings.to_string());
    let refused = world.stud(&["--headless", "hello"]);
    assert_eq!(refused.status, 1, "{refused:#?}");
    world.write("home/audit.key", "a long and secret key\n");
    let session = talked(&world);
    let (status, report) = verify(&world, &[]);
    assert_eq!(status, 0, "{report:#}");
    assert_eq!(report["trails"][0]["sealed"], true);
    // An editor without the key cannot write the trail and the index anew.
    let without_key = json!({});
    world.write("home/settings.json", without_key.to_string());
    std::fs::remove_dir_all(folder(&world.home(), &session)).unwrap();
    write(&world, &session, 1..=4);
    let again = world.stud(&["--headless", "--resume", &session, "hello"]);
    assert_eq!(again.status, 0, "{again:#?}");
    world.write("home/settings.json", settings.to_string());
    let (status, report) = verify(&world, &[]);
    assert_eq!(
        (status, &report["index"]["status"]),
        (1, &json!("unsealed"))
    );
}
