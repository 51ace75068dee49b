//! What the screen has the host do, on threads that may wait.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use stud_sdk::host::commands::CommandArgs;
use stud_sdk::host::session::{Page, SessionRecord, TranscriptRecord};
use stud_sdk::interaction::Response;
use stud_sdk::{Class, Host, Result, Value, block_on};

use crate::app::Done;
use crate::files::Files;
use crate::mailbox::Mailbox;

/// As many messages of a resumed session are shown.
const PAST: usize = 200;

/// As many records are read to find them.
const PAST_RECORDS: u64 = 4000;

/// The way to the host.
#[derive(Clone)]
pub(crate) struct Jobs {
    host: Host,
    mailbox: Arc<Mailbox>,
    /// Inputs, which go to the session one after the other.
    inputs: Sender<(u64, String)>,
    folder: PathBuf,
    files: Arc<OnceLock<Files>>,
}

impl Jobs {
    pub(crate) fn new(host: Host, mailbox: Arc<Mailbox>, folder: PathBuf) -> Self {
        let (inputs, waiting) = channel::<(u64, String)>();
        let (sender, box_of_results) = (host.clone(), mailbox.clone());
        in_background("tui-inputs", move || {
            for (ticket, text) in waiting {
                let appended = submit(&sender, &text);
                box_of_results.done(Done::Submitted(ticket, appended));
            }
        });
        Self {
            host,
            mailbox,
            inputs,
            folder,
            files: Arc::default(),
        }
    }

    pub(crate) fn submit(&self, ticket: u64, text: String) {
        // The thread that takes it ends with this.
        let _ = self.inputs.send((ticket, text));
    }

    pub(crate) fn command(&self, line: String) {
        let jobs = self.clone();
        in_background("tui-command", move || {
            let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
            let args = CommandArgs::Text(rest.trim_start().to_owned());
            let result = block_on(jobs.host.commands().dispatch(name, args));
            jobs.mailbox.done(Done::Command(line.clone(), result));
        });
    }

    pub(crate) fn commands(&self) {
        let jobs = self.clone();
        in_background("tui-commands", move || {
            let commands = jobs.host.commands().list().unwrap_or_default();
            jobs.mailbox.done(Done::Commands(commands));
        });
    }

    pub(crate) fn complete(&self, draft: String) {
        let jobs = self.clone();
        in_background("tui-completion", move || {
            let completions = jobs.host.commands().complete(&draft, draft.len());
            jobs.mailbox
                .done(Done::Completions(draft, completions.unwrap_or_default()));
        });
    }

    pub(crate) fn files(&self, query: String) {
        let jobs = self.clone();
        in_background("tui-paths", move || {
            let files = jobs.files.get_or_init(|| Files::below(&jobs.folder));
            // What is known so far, and again once all is known.
            for wait in [0, 20, 60, 120, 250, 500, 1000] {
                thread::sleep(Duration::from_millis(wait));
                let complete = files.is_complete();
                jobs.mailbox
                    .done(Done::Files(query.clone(), files.best(&query)));
                if complete {
                    return;
                }
            }
        });
    }

    pub(crate) fn respond(&self, response: Response) {
        let jobs = self.clone();
        in_background("tui-answer", move || {
            let id = response.interaction_id.clone();
            let result = block_on(jobs.host.interaction().respond(response));
            let stays = matches!(&result, Err(error) if error.is(Class::Validation, "InteractionPayloadMismatch"));
            if !stays {
                jobs.mailbox.end_prompt(&id);
            }
            jobs.mailbox.done(Done::Responded(id, result));
        });
    }

    /// Reads what a tool gave. It is written down shortly after the call has ended.
    pub(crate) fn tool_result(&self, id: String) {
        let jobs = self.clone();
        in_background("tui-result", move || {
            let mut result = None;
            for wait in [0, 2, 5, 10, 20, 40, 80, 160, 320, 640] {
                thread::sleep(Duration::from_millis(wait));
                result = jobs.find(|record| {
                    record.kind == "tool_result" && record.payload["toolCallId"] == *id
                });
                if result.is_some() {
                    break;
                }
            }
            let content =
                result.and_then(|record| record.payload["content"].as_str()?.parse::<Value>().ok());
            jobs.mailbox.done(Done::ToolResult(id, content));
        });
    }

