//! What a terminal gets: colors only where one listens, and nothing that could steer it.

use std::process::Command;

use stud_tests::{World, stud_program};

use crate::support::{install, install_changed, is_harmless, list};

/// Clears the screen, writes from right to left, hides itself.
const HOSTILE: &str = "a\u{1b}[2Jb\u{202e}c\u{2066}d\u{200b}e\u{9b}31mf";

#[test]
fn a_pipe_gets_no_colors() {
    let world = World::new();
    install(&world, "good-tool", "home/tools/good-tool/libgood_tool.so");
    world.write("home/tools/broken/libbroken.so", "not a library");
    let library = world.path("home/tools/good-tool/libgood_tool.so");
    let library = library.to_str().unwrap();
    for arguments in [
        &[][..],
        &["plugin", "list"],
        &["plugin", "info", "good-tool"],
        &["plugin", "info", "nothing"],
        &["plugin", "check", library],
        &["plugin", "check", "nothing.so"],
        &["plugin", "new", "x"],
        &["explain", "NotReady"],
        &["trust", "--list"],
        &["--no-such"],
    ] {
        let answer = world.stud(arguments);
        assert!(
            is_harmless(&answer.stdout),
            "{arguments:?}: {:?}",
            answer.stdout
        );
        assert!(
            is_harmless(&answer.stderr),
            "{arguments:?}: {:?}",
            answer.stderr
        );
    }
}

/// What `script` heard while the program had a terminal of its own.
fn on_a_terminal(world: &World, variable: &str, value: &str) -> Option<String> {
    let line = format!("'{}' plugin list", stud_program().display());
    let mut command = Command::new("script");
    command
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("STUD_HOME", world.home())
        .env(variable, value)
        .current_dir(world.project());
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

#[test]
fn a_terminal_gets_colors_unless_it_declines() {
    let world = World::new();
    // Not every machine has `script`, and there is no other terminal to be had without it.
    let Some(colored) = on_a_terminal(&world, "NO_COLOR", "") else {
        return;
    };
    assert!(colored.contains("\u{1b}[32mactive"), "{colored:?}");
    let plain = on_a_terminal(&world, "NO_COLOR", "1").unwrap();
    assert!(
        plain.contains("active") && !plain.contains('\u{1b}'),
        "{plain:?}"
    );
}

#[test]
fn hostile_file_names_are_written_out() {
    let world = World::new();
    world.write(
        format!("home/tools/{HOSTILE}/lib{HOSTILE}.so"),
        "not a library",
    );
    let text = world.stud(&["plugin", "list"]).stdout;
    assert!(is_harmless(&text), "{text:?}");
    assert!(text.contains("a\\u{1b}[2Jb\\u{202e}c"), "{text}");

    let json = world.stud(&["plugin", "list", "--json"]);
    assert!(is_harmless(&json.stdout), "{:?}", json.stdout);
    let plugins = json.json();
    let found = plugins["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["extId"] == HOSTILE);
    assert!(found.is_some(), "{plugins:#}");
}

#[test]
fn hostile_manifests_are_written_out() {
    let world = World::new();
    install_changed(
        &world,
        "good-tool",
        "home/tools/libgood_tool.so",
        |manifest| {
            manifest["name"] = HOSTILE.into();
            manifest["description"] = HOSTILE.into();
            manifest[HOSTILE] = HOSTILE.into();
        },
    );
    install_changed(&world, "good-ui", "home/ui/libgood_ui.so", |manifest| {
        manifest["extId"] = HOSTILE.into();
        manifest["contractVersion"] = HOSTILE.into();
    });
    let library = world.path("home/ui/libgood_ui.so");
    for arguments in [
        &["plugin", "list"][..],
        &["plugin", "info", "good-tool"],
        &["plugin", "check", library.to_str().unwrap()],
    ] {
        let text = world.stud(arguments);
        assert!(
            is_harmless(&text.stdout),
            "{arguments:?}: {:?}",
            text.stdout
        );
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let json = world.stud(&arguments);
        assert!(
            is_harmless(&json.stdout),
            "{arguments:?}: {:?}",
            json.stdout
        );
    }
    let info = world
        .stud(&["plugin", "info", "good-tool", "--json"])
        .json();
    assert_eq!(info["manifest"]["name"], HOSTILE);
    assert_eq!(list(&world)["diagnostics"], serde_json::json!([]));
}

#[test]
fn hostile_arguments_are_written_out() {
    let world = World::new();
    for arguments in [
        &["plugin", "info", HOSTILE][..],
        &["plugin", "check", HOSTILE],
        &["plugin", "new", HOSTILE],
        &["plugin", "new", "x", "--sdk", HOSTILE],
        &["plugin", "pin", HOSTILE],
        &["plugin", "pin", HOSTILE, "--remove"],
        &["explain", HOSTILE],
        &["explain", "--list", HOSTILE],
    ] {
        let plain = world.stud(arguments);
        assert_eq!(plain.status, 1, "{arguments:?}: {plain:#?}");
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let json = world.stud(&arguments);
        for text in [&plain.stdout, &plain.stderr, &json.stdout, &json.stderr] {
            assert!(is_harmless(text), "{arguments:?}: {text:?}");
        }
    }
}

#[test]
fn a_hostile_project_is_written_out() {
    let world = World::new();
    let project = world.project().join(HOSTILE);
    std::fs::create_dir_all(project.join(".stud")).unwrap();
    for arguments in [
        &["plugin", "list"][..],
        &["trust"],
        &["trust", "--list"],
        &["trust", "--list", "--json"],
    ] {
        let output = world
            .command()
            .current_dir(&project)
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(
            is_harmless(&String::from_utf8(output.stdout).unwrap()),
            "{arguments:?}"
        );
    }
}
