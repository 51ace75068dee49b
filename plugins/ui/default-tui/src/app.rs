//! The screen as a state: what comes in changes it, and a frame is a picture of it.
//!
//! Nothing here waits, reads or writes. What has to be done outside is an [`Effect`], and what came of it comes back as
//! a [`Done`].

mod events;
mod keys;
mod prompts;
mod view;

pub(crate) use events::HEARD;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use stud_sdk::host::commands::{CommandRef, CommandResult, Completion};
use stud_sdk::host::metrics::RuntimeSnapshot;
use stud_sdk::host::session::TranscriptRecord;
use stud_sdk::interaction::{Request, Response};
use stud_sdk::{Error, Result, Value};

use crate::composer::Composer;
use crate::dialog::Dialog;
use crate::markdown::Shape;
use crate::markdown::stream::Stream;
use crate::options::{Options, Thinking, Wrap};
use crate::palette::Palette;
use crate::panels::Panel;
use crate::status::{self, Status};
use crate::text::row::{Look, Row, row};
use crate::transcript::card::Card;
use crate::transcript::clock::Clock;
use crate::transcript::{message_heading, note_rows};

/// What has to be done outside.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Hand an input to the session; the number comes back with the result.
    Submit(u64, String),
    /// Run a command, given without its slash.
    Command(String),
    /// Ask a command for completions of the draft.
    Complete(String),
    /// Look for paths.
    Files(String),
    /// Read the commands there are.
    Commands,
    /// Read what a tool gave.
    ToolResult(String),
    /// Read the input with this number in the session.
    ReadInput(u64),
    /// Answer a prompt.
    Respond(Box<Response>),
    /// Run a command of the status line: its id, and the command.
    Widget(String, String),
    /// Edit a text in the person's editor.
    Editor(String),
    /// Open the view of the transcript.
    Pager,
    /// Put text on the clipboard of the terminal.
    Copy(String),
    /// Draw the live area anew.
    Redraw,
    Suspend,
    Bell,
    /// End the program at once.
    Kill,
}

/// What came of an effect.
#[derive(Debug)]
pub(crate) enum Done {
    Submitted(u64, Result<u64>),
    Command(String, Result<CommandResult>),
    Completions(String, Vec<Completion>),
    Files(String, Vec<String>),
    Commands(Vec<CommandRef>),
    ToolResult(String, Option<Value>),
    ReadInput(Option<String>),
    Responded(String, Result<()>),
    Past(Vec<TranscriptRecord>, u64),
    Copied(usize),
    Widget(String, String),
}

/// The picture of one moment.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    pub(crate) commits: Vec<Row>,
    pub(crate) live: Vec<Row>,
    pub(crate) caret: (usize, usize),
}

/// An input that was sent and whose turn has not begun.
#[derive(Debug)]
struct Queued {
    ticket: u64,
    /// Its number in the session, once it is on the disk.
    seq: Option<u64>,
    text: String,
}

/// A turn that runs.
#[derive(Debug)]
struct Turn {
    began: Instant,
    cancelling: bool,
    failed: bool,
}

/// A key that was pressed once and would do something if it were pressed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Armed {
    Interrupt,
    Leave,
}

/// How long rows wait for the one that says who answers.
const INTRODUCTION: Duration = Duration::from_secs(1);

/// How long the second press may take.
const AGAIN: Duration = Duration::from_secs(2);

