//! Whatever comes from a model, a tool, a file name, a plugin or a setting: a terminal gets nothing it would obey.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use stud_tests::{Terminal, World};

use crate::support::{install_changed, is_harmless};

/// Sets the title, clears the screen, writes from right to left, hides itself, and the same in the other encodings.
const HOSTILE: &str = "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{202e}d\u{2066}e\u{200b}f\u{9b}31mg\u{9d}0;h\u{9c}i\rj\u{8}k\u{feff}l";

/// The beginning of it, as a person sees it.
const SEEN: &str = "a\\u{1b}]0;title\\u{7}b\\u{1b}[2Jc\\u{202e}d\\u{2066}e\\u{200b}f\\u{9b}31m";

/// A home with a provider, so that setup does not ask for one.
fn home() -> World {
    let world = World::new();
    let settings = json!({"active": {"provider": "echo"}});
    world.write("home/settings.json", settings.to_string());
    world
}

/// What is left of a screen without colors of ours and ends of lines.
fn obeyed(screen: &str) -> String {
    let mut rest = String::new();
    let mut characters = screen.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\u{1b}' => {
                let sequence: String = characters
                    .clone()
                    .take_while(|c| *c != 'm')
                    .take(12)
                    .collect();
                let is_color = sequence
                    .strip_prefix('[')
                    .is_some_and(|codes| codes.chars().all(|c| c.is_ascii_digit() || c == ';'));
                if is_color {
                    characters.nth(sequence.chars().count());
                } else {
                    rest.push(character);
                }
            }
            other => rest.push(other),
        }
    }
    rest
}

fn is_safe(screen: &str) -> bool {
    is_harmless(&obeyed(screen).replace('\t', ""))
}

/// Runs a program at a terminal to its end.
fn at_terminal(command: &mut Command) -> String {
    let (_, screen) = Terminal::start(command).end();
    assert!(is_safe(&screen), "{screen:?}");
    screen
}

#[test]
fn the_check_itself_notices() {
    assert!(is_safe("\u{1b}[1;31mred\u{1b}[0m\r\nplain"));
    for bad in [
        "\u{1b}[2J",
        "\u{1b}]0;x\u{7}",
        "\u{9b}1m",
        "a\u{202e}",
        "a\rb",
        "\u{200b}",
    ] {
        assert!(!is_safe(bad), "{bad:?}");
    }
}

#[test]
fn words_of_a_model_are_written_out() {
    let world = home();
    let screen = at_terminal(world.command().args(["--headless", HOSTILE]));
    assert!(screen.contains(&format!("USER {SEEN}")), "{screen:?}");
    // A pipe is no terminal: a program gets the words as they are.
    let output = world.command().args(["--headless", HOSTILE]).output();
    let stdout = String::from_utf8(output.unwrap().stdout).unwrap();
    assert_eq!(stdout, format!("USER {HOSTILE}\n"));

    let terminal = Terminal::start(world.command().arg(HOSTILE));
    terminal.sees(&format!("USER {SEEN}"));
    terminal.types("\u{4}");
    let (status, screen) = terminal.end();
    assert_eq!(status, 0);
    assert!(is_safe(&screen), "{screen:?}");
}

#[test]
fn what_tools_are_asked_for_and_give_is_written_out() {
    let world = home();
    let asks = json!({"active": {"provider": "echo"}, "securityMode": {"askForReads": true}});
    world.write("home/settings.json", asks.to_string());
    // A carriage return and a line feed cannot be told from ends of lines once they are on a screen.
    let name = HOSTILE.replace('\r', "");
    world.write(format!("project/{name}.txt"), HOSTILE);
    let read = json!({"path": format!("{name}.txt")});
    let list = json!({"path": "."});
    for call in [format!("!tool read {read}"), format!("!tool list {list}")] {
        let terminal = Terminal::start(world.command().arg(&call));
        terminal.answers("? ", "y\n");
        terminal.sees("RESULT");
        terminal.types("\u{4}");
        let (_, screen) = terminal.end();
        assert!(is_safe(&screen), "{screen:?}");
        let screen = at_terminal(world.command().args(["--headless", "--yolo", &call]));
        assert!(screen.contains("RESULT"), "{screen:?}");
        let screen = at_terminal(world.command().args(["--headless", &call]));
        assert!(screen.contains("HeadlessInteractionRequired"), "{screen:?}");
    }
}

