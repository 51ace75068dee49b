//! `stud sessions`: what was said, by any store, with nothing changed.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use stud_tests::{World, eventually};

use crate::support::{code, failure, keys, without_surface};

/// Says something in a session; gives its id.
fn say(world: &World, way: &[&str], text: &str) -> String {
    let mut command = world.command();
    let output = command
        .args(["--headless", "--json"])
        .args(way)
        .arg(text)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let first: Value = serde_json::from_str(stdout.lines().next().unwrap()).unwrap();
    first["sessionId"].as_str().unwrap().to_owned()
}

/// Runs a verb of `stud sessions` for programs.
fn ask(world: &World, arguments: &[&str]) -> Vec<Value> {
    let mut command = world.command();
    let output = command
        .arg("sessions")
        .args(arguments)
        .arg("--json")
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn listed(world: &World) -> Vec<Value> {
    let [list] = &ask(world, &["list"])[..] else {
        panic!("one document");
    };
    list["sessions"].as_array().unwrap().clone()
}

/// Every file below a folder, and what is in it.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
    }
    all
}

fn words(record: &Value) -> String {
    record["payload"]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn sessions_are_listed_the_one_used_last_first() {
    let world = World::new();
    assert_eq!(
        world.stud(&["sessions", "list"]).stdout,
        "no session is kept; `stud` begins one\n"
    );
    let one = say(&world, &[], "the first");
    let two = say(&world, &["--mode", "yolo"], "the second");
    say(&world, &["--resume", &one], "and on");
    let list = listed(&world);
    let ids: Vec<&Value> = list.iter().map(|session| &session["sessionId"]).collect();
    assert_eq!(ids, [&json!(one), &json!(two)]);
    assert_eq!(
        keys(&list[0]),
        [
            "createdAt",
            "firstWords",
            "lastSeq",
            "messages",
            "mode",
            "projectRoot",
            "running",
            "sessionId",
            "updatedAt"
        ]
    );
    assert_eq!(
        (
            &list[0]["firstWords"],
            &list[0]["messages"],
            &list[0]["mode"]
        ),
        (&json!("the first"), &json!(4), &json!("ask"))
    );
    assert_eq!(list[1]["mode"], "yolo");
    let text = world.stud(&["sessions", "list"]).stdout;
    assert_eq!(text.lines().count(), 2);
    assert!(text.lines().next().unwrap().contains("the first"), "{text}");
}

#[test]
fn the_beginning_of_an_id_is_enough() {
    let world = World::new();
    let id = say(&world, &[], "hello");
    let shown = world.stud(&["sessions", "show", &id[..13]]);
    assert_eq!(shown.status, 0, "{shown:#?}");
    for part in ["#2 you\n  hello\n", "#4 assistant\n  USER hello\n"] {
        assert!(shown.stdout.contains(part), "{}", shown.stdout);
    }
    let records = ask(&world, &["show", &id]);
    let kinds: Vec<&str> = records
        .iter()
        .map(|record| record["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "session_start",
            "user_input",
            "turn_start",
            "assistant_message",
            "turn_end"
        ]
    );
    assert_eq!(records[1]["seq"], 2);
    for (word, expected) in [
        ("f", "Session/SessionNotFound"),
        ("", "Session/SessionNotFound"),
    ] {
        let refused = failure(&world.stud(&["sessions", "show", word, "--json"]));
        assert_eq!(code(&refused), expected);
    }
    say(&world, &[], "again");
    let refused = failure(&world.stud(&["sessions", "show", "0", "--json"]));
    assert_eq!(code(&refused), "Session/SessionAmbiguous");
}

#[test]
fn a_fork_goes_on_from_where_it_was_made_and_the_origin_stays() {
    let world = World::new();
    let origin = say(&world, &[], "one");
    say(&world, &["--continue"], "two");
    let folder = world.home().join("sessions").join(&origin);
    let before = contents(&folder);

    let [fork] = &ask(&world, &["fork", &origin, "--at", "5"])[..] else {
        panic!("one document");
    };
    assert_eq!(fork["forkedFrom"], json!({"sessionId": origin, "seq": 5}));
    assert_eq!(fork["messages"], 2);
    let id = fork["sessionId"].as_str().unwrap();
    assert_eq!(contents(&folder), before, "the origin is as it was");

    // It has a journal of its own, and says where it comes from.
    let records = ask(&world, &["show", id]);
    assert_eq!(records.len(), 5);
    assert_eq!(
        records[0]["payload"]["forkedFrom"]["sessionId"],
        json!(origin)
    );
    assert_eq!(words(&records[1]), "one");
    let trail = world.stud(&["audit", "show", id, "--json"]).stdout;
    let first: Value = serde_json::from_str(trail.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["class"], &first["payload"]["event"]),
        (&json!("SessionLifecycle"), &json!("fork"))
    );
    assert_eq!(world.stud(&["audit", "verify"]).status, 0);

    // It continues by itself.
    assert_eq!(say(&world, &["--resume", id], "three"), id);
    let records = ask(&world, &["show", id]);
    let said: Vec<String> = records
        .iter()
        .filter(|record| record["kind"] == "user_input")
        .map(words)
        .collect();
    assert_eq!(said, ["one", "three"]);
    assert_eq!(contents(&folder), before);
    let list = listed(&world);
    assert_eq!(list[0]["forkedFrom"]["sessionId"], json!(origin));
    assert_eq!(list[0]["messages"], 4);

    // Without a place it has everything.
    let [whole] = &ask(&world, &["fork", &origin])[..] else {
        panic!("one document");
    };
    assert_eq!(whole["messages"], 4);
}