/// The screen.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a state of its own; they change independently"
)]
pub(crate) struct App {
    pub(crate) options: Options,
    pub(crate) size: (u16, u16),
    pub(crate) clock: Clock,
    links: bool,
    own_id: &'static str,
    /// Rows on their way into the transcript.
    pending: VecDeque<Row>,
    /// Calls that have ended and wait for what they gave, and the rows that stand behind them.
    awaited: BTreeSet<String>,
    behind: Vec<Row>,
    /// Rows that wait for the one that says who answers, and until when.
    introduction: Option<(Instant, Vec<Row>)>,
    /// Whether anything was committed at all.
    has_rows: bool,
    stream: Option<Stream>,
    streamed_bytes: usize,
    thinking: String,
    cards: Vec<Card>,
    /// Arguments of calls that were proposed and have not begun.
    proposed: BTreeMap<String, Value>,
    turn: Option<Turn>,
    /// Running time of all turns that have ended.
    elapsed: Duration,
    queue: VecDeque<Queued>,
    tickets: u64,
    /// What the next echo says besides.
    echo_remark: Option<&'static str>,
    pub(crate) composer: Composer,
    palette: Option<Palette>,
    commands: Vec<CommandRef>,
    prompts: VecDeque<Waiting>,
    dialog: Option<Dialog>,
    /// Whether Tab has put the focus on the dialog though there is a draft.
    dialog_focus: bool,
    /// What prompts asked, for the row that says how they ended.
    asked: BTreeMap<String, (String, String)>,
    names: BTreeMap<String, String>,
    detached: BTreeSet<String>,
    last_key: Option<Instant>,
    armed: Option<(Armed, Instant)>,
    hint: Option<(String, Instant)>,
    panel: Option<Panel>,
    status: Status,
    pub(crate) snapshot: Arc<RuntimeSnapshot>,
    told_errors: BTreeSet<String>,
    /// When each command of the status line ran last.
    widgets_run: BTreeMap<String, Instant>,
    effects: Vec<Effect>,
    /// Whether the session is at its end.
    pub(crate) over: bool,
    focus_known: bool,
    has_focus: bool,
}

/// A prompt that waits for its turn on the screen.
#[derive(Debug)]
struct Waiting {
    request: Request,
}

impl App {
    pub(crate) fn new(
        options: Options,
        size: (u16, u16),
        clock: Clock,
        own_id: &'static str,
    ) -> Self {
        Self {
            options,
            size,
            clock,
            links: false,
            own_id,
            pending: VecDeque::new(),
            awaited: BTreeSet::new(),
            behind: Vec::new(),
            introduction: None,
            has_rows: false,
            stream: None,
            streamed_bytes: 0,
            thinking: String::new(),
            cards: Vec::new(),
            proposed: BTreeMap::new(),
            turn: None,
            elapsed: Duration::ZERO,
            queue: VecDeque::new(),
            tickets: 0,
            echo_remark: None,
            composer: Composer::default(),
            palette: None,
            commands: Vec::new(),
            prompts: VecDeque::new(),
            dialog: None,
            dialog_focus: false,
            asked: BTreeMap::new(),
            names: BTreeMap::new(),
            detached: BTreeSet::new(),
            last_key: None,
            armed: None,
            hint: None,
            panel: None,
            status: Status::default(),
            snapshot: Arc::default(),
            told_errors: BTreeSet::new(),
            widgets_run: BTreeMap::new(),
            effects: Vec::new(),
            over: false,
            focus_known: false,
            has_focus: true,
        }
    }

    /// What has to be done outside, in order.
    pub(crate) fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    fn columns(&self) -> usize {
        usize::from(self.size.0)
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape::of(
            self.columns(),
            self.options.wrap == Wrap::Terminal,
            self.links,
        )
    }

    /// Puts rows into the transcript.
    pub(crate) fn commit(&mut self, rows: impl IntoIterator<Item = Row>) {
        if let Some((_, held)) = &mut self.introduction {
            held.extend(rows);
            return;
        }
        if !self.awaited.is_empty() {
            self.behind.extend(rows);
            return;
        }
        for row in rows {
            // The very first row has nothing to stand apart from.
            if self.has_rows || crate::text::row::width_of(&row) > 0 {
                self.has_rows = true;
                self.pending.push_back(row);
            }
        }
    }

    /// Puts a remark into the transcript.
    pub(crate) fn note(&mut self, text: &str, look: Look) {
        let rows = note_rows(text, look, self.columns());
        self.commit(rows);
    }

