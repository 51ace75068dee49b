//! Where a flow takes place: a world with the bundled plugins in one of two forms, and the program run in it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use stud_tests::{Carried, Elf, Terminal, World, carried, eventually, fixture, opened_copies};

use crate::talk::Talk;

/// How the program comes by the plugins it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// They are part of the program.
    Embedded,
    /// The same plugins lie in the global scope as libraries, every one, and hide those.
    Libraries,
}

/// Lets a flow happen twice: with the bundled plugins embedded, and with the same plugins as libraries.
pub(crate) fn in_both_forms(flow: impl Fn(&Bench)) {
    for form in [Form::Embedded, Form::Libraries] {
        // A test that fails says in which form.
        println!("the bundled plugins are {form:?}");
        flow(&Bench::new(form));
    }
}

/// A home, a project, and the bundled plugins in one form.
pub(crate) struct Bench {
    pub(crate) world: World,
    pub(crate) form: Form,
}

impl Bench {
    fn new(form: Form) -> Self {
        let bench = Self {
            world: World::new(),
            form,
        };
        if form == Form::Libraries {
            bench.hold_libraries();
        }
        bench
    }

    /// Puts every plugin that the program carries into the global scope. They are links, and so is the place for the
    /// copies that are opened: a hundred megabytes for each flow would take their time.
    fn hold_libraries(&self) {
        for Carried {
            package,
            folder,
            library,
        } in carried()
        {
            let name = library.file_name().unwrap().to_str().unwrap();
            self.world
                .link(format!("home/{folder}/{package}/{name}"), &library);
        }
        let copies = opened_copies();
        std::fs::create_dir_all(&copies).unwrap();
        self.world.link("home/cache/plugins", &copies);
    }

