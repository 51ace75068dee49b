//! MCP servers that do what a script says: who is asked, what is tried again, and what everyone else sees.
#![cfg(not(shuttle))]
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test fails the test like the test itself"
)]

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use stud_abi::CancellationToken;
use stud_contract_interaction::{Payload, Request, Response, Status};
use stud_contract_meta::Result;
use stud_core::environment::Environment;
use stud_core::executor::block_on;
use stud_core::interactions::{Absence, Interactor};
use stud_core::limits::Limits;
use stud_core::mcp::{
    Connection, ConnectionError, Connector, PromptDescriptor, PromptMessage, ResourceContent,
    ResourceDescriptor, ServerAddress, Setup, ToolAnswer, ToolDescriptor, Watch,
};
use stud_core::params::Params;
use stud_core::platform::Places;
use stud_core::redact::Redactor;
use stud_core::request_state::Terms;
use stud_core::runtime_snapshot::Collector;
use stud_core::session::{SecurityMode, Session, SessionConfig, open};
use stud_core::store::MemoryStore;
use stud_core::timer::{ManualTimer, Timer};
use stud_core::turn_policy::TurnPolicy;
use stud_host_api::BoxFuture;
use stud_host_api::audit::{AuditQuery, AuditRecord};
use stud_host_api::metrics::{McpServerInfo, McpStatus, RuntimeSnapshot};

/// Connects as the script says; without a word in it, it works.
#[derive(Debug, Default)]
struct Script {
    connected: AtomicUsize,
    /// What the next attempts come to.
    next: Mutex<VecDeque<std::result::Result<(), ConnectionError>>>,
    watches: Mutex<Vec<Arc<Ear>>>,
    tools: Mutex<Vec<ToolDescriptor>>,
    closed: Arc<AtomicUsize>,
}

/// `Watch` has no `Debug`.
struct Ear(Arc<dyn Watch>);

impl std::fmt::Debug for Ear {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ear")
    }
}

impl Script {
    fn fails(&self, times: usize) {
        let mut next = self.next.lock().unwrap();
        next.extend((0..times).map(|_| Err(ConnectionError::Lost("no answer".to_owned()))));
    }

    fn breaks(&self) {
        let watch = self.watches.lock().unwrap().last().cloned();
        watch.unwrap().0.lost("it went away".to_owned());
    }

    fn connects(&self) -> usize {
        self.connected.load(Ordering::SeqCst)
    }
}

impl Connector for Script {
    fn connect(
        &self,
        target: ServerAddress,
        watch: Arc<dyn Watch>,
    ) -> BoxFuture<'_, std::result::Result<Arc<dyn Connection>, ConnectionError>> {
        Box::pin(async move {
            assert_eq!(target.server_id, "s");
            self.connected.fetch_add(1, Ordering::SeqCst);
            let next = self.next.lock().unwrap().pop_front();
            next.unwrap_or(Ok(()))?;
            self.watches.lock().unwrap().push(Arc::new(Ear(watch)));
            let tools = self.tools.lock().unwrap().clone();
            let closed = self.closed.clone();
            Ok(Arc::new(Wire { tools, closed }) as Arc<dyn Connection>)
        })
    }
}

struct Wire {
    tools: Vec<ToolDescriptor>,
    closed: Arc<AtomicUsize>,
}

type Told<'a, T> = BoxFuture<'a, std::result::Result<T, ConnectionError>>;

