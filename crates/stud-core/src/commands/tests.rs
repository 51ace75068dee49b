use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use serde_json::{Value, json};
use stud_contract_command::{CommandDeclaration, Draft, Rendered};
use stud_diagnostics::Class;
use stud_host_api::BoxFuture;
use stud_host_api::audit::AuditQuery;
use stud_host_api::commands::Completion;

use super::*;
use crate::audit::Trail;
use crate::events::{Bus, Event, Service, Subscriber};
use crate::executor::block_on;
use crate::ledger::{Draft as Record, Ledger};
use crate::plugin_scope::Scope;
use crate::redact::Redactor;
use crate::store::MemoryStore;
use crate::sync::{Promised, lock};
use crate::timer::ManualTimer;

mod completing;
mod finding;
mod waiting;

type Run =
    dyn Fn(Arc<Room>, String, CallContext) -> BoxFuture<'static, Result<Rendered>> + Send + Sync;
type Complete = dyn Fn(&Draft) -> Result<Vec<Completion>> + Send + Sync;

/// A command plugin that does what a test says.
struct Fake {
    ext_id: &'static str,
    scope: Scope,
    commands: Vec<CommandDeclaration>,
    aliases: Vec<&'static str>,
    room: std::sync::Weak<Room>,
    run: Box<Run>,
    complete: Box<Complete>,
}

impl CommandSource for Fake {
    fn ext_id(&self) -> &str {
        self.ext_id
    }

    fn scope(&self) -> Scope {
        self.scope
    }

    fn generation(&self) -> u64 {
        1
    }

    fn commands(&self) -> &[CommandDeclaration] {
        &self.commands
    }

    fn aliases(&self) -> Vec<String> {
        self.aliases.iter().map(ToString::to_string).collect()
    }

    fn run<'a>(
        &'a self,
        _: &'a str,
        args: String,
        cx: CallContext,
    ) -> BoxFuture<'a, Result<Rendered>> {
        let room = self.room.upgrade().unwrap();
        lock(&room.ran).push(self.ext_id.to_owned());
        (self.run)(room, args, cx)
    }

    fn complete(&self, _: &str, draft: &Draft) -> Result<Vec<Completion>> {
        (self.complete)(draft)
    }
}

/// A session as far as commands see one.
struct Room {
    commands: Commands,
    books: Arc<Recorder>,
    scope: CancellationSource,
    turn: Mutex<Option<String>>,
    /// The end of a turn that has its answer.
    closing: Mutex<Option<Promised<()>>>,
    handlers: Mutex<Vec<Arc<dyn CommandSource>>>,
    /// A command that is registered only when an unknown name is dispatched.
    late: Mutex<Option<Arc<dyn CommandSource>>>,
    /// The plugins whose commands ran, in order.
    ran: Mutex<Vec<String>>,
    events: Mutex<mpsc::Receiver<(String, String, Value)>>,
}

impl CommandSession for Room {
    fn handlers(&self) -> Vec<Arc<dyn CommandSource>> {
        lock(&self.handlers).clone()
    }

    fn fetch<'a>(&'a self, name: &'a str, _: &'a CancellationToken) -> BoxFuture<'a, Result<()>> {
        let late = lock(&self.late).take();
        let gone = name == "gone";
        Box::pin(async move {
            lock(&self.handlers).extend(late);
            if gone { Err(closed()) } else { Ok(()) }
        })
    }

    fn turn(&self) -> Option<String> {
        lock(&self.turn).clone()
    }

    fn turn_in_the_way(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async {
            let closing = lock(&self.closing).take();
            if let Some(closing) = closing {
                closing.await;
                *lock(&self.turn) = None;
            }
            self.turn()
        })
    }

    fn scope(&self) -> &CancellationSource {
        &self.scope
    }
}

struct Ear(mpsc::Sender<(String, String, Value)>);

impl Subscriber for Ear {
    fn ext_id(&self) -> &'static str {
        "ear"
    }

    fn hear(&self, event: &Event) -> Result<()> {
        let payload = serde_json::from_str(&event.payload).unwrap();
        let _ = self.0.send((
            event.name.to_string(),
            event.correlation_id.to_string(),
            payload,
        ));
        Ok(())
    }
}

fn room() -> Arc<Room> {
    room_with(None, Limits::default())
}