    /// The layer that the bundled plugins are found in.
    pub(crate) fn layer(&self) -> &'static str {
        match self.form {
            Form::Embedded => "bundled",
            Form::Libraries => "global",
        }
    }

    /// Puts a plugin into the global scope as it is.
    pub(crate) fn install(&self, package: &str, folder: &str) {
        let name = package.replace('-', "_");
        let library = std::fs::read(fixture(package)).unwrap();
        self.world
            .write(format!("home/{folder}/{package}/lib{name}.so"), library);
    }

    /// Puts a plugin into a folder, its manifest changed.
    pub(crate) fn place(&self, package: &str, folder: &str, change: impl FnOnce(&mut Value)) {
        let library = Elf::read(&fixture(package)).with_manifest(change);
        let name = package.replace('-', "_");
        self.world
            .write(format!("{folder}/lib{name}.so"), library.bytes);
    }

    /// Puts a scripted hook on a slot, under a name of its own. It writes what it sees to the common log.
    pub(crate) fn hook(&self, package: &str, id: &str, slot: &str, config: Value) {
        self.hook_in("home", package, id, slot, config);
    }

    /// The same in a scope of its own: `home`, or `project/.stud`.
    pub(crate) fn hook_in(&self, root: &str, package: &str, id: &str, slot: &str, config: Value) {
        self.set_hook(root, package, id, slot, config, |_| {});
    }

    /// The same as [`hook`](Self::hook), with more of its manifest changed.
    pub(crate) fn hook_with(
        &self,
        package: &str,
        id: &str,
        slot: &str,
        config: Value,
        change: impl FnOnce(&mut Value),
    ) {
        self.set_hook("home", package, id, slot, config, change);
    }

    fn set_hook(
        &self,
        root: &str,
        package: &str,
        id: &str,
        slot: &str,
        config: Value,
        change: impl FnOnce(&mut Value),
    ) {
        let folder = format!("{root}/hooks/{id}");
        self.place(package, &folder, |manifest| {
            manifest["extId"] = id.into();
            manifest["discoveryRules"]["manifestKey"] = id.into();
            manifest["registration"]["slot"] = slot.into();
            change(manifest);
        });
        let mut whole = json!({"name": id, "log": self.hook_log()});
        for (key, value) in config.as_object().unwrap() {
            whole[key] = value.clone();
        }
        self.world
            .write(format!("{folder}/config.json"), whole.to_string());
    }

    fn hook_log(&self) -> PathBuf {
        self.world.path("hooks.log")
    }

    /// What the scripted hooks wrote down, in order.
    pub(crate) fn hooked(&self) -> Vec<Value> {
        lines(&self.hook_log())
    }

    /// The hooks that ran, in order.
    pub(crate) fn hooks_that_ran(&self) -> Vec<String> {
        let ran = self.hooked().into_iter();
        ran.filter(|line| line.get("saw").is_some())
            .map(|line| line["hook"].as_str().unwrap().to_owned())
            .collect()
    }

    /// What one hook saw, in order.
    pub(crate) fn seen_by(&self, hook: &str) -> Vec<Value> {
        let lines = self.hooked().into_iter();
        lines
            .filter(|line| line["hook"] == hook && line.get("saw").is_some())
            .map(|mut line| line["saw"].take())
            .collect()
    }

    /// Puts a scripted UI into the world.
    pub(crate) fn ui(&self, id: &str, script: &Value) -> Ui {
        self.ui_as(id, script, &["subscriber", "interactor"])
    }

    /// A UI that hears every event and can be asked nothing.
    pub(crate) fn ear(&self) -> Ui {
        self.ui_as("ear", &json!({}), &["subscriber"])
    }

    fn ui_as(&self, id: &str, script: &Value, roles: &[&str]) -> Ui {
        self.place("script-ui", &format!("home/ui/{id}"), |manifest| {
            manifest["extId"] = id.into();
            manifest["discoveryRules"]["manifestKey"] = id.into();
            manifest["roles"] = json!(roles);
        });
        let log = self.world.path(format!("{id}.log"));
        let script = self.world.write(format!("{id}.script"), script.to_string());
        let config = json!({"script": script, "log": log});
        self.world
            .write(format!("home/ui/{id}/config.json"), config.to_string());
        Ui { log }
    }

    /// Sets the global settings.
    pub(crate) fn settings(&self, settings: &Value) {
        self.world.write("home/settings.json", settings.to_string());
    }

    /// The global settings as they stand in the file.
    pub(crate) fn settings_text(&self) -> String {
        std::fs::read_to_string(self.world.home().join("settings.json")).unwrap()
    }

    /// Trusts the project; its folder is made if need be.
    pub(crate) fn trust(&self) {
        std::fs::create_dir_all(self.world.project().join(".stud")).unwrap();
        let answer = self.world.stud(&["trust"]);
        assert_eq!(answer.status, 0, "{answer:#?}");
    }

    /// Runs `stud --headless` on one input.
    pub(crate) fn headless(&self, more: &[&str], input: &str) -> Run {
        Self::run(self.world.command().arg("--headless").args(more), input)
    }

    /// The same with these variables in its environment.
    pub(crate) fn headless_with(&self, variables: &[(&str, &str)], input: &str) -> Run {
        let mut command = self.world.command();
        let variables = variables.iter().copied();
        Self::run(command.arg("--headless").envs(variables), input)
    }

    fn run(command: &mut Command, input: &str) -> Run {
        let mut stud = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that does not read its input to the end has said why.
        let _ = stud.stdin.take().unwrap().write_all(input.as_bytes());
        Run::of(&stud.wait_with_output().unwrap())
    }

    /// Starts `stud` with pipes for a terminal.
    pub(crate) fn talk(&self, more: &[&str]) -> Talk {
        Talk::begin(self.world.command().args(more))
    }

    /// Starts `stud` at a terminal.
    pub(crate) fn terminal(&self, more: &[&str]) -> Terminal {
        Terminal::start(self.world.command().args(more))
    }

    /// What was put on record outside any session, in order.
    pub(crate) fn deeds(&self) -> Vec<Value> {
        lines(&self.world.home().join("audit.jsonl"))
    }

    /// Fails if a text stands in any file of the home but this one.
    pub(crate) fn nowhere_but(&self, file: &str, text: &str) {
        let home = self.world.home();
        let mut folders = vec![home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                // What a link leads to was there before.
                if path.is_symlink() {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else if path != home.join(file) {
                    let bytes = std::fs::read(&path).unwrap();
                    let found = String::from_utf8_lossy(&bytes).contains(text);
                    assert!(!found, "it stands in {}", path.display());
                }
            }
        }
    }

    /// The sessions that are kept, oldest first.
    pub(crate) fn sessions(&self) -> Vec<String> {
        let folder = self.world.home().join("sessions");
        // There is no folder before the first session.
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        let mut ids: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        // Ids begin with the time at which they were made.
        ids.sort();
        ids
    }

    /// The audit trail of the newest session.
    pub(crate) fn audit(&self) -> Vec<Value> {
        let session = self.sessions().pop().unwrap();
        let output = self
            .world
            .command()
            .args(["audit", "show", &session, "--json"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let records = text.lines();
        records
            .map(|record| serde_json::from_str(record).unwrap())
            .collect()
    }

    /// The audit records of one class, in order.
    pub(crate) fn audited(&self, class: &str) -> Vec<Value> {
        let mut records = self.audit();
        records.retain(|record| record["class"] == class);
        records
    }

    /// The transcript of the newest session: each record with its kind and payload.
    pub(crate) fn transcript(&self) -> Vec<Value> {
        let session = self.sessions().pop().unwrap();
        let journal = self.world.home().join("sessions").join(session);
        let text = std::fs::read_to_string(journal.join("journal.log")).unwrap();
        let records = text.lines();
        records
            .map(|line| {
                // A checksum, the number, the place in its batch and a sign stand before the record.
                let record = line.splitn(5, ' ').last().unwrap();
                serde_json::from_str(record).unwrap()
            })
            .collect()
    }

    /// The payloads of the records of one kind, in order.
    pub(crate) fn recorded(&self, kind: &str) -> Vec<Value> {
        let records = self.transcript().into_iter();
        records
            .filter(|record| record["kind"] == kind)
            .map(|mut record| record["payload"].take())
            .collect()
    }
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// The answer of a run that went well.
    pub(crate) fn answer(&self) -> &str {
        assert_eq!(self.status, 0, "{self:#?}");
        self.stdout.trim_end()
    }

    /// The tool result that `echo` told, of a run that went well.
    pub(crate) fn result(&self) -> Value {
        let answer = self.answer();
        let result = answer.strip_prefix("RESULT ");
        let result = result.unwrap_or_else(|| panic!("{answer} is no result"));
        serde_json::from_str(result).unwrap()
    }
}

/// A scripted UI, by its log.
pub(crate) struct Ui {
    log: PathBuf,
}

impl Ui {
    /// Everything it heard, in order: `heard`, `seq`, `correlationId`, `payload`.
    pub(crate) fn events(&self) -> Vec<Value> {
        let mut events = lines(&self.log);
        events.retain(|line| line.get("heard").is_some());
        events
    }

    /// The payloads of all events of this name, in order.
    pub(crate) fn heard(&self, name: &str) -> Vec<Value> {
        let events = self.events().into_iter();
        events
            .filter(|event| event["heard"] == name)
            .map(|mut event| event["payload"].take())
            .collect()
    }

    /// Waits until so many turns are over, snapshot and all.
    pub(crate) fn sees_turns(&self, count: usize) {
        eventually("the end of a turn", || {
            (self.heard("SessionPersisted").len() >= count).then_some(())
        });
    }

    /// The names of the events of the only turn, from its start to its end.
    pub(crate) fn turn(&self) -> Vec<String> {
        let events = self.events();
        let place = |name: &str| events.iter().position(|event| event["heard"] == name);
        let (start, end) = (place("SessionTurnStart"), place("SessionTurnEnd"));
        let turn = &events[start.unwrap()..=end.unwrap()];
        turn.iter()
            .map(|event| event["heard"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The stages that began and ended, in order: `pre RECEIVE_INPUT`, `post RECEIVE_INPUT` and so on.
    pub(crate) fn stages(&self) -> Vec<String> {
        let events = self.events().into_iter();
        events
            .filter_map(|event| {
                let when = match event["heard"].as_str()? {
                    "StagePreFired" => "pre",
                    "StagePostFired" => "post",
                    _ => return None,
                };
                Some(format!("{when} {}", event["payload"]["stage"].as_str()?))
            })
            .collect()
    }

    /// The names of the events inside each run of a stage.
    pub(crate) fn inside(&self, stage: &str) -> Vec<Vec<String>> {
        let mut runs = Vec::new();
        let mut open = None;
        for event in self.events() {
            let name = event["heard"].as_str().unwrap().to_owned();
            let is_border = event["payload"]["stage"] == stage;
            match (name.as_str(), &mut open) {
                ("StagePreFired", None) if is_border => open = Some(Vec::new()),
                ("StagePostFired", Some(_)) if is_border => runs.extend(open.take()),
                (_, Some(inside)) => inside.push(name),
                (_, None) => {}
            }
        }
        runs
    }

    /// All prompts it saw, in order: the requests.
    pub(crate) fn asked(&self) -> Vec<Value> {
        let seen = lines(&self.log).into_iter();
        seen.filter(|line| line.get("saw").is_some())
            .map(|mut line| line["request"].take())
            .collect()
    }

    /// All lines of its log.
    pub(crate) fn lines(&self) -> Vec<Value> {
        lines(&self.log)
    }
}

fn lines(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Where the first of these stands among those; fails if it is not there.
pub(crate) fn place(names: &[String], name: &str) -> usize {
    let place = names.iter().position(|other| other == name);
    place.unwrap_or_else(|| panic!("no `{name}` in {names:#?}"))
}

/// The members of an object, sorted.
pub(crate) fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<_> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}

/// An answer to `Approve` that a scripted UI gives.
pub(crate) fn approve(how: &Value) -> Value {
    let mut value = json!({"decision": "approve"});
    for (key, member) in how.as_object().unwrap() {
        value[key] = member.clone();
    }
    json!({"do": "accept", "value": value})
}

/// A no to `Approve` that a scripted UI gives.
pub(crate) fn deny() -> Value {
    json!({"do": "accept", "value": {"decision": "deny"}})
}
