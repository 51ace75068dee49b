//! No code of a plugin runs that is refused before `load`, shown with one that leaves a trace when it runs.

use std::path::PathBuf;

use stud_tests::{Elf, World, fixture};

use crate::case::Case;
use crate::prepare::prepare;

/// Does to the tell-tale plugin what each case does to its own.
///
/// Not every change means something to another plugin's manifest; where it is refused early, nothing may have run.
pub(crate) fn check(cases: &[PathBuf]) -> Result<(), String> {
    if !leaves_trace(&Case::of("hostile"))?.ran {
        return Err("the plugin left no trace although it was opened".to_owned());
    }
    let mut refused = 0;
    for path in cases {
        let (case, _) = Case::load(path)?;
        if case.fixture.is_none() {
            continue;
        }
        let case = Case {
            set: case.set,
            remove: case.remove,
            library: case.library,
            ..Case::of("hostile")
        };
        let outcome = leaves_trace(&case)?;
        if outcome.refused_early {
            refused += 1;
            if outcome.ran {
                return Err(format!("code of the plugin ran in {}", path.display()));
            }
        }
    }
    // A change of the cases should not leave this test with nothing to look at.
    if refused < 50 {
        return Err(format!(
            "only {refused} cases refuse the plugin before it is opened"
        ));
    }
    Ok(())
}

/// What is disabled is listed and not opened; a plugin in an untrusted project is not even listed.
pub(crate) fn unwanted() -> Result<(), String> {
    for (place, config, listed) in [
        ("home/ui/hostile", r#"{"enabled": false}"#, true),
        ("project/.stud/ui/hostile", "{}", false),
    ] {
        let mut world = World::new();
        let marker = world.path("marker");
        world.set("STUD_HOSTILE_MARKER", &marker.display().to_string());
        world.write(format!("{place}/config.json"), config);
        let library = Elf::read(&fixture("hostile"));
        world.write(format!("{place}/libhostile.so"), library.bytes);
        let answer = world.stud(&["plugin", "list", "--json"]);
        let report = answer.json();
        let mut plugins = report["plugins"].as_array().into_iter().flatten();
        let found = plugins.find(|plugin| plugin["extId"] == "hostile");
        let status = found.map(|plugin| plugin["status"].clone());
        if status != listed.then(|| "disabled".into()) || marker.exists() {
            return Err(format!(
                "the plugin in {place} was not left alone: {answer:#?}"
            ));
        }
    }
    Ok(())
}

struct Outcome {
    refused_early: bool,
    ran: bool,
}

fn leaves_trace(case: &Case) -> Result<Outcome, String> {
    let mut world = World::new();
    let marker = world.path("marker");
    world.set("STUD_HOSTILE_MARKER", &marker.display().to_string());
    let library = prepare(&world, case)?.ok_or("no library")?;
    let answer = world.stud(&[
        "plugin",
        "check",
        &library.path.display().to_string(),
        "--json",
    ]);
    let report = answer.json();
    let stages = report["stages"].as_array().into_iter().flatten();
    let opened = stages.into_iter().any(|stage| stage["stage"] == "load");
    Ok(Outcome {
        refused_early: report["status"] == "refused" && !opened,
        ran: marker.exists(),
    })
}
