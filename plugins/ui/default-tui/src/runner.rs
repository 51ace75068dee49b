//! The screen's own thread: reads the terminal, takes messages, writes frames.

mod handover;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use rustix::process::{Signal, getpid, kill_process};

use crate::app::{App, Effect};
use crate::charset::Charset;
use crate::jobs::Jobs;
use crate::mailbox::{Mailbox, Message};
use crate::options::Notify;
use crate::terminal::decoder::Decoder;
use crate::terminal::device::Device;
use crate::terminal::key::{Input, Report};
use crate::terminal::modes;
use crate::terminal::printer::Printer;
use crate::text::escape;
use crate::text::row::{Look, Row};

/// The time between two frames.
const FRAME: Duration = Duration::from_millis(34);

/// How long an Escape may be the beginning of something longer.
const ESCAPE: Duration = Duration::from_millis(50);

/// The same while the terminal owes answers.
const ESCAPE_WITH_ANSWERS: Duration = Duration::from_millis(300);

/// How long a paste may pause.
const PASTE: Duration = Duration::from_secs(2);

/// How long to wait for the answer about the size.
const SIZE_ANSWER: Duration = Duration::from_millis(300);

/// How long the terminal gets for the last bytes.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What the environment says of the terminal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) in_multiplexer: bool,
    pub(crate) knows_osc9: bool,
    pub(crate) editor: String,
    pub(crate) folder: PathBuf,
}

/// The screen on its terminal. Dropped, it gives the terminal back, whatever happened.
pub(crate) struct Runner {
    pub(crate) app: App,
    pub(crate) printer: Printer,
    pub(crate) charset: Charset,
    pub(crate) device: Device,
    pub(crate) jobs: Jobs,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) wake: File,
    pub(crate) surroundings: Surroundings,
    decoder: Decoder,
    last_input: Instant,
    last_frame: Option<Instant>,
    resize: Option<Resize>,
    title: String,
    owes_answers: Option<Instant>,
    keyboard_pushed: bool,
    is_down: bool,
    /// Whether something came since the last frame.
    stale: bool,
}

/// A change of size that is not settled.
#[derive(Debug, Clone, Copy)]
struct Resize {
    quiet_at: Instant,
    /// When the size was asked for.
    asked_at: Option<Instant>,
}

