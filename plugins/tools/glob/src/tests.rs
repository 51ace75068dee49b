use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

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
            fs::write(path, "").unwrap();
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

    fn glob(&self, args: Value) -> Result<Value> {
        Ok(self.tool.tool("glob", args)?.value().clone())
    }

    fn paths(&self, pattern: &str, path: &str) -> Vec<String> {
        let found = self
            .glob(json!({"pattern": pattern, "path": path}))
            .unwrap();
        stud_paths(&found["paths"])
    }

    fn code(&self, args: Value) -> String {
        let error = self.glob(args).unwrap_err();
        format!("{} {}", error.class(), error.code())
    }
}

fn stud_paths(value: &Value) -> Vec<String> {
    let paths = value.as_array().unwrap().iter();
    paths
        .map(|path| path.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn files_are_found_by_their_paths() {
    let ground = Ground::new(&[
        "a.rs",
        "src/b.rs",
        "src/core/c.rs",
        "src/d.txt",
        ".github/ci.yml",
    ]);
    for (pattern, expected) in [
        ("*.rs", &["a.rs"][..]),
        ("**/*.rs", &["a.rs", "src/b.rs", "src/core/c.rs"]),
        ("src/*", &["src/b.rs", "src/d.txt"]),
        ("src/**", &["src/b.rs", "src/core/c.rs", "src/d.txt"]),
        ("src/core/c.rs", &["src/core/c.rs"]),
        ("**/*.yml", &[".github/ci.yml"]),
        ("none/**", &[]),
        ("a.rs/*", &[]),
        ("src", &[]),
    ] {
        assert_eq!(ground.paths(pattern, "."), expected, "{pattern}");
    }
    assert_eq!(
        ground.glob(json!({"pattern": "*.rs"})).unwrap(),
        json!({"pattern": "*.rs", "path": ".", "paths": ["a.rs"], "truncated": false})
    );
}

#[test]
fn paths_are_seen_from_the_workspace() {
    let ground = Ground::new(&["src/b.rs", "src/core/c.rs"]);
    assert_eq!(
        ground.paths("**/*.rs", "src"),
        ["src/b.rs", "src/core/c.rs"]
    );
    assert_eq!(ground.paths("core/*.rs", "./src/"), ["src/core/c.rs"]);
    let absolute = ground.folder.path().join("src");
    assert_eq!(
        ground.paths("*.rs", absolute.to_str().unwrap()),
        ["src/b.rs"]
    );
}

#[test]
fn what_the_project_leaves_out_is_left_out_unless_it_is_named() {
    let ground = Ground::new(&[
        "a",
        ".git/config",
        "target/x",
        "b/skip",
        ".stud/settings.json",
        "b/.stud",
    ]);
    fs::write(ground.folder.path().join(".gitignore"), "target/\nskip\n").unwrap();
    assert_eq!(ground.paths("**", "."), [".gitignore", "a"]);
    assert_eq!(ground.paths("target/*", "."), ["target/x"]);
    assert_eq!(ground.paths("*", "target"), ["target/x"]);
    assert_eq!(
        ground.code(json!({"pattern": ".stud/*"})),
        "ToolTerminal Forbidden"
    );
    assert_eq!(
        ground.code(json!({"pattern": "*", "path": ".stud"})),
        "ToolTerminal Forbidden"
    );
}

#[test]
fn a_link_is_found_and_not_followed() {
    let ground = Ground::new(&["real/x"]);
    symlink("real", ground.folder.path().join("link")).unwrap();
    symlink("/etc", ground.folder.path().join("out")).unwrap();
    assert_eq!(ground.paths("**", "."), ["link", "out", "real/x"]);
    assert_eq!(
        ground.code(json!({"pattern": "out/*"})),
        "ToolTerminal Forbidden"
    );
}

#[test]
fn a_thousand_are_given_in_order() {
    let names: Vec<_> = (0..1001)
        .map(|number| format!("d{}-{}/f", number % 13, number))
        .collect();
    let mut names: Vec<_> = names.iter().map(String::as_str).collect();
    let ground = Ground::new(&names);
    let found = ground.glob(json!({"pattern": "**/f"})).unwrap();
    names.sort_unstable();
    assert_eq!(found["truncated"], true);
    assert_eq!(stud_paths(&found["paths"]), names[..1000]);
    let ground = Ground::with(json!({"maxResults": 1}), &["a"]);
    assert_eq!(
        ground.glob(json!({"pattern": "*"})).unwrap()["truncated"],
        false
    );
}

#[test]
fn a_name_that_is_no_text_is_marked() {
    let ground = Ground::new(&["b"]);
    if fs::write(ground.folder.path().join(OsStr::from_bytes(b"a\xff")), "").is_ok() {
        let found = ground.glob(json!({"pattern": "*"})).unwrap();
        assert_eq!(found["paths"], json!(["a\u{fffd}", "b"]));
        assert_eq!(found["lossy"], json!(["a\u{fffd}"]));
    }
}

#[test]
fn what_cannot_be_looked_for_has_a_code() {
    let ground = Ground::new(&["file"]);
    for (pattern, path, code) in [
        ("[", ".", "ToolTerminal InputInvalid"),
        ("../*", ".", "ToolTerminal InputInvalid"),
        ("/etc/*", ".", "ToolTerminal InputInvalid"),
        ("*", "none", "ToolTerminal NotFound"),
        ("none/*", "none", "ToolTerminal NotFound"),
        ("*", "file", "ToolTerminal NotFound"),
        ("*", "..", "ToolTerminal Forbidden"),
        ("*", "", "ToolTerminal InputInvalid"),
    ] {
        assert_eq!(
            ground.code(json!({"pattern": pattern, "path": path})),
            code,
            "{pattern} {path}"
        );
    }
    ground.host.cancel(Scope::Turn);
    assert_eq!(
        ground.code(json!({"pattern": "*"})),
        "Cancellation TurnCancelled"
    );
}

#[test]
fn the_key_is_the_directory_that_is_searched() {
    let ground = Ground::new(&[]);
    let key = |args: Value| ground.tool.approval_key("glob", &args).unwrap();
    assert_eq!(key(json!({"pattern": "src/*"})), ".");
    assert_eq!(key(json!({"pattern": "*", "path": "src/x/.."})), "src");
    assert_eq!(
        ground.tool.manifest()["tools"][0]["approvalCoverage"],
        "path"
    );
}