impl Connection for Wire {
    fn list_tools(&self) -> Told<'_, Vec<ToolDescriptor>> {
        Box::pin(async { Ok(self.tools.clone()) })
    }

    fn list_prompts(&self) -> Told<'_, Vec<PromptDescriptor>> {
        Box::pin(async {
            Ok(vec![PromptDescriptor {
                name: "p".to_owned(),
                ..PromptDescriptor::default()
            }])
        })
    }

    fn list_resources(&self) -> Told<'_, Vec<ResourceDescriptor>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn call_tool<'a>(&'a self, _: &'a str, _: Map<String, Value>) -> Told<'a, ToolAnswer> {
        Box::pin(async { Ok(ToolAnswer::default()) })
    }

    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        args: BTreeMap<String, String>,
    ) -> Told<'a, Vec<PromptMessage>> {
        Box::pin(async move {
            match name {
                "p" => Ok(vec![PromptMessage {
                    role: "user".to_owned(),
                    text: format!("{args:?}"),
                }]),
                _ => Err(ConnectionError::Refused("no such prompt".to_owned())),
            }
        })
    }

    fn read_resource<'a>(&'a self, _: &'a str) -> Told<'a, Vec<ResourceContent>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.closed.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {})
    }
}

/// Answers every question the same way, and remembers it.
struct Person {
    trusts: bool,
    asked: Mutex<Vec<String>>,
}

impl Interactor for Person {
    fn ext_id(&self) -> &'static str {
        "person"
    }

    fn protocol_minor(&self) -> u64 {
        2
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        _: CancellationToken,
    ) -> BoxFuture<'a, Result<Response>> {
        let Payload::Confirm(confirm) = &request.payload else {
            panic!("only this is asked: {request:?}");
        };
        self.asked.lock().unwrap().push(confirm.prompt.clone());
        let response = Response {
            status: Status::Accepted,
            value: Some(json!({"confirmed": self.trusts})),
            ..Response::dismissed(request)
        };
        Box::pin(async { Ok(response) })
    }
}

struct Room {
    folder: Arc<tempfile::TempDir>,
    script: Arc<Script>,
    timer: Arc<ManualTimer>,
    session: Arc<Session>,
    person: Option<Arc<Person>>,
}

impl Room {
    /// A session with the server `s`, and an interactor that trusts it or not, or none.
    fn with(folder: &Arc<tempfile::TempDir>, trusts: Option<bool>, script: Script) -> Self {
        let home = folder.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        let file = json!({"mcpServers": {"s": {"command": "never-started", "args": ["--x"]}}});
        std::fs::write(home.join("mcp.json"), file.to_string()).unwrap();
        let places = Places {
            global_root: home.clone(),
            project_root: folder.path().join("project/.stud"),
        };
        let ground = Environment::survey(places, Vec::new()).unwrap();
        let script = Arc::new(script);
        let timer = Arc::new(ManualTimer::default());
        let clock: Arc<dyn Timer> = timer.clone();
        let config = SessionConfig {
            mcp: Some(Setup::of(&ground, script.clone())),
            project_root: "/project/.stud".into(),
            mode: SecurityMode::Ask,
            store: Arc::new(MemoryStore::default()),
            trails: Some(home.join("sessions")),
            index: None,
            redactor: Arc::new(Redactor::new()),
            absence: Absence::default(),
            rules: TurnPolicy::default(),
            provider: None,
            model: None,
            params: Params::default(),
            tool_timeout: Duration::from_secs(300),
            most_reprompts: 10,
            limits: Limits::default(),
            terms: Terms::default(),
            metrics: Collector::new(RuntimeSnapshot::default(), clock.clone(), Duration::ZERO),
            timer: clock,
        };
        let session = open(config, None).unwrap();
        let person = trusts.map(|trusts| {
            let person = Arc::new(Person {
                trusts,
                asked: Mutex::default(),
            });
            session.prompts().join(person.clone());
            person
        });
        Self {
            folder: folder.clone(),
            script,
            timer,
            session,
            person,
        }
    }

