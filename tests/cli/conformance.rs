//! `stud plugin check --conformance`.

use serde_json::{Value, json};
use stud_tests::{Elf, World, fixture};

use crate::support::{code, failure};

/// The library of `messy-tool`, whose samples leave this behind.
fn messy(world: &World, what: &str) -> String {
    let library = Elf::read(&fixture("messy-tool")).with_manifest(|manifest| {
        manifest["tools"][0]["inputSchema"]["properties"]["what"] = json!({"enum": [what]});
    });
    world.write("project/libmessy_tool.so", library.bytes);
    "libmessy_tool.so".to_owned()
}

fn conformance(world: &World, arguments: &[&str]) -> (i32, Value) {
    let start = ["plugin", "check", "--conformance", "--json"];
    let arguments: Vec<&str> = start.iter().chain(arguments).copied().collect();
    let answer = world.stud(&arguments);
    assert_eq!(answer.stderr, "", "{answer:#?}");
    (answer.status, answer.json())
}

fn failed(report: &Value) -> Vec<&str> {
    let cases = report["conformance"]["cases"].as_array().unwrap().iter();
    cases
        .filter(|case| case["status"] == "fail")
        .map(|case| case["id"].as_str().unwrap())
        .collect()
}

#[test]
fn good_libraries_conform() {
    let world = World::new();
    for name in [
        "good-tool",
        "good-hook",
        "good-command",
        "good-ui",
        "good-provider",
        "good-logger",
        "good-state-machine",
        "good-session-store",
        "good-context-provider",
    ] {
        let library = fixture(name);
        let (status, report) = conformance(&world, &[library.to_str().unwrap()]);
        assert_eq!(
            (status, failed(&report)),
            (0, Vec::new()),
            "{name}: {report:#}"
        );
        assert_eq!(report["status"], "ok");
        let badge = report["conformance"]["badge"].as_str().unwrap();
        assert!(badge.starts_with("conforms to "), "{badge}");
    }
}

#[test]
fn what_a_process_is_left_with_is_looked_at() {
    let world = World::new();
    for (what, case) in [
        ("thread", "process.no-threads"),
        ("noise", "process.silent"),
    ] {
        let library = messy(&world, what);
        let (status, report) = conformance(&world, &[&library, "--junit", "report.xml"]);
        assert_eq!((status, failed(&report)), (1, vec![case]), "{report:#}");
        let xml = std::fs::read_to_string(world.project().join("report.xml")).unwrap();
        assert!(xml.contains("failures=\"1\""), "{xml}");
    }
    let text = world.stud(&["plugin", "check", "--conformance", "libmessy_tool.so"]);
    assert!(text.stdout.contains("FAIL  process.silent"), "{text:#?}");
    assert!(text.stdout.contains("it wrote: look at me"), "{text:#?}");
}

#[test]
fn a_plugin_that_ends_the_process_is_a_diagnostic() {
    let world = World::new();
    let library = messy(&world, "exit");
    let diagnostic =
        failure(&world.stud(&["plugin", "check", "--conformance", "--json", &library]));
    assert_eq!(code(&diagnostic), "ExtensionHost/LifecycleFailure");
}

#[test]
fn config_fixtures_come_from_a_folder() {
    let world = World::new();
    world.write("project/configs/valid.json", "{\"noSuchMember\": 1}");
    let library = fixture("good-tool");
    let (status, report) = conformance(
        &world,
        &[library.to_str().unwrap(), "--fixtures", "configs"],
    );
    assert_eq!(
        (status, failed(&report)),
        (1, vec!["config.valid"]),
        "{report:#}"
    );
}

#[test]
fn a_bundled_plugin_is_named_by_its_id() {
    let world = World::new();
    let (status, report) = conformance(&world, &["echo"]);
    assert_eq!((status, failed(&report)), (0, Vec::new()), "{report:#}");
    assert_eq!(report["conformance"]["extId"], "echo");
}

#[test]
fn a_refused_library_runs_no_case() {
    let world = World::new();
    world.write("project/text.so", "text");
    let (status, report) = conformance(&world, &["text.so"]);
    assert_eq!((status, &report["status"]), (1, &"refused".into()));
    assert!(report.get("conformance").is_none());
}