#[test]
fn a_fork_in_the_middle_of_a_turn_has_no_loose_ends() {
    let world = World::new();
    world.write("project/a.txt", "text");
    let origin = say(&world, &["--yolo"], r#"!tool read {"path": "a.txt"}"#);
    let records = ask(&world, &["show", &origin]);
    let call = records.iter().find(|record| record["kind"] == "tool_call");
    let seq = call.unwrap()["seq"].to_string();
    let [fork] = &ask(&world, &["fork", &origin, "--at", &seq])[..] else {
        panic!("one document");
    };
    let id = fork["sessionId"].as_str().unwrap();
    say(&world, &["--resume", id], "hello");
    let records = ask(&world, &["show", id]);
    let result = records
        .iter()
        .find(|record| record["kind"] == "tool_result");
    assert_eq!(result.unwrap()["payload"]["unknown"], true);
}

#[test]
fn a_record_that_is_not_there_is_named() {
    let world = World::new();
    let id = say(&world, &[], "hello");
    let refused = failure(&world.stud(&["sessions", "fork", &id, "--at", "99", "--json"]));
    stud_observed::covers!(RECORD_NOT_FOUND, refused);
    assert_eq!(refused["context"]["lastSeq"], 5);
    assert_eq!(listed(&world).len(), 1, "nothing is made");
    assert_eq!(
        world.stud(&["sessions", "fork", &id, "--at", "0"]).status,
        2
    );
}

#[test]
fn a_session_is_written_out_for_people_and_for_programs() {
    let world = World::new();
    world.write("project/a.txt", "```\nfenced\n```\n");
    let id = say(&world, &["--yolo"], r#"!tool read {"path": "a.txt"}"#);
    let markdown = world.stud(&["sessions", "export", &id]).stdout;
    for part in ["# Session ", "## you (#2)", "## call of read", "````json"] {
        assert!(markdown.contains(part), "{markdown}");
    }
    let file = world.path("out.json");
    let out = file.to_str().unwrap();
    let answer = world.stud(&["sessions", "export", &id, "--format", "json", "-o", out]);
    assert_eq!(
        (answer.status, answer.stdout.as_str()),
        (0, ""),
        "{answer:#?}"
    );
    let document: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(keys(&document), ["messages", "records", "session"]);
    assert_eq!(document["session"]["sessionId"], json!(id));
    world.write("blocked", "");
    let blocked = world.path("blocked/out.md");
    let refused = failure(&world.stud(&[
        "sessions",
        "export",
        &id,
        "-o",
        blocked.to_str().unwrap(),
        "--json",
    ]));
    assert_eq!(code(&refused), "ExtensionHost/StartupFailure");
}

#[test]
fn a_session_that_runs_can_be_read_and_forked() {
    let world = World::new();
    let mut command = world.command();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"hello\n").unwrap();
    let running = eventually("a session that was answered", || {
        let list = listed(&world);
        list.into_iter().find(|session| session["messages"] == 2)
    });
    assert_eq!(running["running"], true);
    let id = running["sessionId"].as_str().unwrap();
    let doctor = world.stud(&["doctor", "--json"]).json();
    assert_eq!(doctor["sessions"]["kept"], 1);
    assert_eq!(doctor["sessions"]["running"].as_array().unwrap().len(), 1);
    let [fork] = &ask(&world, &["fork", id, "--at", "4"])[..] else {
        panic!("one document");
    };
    assert_eq!(fork["messages"], 2);
    assert_eq!(ask(&world, &["show", id])[1]["payload"]["text"], "hello");
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let list = listed(&world);
    assert!(
        list.iter().all(|session| session["running"] == false),
        "{list:#?}"
    );
}

#[test]
fn a_session_that_is_open_elsewhere_is_not_resumed_and_names_the_process() {
    let world = World::new();
    let mut child = world
        .command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"hello\n").unwrap();
    let running = eventually("a session that was answered", || {
        let list = listed(&world);
        list.into_iter().find(|session| session["messages"] == 2)
    });
    let id = running["sessionId"].as_str().unwrap();
    let before = contents(&world.home().join("sessions"));
    for arguments in [
        &["--resume", id][..],
        &["--continue"],
        &["--headless", "--resume", id, "hello"],
    ] {
        let refused = world.stud(arguments);
        assert_eq!((refused.status, &*refused.stdout), (1, ""), "{refused:#?}");
        let pid = format!("is open in another process, {}", child.id());
        assert!(refused.stderr.contains(&pid), "{refused:#?}");
        assert!(!refused.stderr.contains("End with Ctrl-D"), "{refused:#?}");
    }
    assert_eq!(contents(&world.home().join("sessions")), before);
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let next = world.stud(&["--headless", "--resume", id, "again"]);
    assert_eq!(next.stdout.trim(), "USER again");
}