fn room_with(trail: Option<Trail>, limits: Limits) -> Arc<Room> {
    let timer = Arc::new(ManualTimer::default());
    let redactor = Arc::new(Redactor::new());
    let store = Arc::new(MemoryStore::default());
    let ledger = Ledger::new(
        "s1",
        0,
        Record::default(),
        store,
        redactor.clone(),
        timer.clone(),
    );
    let bus = Bus::new(timer, limits.clone());
    let (sender, events) = mpsc::channel();
    bus.subscribe(Arc::new(Ear(sender)), Service::Shared);
    let books = Recorder::new("s1".to_owned(), ledger, bus, trail, redactor);
    let books = Arc::new(books);
    Arc::new(Room {
        commands: Commands::new(books.clone(), &limits),
        books,
        scope: CancellationSource::new(),
        turn: Mutex::default(),
        closing: Mutex::default(),
        handlers: Mutex::default(),
        late: Mutex::default(),
        ran: Mutex::default(),
        events: Mutex::new(events),
    })
}

fn declared(name: &str) -> CommandDeclaration {
    CommandDeclaration {
        name: name.to_owned(),
        description: format!("Does {name}."),
        args_schema: json!({}),
        argument_hint: None,
        category: None,
        turn_safe: true,
    }
}

impl Room {
    /// Adds a plugin, changed as the test wants, with one command.
    fn add(self: &Arc<Self>, ext_id: &'static str, name: &str, change: impl FnOnce(&mut Fake)) {
        let mut fake = Fake {
            ext_id,
            scope: Scope::Global,
            commands: vec![declared(name)],
            aliases: Vec::new(),
            room: Arc::downgrade(self),
            run: Box::new(|_, args, _| Box::pin(async move { Ok(Rendered::from(args)) })),
            complete: Box::new(|_| Ok(Vec::new())),
        };
        change(&mut fake);
        lock(&self.handlers).push(Arc::new(fake));
    }

    async fn dispatch(&self, name: &str, args: CommandArgs) -> Result<CommandResult> {
        self.commands.dispatch(self, "some-ui", name, args).await
    }

    fn catalog(&self) -> Catalog {
        Catalog::of(self.handlers())
    }

    /// The next event; it is on its way.
    fn event(&self) -> (String, String, Value) {
        let patience = Duration::from_secs(10);
        lock(&self.events).recv_timeout(patience).unwrap()
    }
}

/// A command that runs another one, in the name of its plugin.
fn runs(ext_id: &'static str, name: &'static str) -> Box<Run> {
    Box::new(move |room, _, _| {
        Box::pin(async move {
            let inner = room
                .commands
                .dispatch(&*room, ext_id, name, "".into())
                .await?;
            let rendered = match inner {
                CommandResult::Done { rendered, .. } => rendered,
                CommandResult::Blocked { reason } => reason,
            };
            Ok(Rendered::from(format!("{ext_id} got {rendered}")))
        })
    })
}

fn fails(error: &Error) -> Box<Run> {
    let error = error.clone();
    Box::new(move |_, _, _| {
        let error = error.clone();
        Box::pin(async move { Err(error) })
    })
}

fn done(rendered: &str) -> CommandResult {
    CommandResult::Done {
        rendered: rendered.to_owned(),
        payload: None,
    }
}

fn full(error: &Error) -> String {
    format!("{}/{}", error.class(), error.code())
}

#[test]
fn text_and_members_reach_the_command_in_the_shape_of_its_schema() {
    let room = room();
    room.add("greet-command", "greet", |fake| {
        fake.commands[0].args_schema = json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "times": {"type": "integer"}},
            "required": ["name"],
            "additionalProperties": false,
        });
    });
    let given = |args: CommandArgs| block_on(room.dispatch("greet", args));
    let shown = |json: Value| Ok(done(&json.to_string()));
    assert_eq!(
        given("Ada --times=2".into()),
        shown(json!({"name": "Ada", "times": 2}))
    );
    let members = json!({"name": "Ada"}).as_object().unwrap().clone();
    assert_eq!(
        given(CommandArgs::Parsed(members)),
        shown(json!({"name": "Ada"}))
    );
}

