//! `stud plugin install`, `update`, `remove`, `enable`, `disable` and `bisect`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use stud_tests::{Answer, Elf, World, fixture, workspace_root};

use crate::support::{code, entries, entry, failure, install_changed, is_harmless, list, trust};

const PLACE: &str = "home/tools/good-tool/libgood_tool.so";

/// A build of `good-tool` with another manifest, where an author would keep it.
fn built(world: &World, name: &str, change: impl FnOnce(&mut Value)) -> String {
    let library = Elf::read(&fixture("good-tool")).with_manifest(change);
    let place = format!("project/{name}");
    world.write(&place, library.bytes);
    name.to_owned()
}

fn version(version: &str) -> impl FnOnce(&mut Value) {
    move |manifest| manifest["version"] = version.into()
}

fn done(world: &World, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    let answer = world.stud(&arguments);
    assert_eq!(
        (answer.status, answer.stderr.as_str()),
        (0, ""),
        "{answer:#?}"
    );
    answer.json()
}

fn refused(world: &World, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    failure(&world.stud(&arguments))
}

fn state(world: &World) -> Value {
    entry(&list(world), "good-tool")["version"].clone()
}

#[test]
fn a_library_is_installed_where_it_belongs() {
    let world = World::new();
    let source = built(&world, "old.so", version("0.1.0"));
    let installed = done(&world, &["plugin", "install", &source]);
    assert_eq!(installed["extId"], "good-tool");
    assert_eq!(installed["kind"], "Tool");
    assert_eq!(installed["scope"], "global");
    assert_eq!(installed["installedPath"], format!("<world>/{PLACE}"));
    assert_eq!(installed["reused"], false);
    assert!(installed["rights"]["tools"].is_array(), "{installed:#}");
    let listed = list(&world);
    assert_eq!(entry(&listed, "good-tool")["status"], "active");
    let lock: Value =
        serde_json::from_slice(&fs::read(world.home().join("plugins.lock.json")).unwrap()).unwrap();
    let locked = &lock["plugins"]["good-tool"];
    assert_eq!(locked["place"], "tools/good-tool/libgood_tool.so");
    assert_eq!(locked["source"]["kind"], "file");
    assert_eq!(locked["platforms"].as_object().unwrap().len(), 1);
    let audit = fs::read_to_string(world.home().join("audit.jsonl")).unwrap();
    assert!(
        audit.contains("\"ExtensionInstalled\"") && audit.contains("sha256-"),
        "{audit}"
    );

    let again = done(&world, &["plugin", "install", &source]);
    assert_eq!(again["reused"], true);
    let info = done(&world, &["plugin", "info", "good-tool"]);
    assert_eq!(info["installed"]["source"]["kind"], "file");
    assert_eq!(info["installed"]["changed"], false);
}

#[test]
fn an_archive_and_a_folder_are_sources_too() {
    let world = World::new();
    built(&world, "dist/libgood_tool.so", version("0.1.0"));
    let packed = Command::new("tar")
        .args(["-czf", "good-tool.tar.gz", "dist"])
        .current_dir(world.project())
        .status();
    assert!(packed.unwrap().success());
    let installed = done(&world, &["plugin", "install", "good-tool.tar.gz"]);
    assert_eq!(installed["version"], "0.1.0");
    built(&world, "dist/libgood_tool.so", version("0.2.0"));
    let updated = done(&world, &["plugin", "update", "good-tool", "--from", "dist"]);
    assert_eq!(
        (&updated["version"], &updated["replaced"]),
        (&"0.2.0".into(), &"0.1.0".into())
    );
    // From now on the folder is the source.
    built(&world, "dist/libgood_tool.so", version("0.3.0"));
    let all = done(&world, &["plugin", "update"]);
    assert_eq!(all["plugins"][0]["installed"]["version"], "0.3.0");
    assert_eq!(state(&world), "0.3.0");
    let back = done(&world, &["plugin", "update", "good-tool", "--previous"]);
    assert_eq!(
        (&back["version"], state(&world)),
        (&"0.2.0".into(), "0.2.0".into())
    );
}

