//! Plugins put in place, and answers looked into.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use stud_tests::{Answer, Elf, World, fixture};

/// Every stage, in order.
pub(crate) const STAGES: [&str; 12] = [
    "discover",
    "inspect",
    "shape",
    "contractVersion",
    "requiredCoreVersion",
    "configSchema",
    "category",
    "order",
    "load",
    "bind",
    "register",
    "activate",
];

/// Puts the library of a fixture at `place`, such as `home/tools/good-tool/libgood_tool.so`.
pub(crate) fn install(world: &World, package: &str, place: &str) -> PathBuf {
    world.write(place, Elf::read(&fixture(package)).bytes)
}

/// The same with another manifest.
pub(crate) fn install_changed(
    world: &World,
    package: &str,
    place: &str,
    change: impl FnOnce(&mut Value),
) -> PathBuf {
    let library = Elf::read(&fixture(package)).with_manifest(change);
    world.write(place, library.bytes)
}

/// The same with other bytes: another build of the same plugin, as far as anyone can tell.
pub(crate) fn install_rebuilt(world: &World, package: &str, place: &str) -> PathBuf {
    let mut library = Elf::read(&fixture(package));
    library.bytes.push(0);
    world.write(place, library.bytes)
}

/// Trusts the project; its folder is made if need be.
pub(crate) fn trust(world: &World) {
    std::fs::create_dir_all(world.project().join(".stud")).unwrap();
    let answer = world.stud(&["trust"]);
    assert_eq!(answer.status, 0, "{answer:#?}");
}

/// The whole answer of `stud plugin list --json`.
pub(crate) fn list(world: &World) -> Value {
    let answer = world.stud(&["plugin", "list", "--json"]);
    assert_eq!(
        (answer.status, answer.stderr.as_str()),
        (0, ""),
        "{answer:#?}"
    );
    answer.json()
}

/// The entries of one id in a list: scope and status, lowest scope first.
pub(crate) fn standing(list: &Value, id: &str) -> Vec<(String, String)> {
    let text = |entry: &Value, member: &str| entry[member].as_str().unwrap().to_owned();
    entries(list, id)
        .into_iter()
        .map(|entry| (text(entry, "scope"), text(entry, "status")))
        .collect()
}

/// What `standing` is compared with.
pub(crate) fn are(wanted: &[(&str, &str)]) -> Vec<(String, String)> {
    wanted
        .iter()
        .map(|(scope, status)| ((*scope).to_owned(), (*status).to_owned()))
        .collect()
}

/// The entries of one id in a list.
pub(crate) fn entries<'a>(list: &'a Value, id: &str) -> Vec<&'a Value> {
    let plugins = list["plugins"].as_array().unwrap();
    plugins
        .iter()
        .filter(|entry| entry["extId"] == id)
        .collect()
}

/// The only entry of an id in a list.
pub(crate) fn entry<'a>(list: &'a Value, id: &str) -> &'a Value {
    let found = entries(list, id);
    assert_eq!(found.len(), 1, "{list:#}");
    found[0]
}

/// `Class/Code` of each diagnostic of an entry, or of the list itself.
pub(crate) fn codes(entry: &Value) -> Vec<String> {
    let diagnostics = entry["diagnostics"].as_array().unwrap();
    diagnostics.iter().map(code).collect()
}

/// `Class/Code` of one diagnostic, whose shape is checked on the way.
pub(crate) fn code(diagnostic: &Value) -> String {
    const KNOWN: [&str; 11] = [
        "class",
        "code",
        "stage",
        "extId",
        "fieldPath",
        "message",
        "context",
        "help",
        "severity",
        "notes",
        "path",
    ];
    for name in keys(diagnostic) {
        assert!(KNOWN.contains(&name), "{diagnostic:#}");
    }
    for name in ["class", "code", "message"] {
        assert!(diagnostic[name].is_string(), "{diagnostic:#}");
    }
    assert!(diagnostic["context"].is_object(), "{diagnostic:#}");
    let help = diagnostic["help"].as_array().unwrap();
    assert!(
        !help.is_empty() && help.iter().all(Value::is_string),
        "{diagnostic:#}"
    );
    let severity = diagnostic["severity"].as_str().unwrap();
    assert!(matches!(severity, "error" | "warning"), "{diagnostic:#}");
    if let Some(stage) = diagnostic.get("stage") {
        assert!(STAGES.iter().any(|known| stage == known), "{diagnostic:#}");
    }
    format!(
        "{}/{}",
        diagnostic["class"].as_str().unwrap(),
        diagnostic["code"].as_str().unwrap()
    )
}

/// The members of an object, sorted.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let mut names: Vec<_> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}

/// A failure with `--json`: nothing on standard output, one diagnostic on standard error.
pub(crate) fn failure(answer: &Answer) -> Value {
    assert_eq!(
        (answer.status, answer.stdout.as_str()),
        (1, ""),
        "{answer:#?}"
    );
    let diagnostic: Value = serde_json::from_str(&answer.stderr).unwrap();
    code(&diagnostic);
    diagnostic
}

/// An answer without the line for programs that says that no session came of it.
pub(crate) fn without_surface(mut answer: Answer, surface: &str) -> Answer {
    let lines: Vec<&str> = answer.stderr.lines().collect();
    let (told, rest): (Vec<&str>, Vec<&str>) = lines
        .into_iter()
        .partition(|line| line.contains("\"surface\""));
    let [told] = told[..] else {
        panic!("{answer:#?}");
    };
    let told: Value = serde_json::from_str(told).unwrap();
    assert_eq!(told["surface"], surface);
    assert_eq!(keys(&told["error"]), ["class", "code", "context"]);
    answer.stderr = rest.join("\n");
    answer
}

/// Whether a terminal might do anything with the text but draw it.
pub(crate) fn is_harmless(text: &str) -> bool {
    let steers = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    !text.chars().any(steers)
}

/// Runs a command that must not block.
pub(crate) fn soon(command: &mut Command) -> Output {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            panic!("it blocked: {output:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// Makes a named pipe: opening it to read blocks until a writer opens it.
pub(crate) fn make_pipe(world: &World, place: &str) {
    let path = world.path(place);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The copies of libraries that were opened, by file name.
pub(crate) fn opened(world: &World) -> Vec<String> {
    let mut names = Vec::new();
    let folders = std::fs::read_dir(world.home().join("cache/plugins"));
    for folder in folders.into_iter().flatten() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            names.push(file.unwrap().file_name().into_string().unwrap());
        }
    }
    names.sort();
    names
}
