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

    fn file(&self, content: impl AsRef<[u8]>) {
        fs::write(self.folder.path().join("f"), content).unwrap();
    }

    fn edit(&self, old: &str, new: &str) -> Result<Value> {
        let args = json!({"path": "f", "oldString": old, "newString": new});
        Ok(self.tool.tool("edit", args)?.value().clone())
    }

    fn code(&self, old: &str, new: &str) -> String {
        let error = self.edit(old, new).unwrap_err();
        format!("{} {}", error.class(), error.code())
    }

    fn text(&self) -> String {
        fs::read_to_string(self.folder.path().join("f")).unwrap()
    }
}

#[test]
fn one_text_is_replaced() {
    let ground = Ground::new();
    ground.file("\u{feff}one\r\ntwo");
    assert_eq!(
        ground.edit("two", "2\n").unwrap(),
        json!({"path": "f", "replacementsMade": 1})
    );
    assert_eq!(ground.text(), "\u{feff}one\r\n2\n");
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let ground = Ground::new();
    for (content, old, new, code) in [
        ("abc", "x", "y", "ToolTerminal NotFound"),
        ("abab", "ab", "y", "ToolTerminal AmbiguousMatch"),
        ("aaa", "aa", "y", "ToolTerminal AmbiguousMatch"),
        ("abc", "b", "b", "ToolTerminal InputInvalid"),
        ("abc", "", "b", "ToolTerminal InputInvalid"),
    ] {
        ground.file(content);
        assert_eq!(ground.code(old, new), code, "{old}");
        assert_eq!(ground.text(), content);
    }
    ground.file("ab\nab");
    let error = ground.edit("ab", "y").unwrap_err();
    stud_observed::covers!(AMBIGUOUS_MATCH, error);
    ground.file(b"ab\xff");
    assert_eq!(ground.code("a", "b"), "ToolTerminal OutputMalformed");
    fs::remove_file(ground.folder.path().join("f")).unwrap();
    assert_eq!(ground.code("a", "b"), "ToolTerminal NotFound");
    assert_eq!(fs::read_dir(ground.folder.path()).unwrap().count(), 0);
}

#[test]
fn a_file_over_ten_mebibytes_is_not_edited() {
    let ground = Ground::new();
    let mut text = "a".repeat((10 << 20) - 1);
    text.push('b');
    ground.file(&text);
    assert_eq!(ground.code("b", "bb"), "ToolTerminal InputInvalid");
    ground.edit("b", "c").unwrap();
    ground.file(format!("{text}c"));
    assert_eq!(ground.code("b", "x"), "ToolTerminal InputInvalid");
    let ground = Ground::with(json!({"maxFileBytes": 2}));
    ground.file("abc");
    assert_eq!(ground.code("b", ""), "ToolTerminal InputInvalid");
}

#[test]
fn where_nothing_may_be_edited() {
    let ground = Ground::new();
    fs::create_dir_all(ground.folder.path().join(".stud")).unwrap();
    fs::write(ground.folder.path().join(".stud/settings.json"), "{}").unwrap();
    for path in [".stud/settings.json", "../f", "/etc/hosts"] {
        let args = json!({"path": path, "oldString": "{}", "newString": "[]"});
        assert_eq!(
            ground.tool.tool("edit", args).unwrap_err().code(),
            "Forbidden",
            "{path}"
        );
    }
}

#[test]
fn edits_of_one_file_at_once_are_all_in_it() {
    let ground = Ground::new();
    let words: Vec<_> = (0..12).map(|number| format!("<{number}>")).collect();
    ground.file(words.join("\n"));
    ground.tool.start().unwrap();
    let ground = &ground;
    std::thread::scope(|scope| {
        for word in &words {
            scope.spawn(move || ground.edit(word, &format!("{word}!")).unwrap());
        }
    });
    let expected: Vec<_> = words.iter().map(|word| format!("{word}!")).collect();
    assert_eq!(ground.text(), expected.join("\n"));
}

#[test]
fn a_call_that_is_called_off_changes_nothing() {
    let ground = Ground::new();
    ground.file("a");
    ground.host.cancel(Scope::Turn);
    assert_eq!(ground.code("a", "b"), "Cancellation TurnCancelled");
    assert_eq!(ground.text(), "a");
}

#[test]
fn the_key_is_the_directory() {
    let ground = Ground::new();
    let args = json!({"path": "src/a", "oldString": "a", "newString": "b"});
    assert_eq!(ground.tool.approval_key("edit", &args).unwrap(), "src");
    assert_eq!(
        ground.tool.manifest()["tools"][0]["approvalCoverage"],
        "path"
    );
}
