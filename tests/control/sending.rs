//! `stud control`, against a process that runs a session.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::process::{Child, ChildStdin, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use stud_control::{Outgoing, RunDir, Sender, SenderError, Text};
use stud_tests::{Answer, World, eventually};

use crate::bench::settings;

/// `stud` with its input held open.
pub(crate) struct Running {
    child: Child,
    input: Option<ChildStdin>,
}

impl Running {
    pub(crate) fn start(world: &World, arguments: &[&str]) -> Self {
        let mut command = world.command();
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        Self { child, input }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends the input, and waits for the end of the program.
    fn end(&mut self) -> i32 {
        drop(self.input.take());
        let status = eventually("the end of the program", || self.child.try_wait().unwrap());
        status.code().unwrap_or(-1)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn world(more: &Value) -> World {
    let world = World::new();
    world.write("home/settings.json", settings(more).to_string());
    world
}

/// The session that is open, once one is.
pub(crate) fn open_session(sender: &Sender) -> String {
    eventually("an open session", || {
        Some(sender.live_sessions().pop()?.session_id)
    })
}

pub(crate) fn sender(world: &World) -> Sender {
    Sender::new(
        RunDir::of(&world.home()),
        world.home(),
        Duration::from_secs(60),
        1,
    )
}

fn texts(world: &World, session: &str) -> Vec<String> {
    let shown = world.stud(&["sessions", "show", session, "--json"]);
    let records = shown
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let inputs = records.filter(|record| record["kind"] == "user_input");
    inputs
        .filter_map(|input| input["payload"]["text"].as_str().map(str::to_owned))
        .collect()
}

/// Runs `stud` with something on its standard input.
fn piped(world: &World, arguments: &[&str], text: &str) -> Answer {
    let mut command = world.command();
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    Answer {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn text_reaches_a_session_of_another_process() {
    let world = world(&json!({}));
    let mut running = Running::start(&world, &[]);
    let session = open_session(&sender(&world));
    let as_ada = |words: &[&str]| world.stud(&[&["control"], words, &["--sender", "ada"]].concat());

    let sent = as_ada(&["send", "hello", "there", "--json"]);
    assert_eq!(sent.status, 0, "{sent:?}");
    let told = sent.json();
    assert_eq!(
        (&told["ack"]["result"], &told["attempts"]),
        (&json!("ok"), &json!(1))
    );
    let lines = piped(
        &world,
        &["control", "send", "--sender", "ada"],
        "first\nsecond\n",
    );
    assert_eq!(lines.status, 0, "{lines:?}");
    let again = ["send", "once", "--request-id", "fixed", "--json"];
    assert_eq!(as_ada(&again).json()["ack"]["duplicate"], false);
    assert_eq!(as_ada(&again).json()["ack"]["duplicate"], true);
    assert_eq!(
        as_ada(&["interrupt", "--session", &session[..13]]).status,
        0
    );

    let stranger = world.stud(&["control", "send", "no", "--sender", "eve"]);
    assert_eq!(stranger.status, 1);
    stud_observed::covers!(CONTROL_NOT_ACCEPTED, stranger.stderr);
    assert!(
        stranger
            .stderr
            .contains("the sender is no member of the team"),
        "{stranger:?}"
    );
    let unknown = as_ada(&[
        "send",
        "no",
        "--session",
        "0197a8c2-5d1e-7c3a-9b60-3f1f0d6f2a11",
    ]);
    assert!(unknown.stderr.contains("not_found"), "{unknown:?}");
    let capabilities = world.stud(&["control", "capabilities", "--json"]).json();
    assert_eq!(capabilities["control"]["v"], json!([1]));
    let sessions = world.stud(&["control", "sessions", "--json"]).json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);

    assert_eq!(running.end(), 0);
    assert_eq!(
        texts(&world, &session),
        ["hello there", "first\nsecond\n", "once"]
    );
    let left: Vec<_> = std::fs::read_dir(world.home().join("run"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().ends_with(".sock")),
        "{left:?}"
    );
}

#[test]
fn tcp_25_above_the_hard_limit_the_sender_sends_a_file() {
    let world = world(&json!({"softLimitBytes": 10, "hardLimitBytes": 20}));
    let mut running = Running::start(&world, &[]);
    let session = open_session(&sender(&world));
    let send = |text: &str| {
        piped(
            &world,
            &["control", "send", "--sender", "ada", "--json"],
            text,
        )
    };
    let warned = send("fifteen bytes..");
    let warned: Value = serde_json::from_str(&warned.stdout).unwrap();
    assert_eq!(warned["warnings"].as_array().unwrap().len(), 1, "{warned}");
    let long = "a text that is longer than twenty bytes";
    let reply = send(long);
    assert_eq!(reply.status, 0, "{reply:?}");
    // The file has served its purpose.
    let inbox = world.home().join("share/crew/input");
    assert_eq!(std::fs::read_dir(inbox).unwrap().count(), 0);
    running.end();
    assert_eq!(texts(&world, &session), ["fifteen bytes..", long]);
}

#[test]
fn tcp_79_without_a_receiver_nothing_is_sent_or_kept() {
    let world = world(&json!({}));
    let refused = world.stud(&["control", "send", "--session", "0197a8c2", "text"]);
    assert_eq!(refused.status, 1);
    stud_observed::covers!(CONTROL_UNAVAILABLE, refused.stderr);
    // A stale socket counts as none.
    let run = world.home().join("run");
    std::fs::create_dir_all(&run).unwrap();
    drop(UnixListener::bind(run.join("control.sock")).unwrap());
    let refused = world.stud(&["control", "interrupt", "--session", "0197a8c2"]);
    assert!(
        refused.stderr.contains("Session/ControlUnavailable"),
        "{refused:?}"
    );
    assert!(!world.home().join("share").exists());
}

fn outgoing() -> Outgoing {
    Outgoing {
        sender: "ada".to_owned(),
        team: Some("crew".to_owned()),
        session_id: "s".to_owned(),
        agent_id: "main".to_owned(),
        request_id: None,
        text: Some(Text {
            content: "text".to_owned(),
            interrupt: false,
        }),
    }
}

/// A receiver that answers control messages with what `answer` gives, and never when that is nothing.
fn receiver(
    world: &World,
    answer: impl Fn(usize, &Value) -> Option<Value> + Send + 'static,
) -> std::sync::mpsc::Receiver<Value> {
    let run = world.home().join("run");
    std::fs::create_dir_all(&run).unwrap();
    let listener = UnixListener::bind(run.join("control.sock")).unwrap();
    let (seen, requests) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        let mut count = 0;
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            let Ok(request) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            let payload = match request["command"].as_str().unwrap() {
                "capabilities" => {
                    Some(json!({"control": {"actions": ["stdin"], "stdin_interrupt": false}}))
                }
                "control" => {
                    count += 1;
                    let answer = answer(count, &request["payload"]);
                    if seen.send(request.clone()).is_err() {
                        return;
                    }
                    answer
                }
                _ => Some(json!({"sessions": []})),
            };
            match payload {
                Some(payload) => {
                    let reply = json!({"version": 1, "request_id": request["request_id"], "status": "ok", "payload": payload});
                    let _ = stream.write_all(format!("{reply}\n").as_bytes());
                }
                None => silent.push(stream),
            }
        }
    });
    requests
}

fn ok(payload: &Value) -> Value {
    json!({"result": "ok", "duplicate": false, "detail": "accepted", "request_id": payload["request_id"]})
}

#[test]
fn tcp_75_76_a_retry_is_the_same_request_on_another_exchange() {
    let world = World::new();
    let requests = receiver(&world, |count, payload| (count == 2).then(|| ok(payload)));
    let mut patient = sender(&world);
    patient.ack_timeout = Duration::from_millis(300);
    patient.backoff = Duration::from_millis(1);
    let delivery = patient.send(&outgoing()).unwrap();
    assert_eq!(delivery.attempts, 2);
    let (first, second) = (requests.recv().unwrap(), requests.recv().unwrap());
    assert_ne!(first["request_id"], second["request_id"]);
    for member in ["request_id", "sent_at", "content", "type", "team"] {
        assert_eq!(
            first["payload"][member], second["payload"][member],
            "{member}"
        );
    }
    let count = |request: &Value| request["payload"]["meta"]["retry_count"].clone();
    assert_eq!((count(&first), count(&second)), (json!(0), json!(1)));

    // What the sender did is on record, and the text is not.
    let trail = std::fs::read_to_string(world.home().join("audit.jsonl")).unwrap();
    let kinds: Vec<String> = trail
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["type"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "ControlRequestSent",
            "ControlRequestRetried",
            "ControlAckReceived"
        ]
    );
    assert!(!trail.contains("\"text\""));
    let id = first["payload"]["request_id"].as_str().unwrap();
    assert!(trail.lines().all(|line| line.contains(id)));
}

