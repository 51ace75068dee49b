use serde_json::json;

use super::*;

#[test]
fn a_star_is_any_run_and_the_rest_is_literal() {
    for (pattern, key, expected) in [
        ("git", "git", true),
        ("git", "gitk", false),
        ("git", "agit", false),
        ("git*", "git push", true),
        ("*", "", true),
        ("*.rs", "a/b.rs", true),
        ("a*b*c", "a-b-c", true),
        ("a*b*c", "acb", false),
        ("ab*ba", "aba", false),
        ("", "x", false),
        ("a.c", "abc", false),
        ("a**b", "ab", true),
    ] {
        assert_eq!(fits(pattern, key), expected, "{pattern} {key}");
    }
}

#[test]
fn a_star_in_a_path_stays_within_a_name() {
    for (pattern, path, expected) in [
        ("docs/**", "docs/a/b.md", true),
        ("docs/**", "docs", true),
        ("docs/**", "docsx/a", false),
        ("docs/*", "docs/a", true),
        ("docs/*", "docs/a/b", false),
        ("**/*.md", "a/b/c.md", true),
        ("**/*.md", "c.md", true),
        ("./docs/a", "docs/a", true),
        ("**", ".", true),
        ("docs/**", "docs/../x", false),
    ] {
        assert_eq!(fits_path(pattern, path), expected, "{pattern} {path}");
    }
}

fn list(entries: &[&str]) -> Allowlist {
    Allowlist::of(entries.iter().map(|&entry| entry.to_owned()))
}

fn runs_in(workspace: &std::path::Path, entries: &[&str], args: &Value) -> bool {
    list(entries).allows(Asked {
        tool: "bash",
        key: "unused",
        coverage: ApprovalCoverage::Exact,
        args: Some(args),
        workspace: Some(workspace),
    })
}

fn runs(entries: &[&str], line: &str) -> bool {
    let nowhere = std::path::Path::new("/nonexistent");
    runs_in(nowhere, entries, &json!({"command": line}))
}

/// Plausible allowlist entries, for the corpus of command lines.
const LISTED: [&str; 13] = [
    "bash(ls *)",
    "bash(git status)",
    "bash(git log *)",
    "bash(git diff *)",
    "bash(cargo test *)",
    "bash(cat *)",
    "bash(echo *)",
    "bash(grep *)",
    "bash(find *)",
    "bash(sed *)",
    "bash(rg *)",
    "bash(sort *)",
    "bash(tar *)",
];

#[test]
fn the_corpus_of_command_lines_is_decided_as_it_says() {
    let corpus = include_str!("../../../../../tests/corpus/command-lines.jsonl");
    let entries: Vec<&str> = LISTED.into_iter().chain(["write(out/**)"]).collect();
    let mut wrong = Vec::new();
    for record in corpus.lines() {
        let (_, decision, line): (String, String, String) = serde_json::from_str(record).unwrap();
        if runs(&entries, &line) != (decision == "run") {
            wrong.push(record);
        }
    }
    assert!(corpus.lines().count() >= 300);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_star_alone_is_every_line_that_is_understood_and_writes_nothing() {
    for line in ["ls", "make test", "find . -exec rm x +", "a && b | c"] {
        assert!(runs(&["bash(*)"], line), "{line}");
        assert!(runs(&["bash"], line), "{line}");
    }
    let corpus = include_str!("../../../../../tests/corpus/command-lines.jsonl");
    let lines = corpus.lines().map(|record| {
        let (_, _, line): (String, String, String) = serde_json::from_str(record).unwrap();
        line
    });
    let understood = |line: &str| {
        let commands = stud_shell::read(line);
        commands.is_some_and(|all| all.iter().all(|command| command.writes.is_empty()))
    };
    for line in lines {
        assert_eq!(runs(&["bash(*)"], &line), understood(&line), "{line}");
    }
}

#[test]
fn a_star_does_not_stand_for_running_something_else() {
    assert!(runs(&["bash(find . -exec *)"], "find . -exec rm x +"));
    assert!(!runs(&["bash(find *)"], "find . -exec rm x +"));
    assert!(runs(&["bash(make *)"], "make all"));
    assert!(!runs(&["read(*)", "mcp:*:*"], "ls"));
    assert!(!runs(&["bash(grep 'a*' f)"], "grep ab f"));
    assert!(runs(&["bash(grep 'a*' f)"], "grep 'a*' f"));
    assert!(runs(&["bash(npm run test:*)"], "npm run test:unit"));
    assert!(!runs(&["bash(npm run test:*)"], "npm run build"));
}

#[test]
fn output_goes_only_where_writing_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("out/link")).unwrap();
    let entries = ["bash(ls)", "write(out/**)"];
    let runs = |args: Value| runs_in(folder.path(), &entries, &args);
    assert!(runs(json!({"command": "ls > out/a"})));
    assert!(!runs(json!({"command": "ls > out/link/a"})));
    assert!(!runs(json!({"command": "ls > out/link"})));
    assert!(!runs(json!({"command": "ls > a"})));
    assert!(!runs(json!({"command": "ls > out/a", "cwd": "src"})));
}

