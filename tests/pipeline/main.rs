//! From folders to a registry, in the test's own process and with real libraries.
#![forbid(unsafe_code)]

mod in_session;
mod layers;
mod mutations;
mod order;
mod reload;

use serde_json::Value;
use stud_core::report::{PluginReport, Status};
use stud_core::startup::Started;
use stud_tests::{Elf, World, fixture};

/// Puts a fixture into a world, its manifest changed.
fn install(world: &World, package: &str, place: &str, change: impl FnOnce(&mut Value)) {
    world.write(
        place,
        Elf::read(&fixture(package)).with_manifest(change).bytes,
    );
}

/// A tool called `id` in the home, its manifest changed further.
fn tool(world: &World, id: &str, change: impl FnOnce(&mut Value)) {
    install(
        world,
        "good-tool",
        &format!("home/tools/{id}/libtool.so"),
        |manifest| {
            manifest["extId"] = id.into();
            manifest["tools"][0]["name"] = id.replace('-', "_").into();
            change(manifest);
        },
    );
}

/// The reports about one id, lowest scope first.
fn reports<'a>(started: &'a Started, id: &str) -> Vec<&'a PluginReport> {
    started
        .reports
        .iter()
        .filter(|report| report.ext_id == id)
        .collect()
}

/// The code a plugin was refused with.
fn refusal(started: &Started, id: &str) -> Option<String> {
    let report = reports(started, id)
        .into_iter()
        .find(|report| report.status == Status::Disabled)?;
    report.diagnostics.first().map(|why| why.code.to_string())
}
