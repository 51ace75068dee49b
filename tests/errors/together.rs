//! One plugin of each category side by side: a refused plugin does not stop the others.

use serde_json::Value;
use stud_tests::{Elf, World, fixture};

/// A fixture, the folder of its category, and what becomes of it when nothing is wrong.
const EVERYONE: [(&str, &str, &str); 12] = [
    ("good-provider", "providers", "active"),
    ("good-tool", "tools", "active"),
    ("host-probe", "tools", "active"),
    ("good-hook", "hooks", "active"),
    ("good-ui", "ui", "active"),
    ("good-region", "ui", "active"),
    ("hostile", "ui", "active"),
    ("good-logger", "loggers", "active"),
    // A machine waits to be attached, and a store to be chosen.
    ("good-state-machine", "state-machines", "loaded"),
    ("good-command", "commands", "active"),
    ("good-session-store", "session-stores", "loaded"),
    ("good-context-provider", "context-providers", "active"),
];

/// Something that is wrong with one of them.
struct Wrong {
    name: &'static str,
    with: &'static str,
    change: fn(Elf) -> Elf,
    env: Option<&'static str>,
}

const WRONGS: [Wrong; 8] = [
    wrong("a-file-cut-short", "good-provider", |library| {
        library.truncated(5000)
    }),
    wrong("no-kind", "good-hook", |library| {
        library.with_manifest(|manifest| manifest["kind"] = Value::Null)
    }),
    wrong("another-contract", "good-command", |library| {
        library.with_manifest(|manifest| manifest["contractVersion"] = "7.0.0".into())
    }),
    wrong("no-role", "good-region", |library| {
        library.with_manifest(|manifest| manifest["roles"] = Value::Array(Vec::new()))
    }),
    wrong("a-dependency-missing", "good-tool", |library| {
        library.with_manifest(|manifest| {
            manifest["dependsOn"] = serde_json::json!([{"kind": "UI", "name": "none"}]);
        })
    }),
    wrong("a-library-missing", "good-logger", |library| {
        library.with_words("libgcc_s.so.1", "libgcc_x.so.1")
    }),
    Wrong {
        env: Some("entry-panic"),
        ..wrong("a-panic-in-the-entry", "hostile", |library| library)
    },
    Wrong {
        env: Some("activate-panic"),
        ..wrong("a-panic-in-activate", "hostile", |library| library)
    },
];

const fn wrong(name: &'static str, with: &'static str, change: fn(Elf) -> Elf) -> Wrong {
    Wrong {
        name,
        with,
        change,
        env: None,
    }
}

/// The tests by name: everyone as they are, then with one fault after the other.
pub(crate) fn tests() -> impl Iterator<Item = (String, impl Fn() -> Result<(), String> + Send)> {
    let faults = WRONGS.iter().map(Some);
    std::iter::once(None).chain(faults).map(|wrong| {
        let name = wrong.map_or("nothing-wrong", |wrong| wrong.name);
        (format!("together/{name}"), move || live(wrong))
    })
}

/// Everyone is installed, perhaps one of them broken; everyone else must do as ever.
fn live(wrong: Option<&Wrong>) -> Result<(), String> {
    let mut world = World::new();
    if let Some(fault) = wrong.and_then(|wrong| wrong.env) {
        world.set("STUD_HOSTILE", fault);
    }
    for (package, folder, _) in EVERYONE {
        let library = Elf::read(&fixture(package));
        let library = match wrong {
            Some(wrong) if wrong.with == package => (wrong.change)(library),
            _ => library,
        };
        let file = fixture(package);
        let file = file.file_name().unwrap_or_default().to_string_lossy();
        world.write(format!("home/{folder}/{file}"), library.bytes);
    }
    let answer = world.stud(&["plugin", "list", "--json"]);
    if answer.status != 0 {
        return Err(format!("the list failed: {answer:#?}"));
    }
    let listed = answer.json();
    let plugins: Vec<&Value> = listed["plugins"].as_array().into_iter().flatten().collect();
    for (package, _, status) in EVERYONE {
        let is_wrong = wrong.is_some_and(|wrong| wrong.with == package);
        let expected = if is_wrong { "disabled" } else { status };
        // A plugin whose manifest was not read goes by the name of its file.
        let by_file = package.replace('-', "_");
        let found = plugins
            .iter()
            .find(|plugin| plugin["extId"] == package || plugin["extId"] == by_file.as_str())
            .ok_or_else(|| format!("`{package}` is not listed: {answer:#?}"))?;
        if found["status"] != expected {
            return Err(format!("`{package}` should be {expected}: {found:#}"));
        }
        let said = found["diagnostics"].as_array().map_or(0, Vec::len);
        if said != usize::from(is_wrong) {
            return Err(format!(
                "there are {said} diagnostics about `{package}`: {found:#}"
            ));
        }
    }
    Ok(())
}
