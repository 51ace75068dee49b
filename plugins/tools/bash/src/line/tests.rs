use super::*;

fn words(line: &str) -> Option<Vec<String>> {
    match Line::read(line) {
        Line::Simple(words) => Some(words),
        Line::Compound => None,
    }
}

fn check(line: &str, expected: &[&str]) {
    assert_eq!(words(line).unwrap_or_default(), expected, "{line}");
}

#[test]
fn one_command_is_its_words() {
    check("ls", &["ls"]);
    check(
        "  git   status --short\t-b  ",
        &["git", "status", "--short", "-b"],
    );
    check(
        "./build.sh 'a b' \"c d\" e\\ f",
        &["./build.sh", "a b", "c d", "e f"],
    );
    check("/usr/bin/env python3", &["/usr/bin/env", "python3"]);
    check("[ -f a ]", &["[", "-f", "a", "]"]);
    check(
        "echo 'a; b && c | d $(e) `f`'",
        &["echo", "a; b && c | d $(e) `f`"],
    );
    check(
        "echo \"a; b & c\" $HOME $1 $? 5$",
        &["echo", "a; b & c", "$HOME", "$1", "$?", "5$"],
    );
    check("echo 'two\nlines'\n", &["echo", "two\nlines"]);
    check("'ls' -l", &["ls", "-l"]);
    check("l\\s", &["ls"]);
}

#[test]
fn assignments_and_redirections_are_not_words() {
    check("RUST_LOG=debug _x1='a b' cargo test", &["cargo", "test"]);
    check(">out 2>&1 <in make -j2 all", &["make", "-j2", "all"]);
    check("make >>log 2>/dev/null 3<&0 >| 'f g' <>h", &["make"]);
    check("make 2 >log", &["make", "2"]);
    check("env A=1 b", &["env", "A=1", "b"]);
    check("echo \"a\"2>b", &["echo", "a2"]);
}

#[test]
fn more_than_one_command_is_compound() {
    for line in [
        "ls; rm x",
        "ls;",
        "ls && rm x",
        "ls || rm x",
        "ls | sh",
        "ls & rm x",
        "sleep 9 &",
        "ls\nrm x",
        "(ls)",
        "ls $(rm x)",
        "ls `rm x`",
        "ls \"$(rm x)\"",
        "ls \"`rm x`\"",
        "ls ${x:-$(rm y)}",
        "cat <<E\nE",
        "cat <<<a",
        "cat <(rm x)",
        "ls >$(rm x)",
        "ls &>f",
        "if true",
        "! ls",
        "{ ls",
        "time ls",
        "while x",
        "for f in a",
        "[[ a ]]",
    ] {
        assert_eq!(Line::read(line), Line::Compound, "{line}");
    }
}

/// What one shell takes for quoted and another for a command.
#[test]
fn what_shells_read_differently_is_compound() {
    for line in [
        r"echo $'\''; rm x #'",
        "echo $\"a\"",
        "echo \\\nrm",
        "echo $[1]",
        "ls # a",
        "ls 'a",
        "ls \"a",
        "ls \\",
        "ls >",
        "ls > >x",
        "ls >| ",
        "",
    ] {
        assert_eq!(Line::read(line), Line::Compound, "{line}");
    }
}

#[test]
fn a_name_that_stands_for_another_is_compound() {
    for line in [
        "$CMD x",
        "\"$CMD\" x",
        "l? x",
        "l* x",
        "/bin/[lr]s",
        "{ls,x}",
        "''",
        "A=1",
        ">f",
        "\"l\\s\"",
        "'a;b'",
        "'A=1'",
        "l\u{441}",
        "ls\r",
        "\u{a0}ls",
        "'l\ns'",
    ] {
        assert_eq!(Line::read(line), Line::Compound, "{line}");
    }
}

#[test]
fn whatever_may_run_is_suspected() {
    let first = |line: &str| -> Vec<String> {
        suspects(line)
            .into_iter()
            .map(|mut words| words.swap_remove(0))
            .collect()
    };
    for line in [
        "ls; rm x",
        "ls&&rm x",
        "a=$(rm x)",
        "echo `rm x`",
        "if true; then rm x; fi",
        "A=1 rm x | cat",
        "! rm x",
        "r''m x; ls",
        "r\\m x; ls",
        "\"rm\" x; ls",
        "sh -c 'rm x'; ls",
        "{ rm x; }",
        "ls\nrm x",
    ] {
        assert!(
            first(line).contains(&"rm".to_owned()),
            "{line}: {:?}",
            first(line)
        );
    }
    assert!(!first("ls rm; echo warm").contains(&"rm".to_owned()));
}