impl Runner {
    #[expect(
        clippy::too_many_arguments,
        reason = "the parts are made apart, and this puts them together"
    )]
    pub(crate) fn new(
        app: App,
        printer: Printer,
        charset: Charset,
        device: Device,
        jobs: Jobs,
        mailbox: Arc<Mailbox>,
        wake: File,
        surroundings: Surroundings,
    ) -> Self {
        Self {
            app,
            printer,
            charset,
            device,
            jobs,
            mailbox,
            wake,
            surroundings,
            decoder: Decoder::default(),
            last_input: Instant::now(),
            last_frame: None,
            resize: None,
            title: String::new(),
            owes_answers: None,
            keyboard_pushed: false,
            is_down: false,
            stale: true,
        }
    }

    /// Runs until the screen is closed or the terminal is gone.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        self.put(modes::ENTER)?;
        if self.app.options.title {
            self.put(modes::SAVE_TITLE)?;
        }
        self.draw()?;
        self.put(modes::QUESTIONS)?;
        self.owes_answers = Some(Instant::now());
        loop {
            if !self.take_messages()? {
                return Ok(());
            }
            self.perform_effects()?;
            self.settle_size()?;
            if self.may_draw() {
                self.draw()?;
            }
            let ready = self.device.wait(self.wake.as_fd(), self.timeout())?;
            if ready.woken {
                let mut bytes = [0; 64];
                let _ = self.wake.read(&mut bytes);
            }
            self.device.write(b"")?;
            if ready.said {
                let said = self.device.overheard();
                self.app.overhear(&String::from_utf8_lossy(&said));
                self.stale = true;
            }
            if ready.input {
                self.read()?;
            } else if ready.gone {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.end_unfinished();
        }
    }

    fn take_messages(&mut self) -> io::Result<bool> {
        let (messages, lost) = self.mailbox.take();
        self.stale |= !messages.is_empty();
        let now = Instant::now();
        for message in messages {
            match message {
                Message::Event { name, payload } => {
                    self.app.event(&name, &payload, now);
                }
                Message::Prompt(request) => {
                    // What is still unread was typed before anyone could see it.
                    self.app.key_began(now);
                    self.app.prompt(*request, now);
                }
                Message::PromptGone(id) => self.app.prompt_gone(&id),
                Message::Done(done) => self.app.done(*done, now),
                Message::Snapshot(snapshot) => self.app.take_snapshot(snapshot),
                Message::Resized => {
                    let quiet = if self.surroundings.in_multiplexer {
                        300
                    } else {
                        100
                    };
                    self.resize = Some(Resize {
                        quiet_at: now + Duration::from_millis(quiet),
                        asked_at: None,
                    });
                }
                Message::Suspend => self.suspend()?,
                Message::Close => return Ok(false),
            }
        }
        if lost {
            self.app
                .note("the screen fell behind; Ctrl-T has everything", Look::Warn);
        }
        Ok(true)
    }

    /// Reads the terminal.
    fn read(&mut self) -> io::Result<()> {
        let mut bytes = vec![0; 64 << 10];
        let count = self.device.read(&mut bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let now = Instant::now();
        self.last_input = now;
        self.stale = true;
        let inputs = self.decoder.feed(&bytes[..count]);
        for input in inputs {
            self.take_input(input, now)?;
        }
        Ok(())
    }

    fn take_input(&mut self, input: Input, now: Instant) -> io::Result<()> {
        match input {
            Input::Report(Report::Cursor { row, column }) => {
                self.take_size((column, row));
                Ok(())
            }
            Input::Report(Report::Attributes) => {
                self.owes_answers = None;
                Ok(())
            }
            Input::Report(Report::Keyboard) if !self.keyboard_pushed => {
                self.keyboard_pushed = true;
                self.put(modes::PUSH_KEYBOARD)
            }
            Input::Report(Report::Mode { mode: 2026, known }) => {
                self.printer.abilities.synchronized = known;
                Ok(())
            }
            Input::Report(_) => Ok(()),
            input => {
                self.app.input(input, now);
                self.perform_effects()
            }
        }
    }

    /// Waits for what is typed, for a view of its own.
    pub(crate) fn next_inputs(&mut self, patience: Duration) -> io::Result<Vec<Input>> {
        let patience = if self.decoder.is_unfinished() {
            self.unfinished_patience()
        } else {
            patience
        };
        let ready = self.device.wait(self.wake.as_fd(), Some(patience))?;
        self.device.write(b"")?;
        if ready.woken {
            let mut bytes = [0; 64];
            let _ = self.wake.read(&mut bytes);
        }
        if ready.said {
            let said = self.device.overheard();
            self.app.overhear(&String::from_utf8_lossy(&said));
        }
        if !ready.input {
            return if ready.gone {
                Err(io::ErrorKind::BrokenPipe.into())
            } else {
                Ok(self.decoder.time_out())
            };
        }
        let mut bytes = vec![0; 64 << 10];
        let count = self.device.read(&mut bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.last_input = Instant::now();
        Ok(self.decoder.feed(&bytes[..count]))
    }

    /// What has begun and does not continue is complete.
    fn end_unfinished(&mut self) {
        if !self.decoder.is_unfinished() || self.last_input.elapsed() < self.unfinished_patience() {
            return;
        }
        let now = Instant::now();
        self.stale = true;
        for input in self.decoder.time_out() {
            self.app.input(input, now);
        }
    }

    fn unfinished_patience(&self) -> Duration {
        if self.decoder.is_pasting() {
            PASTE
        } else if self
            .owes_answers
            .is_some_and(|since| since.elapsed() < Duration::from_secs(1))
        {
            ESCAPE_WITH_ANSWERS
        } else {
            ESCAPE
        }
    }

    fn may_draw(&self) -> bool {
        let is_due = self.last_frame.is_none_or(|last| last.elapsed() >= FRAME);
        self.resize.is_none() && is_due && self.device.is_drained()
    }

    fn timeout(&self) -> Option<Duration> {
        let now = Instant::now();
        let mut wanted: Vec<Instant> = Vec::new();
        wanted.extend(self.app.next_change(now));
        if self.decoder.is_unfinished() {
            wanted.push(self.last_input + self.unfinished_patience());
        }
        match self.resize {
            Some(Resize {
                asked_at: Some(asked),
                ..
            }) => wanted.push(asked + SIZE_ANSWER),
            Some(Resize { quiet_at, .. }) => wanted.push(quiet_at),
            None => {
                let last = self.last_frame.unwrap_or(now);
                if (self.app.has_more() || self.stale) && self.device.is_drained() {
                    wanted.push(last + FRAME);
                }
            }
        }
        let next = wanted.into_iter().min()?;
        Some(
            next.saturating_duration_since(now)
                .max(Duration::from_millis(1)),
        )
    }

    /// Writes a frame.
    fn draw(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let frame = self.app.frame(now);
        let fit = |rows: Vec<Row>| -> Vec<Row> {
            rows.into_iter().map(|row| self.charset.row(row)).collect()
        };
        let (commits, live) = (fit(frame.commits), fit(frame.live));
        let mut bytes = self.printer.frame(&commits, &live, frame.caret);
        if self.app.options.title {
            let folder = self
                .surroundings
                .folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let title = self.app.title(&escape::line(&folder));
            if title != self.title {
                let shown = if self.charset == Charset::Ascii {
                    title.replace('·', "-")
                } else {
                    title.clone()
                };
                let _ = write!(bytes, "\x1b]2;{shown}\x07");
                self.title = title;
            }
        }
        if !bytes.is_empty() {
            self.device.write(bytes.as_bytes())?;
        }
        self.last_frame = Some(now);
        self.stale = false;
        if self.device.is_drained() {
            self.app.frame_written(Instant::now());
        }
        Ok(())
    }

    /// After a change of size: waits for quiet, asks the terminal, and continues once it agrees with the kernel.
    fn settle_size(&mut self) -> io::Result<()> {
        let Some(resize) = self.resize else {
            return Ok(());
        };
        let now = Instant::now();
        match resize.asked_at {
            None if now >= resize.quiet_at && self.device.is_drained() => {
                self.put(modes::ASK_SIZE)?;
                self.resize = Some(Resize {
                    asked_at: Some(now),
                    ..resize
                });
            }
            // A terminal that does not answer has the size that the kernel says.
            Some(asked) if now >= asked + SIZE_ANSWER => self.resized(self.device.size()),
            _ => {}
        }
        Ok(())
    }

    fn take_size(&mut self, told: (u16, u16)) {
        if self.resize.is_none_or(|resize| resize.asked_at.is_none()) {
            return;
        }
        let size = self.device.size();
        // The report ends at 999, however large the terminal is.
        if told == (size.0.min(999), size.1.min(999)) {
            self.resized(size);
        } else {
            self.mailbox.post(Message::Resized);
        }
    }

    fn resized(&mut self, size: (u16, u16)) {
        self.resize = None;
        self.app.size = size;
        self.printer.resized(usize::from(size.0));
        self.last_frame = None;
    }

    fn perform_effects(&mut self) -> io::Result<()> {
        for effect in self.app.effects() {
            match effect {
                Effect::Submit(ticket, text) => self.jobs.submit(ticket, text),
                Effect::Command(line) => self.jobs.command(line),
                Effect::Complete(draft) => self.jobs.complete(draft),
                Effect::Files(query) => self.jobs.files(query),
                Effect::Commands => self.jobs.commands(),
                Effect::ToolResult(id) => self.jobs.tool_result(id),
                Effect::ReadInput(seq) => self.jobs.input(seq),
                Effect::Respond(response) => self.jobs.respond(*response),
                Effect::Widget(id, command) => self.jobs.widget(id, command),
                Effect::Redraw => self.resized(self.device.size()),
                Effect::Editor(text) => self.edit(&text)?,
                Effect::Pager => self.page()?,
                Effect::Copy(text) => self.copy(&text)?,
                Effect::Suspend => self.suspend()?,
                Effect::Bell => self.bell()?,
                Effect::Kill => self.kill(),
            }
        }
        Ok(())
    }

    pub(crate) fn put(&mut self, text: &str) -> io::Result<()> {
        self.device.write(text.as_bytes())
    }

    pub(crate) fn copy(&mut self, text: &str) -> io::Result<()> {
        /// Terminals take no more.
        const MOST: usize = 100_000;
        let mut end = text.len().min(MOST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let kept = &text[..end];
        self.put(&format!("\x1b]52;c;{}\x07", BASE64.encode(kept.as_bytes())))?;
        self.mailbox
            .done(crate::app::Done::Copied(kept.chars().count()));
        Ok(())
    }

    fn bell(&mut self) -> io::Result<()> {
        let folder = self
            .surroundings
            .folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        match self.app.options.notify {
            Notify::Off => Ok(()),
            Notify::Osc9 => self.put(&format!("\x1b]9;stud: {}\x07", escape::line(&folder))),
            Notify::Auto if self.surroundings.knows_osc9 => {
                self.put(&format!("\x1b]9;stud: {}\x07", escape::line(&folder)))
            }
            Notify::Bell | Notify::Auto => self.put("\x07"),
        }
    }

    /// Ends the program at once, as its own handler of the signal does.
    fn kill(&mut self) {
        self.leave();
        let _ = kill_process(getpid(), Signal::INT);
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.leave();
    }
}
