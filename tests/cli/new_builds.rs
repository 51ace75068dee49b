//! What `stud plugin new` makes builds, passes its own test, and passes `stud plugin check`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use stud_tests::{World, target_folder, workspace_root};

/// Every kind; then ids that cannot be names in Rust as they are.
const PLUGINS: [(&str, &str, &str); 16] = [
    ("tool", "Tool", "new-tool"),
    ("ui", "UI", "new-ui"),
    ("hook", "Hook", "new-hook"),
    ("command", "Command", "new-command"),
    ("provider", "Provider", "new-provider"),
    ("logger", "Logger", "new-logger"),
    ("state-machine", "StateMachine", "new-state-machine"),
    ("session-store", "SessionStore", "new-session-store"),
    (
        "context-provider",
        "ContextProvider",
        "new-context-provider",
    ),
    ("tool", "Tool", "type"),
    ("tool", "Tool", "args"),
    ("command", "Command", "3d-view"),
    ("ui", "UI", "response"),
    ("hook", "Hook", "self"),
    ("ui:subscriber", "UI", "new-subscriber"),
    ("ui:region", "UI", "new-region"),
];

/// The libraries that cargo built, in the order of `PLUGINS`.
fn build(world: &World) -> Vec<PathBuf> {
    // The place is the same each time, so that cargo builds again what has changed and leaves nothing else behind.
    let target = target_folder().parent().unwrap().join("new-plugins");
    let crates = target.join("crates");
    let _ = fs::remove_dir_all(&crates);
    let mut libraries = Vec::new();
    for (word, kind, id) in PLUGINS {
        let path = crates.to_str().unwrap();
        let (kind_word, role) = word.split_once(':').unwrap_or((word, ""));
        let mut arguments = vec![
            "plugin", "new", id, "--kind", kind_word, "--path", path, "--json",
        ];
        if !role.is_empty() {
            arguments.extend(["--role", role]);
        }
        let answer = world.stud(&arguments);
        assert_eq!(
            (answer.status, answer.stderr.as_str()),
            (0, ""),
            "{answer:#?}"
        );
        assert_eq!(answer.json()["kind"], kind);
        let package = join_workspace(&crates.join(id).join("Cargo.toml"));
        libraries.push(target.join(format!("debug/lib{}.so", package.replace('-', "_"))));
    }
    let members = PLUGINS.map(|(_, _, id)| format!("\"{id}\"")).join(", ");
    let workspace = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{members}]\n\n[profile.dev]\ndebug = \"line-tables-only\"\n"
    );
    fs::write(crates.join("Cargo.toml"), workspace).unwrap();
    // The same versions as here: nothing has to be fetched.
    fs::copy(
        workspace_root().join("Cargo.lock"),
        crates.join("Cargo.lock"),
    )
    .unwrap();
    // `cargo test` alone builds no library; asked for together, library and tests share what they are built from.
    let cargo = |arguments: &[&str]| {
        Command::new(env!("CARGO"))
            .args(arguments)
            .arg("--offline")
            .env("CARGO_TARGET_DIR", &target)
            // The crates are small and change as a whole; keeping pieces of them would only take room.
            .env("CARGO_INCREMENTAL", "0")
            .current_dir(&crates)
            .output()
            .unwrap()
    };
    let built = cargo(&["build", "--lib", "--tests"]);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let output = cargo(&["test"]);
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    assert_eq!(
        said.matches("test result: ok. 2 passed").count(),
        PLUGINS.len(),
        "{said}"
    );
    let warned = String::from_utf8_lossy(&built.stderr);
    assert!(!warned.contains("warning:"), "{warned}");
    libraries
}

/// Makes a crate that stands alone part of the workspace around it, and gives its name.
fn join_workspace(manifest: &Path) -> String {
    let text = fs::read_to_string(manifest).unwrap();
    let mut table = text.parse::<toml::Table>().unwrap();
    table.remove("workspace").unwrap();
    table.remove("profile").unwrap();
    fs::write(manifest, table.to_string()).unwrap();
    table["package"]["name"].as_str().unwrap().to_owned()
}

#[test]
fn every_kind_builds_and_passes() {
    let world = World::new();
    for (library, (_, kind, id)) in build(&world).iter().zip(PLUGINS) {
        let answer = world.stud(&["plugin", "check", library.to_str().unwrap(), "--json"]);
        assert_eq!(answer.status, 0, "{answer:#?}");
        let report = answer.json();
        assert_eq!(report["status"], "ok");
        assert_eq!(
            (&report["extId"], &report["kind"]),
            (&id.into(), &kind.into())
        );
        assert_eq!(report["diagnostics"], serde_json::json!([]), "{id}");
    }
}