#[test]
fn a_call_that_waited_for_its_approval_when_the_process_ended_never_started() {
    let world = World::new();
    let mut child = world
        .command()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(b"!tool bash {\"command\": \"ls\"}\n")
        .unwrap();
    let id = eventually("a call that is asked about", || {
        let kept = std::fs::read_dir(world.home().join("sessions")).ok()?;
        let folder = kept.into_iter().find_map(Result::ok)?.path();
        let journal = std::fs::read_to_string(folder.join("journal.log")).ok()?;
        let id = folder.file_name()?.to_str()?.to_owned();
        journal.contains("interaction_request").then_some(id)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let next = world.stud(&["--headless", "--resume", &id, "hello"]);
    assert_eq!(next.stdout.trim(), "USER hello", "{next:#?}");
    let failed = world.stud(&["audit", "show", &id, "--kind", "ToolCallFailed", "--json"]);
    let failed: Value = serde_json::from_str(failed.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(failed["payload"]["reason"], "server_restarted");
    assert_eq!(failed["payload"].get("unknown"), None, "{failed:#}");
    let records = ask(&world, &["show", &id]);
    let unknown = records
        .iter()
        .filter(|record| record["payload"]["unknown"] == true);
    assert_eq!(unknown.count(), 0, "{records:#?}");
}

#[test]
fn a_broken_session_is_named_and_hides_no_other() {
    let world = World::new();
    let good = say(&world, &[], "good");
    world.write("home/sessions/broken/manifest.json", "{");
    let [list] = &ask(&world, &["list"])[..] else {
        panic!("one document");
    };
    let sessions = list["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["sessionId"], json!(good));
    let [named] = &list["diagnostics"].as_array().unwrap()[..] else {
        panic!("{list:#}");
    };
    assert_eq!(code(named), "Session/ManifestDrift");
    assert_eq!(named["context"]["sessionId"], "broken");
    assert_eq!(named["severity"], "warning");
    let refused = failure(&world.stud(&["sessions", "show", "broken", "--json"]));
    assert_eq!(refused["class"], "Session");
}

#[test]
fn another_store_keeps_other_sessions() {
    let world = World::new();
    say(&world, &[], "kept in files");
    crate::support::install(
        &world,
        "good-session-store",
        "home/session-stores/good-session-store/libgood_session_store.so",
    );
    let settings = json!({"active": {"sessionStore": "good-session-store"}});
    world.write("home/settings.json", settings.to_string());
    assert_eq!(
        listed(&world),
        [json!(null); 0],
        "the active store is asked, and no other"
    );
    let settings = json!({"sessionStores": {"filesystem-session-store": {"enabled": false}}});
    world.write("home/settings.json", settings.to_string());
    std::fs::remove_dir_all(world.home().join("session-stores")).unwrap();
    let refused = failure(&world.stud(&["sessions", "list", "--json"]));
    assert_eq!(code(&refused), "Session/StoreUnavailable");
}

#[test]
fn a_session_that_began_nowhere_is_not_resumed() {
    let world = World::new();
    let id = say(&world, &[], "hello");
    let manifest = world.path(format!("home/sessions/{id}/manifest.json"));
    let text = std::fs::read_to_string(&manifest).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    assert!(
        document["projectRoot"]
            .as_str()
            .unwrap()
            .ends_with("/.stud")
    );
    for elsewhere in ["demo/.stud", "/etc"] {
        document["projectRoot"] = elsewhere.into();
        std::fs::write(&manifest, document.to_string()).unwrap();
        let answer = world.stud(&["--headless", "--json", "--continue", "hello"]);
        let answer = without_surface(answer, "stderr.startup-error");
        let refused = failure(&answer);
        stud_observed::covers!(PROJECT_ROOT_INVARIANT_VIOLATED, refused);
        assert_eq!(refused["context"]["projectRoot"], elsewhere);
    }
}

#[test]
fn a_session_goes_on_in_the_mode_it_began_with() {
    let world = World::new();
    let patterns = json!({"securityMode": {"allowlist": ["bash(git *)"]}});
    world.write("home/settings.json", patterns.to_string());
    say(&world, &["--mode", "allowlist"], "hello");
    let next = world.stud(&["--headless", "--json", "--continue", "again"]);
    assert_eq!(next.status, 0, "{next:#?}");
    let first: Value = serde_json::from_str(next.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["mode"], "allowlist");
    let fresh = world.stud(&["--headless", "hello"]);
    assert!(fresh.stderr.contains("AllowlistWithoutMode"), "{fresh:#?}");
}

#[test]
fn sessions_are_removed_by_name_and_by_age() {
    let world = World::new();
    let (first, second, third) = (
        say(&world, &[], "one"),
        say(&world, &[], "two"),
        say(&world, &[], "three"),
    );
    let [removed] = &ask(&world, &["delete", &second])[..] else {
        panic!("one document");
    };
    assert_eq!(removed["removed"], json!([second]));
    let ids = |world: &World| {
        let mut ids: Vec<String> = listed(world)
            .iter()
            .map(|session| session["sessionId"].as_str().unwrap().to_owned())
            .collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(&world), [first.clone(), third.clone()]);
    assert!(!world.home().join("sessions").join(&second).exists());
    let trail = std::fs::read_to_string(world.home().join("audit.jsonl")).unwrap();
    assert!(trail.contains("SessionDeleted") && trail.contains(&second));
    // What is too young stays, and nothing goes unasked.
    ask(&world, &["prune", "--before", "2000-01-01", "--yes"]);
    let [shown] = &ask(&world, &["prune", "--before", "9999-01-01"])[..] else {
        panic!("one document");
    };
    assert_eq!(shown["wouldRemove"], json!([first, third]));
    assert_eq!(ids(&world).len(), 2);
    ask(&world, &["prune", "--before", "9999-01-01", "--yes"]);
    assert_eq!(listed(&world), Vec::<Value>::new());
}