#[test]
fn arguments_that_do_not_fit_are_refused_before_the_command_runs() {
    let room = room();
    room.add("greet-command", "greet", |fake| {
        fake.commands[0].args_schema = json!({
            "type": "object",
            "properties": {"times": {"type": "integer"}},
            "additionalProperties": false,
        });
        fake.commands[0].argument_hint = Some("[times]".to_owned());
    });
    let error = block_on(room.dispatch("greet", "hunter2".into())).unwrap_err();
    assert_eq!(full(&error), "ToolTerminal/InputInvalid");
    assert_eq!(
        (&error.context()["name"], &error.context()["fieldPath"]),
        (&json!("greet"), &json!("/times"))
    );
    assert!(error.message().contains("type `/greet [times]`"), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
    assert!(lock(&room.ran).is_empty());
}

#[test]
fn a_name_that_cannot_be_one_is_refused() {
    let room = room();
    room.add("greet-command", "greet", |_| {});
    for name in [
        "",
        "/greet",
        "gr eet",
        "greet\n",
        "grüße",
        "greet\u{9b}",
        "a.b",
    ] {
        let error = block_on(room.dispatch(name, "".into())).unwrap_err();
        assert_eq!(full(&error), "Validation/CommandNameInvalid", "{name:?}");
        assert!(!error.message().contains(char::is_control), "{name:?}");
    }
    for text in ["a\tb", "a\nb", "\u{7f}", "\u{85}", "\0"] {
        let error = block_on(room.dispatch("greet", text.into())).unwrap_err();
        assert_eq!(full(&error), "Validation/CommandNameInvalid", "{text:?}");
        assert_eq!(error.context()["name"], "greet");
    }
    let long = "x y".repeat(10_000);
    let error = block_on(room.dispatch(&long, "".into())).unwrap_err();
    assert!(error.message().len() < 500, "{}", error.message().len());
    assert!(lock(&room.ran).is_empty());
}

#[test]
fn a_line_is_a_slash_a_name_and_the_rest() {
    let room = room();
    room.add("greet-command", "greet", |_| {});
    let run = |line: &str| block_on(room.commands.dispatch_line(&*room, "some-ui", line));
    for line in ["/greet a  b", "/greet   a  b  ", "/greet\u{a0}a  b"] {
        let Ok(CommandResult::Done { rendered, .. }) = run(line) else {
            panic!("{line:?}");
        };
        let args: Value = serde_json::from_str(&rendered).unwrap();
        assert_eq!(args["raw"], "a  b", "{line:?}");
    }
    for line in [
        "",
        "greet",
        " /greet",
        "/",
        "/ greet",
        "//greet",
        "/greet\t",
        "/greet a\n",
    ] {
        let error = run(line).unwrap_err();
        assert_eq!(full(&error), "Validation/CommandNameInvalid", "{line:?}");
        assert!(error.context().contains_key("line"), "{line:?}");
    }
}

#[test]
fn an_unknown_command_is_refused_with_the_nearest_name() {
    let room = room();
    room.add("model-command", "model", |_| {});
    let error = block_on(room.dispatch("modle", "".into())).unwrap_err();
    stud_observed::covers!(COMMAND_UNKNOWN, error);
    assert_eq!(
        Value::Object(error.context().clone()),
        json!({"name": "modle", "nearest": "model"})
    );
    let error = block_on(room.dispatch("xyz", "".into())).unwrap_err();
    assert_eq!(
        Value::Object(error.context().clone()),
        json!({"name": "xyz"})
    );
}

#[test]
fn a_command_that_is_not_safe_beside_a_turn_is_blocked_while_one_runs() {
    let room = room();
    room.add("model-command", "model", |fake| {
        fake.commands[0].turn_safe = false;
    });
    room.add("help-command", "help", |_| {});
    *lock(&room.turn) = Some("t1".to_owned());
    let CommandResult::Blocked { reason } = block_on(room.dispatch("model", "".into())).unwrap()
    else {
        panic!("it ran");
    };
    assert!(reason.contains("/model"), "{reason}");
    assert!(block_on(room.dispatch("help", "".into())).is_ok());
    *lock(&room.turn) = None;
    let ran = block_on(room.dispatch("model", "".into())).unwrap();
    assert!(matches!(ran, CommandResult::Done { .. }));
    assert_eq!(*lock(&room.ran), ["help-command", "model-command"]);
}

#[test]
fn only_what_speaks_to_the_person_passes_as_it_is() {
    let room = room();
    let said = |class: Class| Error::new(class, "NotFound", "the file is gone").with("file", "a");
    for (name, class) in [("a", Class::Validation), ("b", Class::ExtensionHost)] {
        room.add("speaking", name, |fake| fake.run = fails(&said(class)));
        let error = block_on(room.dispatch(name, "".into())).unwrap_err();
        assert_eq!(error, said(class));
    }
    for (name, class) in [
        ("c", Class::ToolTerminal),
        ("d", Class::Session),
        ("e", Class::Cancellation),
    ] {
        room.add("inward", name, |fake| fake.run = fails(&said(class)));
        let error = block_on(room.dispatch(name, "".into())).unwrap_err();
        stud_observed::covers!(COMMAND_EXEC_FAILED, error);
        assert_eq!(
            Value::Object(error.context().clone()),
            json!({"name": name, "extensionId": "inward", "cause": format!("{class}/NotFound")})
        );
        assert!(error.message().ends_with("the file is gone"), "{error}");
    }
}

#[test]
fn a_command_is_told_what_it_is_part_of() {
    let room = room();
    room.add("ids-command", "ids", |fake| {
        fake.run = Box::new(|_, _, cx| {
            let ids = cx.ids().to_owned();
            Box::pin(async move { Ok(Rendered::from(ids)) })
        });
    });
    assert_eq!(
        block_on(room.dispatch("ids", "".into())),
        Ok(done(r#"{"sessionId":"s1"}"#))
    );
    *lock(&room.turn) = Some("t1".to_owned());
    assert_eq!(
        block_on(room.dispatch("ids", "".into())),
        Ok(done(r#"{"sessionId":"s1","correlationId":"t1"}"#))
    );
}

#[test]
fn a_command_is_told_of_and_put_on_record_without_its_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let redactor = Arc::new(Redactor::new());
    let trail = Trail::open(folder.path(), "s1", redactor).unwrap().trail;
    let room = room_with(Some(trail), Limits::default());
    room.add("model-command", "model", |fake| fake.aliases = vec!["m"]);
    room.add("bad-command", "bad", |fake| {
        fake.run = fails(&Error::new(Class::Session, "Said", "hunter2"));
    });
    *lock(&room.turn) = Some("t1".to_owned());
    block_on(room.dispatch("m", "hunter2".into())).unwrap();
    block_on(room.dispatch("bad", "hunter2".into())).unwrap_err();
    let facts = json!({"name": "model", "extId": "model-command", "dispatchedBy": "some-ui"});
    let mut told = Vec::new();
    for (name, correlation_id, mut payload) in std::iter::repeat_with(|| room.event()).take(4) {
        assert_eq!(correlation_id, "t1");
        assert!(!payload.to_string().contains("hunter2"), "{payload}");
        if name == "CommandResulted" {
            let duration = payload.as_object_mut().unwrap().remove("durationMs");
            assert!(duration.unwrap().is_u64());
        }
        told.push((name, payload));
    }
    let mut resulted = facts.clone();
    resulted["status"] = "done".into();
    assert_eq!(told[0], ("CommandDispatched".to_owned(), facts));
    assert_eq!(told[1], ("CommandResulted".to_owned(), resulted));
    assert_eq!(told[3].1["status"], "failed");
    assert_eq!(told[3].1["errorCode"], "CommandExecFailed");

    let query = AuditQuery {
        class: Some("Command".to_owned()),
        ..AuditQuery::default()
    };
    let records = room.books.trail.as_ref().unwrap().query(&query).unwrap();
    let kinds: Vec<&str> = records
        .iter()
        .filter_map(|record| record.kind.as_deref())
        .collect();
    assert_eq!(
        kinds,
        [
            "CommandDispatched",
            "CommandResulted",
            "CommandDispatched",
            "CommandResulted"
        ]
    );
    assert_eq!(records[1].payload["status"], "done");
    assert!(!format!("{records:?}").contains("hunter2"));
}

#[test]
fn a_command_may_run_another() {
    let room = room();
    room.add("outer-command", "outer", |fake| {
        fake.run = runs("outer-command", "inner");
    });
    room.add("inner-command", "inner", |fake| {
        fake.run = Box::new(|_, _, _| Box::pin(async { Ok(Rendered::from("it")) }));
    });
    assert_eq!(
        block_on(room.dispatch("outer", "".into())),
        Ok(done("outer-command got it"))
    );
    let told: Vec<_> = std::iter::repeat_with(|| room.event()).take(4).collect();
    let names = told
        .iter()
        .map(|(name, _, payload)| (name.as_str(), payload["name"].as_str().unwrap()));
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            ("CommandDispatched", "outer"),
            ("CommandDispatched", "inner"),
            ("CommandResulted", "inner"),
            ("CommandResulted", "outer"),
        ]
    );
    assert_eq!(told[1].2["dispatchedBy"], "outer-command");
    assert!(
        told.iter().all(|(_, id, _)| *id == told[0].1),
        "all belong together"
    );
}

#[test]
fn a_command_that_runs_itself_comes_to_an_end() {
    let room = room();
    room.add("again-command", "again", |fake| {
        fake.run = runs("again-command", "again");
    });
    let error = block_on(room.dispatch("again", "".into())).unwrap_err();
    stud_observed::covers!(REENTRANT_DELIVERY, error);
    assert_eq!(
        Value::Object(error.context().clone()),
        json!({"kind": "command", "depth": 17, "limit": 16})
    );
    assert_eq!(lock(&room.ran).len(), 16);
    room.add("help-command", "help", |_| {});
    assert!(
        block_on(room.dispatch("help", "".into())).is_ok(),
        "the line is free again"
    );
}
