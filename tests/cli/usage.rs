//! Wrong usage, help, and the exit status.

use std::process::Stdio;

use serde_json::{Value, json};
use stud_tests::World;

use crate::support::{code, failure, keys, without_surface};

/// The line for programs that ends what is said about a wrong command line.
fn surface(arguments: &[&str]) -> Value {
    let answer = World::new().stud(arguments);
    assert_eq!(
        (answer.status, answer.stdout.as_str()),
        (2, ""),
        "{answer:#?}"
    );
    let surface: Value = serde_json::from_str(answer.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(keys(&surface), ["error", "surface"]);
    assert_eq!(surface["surface"], "cli.validation-error");
    assert_eq!(keys(&surface["error"]), ["class", "code", "context"]);
    surface["error"].clone()
}

fn check(arguments: &[&str], code: &str, flag: &Value) {
    let error = surface(arguments);
    assert_eq!(error["class"], "Validation");
    assert_eq!(
        (&error["code"], &error["context"]["flag"]),
        (&json!(code), flag),
        "{arguments:?}"
    );
    let usage = error["context"]["usage"].as_str().unwrap();
    assert!(usage.starts_with("Usage: stud "), "{usage}");
}

#[test]
fn what_does_not_exist_is_wrong_usage() {
    check(&["--no-such"], "UnknownFlag", &json!("--no-such"));
    check(&["plugin", "lsit"], "UnknownFlag", &json!("lsit"));
    check(&["docotr"], "UnknownFlag", &json!("docotr"));
    check(
        &["plugin", "check", "x.so", "--no-laod"],
        "UnknownFlag",
        &json!("--no-laod"),
    );
    check(&["plugin", "list", "more"], "UnknownFlag", &json!("more"));
    check(
        &["trust", "--list", "--revoke"],
        "UnknownFlag",
        &json!("--list"),
    );
}

#[test]
fn words_without_a_verb_are_said_to_the_model() {
    for words in ["explain this file", "/trust list", "auditor", "Trusted"] {
        let answer = World::new().stud(&[words]);
        assert_eq!(answer.status, 0, "{words}: {answer:#?}");
    }
}

#[test]
fn a_verb_of_another_program_is_told_the_nearest_one() {
    for (words, near) in [
        (&["plugins", "list"][..], "stud plugin list"),
        (&["plugins"], "stud plugin list"),
        (&["login"], "stud setup"),
        (&["version"], "stud --version"),
        (&["sesions", "list"], "stud sessions"),
        (&["docotr"], "stud doctor"),
    ] {
        let answer = World::new().stud(words);
        assert_eq!(answer.status, 2, "{answer:#?}");
        assert!(answer.stderr.contains(near), "{answer:#?}");
    }
    for words in [
        &["login", "page", "is", "broken"][..],
        &["update the docs"],
        &["run", "the", "tests"],
        &["hello"],
    ] {
        let answer = World::new().stud(words);
        assert_eq!(answer.status, 0, "{words:?}: {answer:#?}");
    }
}

#[test]
fn what_is_missing_is_wrong_usage() {
    assert_eq!(surface(&["plugin"])["code"], "ArgumentMissing");
    assert_eq!(surface(&["plugin", "check"])["code"], "ArgumentMissing");
    assert_eq!(surface(&["plugin", "info"])["code"], "ArgumentMissing");
    assert_eq!(surface(&["explain"])["code"], "ArgumentMissing");
    assert_eq!(surface(&["explain", "--json"])["code"], "ArgumentMissing");
}

#[test]
fn a_wrong_kind_is_told_the_right_ones() {
    let answer = World::new().stud(&["plugin", "new", "x", "--kind", "tol"]);
    assert_eq!(answer.status, 2);
    assert!(answer.stderr.contains("state-machine"), "{}", answer.stderr);
    assert!(
        answer.stderr.contains("a similar value exists: 'tool'"),
        "{}",
        answer.stderr
    );
}

#[test]
fn what_is_asked_for_is_not_wrong() {
    let world = World::new();
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["plugin", "--help"],
        &["plugin", "new", "--help"],
        &["help"],
        &["help", "sessions", "fork"],
    ] {
        let answer = world.stud(arguments);
        assert_eq!(
            (answer.status, answer.stderr.as_str()),
            (0, ""),
            "{arguments:?}"
        );
        assert!(!answer.stdout.is_empty());
    }
    assert!(std::fs::read_dir(world.home()).unwrap().next().is_none());
}

#[test]
fn shells_can_complete_every_verb() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = world.stud(&["completions", shell]);
        assert_eq!(script.status, 0, "{script:#?}");
        for word in ["sessions", "doctor", "headless"] {
            assert!(script.stdout.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn a_failure_for_programs_is_one_diagnostic_on_standard_error() {
    let world = World::new();
    world.write("home/settings.json", r#"{"tolls":{}}"#);
    for arguments in [
        &["plugin", "list", "--json"][..],
        &["--json"],
        &["plugin", "info", "x", "--json"],
    ] {
        let mut answer = world.stud(arguments);
        if arguments == ["--json"] {
            answer = without_surface(answer, "stderr.startup-error");
        }
        let diagnostic = failure(&answer);
        assert_eq!(code(&diagnostic), "Validation/UnknownTopLevelKey");
        assert_eq!(diagnostic["fieldPath"], "/tolls");
        assert_eq!(diagnostic["help"][0], "did you mean `tools`?");
    }
}

#[test]
fn a_failure_for_people_is_on_standard_error_too() {
    let answer = World::new().stud(&["plugin", "info", "ehco"]);
    assert_eq!((answer.status, answer.stdout.as_str()), (1, ""));
    assert!(
        answer
            .stderr
            .starts_with("error[Validation/ExtensionNotFound]"),
        "{}",
        answer.stderr
    );
    assert!(answer.stderr.contains("`echo`"), "{}", answer.stderr);
}

#[test]
fn the_program_alone_begins_a_session() {
    let world = World::new();
    let answer = world.stud(&[]);
    assert_eq!((answer.status, answer.stdout.as_str()), (0, ""));
    // There was no input, so there is nothing to keep.
    let sessions = std::fs::read_dir(world.home().join("sessions")).unwrap();
    assert_eq!(sessions.count(), 0);
}

#[test]
fn half_an_answer_is_a_failure() {
    let world = World::new();
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = world.command();
    let output = command
        .args(["plugin", "list"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(!output.stderr.is_empty());
}

#[test]
fn a_reader_that_has_heard_enough_is_none() {
    let world = World::new();
    let mut command = world.command();
    let child = command
        .args(["explain", "--list"])
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