#[test]
fn a_crate_is_built_with_cargo() {
    let world = World::new();
    let target = stud_tests::target_folder()
        .parent()
        .unwrap()
        .join("new-plugins");
    let made = world.stud(&["plugin", "new", "from-source"]);
    assert_eq!(made.status, 0, "{made:#?}");
    let folder = world.project().join("from-source");
    fs::copy(
        workspace_root().join("Cargo.lock"),
        folder.join("Cargo.lock"),
    )
    .unwrap();
    let stud = |arguments: &[&str]| {
        let mut command = world.command();
        command
            .args(arguments)
            .env("CARGO_TARGET_DIR", &target)
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
        for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME"] {
            if let Ok(value) = std::env::var(name) {
                command.env(name, value);
            }
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), answer, said)
    };
    let (status, installed, said) =
        stud(&["plugin", "install", "from-source", "--debug", "--json"]);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(installed["extId"], "from-source");
    assert_eq!(entry(&list(&world), "from-source")["status"], "active");

    // `dev` does the same for a changed source, and says what changed.
    let source = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    let changed = source.replace("/// Counts the lines of a file.", "/// Counts lines.");
    assert_ne!(source, changed);
    fs::write(folder.join("src/lib.rs"), changed).unwrap();
    let (status, round, said) = stud(&["plugin", "dev", "from-source", "--once", "--json"]);
    assert_eq!(status, Some(0), "{said}");
    let changed = round["installed"]["changed"].as_array().unwrap();
    assert!(changed.contains(&"tools".into()), "{round:#}");
    assert_eq!(round["sessions"], json!([]));

    fs::write(folder.join("src/lib.rs"), "not rust").unwrap();
    for arguments in [
        &["plugin", "install", "from-source", "--debug"][..],
        &["plugin", "dev", "from-source", "--once"],
    ] {
        let (status, _, said) = stud(arguments);
        assert_eq!(status, Some(1));
        assert!(said.contains("InstallSourceInvalid"), "{said}");
    }
    assert_eq!(entry(&list(&world), "from-source")["status"], "active");
}

#[test]
fn what_does_not_pass_the_stages_changes_nothing() {
    let world = World::new();
    done(
        &world,
        &[
            "plugin",
            "install",
            &built(&world, "old.so", version("0.1.0")),
        ],
    );
    let before = fs::read(world.path(PLACE)).unwrap();
    let wrong = built(&world, "wrong.so", |manifest| {
        manifest["contractVersion"] = "9.0.0".into();
    });
    let diagnostic = refused(&world, &["plugin", "install", &wrong]);
    assert_eq!(code(&diagnostic), "Validation/ContractVersionMismatch");
    assert_eq!(diagnostic["path"], "wrong.so");
    world.write("project/text.so", "text");
    let diagnostic = refused(&world, &["plugin", "install", "text.so"]);
    assert_eq!(code(&diagnostic), "Validation/LibraryFormatUnknown");
    let other = built(&world, "other.so", |manifest| {
        manifest["extId"] = "other-tool".into();
    });
    let diagnostic = refused(&world, &["plugin", "update", "good-tool", "--from", &other]);
    assert_eq!(code(&diagnostic), "Validation/InstallSourceInvalid");
    let digest = "0".repeat(64);
    let diagnostic = refused(
        &world,
        &["plugin", "install", "old.so", "--sha256", &digest],
    );
    assert_eq!(code(&diagnostic), "ExtensionHost/IntegrityFailed");
    assert_eq!(fs::read(world.path(PLACE)).unwrap(), before);
    assert!(!world.home().join(".install/incoming").exists());
}

#[test]
fn an_update_that_declares_more_waits_until_it_is_accepted() {
    let world = World::new();
    done(
        &world,
        &[
            "plugin",
            "install",
            &built(&world, "tool.so", version("0.1.0")),
        ],
    );
    built(&world, "tool.so", |manifest| {
        manifest["version"] = "0.2.0".into();
        let kinds = manifest["interactionKinds"].as_array_mut();
        if let Some(kinds) = kinds {
            kinds.push("ToolApproval".into());
        } else {
            manifest["interactionKinds"] = json!(["ToolApproval"]);
        }
    });
    let held = refused(&world, &["plugin", "update", "good-tool"]);
    stud_observed::covers!(UPDATE_RIGHTS_WIDENED, held);
    assert_eq!(
        held["context"]["added"],
        json!({"interactionKinds": ["ToolApproval"]})
    );
    assert_eq!(state(&world), "0.1.0");
    let text = world.stud(&["plugin", "update", "good-tool"]);
    assert!(
        text.stderr.contains("new: interactionKinds: ToolApproval"),
        "{text:#?}"
    );
    assert!(is_harmless(&text.stderr));

    // What is accepted is what was shown, whatever became of the source since.
    fs::remove_file(world.project().join("tool.so")).unwrap();
    let accepted = done(&world, &["plugin", "update", "good-tool", "--accept"]);
    assert_eq!(accepted["version"], "0.2.0");
    assert_eq!(
        accepted["widened"],
        json!({"interactionKinds": ["ToolApproval"]})
    );
    assert_eq!(state(&world), "0.2.0");
}

