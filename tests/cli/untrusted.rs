//! A hostile, untrusted project, under a tracer: no verb reads below its folder, executes or connects.
//!
//! The verbs come from the program's own help, so that a new one cannot be forgotten: it fails here until this test lists
//! with which arguments to try it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stud_tests::{World, stud_program};

use crate::support::{install, make_pipe, trust};

/// A project in which everything that is looked at blocks, complains or leaves a trace.
fn hostile_project() -> World {
    let mut world = World::new();
    for pipe in [
        "settings.json",
        "ordering.json",
        "approvals.json",
        "mcp-trust.json",
        "tools/piped/libpiped.so",
        "loggers/piped/config.json",
    ] {
        make_pipe(&world, &format!("project/.stud/{pipe}"));
    }
    world.write(
        "project/.stud/mcp.json",
        r#"{"servers":{"trap":{"command":"touch","args":["trapped"]}}}"#,
    );
    install(&world, "hostile", "project/.stud/ui/hostile/libhostile.so");
    install(&world, "good-tool", "project/.stud/tools/libgood_tool.so");
    let link = |target: &str, name: &str| {
        let (target, name) = (world.path(target), world.path(name));
        std::os::unix::fs::symlink(target, name).unwrap();
    };
    link("home", "project/.stud/hooks");
    link("project/.stud/tools/libgood_tool.so", "project/linked.so");
    let marker = world.path("marker");
    world.set("STUD_HOSTILE_MARKER", marker.to_str().unwrap());
    world
}

/// Makes a session in a folder that is no project, so that there is one to look at.
fn session(world: &World) -> String {
    let elsewhere = world.path("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let mut command = world.command();
    let made = command.current_dir(elsewhere).args(["--headless", "hello"]);
    assert!(made.status().unwrap().success());
    let sessions = std::fs::read_dir(world.home().join("sessions")).unwrap();
    let name = sessions.last().unwrap().unwrap().file_name();
    name.into_string().unwrap()
}

/// Every verb that ends a command line, as the help lists them.
fn verbs(world: &World) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![String::new()];
    while let Some(verb) = open.pop() {
        let words: Vec<&str> = verb.split_whitespace().chain(["--help"]).collect();
        let help = world.stud(&words).stdout;
        let listed = help.split("Commands:\n").nth(1).unwrap_or_default();
        let listed = listed.lines().take_while(|line| !line.trim().is_empty());
        // What a verb does is told below it, further to the right.
        let listed = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let below: Vec<String> = listed
            .filter_map(|line| line.split_whitespace().next())
            .map(|name| format!("{verb} {name}").trim().to_owned())
            .collect();
        if verb.is_empty() {
            assert!(below.len() > 5, "{help}");
        }
        // `help` lists every other verb once more.
        let (help, below): (Vec<_>, Vec<_>) =
            below.into_iter().partition(|verb| verb.ends_with("help"));
        found.extend(help.into_iter().filter(|verb| verb == "help"));
        if below.is_empty() {
            found.push(verb);
        } else {
            open.extend(below);
        }
    }
    found.push(String::new());
    found
}

/// With which arguments each verb is tried.
fn trials(session: &str) -> BTreeMap<&'static str, Vec<Vec<&str>>> {
    BTreeMap::from([
        (
            "",
            vec![
                vec![],
                vec!["--headless", "hello"],
                vec!["--headless", "--json", "hello"],
                vec!["--headless", "--safe-mode", "hello"],
                vec!["--headless", "--continue", "hello"],
                vec!["--headless", "--resume", session, "hello"],
                vec!["--strict", "hello"],
                vec!["--sm", "any"],
                vec!["--help"],
                vec!["--version"],
                vec!["--no-such"],
            ],
        ),
        ("help", vec![vec![], vec!["plugin"]]),
        ("attach", vec![vec![], vec![session]]),
        ("setup", vec![vec![]]),
        ("doctor", vec![vec![], vec!["--json"]]),
        ("sessions list", vec![vec![], vec!["--json"]]),
        ("sessions show", vec![vec![session]]),
        ("sessions fork", vec![vec![session]]),
        ("sessions export", vec![vec![session]]),
        ("sessions delete", vec![vec!["ffffffff"]]),
        ("sessions prune", vec![vec!["--before", "2020-01-01"]]),
        // An address that is refused: a server that listens does not end.
        ("serve", vec![vec!["--listen", "0.0.0.0:0"]]),
        ("control send", vec![vec!["hello"]]),
        ("control interrupt", vec![vec![]]),
        ("control capabilities", vec![vec![]]),
        ("control sessions", vec![vec![]]),
        ("plugin list", vec![vec![], vec!["--json"]]),
        ("plugin info", vec![vec!["echo"], vec!["good-tool"]]),
        (
            "plugin check",
            vec![
                vec![".stud/tools/libgood_tool.so"],
                vec![".stud/ui/hostile/libhostile.so", "--no-load"],
                vec!["linked.so"],
                vec!["../project/./.stud/settings.json"],
            ],
        ),
        ("plugin new", vec![vec!["fresh-tool"]]),
        (
            "plugin reload",
            vec![vec!["good-tool", "--session", session]],
        ),
        (
            "plugin pin",
            vec![vec!["good-tool"], vec!["good-tool", "--remove"]],
        ),
        (
            "plugin install",
            vec![
                vec![".stud/tools/libgood_tool.so"],
                vec!["linked.so", "--project"],
            ],
        ),
        (
            "plugin update",
            vec![vec![], vec!["good-tool"], vec!["--project"]],
        ),
        (
            "plugin remove",
            vec![vec!["good-tool"], vec!["good-tool", "--project"]],
        ),
        ("plugin enable", vec![vec!["good-tool"]]),
        ("plugin disable", vec![vec!["good-tool"]]),
        ("plugin dev", vec![vec!["--once"], vec![".stud", "--once"]]),
        // Without a command it runs stud itself.
        ("plugin bisect", vec![vec![]]),
        ("explain", vec![vec!["NotReady"], vec!["--list"]]),
        ("grants list", vec![vec![]]),
        ("grants revoke", vec![vec!["--all"]]),
        ("audit verify", vec![vec![]]),
        ("audit show", vec![vec![session]]),
        ("completions", vec![vec!["bash"]]),
        // The decision itself is the last. It lists what takes effect from now on, and reads no file either.
        ("trust", vec![vec!["--list"], vec!["--revoke"], vec![]]),
    ])
}