    fn new(trusts: Option<bool>) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::with(&folder, trusts, Script::default())
    }

    fn again(&self, trusts: Option<bool>, script: Script) -> Self {
        Self::with(&self.folder, trusts, script)
    }

    /// Uses the server once.
    fn used(&self) -> Result<String> {
        let args = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
        let consumed = block_on(self.session.mcp().consume("s", "p", args))?;
        Ok(consumed.text())
    }

    fn asked(&self) -> Vec<String> {
        let person = self.person.as_ref();
        person.map_or_else(Vec::new, |person| person.asked.lock().unwrap().clone())
    }

    fn audited(&self, kind: &str) -> Vec<AuditRecord> {
        let trail = self.session.books().trail.as_ref().unwrap();
        let query = AuditQuery {
            kind: Some(kind.to_owned()),
            ..AuditQuery::default()
        };
        trail.query(&query).unwrap()
    }

    fn info(&self) -> McpServerInfo {
        let picture = self.session.metrics().snapshot();
        picture.mcp.servers[0].clone()
    }

    /// Lets time pass until something is so.
    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        #[expect(
            clippy::disallowed_methods,
            reason = "a test measures the time of the system"
        )]
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(60), "{what}");
            self.timer.advance(Duration::from_millis(50));
            std::thread::yield_now();
        }
    }
}

fn tool(name: &str, description: &str) -> ToolDescriptor {
    ToolDescriptor {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        input_schema: Map::from_iter([("type".to_owned(), "object".into())]),
    }
}

fn offering(tools: &[(&str, &str)]) -> Script {
    let tools = tools
        .iter()
        .map(|(name, description)| tool(name, description));
    Script {
        tools: Mutex::new(tools.collect()),
        ..Script::default()
    }
}

#[test]
fn a_connection_is_made_when_it_is_needed_and_once() {
    let room = Room::new(Some(true));
    assert_eq!(room.script.connects(), 0);
    assert_eq!(room.used().unwrap(), r#"{"a": "1"}"#);
    assert_eq!(room.used().unwrap(), r#"{"a": "1"}"#);
    assert_eq!(room.script.connects(), 1);
    let consumed = room.audited("PromptConsumed");
    assert_eq!(
        Value::Object(consumed[0].payload.clone()),
        json!({"serverId": "s", "name": "p", "messageCount": 1})
    );
}

#[test]
fn nobody_there_means_no() {
    let room = Room::new(None);
    let error = room.used().unwrap_err();
    assert_eq!((error.class(), error.code()), ("Session", "MCPUntrusted"));
    assert_eq!(room.script.connects(), 0);
    assert_eq!(room.info().status, McpStatus::Disconnected);
}

#[test]
fn a_yes_is_kept_and_a_no_is_not() {
    let room = Room::new(Some(false));
    assert_eq!(room.used().unwrap_err().code(), "MCPUntrusted");
    assert_eq!(room.used().unwrap_err().code(), "MCPUntrusted");
    assert_eq!((room.asked().len(), room.script.connects()), (1, 0));

    let room = room.again(Some(true), Script::default());
    room.used().unwrap();
    assert_eq!(room.asked().len(), 1);
    assert!(
        room.asked()[0].contains("`never-started --x`"),
        "{:?}",
        room.asked()
    );

    // From now on no interactor is needed.
    let room = room.again(None, Script::default());
    room.used().unwrap();
    assert!(block_on(room.session.mcp().forget("s")).unwrap());
    assert_eq!(room.used().unwrap_err().code(), "MCPUntrusted");
}

#[test]
fn tools_that_are_not_those_that_were_trusted_are_asked_about() {
    let room = Room::new(Some(true));
    let room = room.again(Some(true), offering(&[("a", "A."), ("b", "B.")]));
    room.used().unwrap();
    // One that is gone is harmless.
    let room = room.again(Some(true), offering(&[("a", "A.")]));
    room.used().unwrap();
    assert!(room.asked().is_empty());
    let room = room.again(
        Some(true),
        offering(&[("a", "Another."), ("b", "B."), ("c", "C.")]),
    );
    room.used().unwrap();
    let asked = room.asked();
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0].contains("`a` is described in another way, `c` is new"),
        "{asked:?}"
    );
    // A no ends the connection.
    let room = room.again(Some(false), offering(&[("d", "D.")]));
    assert_eq!(room.used().unwrap_err().code(), "MCPUntrusted");
    assert_eq!(room.script.closed.load(Ordering::SeqCst), 1);
    assert_eq!(room.info().tool_count, 0);
}

