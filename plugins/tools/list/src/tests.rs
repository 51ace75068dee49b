use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

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
    fn with(config: Value, files: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = FakeHost::new()
            .project_root(folder.path().join(".stud"))
            .config(config);
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "four").unwrap();
        }
        Self {
            tool: Harness::new(super::stud_plugin(), host.clone()),
            host,
            folder,
        }
    }

    fn new(files: &[&str]) -> Self {
        Self::with(json!({}), files)
    }

    fn list(&self, args: Value) -> Result<Value> {
        Ok(self.tool.tool("list", args)?.value().clone())
    }

    fn paths(&self, args: Value) -> Vec<String> {
        let listing = self.list(args).unwrap();
        let entries = listing["entries"].as_array().unwrap();
        entries
            .iter()
            .map(|entry| entry["relPath"].as_str().unwrap().to_owned())
            .collect()
    }

    fn code(&self, args: Value) -> String {
        let error = self.list(args).unwrap_err();
        format!("{} {}", error.class(), error.code())
    }
}

#[test]
fn each_entry_says_what_it_is() {
    let ground = Ground::new(&["file", "directory/inside"]);
    symlink("file", ground.folder.path().join("link")).unwrap();
    let _socket = UnixListener::bind(ground.folder.path().join("socket")).unwrap();
    assert_eq!(
        ground.list(json!({"path": "."})).unwrap(),
        json!({"path": ".", "truncated": false, "entries": [
            {"name": "directory", "relPath": "directory", "kind": "directory"},
            {"name": "file", "relPath": "file", "kind": "file", "sizeBytes": 4},
            {"name": "link", "relPath": "link", "kind": "symlink"},
            {"name": "socket", "relPath": "socket", "kind": "other"},
        ]})
    );
}

#[test]
fn paths_are_seen_from_the_directory_that_is_listed() {
    let ground = Ground::new(&["a/b/c", "a/d"]);
    let listing = ground.list(json!({"path": "a", "maxDepth": 2})).unwrap();
    assert_eq!(listing["path"], "a");
    assert_eq!(
        listing["entries"][1],
        json!({"name": "c", "relPath": "b/c", "kind": "file", "sizeBytes": 4})
    );
    assert_eq!(
        ground.paths(json!({"path": "a", "maxDepth": 2})),
        ["b", "b/c", "d"]
    );
}

#[test]
fn depth_is_one_unless_it_is_said() {
    let ground = Ground::new(&["a/b/c"]);
    assert_eq!(ground.paths(json!({"path": "."})), ["a"]);
    assert_eq!(
        ground.paths(json!({"path": ".", "maxDepth": 3})),
        ["a", "a/b", "a/b/c"]
    );
    assert!(ground.paths(json!({"path": ".", "maxDepth": 0})).is_empty());
    let ground = Ground::with(json!({"defaultMaxDepth": 2}), &["a/b/c"]);
    assert_eq!(ground.paths(json!({"path": "."})), ["a", "a/b"]);
}

#[test]
fn hidden_entries_are_shown_when_asked_for_and_studs_own_is_never_looked_into() {
    let ground = Ground::new(&[".hidden", ".stud/settings.json", "a", ".gitignore"]);
    fs::write(ground.folder.path().join(".gitignore"), "a").unwrap();
    assert_eq!(ground.paths(json!({"path": "."})), ["a"]);
    assert_eq!(
        ground.paths(json!({"path": ".", "includeHidden": true, "maxDepth": 5})),
        [".gitignore", ".hidden", ".stud", "a"]
    );
    for path in [".stud", ".stud/x", "a/../.stud"] {
        assert_eq!(
            ground.code(json!({"path": path, "includeHidden": true})),
            "ToolTerminal Forbidden"
        );
    }
}

#[test]
fn a_thousand_entries_are_given_and_always_the_same() {
    let names: Vec<_> = (0..1001)
        .map(|number| format!("d{}/f{number:04}", number % 7))
        .collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let ground = Ground::new(&names);
    let listing = ground.list(json!({"path": ".", "maxDepth": 2})).unwrap();
    assert_eq!(listing["truncated"], true);
    let paths = ground.paths(json!({"path": ".", "maxDepth": 2}));
    assert_eq!(paths.len(), 1000);
    let mut all = ground.paths(json!({"path": ".", "maxDepth": 1}));
    all.extend(names.iter().map(|name| (*name).to_owned()));
    all.sort();
    assert_eq!(paths, all[..1000]);

    let ground = Ground::with(json!({"maxEntries": 2}), &["a", "b"]);
    assert_eq!(
        ground.list(json!({"path": "."})).unwrap()["truncated"],
        false
    );
    fs::write(ground.folder.path().join("c"), "").unwrap();
    assert_eq!(
        ground.list(json!({"path": "."})).unwrap()["truncated"],
        true
    );
    assert_eq!(ground.paths(json!({"path": "."})), ["a", "b"]);
}

#[test]
fn a_name_that_is_no_text_is_marked() {
    let ground = Ground::new(&["plain"]);
    let odd = OsStr::from_bytes(b"odd\xff");
    if fs::write(ground.folder.path().join(odd), "").is_ok() {
        let listing = ground.list(json!({"path": "."})).unwrap();
        let entry = json!({"name": "odd\u{fffd}", "relPath": "odd\u{fffd}", "kind": "file", "sizeBytes": 0, "lossy": true});
        assert_eq!(listing["entries"][0], entry);
        assert_eq!(listing["entries"][1].get("lossy"), None);
    }
}

#[test]
fn what_is_no_directory_is_not_found() {
    let ground = Ground::new(&["file"]);
    for (path, code) in [
        ("none", "ToolTerminal NotFound"),
        ("file", "ToolTerminal NotFound"),
        ("", "ToolTerminal InputInvalid"),
        ("..", "ToolTerminal Forbidden"),
        ("/", "ToolTerminal Forbidden"),
    ] {
        assert_eq!(ground.code(json!({"path": path})), code, "{path}");
    }
    assert_eq!(
        ground.code(json!({"path": ".", "maxDepth": -1})),
        "ToolTerminal InputInvalid"
    );
}

#[test]
fn a_call_that_is_over_before_it_began_lists_nothing() {
    let ground = Ground::new(&["file"]);
    ground.host.cancel(Scope::Turn);
    assert_eq!(
        ground.code(json!({"path": "."})),
        "Cancellation TurnCancelled"
    );
}

#[test]
fn the_key_is_the_directory() {
    let ground = Ground::new(&[]);
    let key = |path: &str| {
        ground
            .tool
            .approval_key("list", &json!({"path": path}))
            .unwrap()
    };
    assert_eq!(
        (key("."), key("a/b/"), key("a/..")),
        (".".into(), "a/b".into(), ".".into())
    );
    assert_eq!(
        ground.tool.manifest()["tools"][0]["approvalCoverage"],
        "path"
    );
}
