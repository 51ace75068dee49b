use super::*;

#[test]
fn the_key_of_a_command_is_its_name() {
    for (line, key) in [
        ("ls", "ls"),
        ("git push --force", "git"),
        ("npm test 2>&1", "npm"),
        ("2>/dev/null ./run it", "./run"),
        ("'git' log", "git"),
    ] {
        assert_eq!(approval_key(line), key);
    }
}

#[test]
fn an_approved_command_does_not_cover_a_longer_line() {
    for line in [
        "ls; rm -rf ~",
        "ls && rm x",
        "ls | sh",
        "ls $(rm x)",
        "ls &",
    ] {
        assert_eq!(approval_key(&format!("  {line}\n")), line);
    }
}

#[test]
fn a_key_has_no_control_characters_and_tells_lines_apart() {
    let (one, other) = (
        approval_key("x; echo\nrm -rf ~"),
        approval_key("x; echo rm -rf ~"),
    );
    assert_eq!(other, "x; echo rm -rf ~");
    assert!(
        one.starts_with("x; echo rm -rf ~#") && one.len() == other.len() + 65,
        "{one}"
    );
    assert_ne!(approval_key("x; echo\rrm -rf ~"), one);
    assert!(!one.contains(char::is_control));
}

#[test]
fn a_long_line_has_a_key_of_its_own() {
    let line = |last: char| format!("ls; echo {}{last}", "é".repeat(2000));
    let (one, other) = (approval_key(&line('a')), approval_key(&line('b')));
    assert!(
        one.len() <= LONGEST && one.len() > LONGEST - 4,
        "{}",
        one.len()
    );
    assert_ne!(one, other);
    assert_eq!(approval_key(&line('a')), one);
    let fits = format!("ls; echo {}", "a".repeat(LONGEST - 9));
    assert_eq!(approval_key(&fits), fits);
    let name = approval_key(&"n".repeat(LONGEST + 1));
    assert_eq!(name.len(), LONGEST);
}

fn is_blocked(line: &str, entries: &[&str]) -> bool {
    let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
    blocked(line, &entries).is_some()
}

#[test]
fn a_listed_command_is_blocked_wherever_it_stands() {
    for line in [
        "rm x",
        "A=1 rm x",
        "/bin/rm x",
        "'rm' x",
        "ls; rm x",
        "ls | xargs x; rm",
        "$(rm x)",
    ] {
        assert!(is_blocked(line, &["sudo", "rm"]), "{line}");
    }
    for line in ["ls rm", "rmdir x", "echo 'rm x'", "ls; rmdir x", "git rm x"] {
        assert!(!is_blocked(line, &["sudo", "rm"]), "{line}");
    }
}

#[test]
fn an_entry_may_be_several_words() {
    for line in ["git push", "git  push --force", "ls && git push"] {
        assert!(is_blocked(line, &["git push"]), "{line}");
    }
    for line in ["git pull", "git", "git 'push --force'"] {
        assert!(!is_blocked(line, &["git push"]), "{line}");
    }
    assert!(!is_blocked("ls", &["", " "]));
}

#[test]
fn a_line_that_does_more_than_its_name_says_is_its_own_key() {
    let lines = [
        "PATH=.:$PATH ls",
        "LD_PRELOAD=x ls",
        "GIT_EXTERNAL_DIFF='touch x' git diff",
        "ls > .git/hooks/pre-commit",
        "echo x >> settings.json",
        "ls; touch x",
        "ls && touch x",
        "ls | sh",
        "ls $(touch x)",
        "ls `touch x`",
        "cat <(touch x)",
        "find . -exec touch x +",
        "find . -delete",
        "xargs touch",
        "env ls",
        "sudo ls",
        "git -c core.pager=touch log",
        "sed -i s/a/b/ f",
        "awk 'BEGIN{system(\"touch x\")}'",
        "python3 -c 'print(1)'",
        "perl -e 1",
        "sh -c ls",
        "ls\u{a0}",
        "ls &",
        "if true; then ls; fi",
        "ls 'unclosed",
    ];
    for line in lines {
        assert_eq!(approval_key(line), line);
    }
}

#[test]
fn the_corpus_of_command_lines_has_the_keys_it_says() {
    let corpus = include_str!("../../../../../tests/corpus/command-lines.jsonl");
    let mut wrong = Vec::new();
    for record in corpus.lines() {
        let (key, _, line): (String, String, String) = serde_json::from_str(record).unwrap();
        let is_name = name(&line).is_some();
        if is_name != (key == "name") {
            wrong.push(record);
        }
    }
    assert!(corpus.lines().count() >= 300);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
