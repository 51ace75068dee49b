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

    fn write(&self, args: Value) -> Result<Value> {
        Ok(self.tool.tool("write", args)?.value().clone())
    }

    fn code(&self, args: Value) -> String {
        let error = self.write(args).unwrap_err();
        format!("{} {}", error.class(), error.code())
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.folder.path().join(path)).unwrap()
    }
}

#[test]
fn a_file_is_created_and_then_overwritten() {
    let ground = Ground::new();
    for (content, created) in [("é\n", true), ("other", false), ("", false)] {
        assert_eq!(
            ground
                .write(json!({"path": "a.txt", "content": content}))
                .unwrap(),
            json!({"path": "a.txt", "bytesWritten": content.len(), "created": created})
        );
        assert_eq!(ground.text("a.txt"), content);
    }
    assert_eq!(fs::read_dir(ground.folder.path()).unwrap().count(), 1);
}

#[test]
fn directories_are_made_when_that_is_asked_for() {
    let ground = Ground::new();
    let args = |create| json!({"path": "a/b/c.txt", "content": "x", "createParents": create});
    assert_eq!(ground.code(args(false)), "ToolTerminal NotFound");
    assert_eq!(
        ground.code(json!({"path": "a/b/c.txt", "content": "x"})),
        "ToolTerminal NotFound"
    );
    assert!(!ground.folder.path().join("a").exists());
    assert_eq!(ground.write(args(true)).unwrap()["created"], true);
    assert_eq!(ground.text("a/b/c.txt"), "x");
    assert_eq!(ground.write(args(true)).unwrap()["created"], false);
}

#[test]
fn more_than_a_mebibyte_is_not_written() {
    let ground = Ground::new();
    let args = |len| json!({"path": "new/a", "content": "a".repeat(len), "createParents": true});
    assert_eq!(
        ground.code(args((1 << 20) + 1)),
        "ToolTerminal InputInvalid"
    );
    assert!(!ground.folder.path().join("new").exists());
    ground.write(args(1 << 20)).unwrap();
    let ground = Ground::with(json!({"maxBytes": 3}));
    assert_eq!(ground.code(args(4)), "ToolTerminal InputInvalid");
    ground.write(args(3)).unwrap();
}

#[test]
fn what_cannot_be_written_has_a_code() {
    let ground = Ground::new();
    fs::create_dir_all(ground.folder.path().join("directory")).unwrap();
    fs::write(ground.folder.path().join("file"), "x").unwrap();
    for (path, code) in [
        ("", "ToolTerminal InputInvalid"),
        ("a\0b", "ToolTerminal InputInvalid"),
        ("directory", "ToolTerminal InputInvalid"),
        (".", "ToolTerminal InputInvalid"),
        ("file/x", "ToolTerminal NotFound"),
        ("../x", "ToolTerminal Forbidden"),
        ("/tmp/elsewhere/x", "ToolTerminal Forbidden"),
        (".stud", "ToolTerminal Forbidden"),
        (".stud/settings.json", "ToolTerminal Forbidden"),
        (
            "directory/../.stud/approvals.json",
            "ToolTerminal Forbidden",
        ),
    ] {
        let args = json!({"path": path, "content": "x", "createParents": true});
        assert_eq!(ground.code(args), code, "{path}");
    }
    assert!(!ground.folder.path().join(".stud").exists());
    assert_eq!(
        ground.code(json!({"path": "a"})),
        "ToolTerminal InputInvalid"
    );
}

#[test]
fn a_refusal_of_studs_own_says_why() {
    let ground = Ground::new();
    let error = ground
        .write(json!({"path": ".stud/settings.json", "content": "{}"}))
        .unwrap_err();
    assert!(
        error.message().contains("settings, approvals and trust"),
        "{error}"
    );
}

#[test]
fn a_call_that_is_called_off_writes_nothing() {
    let ground = Ground::new();
    ground.host.cancel(Scope::Turn);
    let args = json!({"path": "a/b", "content": "x", "createParents": true});
    assert_eq!(ground.code(args), "Cancellation TurnCancelled");
    assert_eq!(fs::read_dir(ground.folder.path()).unwrap().count(), 0);
}

#[test]
fn the_key_is_the_directory_and_covers_what_is_below() {
    let ground = Ground::new();
    let key = |path: &str| {
        ground
            .tool
            .approval_key("write", &json!({"path": path, "content": ""}))
            .unwrap()
    };
    assert_eq!(
        (key("a"), key("a/b"), key("a/../b/c")),
        (".".into(), "a".into(), "b".into())
    );
    let tool = &ground.tool.manifest()["tools"][0];
    assert_eq!(
        (&tool["gated"], &tool["approvalCoverage"]),
        (&json!(true), &json!("path"))
    );
}
