//! `stud plugin new`: what is written and what is said; `new_builds` builds it.

use std::path::Path;

use serde_json::json;
use stud_tests::{World, workspace_root};

use crate::support::{code, failure, keys};

const FILES: [&str; 7] = [
    ".gitignore",
    "Cargo.toml",
    "README.md",
    "conformance/invalid.json",
    "conformance/valid.json",
    "conformance/worst-plausible.json",
    "src/lib.rs",
];

/// The files below a folder, sorted, with `/` between their parts.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(
                    path.strip_prefix(folder)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_plugin_is_made_where_one_stands() {
    let world = World::new();
    let answer = world.stud(&["plugin", "new", "line-count", "--json"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    let mut made = answer.json();
    assert_eq!(made["sdk"]["kind"], "path");
    made.as_object_mut().unwrap().remove("sdk");
    assert_eq!(
        made,
        json!({"path": "<world>/project/line-count", "extId": "line-count", "kind": "Tool", "files": FILES})
    );
    assert_eq!(
        files(&world.project()),
        FILES.map(|file| format!("line-count/{file}"))
    );

    let read = |file: &str| {
        std::fs::read_to_string(world.project().join("line-count").join(file)).unwrap()
    };
    let source = read("src/lib.rs");
    assert!(
        source.contains("#![forbid(unsafe_code)]") && source.contains("fn line_count("),
        "{source}"
    );
    let manifest = read("Cargo.toml").parse::<toml::Table>().unwrap();
    assert_eq!(manifest["package"]["name"].as_str(), Some("line-count"));
    assert_eq!(manifest["package"]["edition"].as_str(), Some("2024"));
    assert!(manifest["workspace"].as_table().unwrap().is_empty());
    assert_eq!(
        manifest["profile"]["release"]["opt-level"].as_str(),
        Some("s")
    );
    assert_eq!(
        manifest["dev-dependencies"]["stud-sdk"]["features"][0].as_str(),
        Some("testing")
    );
    // The program under test was built here, so its plugins are built with what is here.
    let sdk = manifest["dependencies"]["stud-sdk"]["path"]
        .as_str()
        .unwrap();
    assert_eq!(
        Path::new(sdk),
        workspace_root()
            .join("crates/stud-sdk")
            .canonicalize()
            .unwrap()
    );
}

#[test]
fn people_are_told_what_comes_next() {
    let world = World::new();
    let answer = world.stud(&[
        "plugin",
        "new",
        "shout",
        "--kind",
        "command",
        "--path",
        "made/here",
    ]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = answer.stdout.lines().collect();
    let next = [
        "Next, in <world>/project/made/here/shout:",
        "  cargo test",
        "  cargo build --release",
        "  stud plugin check --conformance target/release/libshout.so",
        "  stud plugin install target/release/libshout.so",
    ];
    assert_eq!(
        lines[0],
        format!("made the Command `shout` of {}", FILES.join(", "))
    );
    assert!(
        lines[1].starts_with("its `stud-sdk` is the one in "),
        "{lines:?}"
    );
    assert_eq!(lines[3..], next);
    let readme =
        std::fs::read_to_string(world.project().join("made/here/shout/README.md")).unwrap();
    for command in &next[1..] {
        assert!(
            readme.contains(&format!("\n{}\n", command.trim_start())),
            "{command} in {readme}"
        );
    }
}

#[test]
fn a_state_machine_has_its_stages_beside_it() {
    let world = World::new();
    let made = world
        .stud(&[
            "plugin",
            "new",
            "steps",
            "--kind",
            "state-machine",
            "--json",
        ])
        .json();
    assert_eq!(keys(&made), ["extId", "files", "kind", "path", "sdk"]);
    assert_eq!(made["kind"], "StateMachine");
    let mut wanted = FILES.to_vec();
    wanted.extend(["stages/build.md", "stages/plan.md"]);
    wanted.sort_unstable();
    assert_eq!(made["files"], json!(wanted));
    assert_eq!(files(&world.project().join("steps")), wanted);
}

#[test]
fn a_wrong_id_makes_nothing() {
    let world = World::new();
    let long = "x".repeat(65);
    for id in ["Line_Count", "../up", "/root", "a b", "é", "", &long] {
        let diagnostic = failure(&world.stud(&["plugin", "new", "--json", "--", id]));
        assert_eq!(code(&diagnostic), "Validation/ShapeInvalid", "{id}");
        assert_eq!(diagnostic["fieldPath"], "/extId");
    }
    let text = world.stud(&["plugin", "new", "Line_Count"]).stderr;
    assert!(text.contains("`line-count` would do"), "{text}");
    assert_eq!(files(&world.project()), [""; 0]);
}

#[test]
fn what_is_there_is_left_alone() {
    let world = World::new();
    world.write("project/mine/notes.txt", "mine");
    world.write("project/file", "mine");
    std::os::unix::fs::symlink("mine", world.project().join("link")).unwrap();
    for id in ["mine", "file", "link"] {
        let diagnostic = failure(&world.stud(&["plugin", "new", id, "--json"]));
        assert_eq!(code(&diagnostic), "Validation/RegistrationConflict", "{id}");
    }
    let entries = std::fs::read_dir(world.project()).unwrap().count();
    assert_eq!(
        (entries, files(&world.path("project/mine"))),
        (3, vec!["notes.txt".to_owned()])
    );
}

#[test]
fn an_empty_folder_is_filled() {
    let world = World::new();
    std::fs::create_dir(world.project().join("line-count")).unwrap();
    assert_eq!(world.stud(&["plugin", "new", "line-count"]).status, 0);
    assert_eq!(files(&world.project().join("line-count")), FILES);
}

#[test]
fn a_place_that_cannot_be_written_is_a_diagnostic() {
    let world = World::new();
    world.write("project/file", "");
    let diagnostic =
        failure(&world.stud(&["plugin", "new", "x", "--path", "file/below", "--json"]));
    assert_eq!(code(&diagnostic), "ExtensionHost/StartupFailure");
    assert_eq!(files(&world.project()), ["file"]);
}

#[test]
fn the_sdk_may_be_named() {
    let world = World::new();
    world.write(
        "project/an \"sdk\" {{id}}/Cargo.toml",
        "[package]\nname = \"stud-sdk\"\n",
    );
    let answer = world.stud(&["plugin", "new", "x", "--sdk", "an \"sdk\" {{id}}"]);
    assert_eq!(answer.status, 0, "{answer:#?}");
    let manifest = std::fs::read_to_string(world.project().join("x/Cargo.toml")).unwrap();
    let manifest = manifest.parse::<toml::Table>().unwrap();
    let named = world
        .project()
        .canonicalize()
        .unwrap()
        .join("an \"sdk\" {{id}}");
    for table in ["dependencies", "dev-dependencies"] {
        assert_eq!(manifest[table]["stud-sdk"]["path"].as_str(), named.to_str());
    }
}

#[test]
fn another_crate_is_not_the_sdk() {
    let world = World::new();
    world.write("project/other/Cargo.toml", "[package]\nname = \"other\"\n");
    for folder in ["other", "absent"] {
        let diagnostic = failure(&world.stud(&["plugin", "new", "x", "--sdk", folder, "--json"]));
        assert_eq!(code(&diagnostic), "ExtensionHost/DependencyMissing");
    }
    assert!(!world.project().join("x").exists());
}

#[test]
fn of_several_at_once_one_makes_it() {
    let world = World::new();
    let spawn = || {
        world
            .command()
            .args(["plugin", "new", "x", "--json"])
            .output()
            .unwrap()
    };
    let outputs: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..6).map(|_| scope.spawn(spawn)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let made = outputs
        .iter()
        .filter(|output| output.status.success())
        .count();
    assert_eq!(made, 1, "{outputs:?}");
    assert!(
        outputs
            .iter()
            .all(|output| output.status.code().is_some_and(|code| code <= 1))
    );
    assert_eq!(
        files(&world.project()),
        FILES.map(|file| format!("x/{file}"))
    );
}

#[test]
fn the_sdk_may_be_a_version_or_a_tag() {
    let world = World::new();
    let sdks = [
        ("0.1.0", "registry", "version", "0.1.0"),
        (
            "git+https://example.org/stud#v0.1.0",
            "git",
            "tag",
            "v0.1.0",
        ),
    ];
    for (number, (sdk, kind, member, value)) in sdks.into_iter().enumerate() {
        let id = format!("x{number}");
        let made = world.stud(&["plugin", "new", &id, "--sdk", sdk, "--json"]);
        assert_eq!(made.json()["sdk"]["kind"], kind);
        let manifest = world.project().join(id).join("Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).unwrap();
        let manifest = manifest.parse::<toml::Table>().unwrap();
        assert_eq!(
            manifest["dependencies"]["stud-sdk"][member].as_str(),
            Some(value)
        );
    }
}

#[test]
fn a_role_is_for_uis() {
    let world = World::new();
    let made = world.stud(&["plugin", "new", "x", "--kind", "ui", "--role", "region"]);
    assert_eq!(made.status, 0, "{made:#?}");
    let source = std::fs::read_to_string(world.project().join("x/src/lib.rs")).unwrap();
    assert!(source.contains("impl Region for X"), "{source}");
    let diagnostic = failure(&world.stud(&["plugin", "new", "y", "--role", "region", "--json"]));
    assert_eq!(code(&diagnostic), "Validation/ShapeInvalid");
    assert!(!world.project().join("y").exists());
}
