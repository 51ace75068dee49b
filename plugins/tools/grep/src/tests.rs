use std::fs;
use std::os::unix::fs::symlink;

use stud_sdk::host::cancellation::Scope;
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Result, Value, json};
use tempfile::TempDir;
use workspace_files::Workspace;

use crate::search::Search;

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
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn grep(&self, args: Value) -> Result<Value> {
        Ok(self.tool.tool("grep", args)?.value().clone())
    }

    /// The lines that were found, as `path:line:text`.
    fn lines(&self, args: Value) -> Vec<String> {
        let found = self.grep(args).unwrap();
        let lines = found["matches"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        lines
            .map(|line| {
                format!(
                    "{}:{}:{}",
                    text(&line["path"]),
                    line["line"],
                    text(&line["text"])
                )
            })
            .collect()
    }

    fn code(&self, args: Value) -> String {
        let error = self.grep(args).unwrap_err();
        format!("{} {}", error.class(), error.code())
    }
}

#[test]
fn lines_are_found_in_order() {
    let ground = Ground::new();
    ground.file("b.txt", "no\nfox\r\nno\na fox");
    ground.file("a/x.txt", "fox\n");
    ground.file("a-b.txt", "fox");
    assert_eq!(
        ground.grep(json!({"pattern": "fox$"})).unwrap(),
        json!({"pattern": "fox$", "path": ".", "truncated": false, "filesSearched": 3, "matches": [
            {"path": "a-b.txt", "line": 1, "text": "fox"},
            {"path": "a/x.txt", "line": 1, "text": "fox"},
            {"path": "b.txt", "line": 2, "text": "fox"},
            {"path": "b.txt", "line": 4, "text": "a fox"},
        ]})
    );
}

#[test]
fn a_directory_or_a_file_can_be_named() {
    let ground = Ground::new();
    ground.file("a/b/x", "fox");
    ground.file("a/y", "fox");
    ground.file("z", "fox");
    assert_eq!(
        ground.lines(json!({"pattern": "fox", "path": "a"})),
        ["a/b/x:1:fox", "a/y:1:fox"]
    );
    assert_eq!(
        ground.lines(json!({"pattern": "fox", "path": "./a/y"})),
        ["a/y:1:fox"]
    );
    assert!(
        ground
            .lines(json!({"pattern": "none", "path": "a/y"}))
            .is_empty()
    );
}

#[test]
fn files_can_be_chosen_by_name() {
    let ground = Ground::new();
    ground.file("a.rs", "fox");
    ground.file("b/c.rs", "fox");
    ground.file("b/d.md", "fox");
    assert_eq!(
        ground.lines(json!({"pattern": "fox", "glob": "*.rs"})),
        ["a.rs:1:fox", "b/c.rs:1:fox"]
    );
    assert_eq!(
        ground.lines(json!({"pattern": "fox", "glob": "b/*"})),
        ["b/c.rs:1:fox", "b/d.md:1:fox"]
    );
    assert_eq!(
        ground.lines(json!({"pattern": "fox", "glob": "b/*", "path": "b"})),
        [""; 0]
    );
}

#[test]
fn case_matters_unless_it_does_not() {
    let ground = Ground::new();
    ground.file("a", "Fox\nÉté\n");
    assert!(ground.lines(json!({"pattern": "fox"})).is_empty());
    assert_eq!(
        ground.lines(json!({"pattern": "fox", "caseInsensitive": true})),
        ["a:1:Fox"]
    );
    assert_eq!(
        ground.lines(json!({"pattern": "été", "caseInsensitive": true})),
        ["a:2:Été"]
    );
}

#[test]
fn what_is_left_out() {
    let ground = Ground::new();
    ground.file(".gitignore", "skipped\n");
    ground.file("skipped/a", "fox");
    ground.file(".git/a", "fox");
    ground.file(".stud/settings.json", "fox");
    ground.file("binary", b"fox\n\0fox\n");
    ground.file(
        "late-binary",
        ["fox\n", &"filler\n".repeat(50_000), "\0"].concat(),
    );
    ground.file("real", "fox");
    symlink("real", ground.folder.path().join("link")).unwrap();
    symlink("/etc", ground.folder.path().join("out")).unwrap();
    assert_eq!(ground.lines(json!({"pattern": "fox"})), ["real:1:fox"]);
    assert_eq!(
        ground.grep(json!({"pattern": "fox"})).unwrap()["truncated"],
        false
    );
    assert_eq!(
        ground.lines(json!({"pattern": "fox", "path": "skipped"})),
        ["skipped/a:1:fox"]
    );
    assert_eq!(
        ground.lines(json!({"pattern": "fox", "path": "link"})),
        ["link:1:fox"]
    );
    for path in [".stud", ".stud/settings.json", "out", "out/passwd"] {
        assert_eq!(
            ground.code(json!({"pattern": "fox", "path": path})),
            "ToolTerminal Forbidden",
            "{path}"
        );
    }
}

#[test]
fn hidden_files_are_searched() {
    let ground = Ground::new();
    ground.file(".github/ci.yml", "fox");
    assert_eq!(
        ground.lines(json!({"pattern": "fox"})),
        [".github/ci.yml:1:fox"]
    );
}

