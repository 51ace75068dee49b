//! Through the plugin's own entry, on a project of its own.

use std::path::Path;

use stud_sdk::context_provider::{ContextFragment, FragmentKind};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Error, Result, Value, json};
use tempfile::TempDir;

use super::{Place, SystemPromptFile};

struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("site")).unwrap();
        std::fs::create_dir(folder.path().join("site/.stud")).unwrap();
        Self(folder)
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.folder().join(path), bytes).unwrap();
    }

    fn plugin(&self, config: Value) -> Harness {
        let root = self.folder().join("site/.stud");
        let host = FakeHost::new().project_root(root).config(config);
        Harness::new(crate::stud_plugin(), host)
    }

    fn provide(&self, path: &str) -> Result<Vec<ContextFragment>> {
        self.plugin(json!({"path": path, "tokenBudget": 100}))
            .provide()
    }
}

fn code(error: &Error) -> String {
    format!("{}/{}", error.class(), error.code())
}

#[test]
fn the_file_is_one_system_message() {
    let project = Project::new();
    project.write("site/AGENTS.md", "Be brief.\n");
    let expected = ContextFragment {
        kind: FragmentKind::SystemMessage,
        content: "Be brief.\n".to_owned(),
        token_budget: 100,
        ..ContextFragment::default()
    };
    assert_eq!(
        project.provide("AGENTS.md").unwrap(),
        std::slice::from_ref(&expected)
    );
    let whole = project.folder().join("site/AGENTS.md");
    assert_eq!(
        project.provide(whole.to_str().unwrap()).unwrap(),
        [expected]
    );
    project.write("site/empty.md", "");
    assert_eq!(project.provide("empty.md").unwrap().len(), 1);
}

#[test]
fn what_is_not_in_the_project_is_forbidden() {
    let project = Project::new();
    project.write("outside.md", "Mine.");
    let outside = project.folder().join("outside.md");
    let refused = project.provide(outside.to_str().unwrap()).unwrap_err();
    assert_eq!(code(&refused), "ToolTerminal/Forbidden");
    // A neighbor's name may begin like the project's.
    std::fs::create_dir(project.folder().join("site-two")).unwrap();
    project.write("site-two/a.md", "Theirs.");
    let neighbor = project.folder().join("site-two/a.md");
    let refused = project.provide(neighbor.to_str().unwrap()).unwrap_err();
    assert_eq!(code(&refused), "ToolTerminal/Forbidden");
    std::os::unix::fs::symlink(&outside, project.folder().join("site/link.md")).unwrap();
    let refused = project.provide("link.md").unwrap_err();
    assert_eq!(code(&refused), "ToolTerminal/Forbidden");
    assert!(!format!("{refused:?}").contains("Mine"));
}

#[test]
fn a_path_upward_is_a_wrong_config() {
    let project = Project::new();
    for path in ["../outside.md", "a/../../outside.md", "a/.."] {
        let refused = project.provide(path).unwrap_err();
        assert_eq!(code(&refused), "Validation/ConfigSchemaViolation", "{path}");
        assert_eq!(refused.context()["fieldPath"], "/path");
    }
    project.write("site/a..b", "fine");
    assert!(project.provide("a..b").is_ok());
}

#[test]
fn a_file_that_is_not_there_is_missed_when_it_is_asked_for() {
    let project = Project::new();
    let plugin = project.plugin(json!({"path": "AGENTS.md", "tokenBudget": 9}));
    plugin.start().unwrap();
    assert_eq!(
        code(&plugin.provide().unwrap_err()),
        "ToolTerminal/NotFound"
    );
    project.write("site/AGENTS.md", "here");
    assert_eq!(plugin.provide().unwrap()[0].content, "here");
    let folder = project.provide(".stud").unwrap_err();
    assert_eq!(code(&folder), "ToolTerminal/NotFound");
}

#[test]
fn no_more_is_read_than_may_be_told_and_only_text() {
    let project = Project::new();
    project.write("site/long.md", "ä".repeat(1000));
    let budget = 10;
    let plugin = project.plugin(json!({"path": "long.md", "tokenBudget": budget}));
    let content = &plugin.provide().unwrap()[0].content;
    assert_eq!(
        content.chars().count(),
        22,
        "more than the budget, and not all"
    );
    project.write("site/long.md", format!("a{}", "€".repeat(1000)));
    let plugin = project.plugin(json!({"path": "long.md", "tokenBudget": budget}));
    let content = &plugin.provide().unwrap()[0].content;
    assert_eq!(content.chars().count(), 15, "cut between characters");
    project.write("site/binary", [b'a', 0xff, b'b']);
    let refused = project.provide("binary").unwrap_err();
    assert_eq!(code(&refused), "ToolTerminal/OutputMalformed");
    project.write("site/torn", [b'a', 0xc3]);
    assert!(project.provide("torn").is_err());
}

#[test]
fn a_change_counts_from_the_next_turn_on() {
    let project = Project::new();
    project.write("site/AGENTS.md", "one");
    let plugin = SystemPromptFile {
        place: Place::of("AGENTS.md", &project.folder().join("site/.stud")).unwrap(),
        token_budget: 100,
        read: std::sync::Mutex::default(),
    };
    assert_eq!(plugin.text(Some("t1")).unwrap(), "one");
    project.write("site/AGENTS.md", "two");
    assert_eq!(plugin.text(Some("t1")).unwrap(), "one");
    assert_eq!(plugin.text(Some("t2")).unwrap(), "two");
    std::fs::remove_file(project.folder().join("site/AGENTS.md")).unwrap();
    assert_eq!(plugin.text(Some("t2")).unwrap(), "two");
    assert!(plugin.text(Some("t3")).is_err());
    assert!(plugin.text(None).is_err());
}

#[test]
fn the_config_is_as_it_is_described() {
    let manifest = Project::new().plugin(json!({})).manifest().clone();
    let schema = &manifest["configSchema"];
    assert_eq!(schema["required"], json!(["path", "tokenBudget"]));
    let path = &schema["properties"]["path"];
    assert_eq!(
        (&path["minLength"], &path["maxLength"]),
        (&json!(1), &json!(4096))
    );
    assert_eq!(schema["properties"]["tokenBudget"]["minimum"], 0);
    assert_eq!(schema["properties"]["encoding"]["enum"], json!(["utf-8"]));
    assert_eq!(manifest["reloadBehavior"], "between-turns");
}