#[test]
fn tcp_77_an_undecided_request_is_sent_again_and_silence_has_an_end() {
    let world = World::new();
    let requests = receiver(&world, |count, payload| {
        Some(match count {
            1 => json!({"result": "timeout", "duplicate": false}),
            _ => ok(payload),
        })
    });
    let mut quick = sender(&world);
    quick.backoff = Duration::from_millis(1);
    assert_eq!(quick.send(&outgoing()).unwrap().attempts, 2);
    assert_eq!(requests.try_iter().count(), 2);

    let world = World::new();
    let _requests = receiver(&world, |_, _| None);
    let mut quick = sender(&world);
    quick.ack_timeout = Duration::from_millis(100);
    quick.backoff = Duration::from_millis(1);
    quick.retries = 2;
    match quick.send(&outgoing()) {
        Err(SenderError::NoAnswer {
            request_id,
            attempts,
        }) => {
            assert_eq!(attempts, 3);
            assert!(!request_id.is_empty());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn tcp_3_what_the_receiver_does_not_understand_is_not_sent() {
    let world = World::new();
    let requests = receiver(&world, |_, payload| Some(ok(payload)));
    let interrupt = Outgoing {
        text: None,
        ..outgoing()
    };
    assert!(matches!(
        sender(&world).send(&interrupt),
        Err(SenderError::Unsupported(_))
    ));
    let mut cutting_in = outgoing();
    cutting_in.text.as_mut().unwrap().interrupt = true;
    assert!(matches!(
        sender(&world).send(&cutting_in),
        Err(SenderError::Unsupported(_))
    ));
    assert_eq!(requests.try_iter().count(), 0);
}

#[test]
fn a_plugin_of_a_running_session_is_reloaded_from_outside() {
    let world = world(&json!({}));
    let library = std::fs::read(stud_tests::fixture("good-tool")).unwrap();
    world.write("home/tools/good-tool/libgood_tool.so", library);
    let mut running = Running::start(&world, &[]);
    let session = open_session(&sender(&world));
    let reload = |words: &[&str]| world.stud(&[&["plugin", "reload"], words, &["--json"]].concat());
    let done = reload(&["good-tool", "--session", &session]);
    assert_eq!(done.status, 0, "{done:?}");
    assert_eq!(done.json()["extId"], "good-tool");
    let unknown = reload(&["nobody"]);
    assert_eq!(unknown.status, 1, "{unknown:?}");
    assert!(unknown.stderr.contains("ExtensionNotFound"), "{unknown:?}");
    running.end();
}
