//! The test's side of a probe's socket: host calls made from inside a plugin.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::wait::eventually;
use crate::world::fail;

/// What a host call gave, or the error it failed with.
pub type Called = Result<Value, Value>;

/// A socket that one probe connects to when it is initialized, again each time it is reloaded.
#[derive(Debug, Clone)]
pub struct Door {
    path: PathBuf,
    next: Arc<AtomicU64>,
    room: Arc<Mutex<Room>>,
}

#[derive(Debug, Default)]
struct Room {
    /// One for each generation of the probe.
    inside: Vec<UnixStream>,
    in_init: Vec<Value>,
    answers: BTreeMap<u64, Value>,
}

/// A call that was made and has perhaps not returned.
#[derive(Debug)]
pub struct Calling {
    id: u64,
    call: String,
    room: Arc<Mutex<Room>>,
}

impl Door {
    /// Listens at `path`.
    pub fn listen(path: &Path) -> Self {
        let listener = UnixListener::bind(path)
            .unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
        let room = Arc::new(Mutex::new(Room::default()));
        let entered = room.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let room = entered.clone();
                std::thread::spawn(move || listen(stream, &room));
            }
        });
        Self {
            path: path.to_owned(),
            next: Arc::default(),
            room,
        }
    }

    /// Where the probe has to connect.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Has the newest generation make a host call, and waits for what it gives.
    pub fn call(&self, call: &str, with: &Value) -> Called {
        self.start(call, with).result()
    }

    /// Has the newest generation make a host call.
    pub fn start(&self, call: &str, with: &Value) -> Calling {
        let stream = eventually("a probe at the door", || {
            let room = lock(&self.room);
            room.inside
                .last()
                .and_then(|stream| stream.try_clone().ok())
        });
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let request = json!({"id": id, "call": call, "with": with});
        writeln!(&stream, "{request}").unwrap_or_else(|error| fail(&error.to_string()));
        Calling {
            id,
            call: call.to_owned(),
            room: self.room.clone(),
        }
    }

    /// What the calls that the config wants made in `init` gave, for each generation of the probe.
    pub fn in_init(&self) -> Vec<Vec<Called>> {
        let generations = lock(&self.room).in_init.clone();
        let results = |results: Value| match results {
            Value::Array(results) => results.into_iter().map(called).collect(),
            _ => Vec::new(),
        };
        generations.into_iter().map(results).collect()
    }
}

impl Calling {
    /// Whether it has returned.
    pub fn is_over(&self) -> bool {
        lock(&self.room).answers.contains_key(&self.id)
    }

    /// Waits for what it gives.
    pub fn result(self) -> Called {
        let what = format!("the result of `{}`", self.call);
        called(eventually(&what, || {
            lock(&self.room).answers.remove(&self.id)
        }))
    }
}

fn called(mut answer: Value) -> Called {
    match answer.get("error") {
        Some(_) => Err(answer["error"].take()),
        None => Ok(answer["ok"].take()),
    }
}

fn listen(stream: UnixStream, room: &Mutex<Room>) {
    let Ok(reader) = stream.try_clone() else {
        return;
    };
    for line in BufReader::new(reader).lines().map_while(Result::ok) {
        let Ok(mut answer) = serde_json::from_str::<Value>(&line) else {
            return;
        };
        let mut room = lock(room);
        if let Some(id) = answer["id"].as_u64() {
            room.answers.insert(id, answer);
            continue;
        }
        room.in_init.push(answer["inInit"].take());
        room.inside.extend(stream.try_clone());
        drop(room);
        // The probe waits for word that it is expected.
        let _ = writeln!(&stream);
    }
}

fn lock(room: &Mutex<Room>) -> MutexGuard<'_, Room> {
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `Class/Code` of an error.
pub fn code_of(error: &Value) -> String {
    let text = |member: &str| error[member].as_str().unwrap_or("?").to_owned();
    format!("{}/{}", text("class"), text("code"))
}

/// The error behind the payload of a `SuppressedError`.
pub fn cause_of(payload: &Value) -> Value {
    let cause = payload["cause"].as_str();
    let error = cause.and_then(|cause| serde_json::from_str(cause).ok());
    error.unwrap_or_else(|| fail(&format!("{payload:#} has no error for its cause")))
}