    pub(crate) fn input(&self, seq: u64) {
        let jobs = self.clone();
        in_background("tui-input", move || {
            let page = Page {
                after_seq: Some(seq.saturating_sub(1)),
                limit: Some(1),
            };
            let view = block_on(jobs.host.session().read(page));
            let record = view.ok().and_then(|view| view.records.into_iter().next());
            let text = record.and_then(|record| Some(record.payload["text"].as_str()?.to_owned()));
            jobs.mailbox.done(Done::ReadInput(text));
        });
    }

    /// Reads the last messages of the session.
    pub(crate) fn past(&self) {
        let jobs = self.clone();
        in_background("tui-past", move || {
            if let Ok(records) = jobs.last(PAST_RECORDS) {
                let messages: Vec<TranscriptRecord> =
                    records.into_iter().filter(is_message).collect();
                let from = messages.len().saturating_sub(PAST);
                let shown = messages[from..].to_vec();
                let earlier = shown.first().map_or(0, |first| first.seq.saturating_sub(1));
                let earlier = if from == 0 && earlier < PAST_RECORDS {
                    0
                } else {
                    earlier
                };
                jobs.mailbox.done(Done::Past(shown, earlier));
            }
        });
    }

    /// Runs a command of the status line. It has a second.
    pub(crate) fn widget(&self, id: String, command: String) {
        let jobs = self.clone();
        in_background("tui-widget", move || {
            let text = run_widget(&command, &jobs.folder);
            jobs.mailbox.done(Done::Widget(id, text));
        });
    }

    fn find(&self, wanted: impl Fn(&TranscriptRecord) -> bool) -> Option<TranscriptRecord> {
        let records = self.last(64).ok()?;
        records.into_iter().rev().find(wanted)
    }

    /// The newest records, so many at most.
    pub(crate) fn last(&self, count: u64) -> Result<Vec<TranscriptRecord>> {
        let session = self.host.session();
        let facts = block_on(session.read(Page {
            after_seq: None,
            limit: Some(0),
        }))?;
        let mut after_seq = Some(facts.last_seq.saturating_sub(count));
        let mut records = Vec::new();
        while after_seq.is_some() {
            let view = block_on(session.read(Page {
                after_seq,
                limit: Some(1000),
            }))?;
            records.extend(view.records);
            after_seq = view.next_after_seq;
        }
        Ok(records)
    }
}

fn is_message(record: &TranscriptRecord) -> bool {
    matches!(
        record.kind.as_str(),
        "user_input" | "assistant_message" | "tool_result" | "note" | "compaction"
    )
}

/// The first row of what a command says, or a word about why there is none.
fn run_widget(command: &str, folder: &Path) -> String {
    const PATIENCE: Duration = Duration::from_secs(1);
    const MOST_BYTES: u64 = 200;
    let started = Command::new("sh")
        .arg("-c")
        .arg(command)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else {
        return "error".to_owned();
    };
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(10)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return "stale".to_owned();
            }
        }
    };
    if !status.success() {
        return "error".to_owned();
    }
    let mut bytes = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        let _ = stdout.take(MOST_BYTES).read_to_end(&mut bytes);
    }
    let text = String::from_utf8_lossy(&bytes);
    text.lines().next().unwrap_or_default().to_owned()
}

/// Hands an input to the session. While the session comes up it may not be ready.
fn submit(host: &Host, text: &str) -> Result<u64> {
    let mut pause = Duration::from_millis(10);
    for _ in 0..12 {
        let record = SessionRecord::UserInput {
            text: text.to_owned(),
        };
        match block_on(host.session().append(record)) {
            Err(error) if error.is(Class::ExtensionHost, "NotReady") => {}
            result => return result.map(|appended| appended.seq),
        }
        thread::sleep(pause);
        pause *= 2;
    }
    let record = SessionRecord::UserInput {
        text: text.to_owned(),
    };
    block_on(host.session().append(record)).map(|appended| appended.seq)
}

/// Runs work on a thread of its own. Where there is none to be had it is not done, which shows.
fn in_background(name: &str, work: impl FnOnce() + Send + 'static) {
    let _ = thread::Builder::new().name(name.to_owned()).spawn(work);
}
