//! The global root: where it is, what if it cannot be written, and who else uses it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use stud_tests::{Elf, World, fixture};

use crate::support::{code, codes, entries, entry, failure, install, list, opened, soon};

const PLUGINS: [(&str, &str); 3] = [
    ("good-tool", "home/tools/libgood_tool.so"),
    ("good-ui", "home/ui/libgood_ui.so"),
    ("good-hook", "home/hooks/libgood_hook.so"),
];

fn install_all(world: &World) {
    for (package, place) in PLUGINS {
        install(world, package, place);
    }
}

fn all_active(list: &Value) {
    for (id, _) in PLUGINS {
        assert_eq!(entry(list, id)["status"], "active", "{list:#}");
    }
}

/// `stud plugin list --json` under way.
fn start(world: &World) -> Child {
    let mut command = world.command();
    command
        .args(["plugin", "list", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The program without a home, but for these variables.
fn homeless(world: &World, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = world.command();
    command.env_remove("STUD_HOME").env_remove("HOME");
    command.envs(variables.iter().copied()).args(arguments);
    command.output().unwrap()
}

const HOMELESS: [&[(&str, &str)]; 8] = [
    &[],
    &[("STUD_HOME", "")],
    &[("HOME", "")],
    &[("STUD_HOME", ""), ("HOME", "")],
    &[("STUD_HOME", ".")],
    &[("STUD_HOME", "rel"), ("HOME", "/nonexistent")],
    &[("HOME", ".")],
    &[("HOME", "../project")],
];

#[test]
fn without_an_absolute_home_nothing_is_done() {
    let runs: [&[&str]; 5] = [
        &["plugin", "list"],
        &["trust"],
        &["doctor"],
        &["--headless", "hello"],
        &["--headless", "--safe-mode", "hello"],
    ];
    let world = World::new();
    for variables in HOMELESS {
        for run in runs {
            let output = homeless(&world, variables, run);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{variables:?} {run:?}");
            assert!(
                said.contains("Validation/HomeMissing") && said.contains("help: set `HOME`"),
                "{variables:?} {run:?}: {said}"
            );
        }
    }
    assert_eq!(world.project().read_dir().unwrap().count(), 0);
}

#[test]
fn what_needs_no_home_works_without_one() {
    let world = World::new();
    let runs: [&[&str]; 3] = [
        &["--version"],
        &["--help"],
        &["explain", "Validation/HomeMissing"],
    ];
    for variables in HOMELESS {
        for run in runs {
            let output = homeless(&world, variables, run);
            assert!(output.status.success(), "{variables:?} {run:?}: {output:?}");
        }
    }
    assert_eq!(world.project().read_dir().unwrap().count(), 0);
}

#[test]
fn a_home_may_have_any_name() {
    for name in ["a home", "дом 家 🏠", "it's \"here\"", "$HOME;#&", "-"] {
        let mut world = World::new();
        let home = world.path(name);
        world.set("STUD_HOME", home.to_str().unwrap());
        install(
            &world,
            "good-tool",
            &format!("{name}/tools/libgood_tool.so"),
        );
        std::fs::create_dir_all(world.project().join(".stud")).unwrap();
        assert_eq!(world.stud(&["trust"]).status, 0, "{name}");
        assert_eq!(
            world.stud(&["plugin", "pin", "good-tool"]).status,
            0,
            "{name}"
        );
        let list = list(&world);
        assert_eq!(entry(&list, "good-tool")["status"], "active", "{name}");
        assert_eq!(codes(&list), [""; 0]);
        assert!(home.join("trust.json").exists() && home.join("integrity/good-tool.json").exists());
        assert!(!world.path("home/cache").exists());
    }
}

#[test]
fn without_a_variable_home_is_below_the_users() {
    let mut world = World::new();
    world.set("STUD_HOME", "");
    install(&world, "good-tool", ".stud/tools/libgood_tool.so");
    assert_eq!(
        entry(&list(&world), "good-tool")["path"],
        "<world>/.stud/tools/libgood_tool.so"
    );
}

#[test]
fn a_missing_home_is_an_empty_one() {
    let mut world = World::new();
    let home = world.path("nowhere/at/all");
    world.set("STUD_HOME", home.to_str().unwrap());
    let list = list(&world);
    assert_eq!(entry(&list, "echo")["status"], "active");
    assert!(!home.exists(), "looking at plugins makes nothing");
}

#[test]
fn a_cache_that_cannot_be_written_is_a_diagnostic() {
    let world = World::new();
    install_all(&world);
    // Permissions do not stop every user; a file where a folder must be does.
    world.write("home/cache", "");
    let list = list(&world);
    for (id, _) in PLUGINS {
        let refused = entry(&list, id);
        assert_eq!(refused["status"], "disabled");
        assert_eq!(codes(refused), ["ExtensionHost/OpenFailed"]);
        let help = refused["diagnostics"][0]["help"][0].as_str().unwrap();
        assert!(help.contains("cache/plugins"), "{help}");
    }
    let library = world.path("home/tools/libgood_tool.so");
    let answer = world.stud(&["plugin", "check", library.to_str().unwrap(), "--json"]);
    assert_eq!(
        (answer.status, codes(&answer.json())),
        (1, vec!["ExtensionHost/OpenFailed".to_owned()])
    );
}

#[test]
fn other_things_that_cannot_be_written_are_diagnostics_too() {
    let world = World::new();
    install_all(&world);
    world.write("home/integrity", "");
    std::fs::create_dir_all(world.path("home/trust.json")).unwrap();
    std::fs::create_dir_all(world.project().join(".stud")).unwrap();
    let diagnostic = failure(&world.stud(&["trust", "--json"]));
    assert_eq!(code(&diagnostic), "Session/TrustStoreUnavailable");
    std::fs::remove_dir(world.path("home/trust.json")).unwrap();
    let diagnostic = failure(&world.stud(&["plugin", "pin", "good-tool", "--json"]));
    assert_eq!(code(&diagnostic), "ExtensionHost/StartupFailure");
}

#[test]
fn a_home_that_is_no_folder_is_a_diagnostic() {
    let mut world = World::new();
    let file = world.write("file", "");
    world.set("STUD_HOME", file.to_str().unwrap());
    let output = soon(world.command().args(["plugin", "list", "--json"]));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    code(&serde_json::from_slice(&output.stderr).unwrap());
}

#[test]
fn a_folder_that_cannot_be_listed_is_a_warning() {
    let world = World::new();
    install(&world, "good-ui", "home/ui/libgood_ui.so");
    world.write("home/tools", "");
    let list = list(&world);
    assert_eq!(codes(&list), ["Validation/LibraryUnreadable"]);
    assert_eq!(list["diagnostics"][0]["severity"], "warning");
    assert_eq!(entry(&list, "good-ui")["status"], "active");
}

#[test]
fn a_file_may_have_a_name_that_is_not_text() {
    let world = World::new();
    let library = Elf::read(&fixture("good-tool"));
    let name = OsStr::from_bytes(b"lib\xff.so");
    world.write(Path::new("home/tools").join(name), library.bytes);
    let list = list(&world);
    let entry = entry(&list, "good-tool");
    assert_eq!(entry["status"], "active");
    assert_eq!(entry["path"], "<world>/home/tools/lib\u{fffd}.so");
    assert_eq!(world.stud(&["plugin", "list"]).status, 0);
    let info = world.stud(&["plugin", "info", "good-tool", "--json"]);
    assert_eq!(info.json()["path"], entry["path"]);
}

#[test]
fn a_project_may_have_a_name_that_is_not_text() {
    let world = World::new();
    let project = world.project().join(OsStr::from_bytes(b"\xff"));
    std::fs::create_dir_all(project.join(".stud")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = world.command();
        soon(command.current_dir(&project).args(arguments))
    };
    let output = run(&["plugin", "list", "--json"]);
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(codes(&list), ["Session/ProjectTrustRequired"]);
    let output = run(&["trust", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let diagnostic = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(code(&diagnostic), "Validation/TrustEntryInvalid");
}

#[test]
fn several_at_once_share_a_cold_cache() {
    let world = World::new();
    install_all(&world);
    let all: Vec<Child> = (0..6).map(|_| start(&world)).collect();
    for child in all {
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{output:?}"
        );
        all_active(&serde_json::from_slice(&output.stdout).unwrap());
    }
    assert_eq!(
        opened(&world),
        ["libgood_hook.so", "libgood_tool.so", "libgood_ui.so"]
    );
}

#[test]
fn whenever_it_is_killed_the_next_run_works() {
    // The moments differ from run to run; what comes after must not.
    for millis in [0, 1, 2, 4, 8, 12, 16, 24] {
        let world = World::new();
        install_all(&world);
        let mut child = start(&world);
        std::thread::sleep(Duration::from_millis(millis));
        child.kill().unwrap();
        child.wait().unwrap();
        all_active(&list(&world));
    }
}

#[test]
fn what_a_killed_run_may_leave_is_passed_over() {
    let world = World::new();
    install_all(&world);
    list(&world);
    for folder in std::fs::read_dir(world.path("home/cache/plugins")).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            std::fs::write(path.with_file_name(format!(".{name}.1.tmp")), "half").unwrap();
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, "half").unwrap();
        }
    }
    world.write("home/.trust.json.1.tmp", "{\"entr");
    all_active(&list(&world));
}

#[test]
fn a_copy_in_the_cache_is_never_found_as_a_plugin() {
    let world = World::new();
    let library = Elf::read(&fixture("good-tool"));
    world.write("home/tools/.libgood_tool.so.1.tmp", &library.bytes);
    world.write("home/tools/.hidden.so", &library.bytes);
    world.write("home/cache/plugins/0/libgood_tool.so", &library.bytes);
    assert!(entries(&list(&world), "good-tool").is_empty());
}