#[test]
fn a_removed_plugin_can_be_brought_back_with_its_config() {
    let world = World::new();
    done(
        &world,
        &[
            "plugin",
            "install",
            &built(&world, "old.so", version("0.1.0")),
        ],
    );
    world.write("home/tools/good-tool/config.json", "{\"enabled\": true}");
    let removed = done(&world, &["plugin", "remove", "good-tool"]);
    assert_eq!(removed["dependents"], json!([]));
    assert_eq!(entries(&list(&world), "good-tool").len(), 0);
    let diagnostic = refused(&world, &["plugin", "remove", "good-tool"]);
    assert_eq!(code(&diagnostic), "Validation/ExtensionNotFound");
    let kept = world.home().join(".install/removed/good-tool");
    done(&world, &["plugin", "install", kept.to_str().unwrap()]);
    let config = fs::read_to_string(world.path("home/tools/good-tool/config.json")).unwrap();
    assert_eq!(config, "{\"enabled\": true}");
    assert_eq!(state(&world), "0.1.0");
}

#[test]
fn a_plugin_that_was_put_there_by_hand_is_not_doubled() {
    let world = World::new();
    install_changed(&world, "good-tool", "home/tools/libgood_tool.so", |_| {});
    let source = built(&world, "new.so", version("0.2.0"));
    let diagnostic = refused(&world, &["plugin", "install", &source]);
    assert_eq!(code(&diagnostic), "Validation/RegistrationConflict");
    done(&world, &["plugin", "remove", "good-tool"]);
    done(&world, &["plugin", "install", &source]);
    assert_eq!(state(&world), "0.2.0");
}

#[test]
fn a_project_has_to_be_trusted() {
    let world = World::new();
    let source = built(&world, "old.so", version("0.1.0"));
    fs::create_dir_all(world.project().join(".stud")).unwrap();
    let diagnostic = refused(&world, &["plugin", "install", &source, "--project"]);
    assert_eq!(code(&diagnostic), "Session/ProjectTrustRequired");
    trust(&world);
    let installed = done(&world, &["plugin", "install", &source, "--project"]);
    assert_eq!(installed["scope"], "project");
    assert_eq!(entry(&list(&world), "good-tool")["scope"], "project");
}

#[test]
fn a_plugin_is_switched_off_and_on() {
    let world = World::new();
    done(
        &world,
        &[
            "plugin",
            "install",
            &built(&world, "old.so", version("0.1.0")),
        ],
    );
    let off = done(&world, &["plugin", "disable", "good-tool"]);
    assert_eq!(
        (&off["enabled"], &off["changed"]),
        (&false.into(), &true.into())
    );
    assert_eq!(entry(&list(&world), "good-tool")["status"], "disabled");
    done(&world, &["plugin", "enable", "good-tool"]);
    assert_eq!(entry(&list(&world), "good-tool")["status"], "active");
    assert_eq!(
        code(&refused(&world, &["plugin", "disable", "god-tool"])),
        "Validation/ExtensionNotFound"
    );
}

#[test]
fn the_cause_of_a_failure_is_found_by_halves() {
    let world = World::new();
    for name in [
        "good-tool",
        "good-command",
        "good-hook",
        "good-logger",
        "good-context-provider",
    ] {
        let library = fixture(name);
        done(&world, &["plugin", "install", library.to_str().unwrap()]);
    }
    let bisect = |world: &World, script: &str| -> Answer {
        world.stud(&["plugin", "bisect", "--json", "--", "sh", "-c", script])
    };
    let cause = bisect(
        &world,
        "case ,$STUD_LEAVE_OUT, in *,good-hook,*) ;; *) exit 1;; esac",
    );
    assert_eq!(cause.status, 0, "{cause:#?}");
    assert_eq!(cause.json()["cause"], json!(["good-hook"]));
    assert_eq!(bisect(&world, "true").json()["status"], "neverFails");
    assert_eq!(bisect(&world, "false").json()["status"], "failsWithoutAny");
    // Without a command, a plugin that is refused is the failure.
    install_changed(
        &world,
        "good-ui",
        "home/ui/good-ui/libgood_ui.so",
        |manifest| manifest["roles"] = json!([]),
    );
    let cause = world.stud(&["plugin", "bisect", "--json"]);
    assert_eq!(cause.json()["cause"], json!(["good-ui"]), "{cause:#?}");
}

/// The calls that change files, in the order a process makes them: a name, and which of that name.
fn changes(trace: &str) -> Vec<(String, usize)> {
    let mut seen = std::collections::BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let call = line.split_whitespace().find(|word| word.contains('('));
        let Some((name, _)) = call.and_then(|call| call.split_once('(')) else {
            continue;
        };
        if CHANGES.contains(&name) {
            let count = seen.entry(name.to_owned()).or_insert(0_usize);
            *count += 1;
            calls.push((name.to_owned(), *count));
        }
    }
    calls
}

