use std::fs;

use stud_sdk::host::cancellation::Scope;
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Result, Value, json};
use tempfile::TempDir;

struct Ground {
    folder: TempDir,
    host: FakeHost,
    tool: Harness,
}

impl Ground {
    fn with(config: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = FakeHost::new()
            .project_root(folder.path().join(".stud"))
            .config(config);
        Self {
            tool: Harness::new(super::stud_plugin(), host.clone()),
            host,
            folder,
        }
    }

    fn new() -> Self {
        Self::with(json!({}))
    }

    fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::write(self.folder.path().join(path), content).unwrap();
    }

    fn diff(&self, args: Value) -> Result<Value> {
        Ok(self.tool.tool("diff", args)?.value().clone())
    }

    fn text(&self, old: &str, new: &str) -> String {
        let difference = self.diff(json!({"oldText": old, "newText": new})).unwrap();
        difference["diff"].as_str().unwrap().to_owned()
    }

    fn code(&self, args: Value) -> String {
        let error = self.diff(args).unwrap_err();
        format!("{} {}", error.class(), error.code())
    }
}

/// One number per line.
fn numbered(numbers: impl Iterator<Item = u32>) -> String {
    let lines: Vec<_> = numbers.map(|number| number.to_string()).collect();
    lines.join("\n") + "\n"
}

#[test]
fn two_texts_are_compared() {
    let ground = Ground::new();
    assert_eq!(
        ground
            .diff(json!({"oldText": "a\nb\nc\n", "newText": "a\nB\nc\nd\n"}))
            .unwrap(),
        json!({
            "diff": "--- old\n+++ new\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n",
            "identical": false, "linesAdded": 2, "linesRemoved": 1, "truncated": false,
        })
    );
}

#[test]
fn files_and_texts_go_together() {
    let ground = Ground::new();
    ground.file("one", "a\n");
    ground.file("two", "b\n");
    let files = ground
        .diff(json!({"oldPath": "one", "newPath": "./two"}))
        .unwrap();
    assert_eq!(files["diff"], "--- one\n+++ ./two\n@@ -1 +1 @@\n-a\n+b\n");
    let mixed = ground
        .diff(json!({"oldPath": "one", "newText": ""}))
        .unwrap();
    assert_eq!(mixed["diff"], "--- one\n+++ new\n@@ -1 +0,0 @@\n-a\n");
}

#[test]
fn the_same_is_the_same() {
    let ground = Ground::new();
    assert_eq!(
        ground
            .diff(json!({"oldText": "a", "newText": "a"}))
            .unwrap(),
        json!({"diff": "", "identical": true, "linesAdded": 0, "linesRemoved": 0, "truncated": false})
    );
    assert_eq!(ground.text("", ""), "");
}

#[test]
fn ends_of_lines_and_of_files_matter() {
    let ground = Ground::new();
    let missing = ground.text("a\n", "a");
    assert!(
        missing.contains("-a\n+a\n\\ No newline at end of file"),
        "{missing}"
    );
    let windows = ground.text("a\r\nb\r\n", "a\nb\n");
    assert!(
        windows.contains("-a\r\n") && windows.contains("+a\n"),
        "{windows}"
    );
}

#[test]
fn so_many_lines_are_shown_around_a_change() {
    let ground = Ground::new();
    let old = numbered(0..20);
    let new = old.replace("10\n", "ten\n");
    let lines = |context: usize| {
        let args = json!({"oldText": old, "newText": new, "contextLines": context});
        let difference = ground.diff(args).unwrap();
        difference["diff"].as_str().unwrap().lines().count()
    };
    assert_eq!((lines(0), lines(3), lines(100)), (5, 11, 24));
}

#[test]
fn a_long_difference_is_cut_after_a_line() {
    let ground = Ground::with(json!({"maxBytes": 100}));
    let old = numbered(0..30);
    let difference = ground
        .diff(json!({"oldText": old, "newText": "é\n"}))
        .unwrap();
    let text = difference["diff"].as_str().unwrap();
    assert!(text.len() <= 100 && text.ends_with('\n'), "{text}");
    assert_eq!(difference["truncated"], true);
}

#[test]
fn a_path_cannot_be_taken_for_lines() {
    let ground = Ground::new();
    ground.file("a\n+b", "x\n");
    let difference = ground
        .diff(json!({"oldPath": "a\n+b", "newText": "y\n"}))
        .unwrap();
    assert_eq!(
        difference["diff"],
        "--- a?+b\n+++ new\n@@ -1 +1 @@\n-x\n+y\n"
    );
}

#[test]
fn each_side_is_given_once() {
    let ground = Ground::new();
    ground.file("f", "x");
    for args in [
        json!({}),
        json!({"oldText": "a"}),
        json!({"newPath": "f"}),
        json!({"oldText": "a", "oldPath": "f", "newText": "b"}),
        json!({"oldText": "a", "newPath": "f", "newText": "b"}),
        json!({"oldText": "a".repeat((1 << 20) + 1), "newText": "b"}),
    ] {
        assert_eq!(ground.code(args), "ToolTerminal InputInvalid");
    }
}

#[test]
fn what_cannot_be_compared_has_a_code() {
    let ground = Ground::new();
    ground.file("binary", b"\xff");
    ground.file("large", "a".repeat((1 << 20) + 1));
    for (path, code) in [
        ("none", "ToolTerminal NotFound"),
        ("binary", "ToolTerminal OutputMalformed"),
        ("large", "ToolTerminal InputInvalid"),
        ("../x", "ToolTerminal Forbidden"),
        (".stud/settings.json", "ToolTerminal Forbidden"),
    ] {
        assert_eq!(
            ground.code(json!({"oldPath": path, "newText": ""})),
            code,
            "{path}"
        );
        assert_eq!(
            ground.code(json!({"oldText": "", "newPath": path})),
            code,
            "{path}"
        );
    }
    ground.host.cancel(Scope::Turn);
    assert_eq!(
        ground.code(json!({"oldText": "a", "newText": "b"})),
        "Cancellation TurnCancelled"
    );
}

#[test]
fn texts_that_have_nothing_in_common_are_compared_in_time() {
    let ground = Ground::new();
    let text = |seed: u32| numbered((0..40_000).map(|line: u32| line.wrapping_mul(seed) % 65_521));
    let difference = ground
        .diff(json!({"oldText": text(7919), "newText": text(104_729)}))
        .unwrap();
    assert_eq!(difference["identical"], false);
}

#[test]
fn the_key_is_the_set_of_directories_or_content() {
    let ground = Ground::new();
    let key = |args: Value| ground.tool.approval_key("diff", &args).unwrap();
    assert_eq!(key(json!({"oldText": "a", "newText": "b"})), "content");
    assert_eq!(key(json!({"oldPath": "b/x", "newPath": "a/y"})), "a|b");
    assert_eq!(key(json!({"oldPath": "x", "newText": "b"})), ".");
    assert_eq!(key(json!({"oldPath": "a/x", "newPath": "a/y"})), "a");
    assert_eq!(
        ground.tool.manifest()["tools"][0]["approvalCoverage"],
        "pathSet"
    );
}
