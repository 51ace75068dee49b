//! Each kind of edit, applied to a copy of a real lock.

use serde_json::{Value, json};

use super::{judge, rule::Level};
use crate::workspace::root;

fn lock(name: &str) -> Value {
    let path = root().join(super::extract::dir(name)).join("contract.lock");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Applies the edit and gives the largest level and the rules.
fn edited(name: &str, edit: impl FnOnce(&mut Value)) -> (Level, Vec<&'static str>) {
    let old = lock(name);
    let mut new = old.clone();
    edit(&mut new);
    let report = judge(name, Some(&old), &new, "");
    let needs_version = report.level() > Level::None;
    assert_eq!(needs_version, !report.problems.is_empty(), "{report:?}");
    let rules = report
        .differences
        .iter()
        .map(|found| found.rule.id)
        .collect();
    (report.level(), rules)
}

fn list<'a>(lock: &'a mut Value, pointer: &str) -> &'a mut Vec<Value> {
    lock.pointer_mut(pointer).unwrap().as_array_mut().unwrap()
}

const TOOL: &str = "/schemas/ToolMembers/schema/$defs/ToolDeclaration";
const DELTA: &str = "/schemas/TokenDelta/schema";

fn set(lock: &mut Value, at: &str, name: &str, value: Value) {
    lock.pointer_mut(at).unwrap()[name] = value;
}

fn table_line(lock: &mut Value, field: &str) -> usize {
    let lines = list(lock, "/layout");
    let start = format!("  {field}:");
    lines
        .iter()
        .position(|line| line.as_str().unwrap().starts_with(&start))
        .unwrap()
}

macro_rules! edits {
    ($($test:ident $contract:literal $level:ident [$($rule:literal),*] $edit:expr;)+) => {$(
        #[test]
        fn $test() {
            let (level, rules) = edited($contract, $edit);
            assert_eq!((level, rules), (Level::$level, vec![$($rule),*]));
        }
    )+};
}