#[test]
fn names_of_plugins_files_and_settings_are_written_out() {
    let world = World::new();
    let settings = json!({
        "active": {"provider": HOSTILE},
        "providers": {HOSTILE: {
            "models": [HOSTILE],
            "apiKeyRef": {"kind": "env", "name": HOSTILE},
        }},
        "logging": {"level": HOSTILE},
    });
    world.write("home/settings.json", settings.to_string());
    let name = HOSTILE.replace('/', "");
    world.write(format!("home/tools/{name}/lib{name}.so"), "no library");
    install_changed(&world, "good-ui", "home/ui/libgood_ui.so", |manifest| {
        manifest["extId"] = HOSTILE.into();
        manifest["description"] = HOSTILE.into();
    });
    for arguments in [
        &["doctor"][..],
        &["plugin", "list"],
        &[],
        &["--headless", "x"],
    ] {
        at_terminal(world.command().args(arguments));
    }
    let screen = at_terminal(world.command().arg("doctor"));
    assert!(screen.contains(SEEN), "{screen:?}");
    let doctor = world.stud(&["doctor", "--json"]);
    assert!(is_harmless(&doctor.stdout), "{:?}", doctor.stdout);
    let settings = doctor.json()["settings"].as_array().unwrap().clone();
    let level = settings.iter().find(|set| set["key"] == "logging.level");
    assert_eq!(level.unwrap()["value"], HOSTILE, "JSON has it all, escaped");
}

#[test]
fn the_question_about_a_project_is_written_out() {
    let world = home();
    let name = HOSTILE.replace('/', "");
    let project = world.path(format!("project/{name}"));
    let folder = project.join(".stud/tools").join(&name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("note"), "").unwrap();
    let terminal = Terminal::start(world.command().current_dir(&project));
    terminal.answers("[a]bort?", "d\n");
    terminal.answers("> ", "\u{4}");
    let (status, screen) = terminal.end();
    assert_eq!(status, 0);
    assert!(is_safe(&screen), "{screen:?}");
    assert!(screen.contains(&format!("tools/{SEEN}")), "{screen:?}");
}

#[test]
fn what_a_session_holds_is_written_out() {
    let world = home();
    assert!(
        world
            .command()
            .args(["--headless", HOSTILE])
            .stdout(Stdio::null())
            .status()
            .unwrap()
            .success()
    );
    let listed = world.stud(&["sessions", "list", "--json"]);
    assert!(is_harmless(&listed.stdout), "{:?}", listed.stdout);
    assert_eq!(listed.json()["sessions"][0]["firstWords"], HOSTILE);
    let id = std::fs::read_dir(world.home().join("sessions")).unwrap();
    let id = id.last().unwrap().unwrap().file_name();
    let id = id.to_str().unwrap();
    for arguments in [
        &["sessions", "list"][..],
        &["sessions", "show", id],
        &["sessions", "export", id],
        &["sessions", "export", id, "--format", "json"],
        &["sessions", "show", id, "--json"],
        &["sessions", "show", HOSTILE],
        &["audit", "show", id],
    ] {
        let screen = at_terminal(world.command().args(arguments));
        if !arguments.contains(&"audit") {
            assert!(screen.contains("title"), "{arguments:?}: {screen:?}");
        }
    }
    let records = world.stud(&["sessions", "show", id, "--json"]).stdout;
    for line in records.lines() {
        let _: Value = serde_json::from_str(line).unwrap();
    }
}

#[test]
fn wrong_words_on_the_command_line_are_written_out() {
    let world = home();
    for arguments in [
        &[&format!("--{HOSTILE}")[..]][..],
        &["--mode", HOSTILE],
        &["plugin", HOSTILE],
        &["plugin", "new", "x", "--kind", HOSTILE],
        &["--resume", HOSTILE, "--headless", "x"],
    ] {
        at_terminal(world.command().args(arguments));
    }
}