const CHANGES: [&str; 8] = [
    "rename",
    "renameat2",
    "mkdir",
    "unlink",
    "unlinkat",
    "rmdir",
    "fsync",
    "flock",
];

fn traced(
    world: &World,
    inject: Option<(&str, usize)>,
    arguments: &[&str],
) -> (std::process::Output, PathBuf) {
    let file = world.path("trace");
    let plain = world.command();
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-e"])
        .arg(format!("trace={}", CHANGES.join(",")));
    if let Some((name, when)) = inject {
        command
            .arg("-e")
            .arg(format!("inject={name}:signal=SIGKILL:when={when}"));
    }
    command
        .arg("-o")
        .arg(&file)
        .arg(stud_tests::stud_program())
        .args(arguments)
        .env_clear()
        .envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(world.project());
    let output = command.output().unwrap_or_else(|error| {
        panic!("`strace` cannot be run: {error}; it is a package of that name")
    });
    (output, file)
}

/// Kills the program at each call that changes a file. What is in place before and after must be one of `wanted`; then
/// the same command completes.
fn killed_at_every_step(prepare: impl Fn(&World), arguments: &[&str], wanted: [Option<&[u8]>; 2]) {
    let world = World::new();
    prepare(&world);
    let (whole, trace) = traced(&world, None, arguments);
    assert!(
        whole.status.success(),
        "{}",
        String::from_utf8_lossy(&whole.stderr)
    );
    let steps = changes(&fs::read_to_string(trace).unwrap());
    assert!(steps.len() > 8, "{steps:?}");
    let mut killed = 0;
    let mut found = [false; 2];
    for (name, when) in &steps {
        let world = World::new();
        prepare(&world);
        let (output, _) = traced(&world, Some((name, *when)), arguments);
        if output.status.success() {
            continue;
        }
        killed += 1;
        let place = fs::read(world.path(PLACE)).ok();
        let state = wanted.iter().position(|wanted| place.as_deref() == *wanted);
        let state = state.unwrap_or_else(|| panic!("neither old nor new after {name} {when}"));
        found[state] = true;
        // The lock file agrees with the place once the next operation has begun, and the command completes or has been.
        let again = world.stud(arguments);
        let lock = fs::read_to_string(world.home().join("plugins.lock.json")).unwrap_or_default();
        let now = fs::read(world.path(PLACE)).ok();
        assert_eq!(now.as_deref(), wanted[1], "after {name} {when}: {again:#?}");
        assert_eq!(
            lock.contains("good-tool"),
            wanted[1].is_some(),
            "after {name} {when}: {lock}"
        );
    }
    assert!(killed > 8, "only {killed} of {} were kills", steps.len());
    assert_eq!(found, [true, true], "both outcomes were seen");
}

/// A library small enough to be copied often.
fn bytes(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    Elf::read(&fixture("good-tool")).with_manifest(change).bytes
}

#[test]
fn an_installation_that_is_killed_leaves_nothing_or_the_plugin() {
    let new = bytes(version("0.2.0"));
    let prepare = |world: &World| {
        world.write("project/new.so", &new);
    };
    killed_at_every_step(
        prepare,
        &["plugin", "install", "new.so"],
        [None, Some(&new)],
    );
}

#[test]
fn an_update_that_is_killed_leaves_the_old_or_the_new_build() {
    let (old, new) = (bytes(version("0.1.0")), bytes(version("0.2.0")));
    let first = World::new();
    first.write("project/tool.so", &old);
    done(&first, &["plugin", "install", "tool.so"]);
    let lock = fs::read(first.home().join("plugins.lock.json")).unwrap();
    let prepare = |world: &World| {
        world.write(PLACE, &old);
        world.write("home/plugins.lock.json", &lock);
        world.write("project/new.so", &new);
    };
    let update = ["plugin", "update", "good-tool", "--from", "new.so"];
    killed_at_every_step(prepare, &update, [Some(&old), Some(&new)]);
}

#[test]
fn a_removal_that_is_killed_leaves_the_plugin_or_nothing() {
    let old = bytes(version("0.1.0"));
    let first = World::new();
    first.write("project/tool.so", &old);
    done(&first, &["plugin", "install", "tool.so"]);
    let lock = fs::read(first.home().join("plugins.lock.json")).unwrap();
    let prepare = |world: &World| {
        world.write(PLACE, &old);
        world.write("home/plugins.lock.json", &lock);
    };
    killed_at_every_step(
        prepare,
        &["plugin", "remove", "good-tool"],
        [Some(&old), None],
    );
}
