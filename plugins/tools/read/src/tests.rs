use std::fs;

use stud_sdk::host::cancellation::Scope;
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Class, Result, Value, json};
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
        Self {
            tool: Harness::new(super::stud_plugin(), host.clone()),
            host,
            folder,
        }
    }

    fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, args: Value) -> Result<Value> {
        Ok(self.tool.tool("read", args)?.value().clone())
    }

    fn code(&self, args: Value) -> String {
        let error = self.read(args).unwrap_err();
        format!("{} {}", error.class(), error.code())
    }
}

#[test]
fn a_file_is_read_with_its_size() {
    let ground = Ground::new();
    ground.file("src/a.txt", "é\r\nb");
    for args in [
        json!({"path": "src/a.txt"}),
        json!({"path": "src/a.txt", "encoding": "utf-8"}),
    ] {
        assert_eq!(
            ground.read(args).unwrap(),
            json!({"path": "src/a.txt", "content": "é\r\nb", "truncated": false, "sizeBytes": 5})
        );
    }
}

#[test]
fn the_path_comes_back_as_it_was_given() {
    let ground = Ground::new();
    ground.file("a", "x");
    let absolute = ground.folder.path().join("a");
    for path in ["./a", "b/../a", absolute.to_str().unwrap()] {
        assert_eq!(ground.read(json!({"path": path})).unwrap()["path"], path);
    }
}

#[test]
fn more_than_a_mebibyte_is_cut_off() {
    let ground = Ground::new();
    ground.file("exact", "a".repeat(1 << 20));
    ground.file("more", "é".repeat((1 << 19) + 1));
    assert_eq!(
        ground.read(json!({"path": "exact"})).unwrap()["truncated"],
        false
    );
    let more = ground.read(json!({"path": "more"})).unwrap();
    assert_eq!(
        (&more["truncated"], &more["sizeBytes"]),
        (&json!(true), &json!((1 << 20) + 2))
    );
    assert_eq!(more["content"].as_str().unwrap().len(), 1 << 20);
}

#[test]
fn the_limit_can_be_set() {
    let ground = Ground::with(json!({"maxBytes": 3}));
    ground.file("a", "aéé");
    let read = ground.read(json!({"path": "a"})).unwrap();
    assert_eq!(
        (&read["content"], &read["truncated"]),
        (&json!("aé"), &json!(true))
    );
    let schema = &ground.tool.manifest()["configSchema"]["properties"]["maxBytes"];
    assert_eq!(
        (&schema["minimum"], &schema["default"]),
        (&json!(1), &json!(1_048_576))
    );
}

#[test]
fn what_cannot_be_read_has_a_code() {
    let ground = Ground::new();
    ground.file("binary", b"\xff\xfe");
    ground.file("late", [&vec![b'a'; 2 << 20][..], b"\xff"].concat());
    ground.file(".stud/settings.json", "{}");
    for (path, code) in [
        ("none", "ToolTerminal NotFound"),
        ("none/none", "ToolTerminal NotFound"),
        ("binary", "ToolTerminal OutputMalformed"),
        ("late", "ToolTerminal OutputMalformed"),
        ("", "ToolTerminal InputInvalid"),
        ("a\0b", "ToolTerminal InputInvalid"),
        (".", "ToolTerminal InputInvalid"),
        ("../x", "ToolTerminal Forbidden"),
        ("/etc/passwd", "ToolTerminal Forbidden"),
        ("a/../../x", "ToolTerminal Forbidden"),
        ("~root/x", "ToolTerminal NotFound"),
        (".stud/settings.json", "ToolTerminal Forbidden"),
    ] {
        assert_eq!(ground.code(json!({"path": path})), code, "{path}");
    }
    assert_eq!(
        ground.code(json!({"path": "a", "encoding": "latin-1"})),
        "ToolTerminal InputInvalid"
    );
    assert_eq!(ground.code(json!({})), "ToolTerminal InputInvalid");
    assert_eq!(
        ground.code(json!({"path": "a", "offset": 1})),
        "ToolTerminal InputInvalid"
    );
}

#[test]
fn a_call_that_is_over_before_it_began_reads_nothing() {
    let ground = Ground::new();
    ground.file("a", "x");
    ground.host.cancel(Scope::Turn);
    assert_eq!(
        ground.code(json!({"path": "a"})),
        "Cancellation TurnCancelled"
    );
}

#[test]
fn the_key_is_the_directory() {
    let ground = Ground::new();
    let key = |path: &str| ground.tool.approval_key("read", &json!({"path": path}));
    assert_eq!(key("a").unwrap(), ".");
    assert_eq!(key("src/core/a.rs").unwrap(), "src/core");
    assert_eq!(key("src/x/../a.rs").unwrap(), "src");
    let absolute = ground.folder.path().join("src/a.rs");
    assert_eq!(key(absolute.to_str().unwrap()).unwrap(), "src");
    for outside in ["/etc/passwd", "../x", ".stud/settings.json"] {
        let error = key(outside).unwrap_err();
        assert!(error.is(Class::ToolTerminal, "Forbidden"), "{outside}");
    }
}

#[test]
fn the_manifest_says_what_an_approval_covers() {
    let ground = Ground::new();
    let manifest = ground.tool.manifest();
    assert_eq!(
        (&manifest["extId"], &manifest["contractVersion"]),
        (&json!("read"), &json!("1.1.0"))
    );
    assert_eq!(manifest["reloadBehavior"], "between-turns");
    let tool = &manifest["tools"][0];
    assert_eq!(
        (&tool["name"], &tool["gated"]),
        (&json!("read"), &json!(true))
    );
    assert_eq!(tool["approvalCoverage"], "path");
    assert_eq!(tool["inputSchema"]["required"], json!(["path"]));
    assert_eq!(tool["inputSchema"]["additionalProperties"], false);
}