#[test]
fn there_is_a_limit_and_it_is_told() {
    let ground = Ground::new();
    ground.file("a", "fox\n".repeat(1001));
    let found = ground.grep(json!({"pattern": "fox"})).unwrap();
    assert_eq!(
        (
            found["matches"].as_array().unwrap().len(),
            &found["truncated"]
        ),
        (1000, &json!(true))
    );
    ground.file("a", "fox\n".repeat(3));
    for (most, truncated) in [(2, true), (3, false), (5000, false)] {
        let found = ground
            .grep(json!({"pattern": "fox", "maxResults": most}))
            .unwrap();
        assert_eq!(found["truncated"], truncated, "{most}");
    }
    let ground = Ground::with(json!({"maxResults": 1}));
    ground.file("a", "fox\nfox\n");
    assert_eq!(
        ground.lines(json!({"pattern": "fox", "maxResults": 9})),
        ["a:1:fox"]
    );
}

#[test]
fn a_long_line_is_cut() {
    let ground = Ground::with(json!({"maxLineBytes": 5}));
    ground.file("a", format!("{}\nshort\naéééé", "x".repeat(1 << 20)));
    let found = ground.grep(json!({"pattern": "."})).unwrap();
    assert_eq!(
        found["matches"],
        json!([
            {"path": "a", "line": 1, "text": "xxxxx", "cut": true},
            {"path": "a", "line": 2, "text": "short"},
            {"path": "a", "line": 3, "text": "aéé", "cut": true},
        ])
    );
}

#[test]
fn a_line_that_is_too_long_to_hold_is_told_of_and_the_rest_is_found() {
    let ground = Ground::new();
    ground.file("a", "x".repeat(20 << 20));
    ground.file("b", "fox");
    let output = ground.tool.tool("grep", json!({"pattern": "fox"})).unwrap();
    assert_eq!(output.value()["matches"][0]["path"], "b");
    assert_eq!(output.errors().len(), 1);
    assert_eq!(output.errors()[0].context()["path"], "a");
}

#[test]
fn what_is_no_text_is_shown_as_far_as_it_is_and_marked() {
    let ground = Ground::new();
    ground.file("latin", b"caf\xe9 fox\n");
    let found = ground.grep(json!({"pattern": "fox"})).unwrap();
    assert_eq!(
        found["matches"][0],
        json!({"path": "latin", "line": 1, "text": "caf\u{fffd} fox", "lossy": true})
    );
}

#[test]
fn other_encodings_with_a_mark_are_read() {
    let ground = Ground::new();
    let wide: Vec<u8> = "\u{feff}a fox\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    ground.file("wide", wide);
    assert_eq!(
        ground.lines(json!({"pattern": "^a fox$"})),
        ["wide:1:a fox"]
    );
}

#[test]
fn what_is_no_pattern_is_refused() {
    let ground = Ground::new();
    let nested = format!("{}a{}", "(".repeat(5000), ")".repeat(5000));
    let large = format!(r"\w{{{0}}}{{{0}}}", 1000);
    for pattern in [
        "(", "[", r"(?<x", r"(a)\1", "a\nb", "(?=a)", &nested, &large,
    ] {
        assert_eq!(
            ground.code(json!({"pattern": pattern})),
            "ToolTerminal InputInvalid",
            "{pattern:.20}"
        );
    }
    assert_eq!(
        ground.code(json!({"pattern": "a", "glob": "["})),
        "ToolTerminal InputInvalid"
    );
    assert_eq!(
        ground.code(json!({"pattern": "a", "path": "none"})),
        "ToolTerminal NotFound"
    );
    assert_eq!(
        ground.code(json!({"pattern": "a", "path": "../x"})),
        "ToolTerminal Forbidden"
    );
}

#[test]
fn a_pattern_that_would_take_forever_elsewhere_takes_no_time_here() {
    let ground = Ground::new();
    ground.file("a", "a".repeat(100_000));
    assert!(ground.lines(json!({"pattern": "(a+)+b$"})).is_empty());
    assert!(ground.lines(json!({"pattern": "(a|aa)+$x"})).is_empty());
}

#[test]
fn a_call_that_is_over_before_it_began_searches_nothing() {
    let ground = Ground::new();
    ground.file("a", "fox");
    ground.host.cancel(Scope::Turn);
    assert_eq!(
        ground.code(json!({"pattern": "fox"})),
        "Cancellation TurnCancelled"
    );
}

#[test]
fn searching_stops_within_a_file_when_it_is_called_off() {
    let ground = Ground::new();
    ground.file("a", "text without an animal\n".repeat(100_000));
    let cx = ground.host.cx();
    let workspace = Workspace::of(cx.host()).unwrap();
    let contents = || workspace.open(&workspace.place("a").unwrap()).unwrap();
    let mut search = Search::new("fox", false).unwrap();
    let path = || ("a".to_owned(), true);
    search.file(contents(), path(), &cx).unwrap();
    ground.host.cancel(Scope::Turn);
    let error = search.file(contents(), path(), &cx).unwrap_err();
    assert_eq!(
        (error.class(), error.code()),
        ("Cancellation", "ToolCancelled")
    );
}

#[test]
fn the_key_is_the_directory_that_is_searched() {
    let ground = Ground::new();
    let key = |args: Value| ground.tool.approval_key("grep", &args).unwrap();
    assert_eq!(key(json!({"pattern": "x"})), ".");
    assert_eq!(key(json!({"pattern": "x", "path": "src/core"})), "src/core");
    assert_eq!(
        ground.tool.manifest()["tools"][0]["approvalCoverage"],
        "path"
    );
}