    /// The first row of a session. Who answers is said below it, once that is known.
    pub(crate) fn greet(&mut self, version: &str, folder: &str, now: Instant) {
        self.status.look_at(folder);
        let title = format!("stud {version} · a plugin host for coding assistants");
        self.commit([row(title, Look::Bold)]);
        self.introduction = Some((now + INTRODUCTION, Vec::new()));
        self.run_widgets(now);
    }

    /// Who answers, and what was wrong at the start.
    fn introduce(&mut self, held: Vec<Row>) {
        let mut rows = vec![row(status::facts(&self.snapshot), Look::Dim)];
        if self.snapshot.provider.current.id == "echo" {
            let text = "`echo` is a stand-in that repeats what you say. `stud setup` sets up a real provider.";
            rows.extend(note_rows(text, Look::Warn, self.columns()));
        }
        if self.options.startup_view_enabled {
            rows.extend(crate::panels::startup(&self.snapshot, self.columns()));
        }
        self.commit(rows);
        self.commit(held);
    }

    pub(crate) fn take_snapshot(&mut self, snapshot: Arc<RuntimeSnapshot>) {
        let is_known = snapshot.provider.current.id != "unknown";
        self.snapshot = snapshot;
        if is_known && let Some((_, held)) = self.introduction.take() {
            self.introduce(held);
        }
    }

    /// Something else in this process wrote to the terminal.
    pub(crate) fn overhear(&mut self, said: &str) {
        if !said.trim().is_empty() {
            self.note(said, Look::Dim);
        }
    }

    /// Takes what came of an effect.
    pub(crate) fn done(&mut self, done: Done, now: Instant) {
        match done {
            Done::Submitted(ticket, Ok(seq)) => {
                if let Some(queued) = self.queue.iter_mut().find(|queued| queued.ticket == ticket) {
                    queued.seq = Some(seq);
                }
            }
            Done::Submitted(ticket, Err(error)) => self.not_sent(ticket, &error),
            Done::Command(line, result) => self.command_done(&line, result),
            Done::Completions(draft, completions) => self.complete(&draft, completions),
            Done::Files(query, paths) => {
                if let Some(palette) = &mut self.palette {
                    palette.take_files(&query, paths);
                }
            }
            Done::Commands(commands) => {
                self.commands = commands;
                self.update_palette();
            }
            Done::ToolResult(id, result) => self.finish_card(&id, result, now),
            Done::ReadInput(text) => {
                if let Some(text) = text {
                    self.echo(&text);
                }
            }
            Done::Responded(id, result) => self.responded(&id, result),
            Done::Past(records, earlier) => self.show_past(&records, earlier),
            Done::Widget(id, text) => self.status.take_widget(&id, &text),
            Done::Copied(count) => self.say(&format!("{count} characters were copied"), now),
        }
    }

    fn not_sent(&mut self, ticket: u64, error: &Error) {
        let at = self.queue.iter().position(|queued| queued.ticket == ticket);
        let queued = at.and_then(|at| self.queue.remove(at));
        let why = if error.code() == "InputQueueFull" {
            "not sent: too many inputs wait already".to_owned()
        } else {
            format!(
                "not sent: {}",
                crate::text::escape::line(&error.to_string())
            )
        };
        self.note(&why, Look::Bad);
        if let Some(queued) = queued
            && self.composer.is_empty()
        {
            self.composer.set(&queued.text);
        }
    }

    fn command_done(&mut self, line: &str, result: Result<CommandResult>) {
        let name = line.split_whitespace().next().unwrap_or_default();
        match result {
            Ok(CommandResult::Done { rendered, .. }) if rendered.trim().is_empty() => {}
            Ok(CommandResult::Done { rendered, .. }) => self.note(&rendered, Look::Plain),
            Ok(CommandResult::Blocked { reason }) => {
                self.note(&format!("/{name} is blocked: {reason}"), Look::Warn);
            }
            Err(error) => {
                let code = format!("{}/{}", error.class(), error.code());
                let message = format!("/{name}: {}", error.message());
                let rows = crate::transcript::error_rows(&code, &message, self.columns());
                self.commit(rows);
            }
        }
    }

