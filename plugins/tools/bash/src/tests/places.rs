//! Where a command runs.

use std::fs;
use std::os::unix::fs::symlink;

use stud_sdk::json;

use super::Bench;

fn pwd(bench: &Bench, cwd: Option<&str>) -> String {
    let args = match cwd {
        Some(cwd) => json!({"command": "pwd -P", "cwd": cwd}),
        None => json!({"command": "pwd -P"}),
    };
    let ran = bench.call(args).unwrap();
    ran["stdout"].as_str().unwrap().trim_end().to_owned()
}

#[test]
fn a_command_runs_in_the_workspace_or_below_it() {
    let bench = Bench::new();
    fs::create_dir_all(bench.path().join("a/b")).unwrap();
    symlink("a/b", bench.path().join("link")).unwrap();
    let root = bench.path().canonicalize().unwrap();
    let shown = |below: &str| root.join(below).display().to_string();
    assert_eq!(pwd(&bench, None), root.display().to_string());
    assert_eq!(pwd(&bench, Some(".")), root.display().to_string());
    assert_eq!(pwd(&bench, Some("a/b")), shown("a/b"));
    assert_eq!(pwd(&bench, Some("a/../a/./b")), shown("a/b"));
    assert_eq!(pwd(&bench, Some("link")), shown("a/b"));
    let absolute = bench.path().join("a");
    assert_eq!(pwd(&bench, absolute.to_str()), shown("a"));
}

#[test]
fn a_folder_outside_is_forbidden() {
    let bench = Bench::new();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), bench.path().join("out")).unwrap();
    fs::create_dir(bench.path().join("in")).unwrap();
    let sibling = format!("{}x", bench.path().display());
    for cwd in [
        "..",
        "/",
        "in/../..",
        "out",
        "out/.",
        "in/../out",
        "~",
        "~/",
        elsewhere.path().to_str().unwrap(),
        &sibling,
    ] {
        let error = bench
            .call(json!({"command": "touch made", "cwd": cwd}))
            .unwrap_err();
        stud_observed::covers!(TOOL_FORBIDDEN, error);
        assert_eq!(error.context()["fieldPath"], "/cwd");
    }
    assert!(!elsewhere.path().join("made").exists());
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let bench = Bench::new();
    fs::write(bench.path().join("file"), "").unwrap();
    for cwd in ["", "missing", "file", "a\0b"] {
        let refused = bench.refused(json!({"command": "true", "cwd": cwd}));
        assert_eq!(refused, "ToolTerminal/InputInvalid", "{cwd:?}");
    }
}
