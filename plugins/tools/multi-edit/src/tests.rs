use std::fs;
use std::os::unix::fs::symlink;

use stud_sdk::host::cancellation::Scope;
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Error, Result, Value, json};
use tempfile::TempDir;

struct Ground {
    folder: TempDir,
    host: FakeHost,
    tool: Harness,
}

impl Ground {
    fn new() -> Self {
        Self::with(json!({}))
    }

    fn with(config: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = FakeHost::new()
            .project_root(folder.path().join(".stud"))
            .config(config);
        let ground = Self {
            tool: Harness::new(super::stud_plugin(), host.clone()),
            host,
            folder,
        };
        ground.file("a", "one two");
        ground.file("b/c", "three");
        ground
    }

    fn file(&self, path: &str, content: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn run(&self, args: Value) -> Result<Value> {
        Ok(self.tool.tool("multi-edit", args)?.value().clone())
    }

    /// Edits as path, old text, new text.
    fn edit(&self, edits: &[[&str; 3]]) -> Result<Value> {
        let edits: Vec<_> = edits
            .iter()
            .map(|[path, old, new]| json!({"path": path, "oldString": old, "newString": new}))
            .collect();
        self.run(json!({"edits": edits}))
    }

    fn refused(&self, edits: &[[&str; 3]]) -> Error {
        let before = (self.text("a"), self.text("b/c"));
        let error = self.edit(edits).unwrap_err();
        assert_eq!((self.text("a"), self.text("b/c")), before);
        assert_eq!(fs::read_dir(self.folder.path()).unwrap().count(), 2);
        error
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.folder.path().join(path)).unwrap()
    }
}

#[test]
fn several_files_are_edited_in_one_call() {
    let ground = Ground::new();
    let edited = ground
        .edit(&[
            ["a", "one", "1"],
            ["b/c", "three", "3"],
            ["./a", "two", "2"],
        ])
        .unwrap();
    assert_eq!(
        edited,
        json!({"files": [{"path": "a", "replacementsMade": 2}, {"path": "b/c", "replacementsMade": 1}], "replacementsMade": 3})
    );
    assert_eq!(
        (ground.text("a"), ground.text("b/c")),
        ("1 2".into(), "3".into())
    );
}

#[test]
fn a_path_may_stand_for_all_edits() {
    let ground = Ground::new();
    let edits = json!([{"oldString": "one", "newString": "1"}, {"path": "b/c", "oldString": "three", "newString": "3"}]);
    ground.run(json!({"path": "a", "edits": edits})).unwrap();
    assert_eq!(
        (ground.text("a"), ground.text("b/c")),
        ("1 two".into(), "3".into())
    );
    let error = ground
        .run(json!({"edits": [{"oldString": "x", "newString": "y"}]}))
        .unwrap_err();
    assert_eq!(
        (error.code(), &error.context()["edit"]),
        ("InputInvalid", &json!(0))
    );
}

#[test]
fn an_edit_sees_what_the_ones_before_it_left() {
    let ground = Ground::new();
    ground
        .edit(&[
            ["a", "one", "two"],
            ["a", "two two", "two"],
            ["a", "two", "done"],
        ])
        .unwrap();
    assert_eq!(ground.text("a"), "done");
    // The second text is gone with the first.
    ground.file("a", "one two");
    let error = ground.refused(&[["a", "one t", "x"], ["a", "two", "y"]]);
    assert_eq!(
        (error.code(), &error.context()["edit"]),
        ("NotFound", &json!(1))
    );
}

#[test]
fn if_one_edit_does_not_fit_none_is_made() {
    let ground = Ground::new();
    for (wrong, code) in [
        (["b/c", "none", "x"], "NotFound"),
        (["b/c", "e", "x"], "AmbiguousMatch"),
        (["b/c", "t", "t"], "InputInvalid"),
        (["b/d", "t", "x"], "NotFound"),
        (["b", "t", "x"], "InputInvalid"),
        (["../x", "t", "x"], "Forbidden"),
        ([".stud/settings.json", "t", "x"], "Forbidden"),
    ] {
        let error = ground.refused(&[["a", "one", "1"], wrong]);
        assert_eq!(error.code(), code, "{wrong:?}");
    }
}

#[test]
fn two_paths_to_one_file_are_one_file() {
    let ground = Ground::new();
    symlink("../a", ground.folder.path().join("b/link")).unwrap();
    let edited = ground
        .edit(&[["a", "one", "1"], ["b/link", "two", "2"]])
        .unwrap();
    assert_eq!(edited["files"].as_array().unwrap().len(), 1);
    assert_eq!(ground.text("a"), "1 2");
}

#[test]
fn files_have_a_largest_size() {
    let ground = Ground::with(json!({"maxFileBytes": 7}));
    assert_eq!(
        ground.refused(&[["a", "one", "three"]]).code(),
        "InputInvalid"
    );
    assert_eq!(
        ground.run(json!({"edits": []})).unwrap()["replacementsMade"],
        0
    );
    for name in 0..5 {
        ground.file(&format!("b/{name}"), "seven b");
    }
    let edits: Vec<_> = (0..5)
        .map(|name| json!({"path": format!("b/{name}"), "oldString": "b", "newString": "c"}))
        .collect();
    assert_eq!(
        ground.run(json!({"edits": edits})).unwrap_err().code(),
        "InputInvalid"
    );
    assert_eq!(ground.text("b/0"), "seven b");
}

#[test]
fn a_call_that_is_called_off_changes_nothing() {
    let ground = Ground::new();
    ground.host.cancel(Scope::Turn);
    let error = ground.refused(&[["a", "one", "1"]]);
    assert_eq!(
        (error.class(), error.code()),
        ("Cancellation", "TurnCancelled")
    );
}

#[test]
fn the_key_is_the_set_of_directories() {
    let ground = Ground::new();
    let key = |args: Value| ground.tool.approval_key("multi-edit", &args).unwrap();
    let edit = |path: &str| json!({"path": path, "oldString": "a", "newString": "b"});
    assert_eq!(
        key(json!({"edits": [edit("b/x"), edit("a/y"), edit("b/z"), edit("top")]})),
        ".|a|b"
    );
    assert_eq!(
        key(json!({"path": "a/x", "edits": [{"oldString": "a", "newString": "b"}]})),
        "a"
    );
    let tool = &ground.tool.manifest()["tools"][0];
    assert_eq!(
        (&tool["name"], &tool["approvalCoverage"]),
        (&json!("multi-edit"), &json!("pathSet"))
    );
    assert_eq!(tool["inputSchema"]["properties"]["edits"]["minItems"], 1);
}