#[test]
fn a_connection_that_breaks_is_made_again() {
    let room = Room::new(Some(true));
    room.used().unwrap();
    room.script.fails(2);
    room.script.breaks();
    room.until("the third attempt", || room.script.connects() == 4);
    room.until("the connection", || {
        room.info().status == McpStatus::Connected
    });
    room.used().unwrap();
    let attempts = room.audited("MCPReconnectAttempt");
    let numbers: Vec<&Value> = attempts
        .iter()
        .map(|record| &record.payload["attempt"])
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    let back = &room.audited("MCPServerReconnected")[0].payload;
    assert_eq!(back["attempts"], 3);
    let total = back["totalDelayMs"].as_u64().unwrap();
    assert!((600..=900).contains(&total), "{total}");
    assert_eq!(room.asked().len(), 1, "nobody is asked again");
}

#[test]
fn after_five_attempts_it_is_given_up_and_tried_again_when_it_is_used() {
    let room = Room::new(Some(true));
    room.used().unwrap();
    room.script.fails(5);
    room.script.breaks();
    room.until("the end", || room.info().status == McpStatus::Error);
    assert_eq!(room.script.connects(), 6);
    assert_eq!(room.audited("MCPReconnectAttempt").len(), 5);
    let info = room.info();
    assert!(info.last_error.unwrap().contains("5 attempts were in vain"));
    assert_eq!(info.prompt_count, 0);
    room.used().unwrap();
    assert_eq!(room.script.connects(), 7);
}

#[test]
fn a_server_that_breaks_again_and_again_uses_up_its_attempts() {
    let room = Room::new(Some(true));
    room.used().unwrap();
    for connects in 2..=6 {
        room.script.breaks();
        room.until("another connection", || room.script.connects() == connects);
        room.until("the connection", || {
            room.info().status == McpStatus::Connected
        });
    }
    room.script.breaks();
    room.until("the end", || room.info().status == McpStatus::Error);
    assert_eq!(room.script.connects(), 6);
}

#[test]
fn the_end_of_the_session_is_the_end_of_every_connection() {
    let room = Room::new(Some(true));
    room.used().unwrap();
    room.session.close().unwrap();
    assert_eq!(room.script.closed.load(Ordering::SeqCst), 1);
    assert_eq!(room.used().unwrap_err().class(), "Cancellation");
}

#[test]
fn the_end_of_the_session_ends_the_attempts() {
    let room = Room::new(Some(true));
    room.used().unwrap();
    room.script.fails(5);
    room.script.breaks();
    // The first attempt comes at once; the second waits for time to pass, which it does not.
    room.until("the first attempt", || room.script.connects() == 2);
    room.session.close().unwrap();
    assert!(room.script.connects() <= 3);
    assert_eq!(room.used().unwrap_err().class(), "Cancellation");
}

#[test]
fn what_cannot_be_forgotten_is_on_record_before_and_after() {
    let room = Room::new(Some(true));
    room.used().unwrap();
    std::fs::write(room.folder.path().join("home/mcp-trust.json"), "{").unwrap();
    let error = block_on(room.session.mcp().forget("s")).unwrap_err();
    let trail = room.session.books().trail.as_ref().unwrap();
    let query = AuditQuery {
        class: Some("TrustDecision".to_owned()),
        ..AuditQuery::default()
    };
    let records = trail.query(&query).unwrap();
    let mut last = records.iter().rev().map(|record| &record.payload);
    let (failed, forgotten) = (last.next().unwrap(), last.next().unwrap());
    assert_eq!(forgotten["decision"], "unknown");
    assert!(!forgotten.contains_key("error"));
    assert_eq!(failed["decision"], "unknown");
    assert_eq!(failed["error"]["code"], error.code());
    // It is as trusted as it was.
    room.used().unwrap();
}
