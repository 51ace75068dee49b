//! What the tests put into a world, and how they look at what happens there.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use stud_tests::{Door, Elf, Live, World, eventually, fixture};

/// A UI that does what a script says, and its log.
pub(crate) struct Ui {
    pub(crate) id: String,
    pub(crate) door: Door,
    log: PathBuf,
}

/// Puts a UI into a world.
pub(crate) fn ui(world: &World, id: &str, script: &Value) -> Ui {
    ui_as(world, id, script, |_| {})
}

/// Puts a UI into a world, its manifest changed.
pub(crate) fn ui_as(
    world: &World,
    id: &str,
    script: &Value,
    change: impl FnOnce(&mut Value),
) -> Ui {
    build_ui(world, id, change);
    let ui = Ui {
        id: id.to_owned(),
        door: Door::listen(&world.path(format!("{id}.door"))),
        log: world.path(format!("{id}.log")),
    };
    write_script(world, id, script);
    let config = json!({
        "script": world.path(format!("{id}.script")),
        "log": ui.log,
        "door": ui.door.path(),
    });
    world.write(format!("home/ui/{id}/config.json"), config.to_string());
    ui
}

/// Builds the UI anew, its manifest changed.
pub(crate) fn build_ui(world: &World, id: &str, change: impl FnOnce(&mut Value)) {
    let library = Elf::read(&fixture("script-ui")).with_manifest(|manifest| {
        manifest["extId"] = id.into();
        change(manifest);
    });
    let place = format!("home/ui/{id}/libscript_ui.so");
    // A library that runs is mapped: the new one takes its name, and not its bytes.
    let _ = std::fs::remove_file(world.path(&place));
    world.write(place, library.bytes);
}

/// Gives a UI another script, for its next generation.
pub(crate) fn write_script(world: &World, id: &str, script: &Value) {
    world.write(format!("{id}.script"), script.to_string());
}

/// A UI that answers prompts and hears nothing.
pub(crate) fn deaf(manifest: &mut Value) {
    manifest["roles"] = json!(["interactor"]);
}

/// A UI that hears and answers nothing.
pub(crate) fn mute(manifest: &mut Value) {
    manifest["roles"] = json!(["subscriber"]);
}

/// Puts the fixture tools into a world.
pub(crate) fn tools(world: &World) {
    install(world, "fixture-tools", "tools");
}

/// Puts a fixture into its category's folder as it is.
pub(crate) fn install(world: &World, package: &str, folder: &str) {
    let library = Elf::read(&fixture(package)).bytes;
    let name = package.replace('-', "_");
    world.write(format!("home/{folder}/{package}/lib{name}.so"), library);
}

/// Puts a probe into its category's folder.
pub(crate) fn probe(world: &World, package: &str, folder: &str) -> Door {
    install(world, package, folder);
    let door = Door::listen(&world.path(format!("{package}.door")));
    let config = json!({"door": door.path()});
    world.write(
        format!("home/{folder}/{package}/config.json"),
        config.to_string(),
    );
    door
}

impl Ui {
    /// Everything it wrote down.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The first line that fits, as soon as it is there.
    pub(crate) fn line(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let what = format!("{what} in the log of `{}`", self.id);
        eventually(&what, || self.lines().into_iter().find(&fits))
    }

    /// The first event of this name that it heard.
    pub(crate) fn heard(&self, name: &str) -> Value {
        self.line(name, |line| line["heard"] == name)
    }

    /// All events of this name that it has heard so far.
    pub(crate) fn all_heard(&self, name: &str) -> Vec<Value> {
        let mut lines = self.lines();
        lines.retain(|line| line["heard"] == name);
        lines
    }

    /// The first prompt of this kind that it saw: the request.
    pub(crate) fn saw(&self, kind: &str) -> Value {
        self.line(kind, |line| line["saw"] == kind)["request"].take()
    }

    /// All prompts it has seen so far.
    pub(crate) fn all_seen(&self) -> Vec<Value> {
        let seen = self
            .lines()
            .into_iter()
            .filter(|line| line["saw"].is_string());
        seen.map(|mut line| line["request"].take()).collect()
    }

    /// The line that reports the cancellation of this prompt, once it is written.
    pub(crate) fn called_off(&self, interaction_id: &Value) -> Value {
        self.line("a prompt that is called off", |line| {
            line["calledOff"].is_string() && line["interactionId"] == *interaction_id
        })
    }
}

/// The events of a session from now on, as the test itself hears them.
#[derive(Clone)]
pub(crate) struct Ear(Arc<Mutex<Vec<Value>>>);

impl Ear {
    pub(crate) fn of(live: &Live) -> Self {
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = events.clone();
        live.hear(move |event| {
            let payload: Value = serde_json::from_str(&event.payload).unwrap();
            heard.lock().unwrap().push(json!({
                "heard": *event.name,
                "seq": event.seq,
                "correlationId": *event.correlation_id,
                "payload": payload,
            }));
        });
        Self(events)
    }

    /// Everything so far.
    pub(crate) fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }

    /// The first event that fits, as soon as it is there.
    pub(crate) fn event(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        eventually(what, || self.all().into_iter().find(&fits))
    }

    /// The first event of this name.
    pub(crate) fn named(&self, name: &str) -> Value {
        self.event(name, |event| event["heard"] == name)
    }

    /// All events of this name so far.
    pub(crate) fn all_named(&self, name: &str) -> Vec<Value> {
        let mut events = self.all();
        events.retain(|event| event["heard"] == name);
        events
    }
}