    /// Shows what was said before, of a session that is resumed.
    fn show_past(&mut self, records: &[TranscriptRecord], earlier: u64) {
        if earlier > 0 {
            let rows = if earlier == 1 { "record" } else { "records" };
            self.note(
                &format!("{earlier} {rows} before are not shown; Ctrl-T has them"),
                Look::Dim,
            );
        }
        let shape = self.shape();
        let columns = self.columns();
        let mut rows = Vec::new();
        for record in records {
            let layout = crate::transcript::records::Layout {
                columns,
                shape,
                clock: &self.clock,
                unfolded: false,
            };
            rows.extend(crate::transcript::records::rows(record, layout));
            if record.kind == "user_input"
                && let Some(text) = record.payload["text"].as_str()
            {
                self.composer.remember(text);
            }
        }
        self.commit(rows);
    }

    /// Shows what a person sent, now that its turn begins.
    fn echo(&mut self, text: &str) {
        let when = self.clock.now();
        let remark = self.echo_remark.take();
        let mut rows = message_heading("you", &when, remark);
        rows.extend(crate::transcript::said_by_person(text, self.columns()));
        self.commit(rows);
    }

    /// The terminal was elsewhere for a while: what was typed there answers nothing here.
    pub(crate) fn came_back(&mut self, now: Instant) {
        self.last_key = Some(now);
        self.dialog_focus = false;
        if let Some(dialog) = &mut self.dialog {
            dialog.armed = false;
        }
    }

    /// Lets the commands of the status line run, each no more often than it may.
    fn run_widgets(&mut self, now: Instant) {
        for widget in self.options.widgets() {
            let interval = Duration::from_millis(widget.interval_ms);
            let last = self.widgets_run.get(&widget.id);
            if last.is_none_or(|last| now.saturating_duration_since(*last) >= interval) {
                self.widgets_run.insert(widget.id.clone(), now);
                self.effects
                    .push(Effect::Widget(widget.id.clone(), widget.command.clone()));
            }
        }
    }

    /// Says something for a moment.
    fn say(&mut self, text: &str, now: Instant) {
        self.hint = Some((text.to_owned(), now + AGAIN));
    }

    fn shows_thinking(&self) -> bool {
        self.options.thinking != Thinking::Off
    }

    /// When the screen changes by itself next, if it does.
    pub(crate) fn next_change(&self, now: Instant) -> Option<Instant> {
        let second = Duration::from_secs(1);
        let running = self.turn.as_ref().map(|turn| {
            let step = if self.options.motion == crate::options::Motion::Reduced {
                60 * second
            } else {
                second
            };
            let passed = now.saturating_duration_since(turn.began);
            let steps = passed.as_millis() / step.as_millis().max(1) + 1;
            turn.began + step * u32::try_from(steps).unwrap_or(u32::MAX)
        });
        let hint = self.hint.as_ref().map(|(_, until)| *until);
        let armed = self.armed.map(|(_, until)| until);
        let introduction = self.introduction.as_ref().map(|(until, _)| *until);
        [running, hint, armed, introduction, self.dialog_change(now)]
            .into_iter()
            .flatten()
            .min()
    }

    /// What the title of the window says.
    pub(crate) fn title(&self, folder: &str) -> String {
        let needs = if self.dialog.is_some() {
            " · needs you"
        } else {
            ""
        };
        format!("stud · {folder}{needs}")
    }

    /// The terminal said whether it has the focus.
    pub(crate) fn focused(&mut self, has_focus: bool) {
        self.focus_known = true;
        self.has_focus = has_focus;
    }

    fn call(&mut self, only_without_focus_reports: bool) {
        let looks_away = if self.focus_known {
            !self.has_focus
        } else {
            only_without_focus_reports
        };
        if looks_away {
            self.effects.push(Effect::Bell);
        }
    }
}

#[cfg(test)]
mod tests;