/// What the program asked of the system, one call on each line.
fn trace(world: &World, arguments: &[&str]) -> Vec<String> {
    let file = world.path("trace");
    let plain = world.command();
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-y", "-s", "4096", "-e"])
        .arg("trace=%file,%network,execve,execveat,openat2,open_by_handle_at")
        .arg("-o")
        .arg(&file)
        .arg(stud_program())
        .args(arguments)
        .env_clear()
        .envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(world.project())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = command.status().unwrap_or_else(|error| {
        panic!("`strace` cannot be run: {error}; it is a package of that name")
    });
    assert!(status.code().is_some(), "{arguments:?}: {status}");
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(lines.len() > 5, "nothing was traced: {lines:#?}");
    lines
}

/// The calls that look below a folder, or into it.
fn looks_into(lines: &[String], root: &Path) -> Vec<String> {
    let whole = root.to_str().unwrap();
    let below = [
        format!("{whole}/"),
        "\".stud/".to_owned(),
        format!("{whole}>"),
    ];
    let itself = [format!("\"{whole}\""), "\".stud\"".to_owned()];
    let looks = |line: &&String| {
        let asked = asked(line);
        let has = |parts: &[String]| parts.iter().any(|part| asked.contains(part.as_str()));
        // Whether the folder is there may be asked, and where a link by its name leads.
        let is_question = ["stat", "access", "readlink"]
            .iter()
            .any(|call| name_of(line).contains(call));
        has(&below) || (has(&itself) && !is_question)
    };
    // The first call starts the program, with its arguments.
    lines[1..].iter().filter(looks).cloned().collect()
}

/// What was asked, without the answer: where a link leads is told in the same way as what it is called.
fn asked(line: &str) -> &str {
    let is_link = name_of(line).contains("readlink");
    match line.match_indices('"').nth(1) {
        Some((end, _)) if is_link => &line[..=end],
        _ => line,
    }
}

fn name_of(line: &str) -> &str {
    let call = line.split_once(' ').map_or(line, |(_, call)| call);
    call.trim_start().split('(').next().unwrap_or_default()
}

fn check(world: &World, arguments: &[&str]) {
    let lines = trace(world, arguments);
    let root = world.project().join(".stud");
    let mut looks = looks_into(&lines, &root);
    if arguments == ["trust"] {
        let reads =
            |line: &String| name_of(line).starts_with("open") && !line.contains("O_DIRECTORY");
        looks.retain(reads);
    }
    assert!(looks.is_empty(), "{arguments:?} looks: {looks:#?}");
    let stud = format!("\"{}\"", stud_program().display());
    let executes = lines[1..]
        .iter()
        .filter(|line| name_of(line).starts_with("exec") && !line.contains(&stud));
    let executes: Vec<_> = executes.collect();
    assert!(executes.is_empty(), "{arguments:?} executes: {executes:#?}");
    let connects = lines
        .iter()
        .filter(|line| line.contains("sa_family=AF_INET"));
    let connects: Vec<_> = connects.collect();
    assert!(connects.is_empty(), "{arguments:?} connects: {connects:#?}");
    assert!(!world.path("marker").exists(), "{arguments:?} ran a plugin");
}

#[test]
fn no_verb_looks_into_a_project_that_nobody_trusts() {
    let world = hostile_project();
    let session = session(&world);
    let mut trials = trials(&session);
    let mut verbs = verbs(&world);
    // The decision to trust comes last.
    verbs.sort_by_key(|verb| verb == "trust");
    for verb in &verbs {
        let tried = trials.remove(verb.as_str());
        let tried = tried.unwrap_or_else(|| panic!("with which arguments is `{verb}` tried?"));
        for arguments in tried {
            let words: Vec<&str> = verb.split_whitespace().chain(arguments).collect();
            check(&world, &words);
        }
    }
    let gone: Vec<_> = trials.keys().collect();
    assert!(gone.is_empty(), "there are no such verbs: {gone:?}");
}

#[test]
fn the_tracer_sees_a_project_that_is_looked_into() {
    let world = World::new();
    install(&world, "good-tool", "project/.stud/tools/libgood_tool.so");
    trust(&world);
    let root: PathBuf = world.project().join(".stud");
    for arguments in [&["plugin", "list"][..], &["--headless", "hello"]] {
        let looks = looks_into(&trace(&world, arguments), &root);
        for part in ["settings.json", "libgood_tool.so"] {
            let seen = looks.iter().any(|line| line.contains(part));
            assert!(seen, "{arguments:?}: {looks:#?}");
        }
    }
}