#[test]
fn what_is_wanted_is_one_entry_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let wanted_for = |line: &str| {
        let args = json!({"command": line});
        wanted(Asked {
            tool: "bash",
            key: line,
            coverage: ApprovalCoverage::Exact,
            args: Some(&args),
            workspace: Some(folder.path()),
        })
    };
    assert_eq!(wanted_for("git status"), ["bash(git status)"]);
    assert_eq!(wanted_for("a; b | a"), ["bash(a)", "bash(b)"]);
    assert_eq!(wanted_for("ls > o"), ["bash(ls)", "write(o)"]);
    assert_eq!(
        wanted_for("git commit -m \"it's\""),
        [r"bash(git commit -m 'it'\''s')"]
    );
    assert_eq!(wanted_for("ls $(x)"), [""; 0]);
    assert_eq!(wanted_for("ls > .git/config"), [""; 0]);
}

#[test]
fn paths_are_those_of_the_files() {
    let asked = |tool, key, coverage, args| Asked {
        tool,
        key,
        coverage,
        args: Some(args),
        workspace: None,
    };
    let args = json!({"path": "./docs/a.md"});
    let read = asked("read", "docs", ApprovalCoverage::Path, &args);
    assert_eq!(wanted(read), ["read(docs/a.md)"]);
    assert!(list(&["read(docs/*.md)"]).allows(read));
    assert!(!list(&["read(src/**)", "write(docs/**)", "bash(*)"]).allows(read));
    // The key says that the tool goes elsewhere than the path seems to.
    let other = asked("read", "src", ApprovalCoverage::Path, &args);
    assert!(!list(&["read(docs/**)"]).allows(other));

    let args = json!({"path": "a/x", "edits": [{}, {"path": "b/y"}]});
    let set = ApprovalCoverage::PathSet;
    let edit = asked("multi-edit", "a|b", set, &args);
    assert_eq!(wanted(edit), ["multi-edit(a/x)", "multi-edit(b/y)"]);
    assert!(list(&["multi-edit(a/**)", "multi-edit(b/y)"]).allows(edit));
    assert!(!list(&["multi-edit(a/**)"]).allows(edit));
}

#[test]
fn servers_and_other_tools_go_by_their_keys() {
    let asked = |tool, key| Asked {
        tool,
        key,
        coverage: ApprovalCoverage::Exact,
        args: None,
        workspace: None,
    };
    let remote = asked("mcp__s__say", "mcp:s:say");
    assert!(list(&["mcp:s:say"]).allows(remote));
    assert!(list(&["mcp:s:*"]).allows(remote));
    assert!(!list(&["mcp:t:*"]).allows(remote));
    assert_eq!(wanted(remote), ["mcp:s:say"]);
    let other = asked("fx_gate", "mcp:s:say");
    assert!(!list(&["mcp:s:say"]).allows(other));
    assert!(list(&["fx_gate(mcp:*)"]).allows(other));
}

#[test]
fn entries_are_sorted_and_unique_and_the_nearest_is_of_the_tool() {
    let entries = list(&["b(*)", "bash(git status)", "b(*)"]);
    assert_eq!(entries.patterns(), ["b(*)", "bash(git status)"]);
    let args = json!({"command": "git statu"});
    let asked = Asked {
        tool: "bash",
        key: "git",
        coverage: ApprovalCoverage::Exact,
        args: Some(&args),
        workspace: None,
    };
    assert_eq!(entries.near(asked), Some("bash(git status)"));
}