edits! {
    nothing_edited "tool" None [] |_| {};
    function_appended "tool" Minor ["function-appended"] |lock| {
        let at = table_line(lock, "approval_key");
        list(lock, "/layout").insert(at + 1, json!("  preview: Option<AskCall>"));
    };
    required_function_appended "tool" Major ["function-required"] |lock| {
        let at = table_line(lock, "approval_key");
        list(lock, "/layout").insert(at + 1, json!("  preview: AskCall"));
    };
    functions_reordered "tool" Major ["function-moved", "function-moved"] |lock| {
        let at = table_line(lock, "approval_key");
        list(lock, "/layout").swap(at - 1, at);
    };
    function_removed "tool" Major ["function-removed"] |lock| {
        let at = table_line(lock, "approval_key");
        list(lock, "/layout").remove(at);
    };
    function_retyped "tool" Major ["function-changed"] |lock| {
        let at = table_line(lock, "approval_key");
        list(lock, "/layout")[at] = json!("  approval_key: Option<AsyncCall>");
    };
    value_added "meta" Minor ["value-added"] |lock| list(lock, "/schemas/Kind/schema/enum").push(json!("Skill"));
    value_removed "meta" Major ["value-removed"] |lock| { list(lock, "/schemas/Kind/schema/enum").pop(); };
    value_renamed "meta" Major ["value-removed", "value-added"] |lock| {
        list(lock, "/schemas/Kind/schema/enum")[0] = json!("Model");
    };
    optional_field_added "tool" Minor ["field-added-optional"] |lock| {
        set(lock, &format!("{TOOL}/properties"), "hint", json!({"type": "string"}));
    };
    required_field_added_for_plugins "tool" Major ["field-added-required"] |lock| {
        set(lock, &format!("{TOOL}/properties"), "hint", json!({"type": "string"}));
        list(lock, &format!("{TOOL}/required")).push(json!("hint"));
    };
    required_field_added_by_core "host-api" Minor ["field-added-by-core"] |lock| {
        set(lock, &format!("{DELTA}/properties"), "at", json!({"type": "string"}));
        list(lock, &format!("{DELTA}/required")).push(json!("at"));
    };
    field_removed "tool" Major ["field-removed"] |lock| {
        let fields = lock.pointer_mut(&format!("{TOOL}/properties")).unwrap();
        fields.as_object_mut().unwrap().remove("outputSchema").unwrap();
    };
    field_retyped "tool" Major ["type-changed"] |lock| {
        set(lock, &format!("{TOOL}/properties/gated"), "type", json!("string"));
    };
    type_widened_for_core "tool" Minor ["type-widened-for-core"] |lock| {
        set(lock, &format!("{TOOL}/properties/gated"), "type", json!(["boolean", "null"]));
    };
    type_widened_for_plugins "host-api" Major ["type-widened-for-plugins"] |lock| {
        set(lock, &format!("{DELTA}/properties/delta"), "type", json!(["integer", "string"]));
    };
    type_narrowed "tool" Major ["type-narrowed-for-core"] |lock| {
        set(lock, &format!("{TOOL}/properties/name"), "maxLength", json!(8));
    };
    code_added "tool" Minor ["code-added"] |lock| list(lock, "/codes").push(json!("ToolTerminal/New"));
    code_renamed "tool" Major ["code-removed", "code-added"] |lock| {
        list(lock, "/codes")[0] = json!("ToolTerminal/New");
    };
    event_renamed "host-api" Major ["event-removed", "event-added"] |lock| {
        list(lock, "/events")[0] = json!("AssemblyDone");
    };
    default_changed "tool" Minor ["default-changed"] |lock| {
        set(lock, &format!("{TOOL}/properties/gated"), "default", json!(true));
    };
    method_appended "tool" Major ["method-added-required"] |lock| {
        list(lock, "/methods").push(json!("Tool::preview: fn preview(&self);"));
    };
    method_appended_with_default "tool" Minor ["method-added-with-default"] |lock| {
        list(lock, "/methods").push(json!("Tool::preview: fn preview(&self) {}"));
    };
    methods_reordered "tool" Patch ["method-moved"] |lock| list(lock, "/methods").swap(0, 1);
    method_changed "tool" Major ["method-changed"] |lock| {
        list(lock, "/methods")[0] = json!("Tool::execute: fn execute(&self);");
    };
    member_added "tool" Minor ["member-added"] |lock| list(lock, "/members").push(json!("hints"));
    member_removed "tool" Major ["member-removed"] |lock| { list(lock, "/members").pop(); };
    words_only "tool" Patch ["words-changed"] |lock| set(lock, TOOL, "description", json!("Other words."));
    operation_removed "host-api" Major ["operation-removed"] |lock| { list(lock, "/operations").pop(); };
    cardinality_changed "tool" Major ["cardinality-changed"] |lock| set(lock, "/cardinality", "active", json!("one"));
    two_at_once "tool" Major ["member-removed", "code-added"] |lock| {
        list(lock, "/members").pop();
        list(lock, "/codes").push(json!("ToolTerminal/New"));
    };
}

#[test]
fn version_and_changelog_have_to_follow() {
    let old = lock("tool");
    let mut new = old.clone();
    list(&mut new, "/codes").push(json!("ToolTerminal/New"));
    let log = |version: &str| format!("# Changelog\n\n## {version}\n\n- A code.\n");
    let problems = |new: &Value, log: &str| judge("tool", Some(&old), new, log).problems.len();

    new["version"] = json!("1.1.1");
    assert_eq!(problems(&new, &log("1.1.1")), 1, "too small a bump");
    new["version"] = json!("1.2.0");
    assert_eq!(problems(&new, &log("1.2.0")), 0);
    assert_eq!(problems(&new, &log("1.1.0")), 1, "no changelog");
    new["version"] = json!("1.0.0");
    assert_eq!(problems(&new, &log("1.0.0")), 1, "a version that went down");

    let mut unchanged = old.clone();
    unchanged["version"] = json!("1.2.0");
    assert_eq!(
        problems(&unchanged, &log("1.1.0")),
        1,
        "a version without a change or a word"
    );
}
