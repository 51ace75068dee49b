//! The full terminal screen.
//!
//! The transcript goes into the terminal's own scrollback as plain output, and a live area of a few rows is redrawn
//! below it: running tools, the tail of an answer, dialogs, the composer, the status line. Ctrl-T shows the same
//! transcript on a screen of its own.
#![forbid(unsafe_code)]

mod app;
mod charset;
mod composer;
mod dialog;
mod field;
mod files;
mod jobs;
mod mailbox;
mod markdown;
mod options;
mod pager;
mod palette;
mod panels;
mod runner;
mod status;
mod terminal;
mod text;
mod transcript;

use std::future::poll_fn;
use std::io::{self, IsTerminal as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use signal_hook::consts::{SIGTSTP, SIGWINCH};
use signal_hook::iterator::{Handle, Signals};
use stud_sdk::host::metrics::Subscription;
use stud_sdk::ui::{Event, Interactor, Request, Response, Subscriber, ui};
use stud_sdk::{Class, Cx, CxExt as _, Error, Host, HostExt as _, Result, Schema};

use app::App;
use charset::Charset;
use jobs::Jobs;
use mailbox::{Mailbox, Message};
use options::{Color, Options};
use runner::{Runner, Surroundings};
use terminal::device::{Device, wake_pipe};
use terminal::printer::{Abilities, Printer};
use transcript::clock::Clock;

/// The plugin's id, by which other interactors' answers are told from its own.
const ID: &str = "default-tui";

/// Nothing more can be typed here: the terminal is gone, or the screen has failed.
#[derive(Schema)]
struct DefaultTuiInputEnded {}

/// Shows the session in a terminal and answers its prompts.
#[ui(
    id = "default-tui",
    title = "Terminal screen",
    config = Options,
    init = DefaultTui::new,
    activate = DefaultTui::activate,
    deactivate = DefaultTui::close,
    dispose = DefaultTui::close,
    events(DefaultTuiInputEnded)
)]
struct DefaultTui {
    host: Host,
    options: Mutex<Option<Options>>,
    seat: Mutex<Seat>,
    /// Whether the screen's thread has panicked, and it was not reported yet.
    panicked: Arc<AtomicBool>,
}

/// Whether there is a screen, and what serves it.
#[derive(Default)]
struct Seat {
    active: bool,
    open: Option<Open>,
}

/// A screen with the threads that serve it.
struct Open {
    mailbox: Arc<Mailbox>,
    thread: JoinHandle<()>,
    signals: Handle,
    _snapshots: Option<Subscription>,
}

impl DefaultTui {
    #[expect(clippy::unnecessary_wraps, reason = "the attribute takes it as it is")]
    fn new(host: Host, options: Options) -> Result<Self> {
        Ok(Self {
            host,
            options: Mutex::new(Some(options)),
            seat: Mutex::default(),
            panicked: Arc::default(),
        })
    }

    /// Takes the terminal, if there is a session to show.
    ///
    /// Without one the terminal is none of this plugin's business: `stud plugin list` leaves it as it is.
    fn activate(&self) -> Result<()> {
        self.lock().active = true;
        if self.host.workspace().session_id().is_ok() {
            self.mailbox()?;
        }
        Ok(())
    }

    /// The way to the screen. The first event or prompt of a session opens it, where activation came too early.
    fn mailbox(&self) -> Result<Option<Arc<Mailbox>>> {
        let mut seat = self.lock();
        if seat.active && seat.open.is_none() {
            let options = self
                .options
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            // It has failed before, or was closed.
            let Some(options) = options else {
                return Ok(None);
            };
            seat.open = Some(self.open(options).map_err(unusable)?);
        }
        let open = seat.open.as_ref().filter(|open| !open.thread.is_finished());
        Ok(open.map(|open| open.mailbox.clone()))
    }

    fn open(&self, options: Options) -> io::Result<Open> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(io::Error::other(
                "standard input and output are no terminals",
            ));
        }
        let (wake, waker) = wake_pipe()?;
        let mailbox = Arc::new(Mailbox::new(waker));
        let mut signals = Signals::new([SIGWINCH, SIGTSTP])?;
        let handle = signals.handle();
        let told = mailbox.clone();
        thread::Builder::new()
            .name("tui-signals".to_owned())
            .spawn(move || {
                for signal in &mut signals {
                    told.post(if signal == SIGTSTP {
                        Message::Suspend
                    } else {
                        Message::Resized
                    });
                }
            })?;
        let (host, told, panicked) = (self.host.clone(), mailbox.clone(), self.panicked.clone());
        let device = Device::take()?;
        let thread = thread::Builder::new()
            .name("default-tui".to_owned())
            .spawn(move || {
                let mailbox = told.clone();
                let shown = catch_unwind(AssertUnwindSafe(|| {
                    show(&host, options, device, mailbox, wake)
                }));
                told.end_prompts();
                let has_ended = if let Ok(ended) = shown {
                    ended.is_err()
                } else {
                    panicked.store(true, Ordering::Release);
                    true
                };
                if has_ended {
                    // Another screen of the session continues; without one the session ends.
                    let _ = host.publish("DefaultTuiInputEnded", &DefaultTuiInputEnded {});
                }
            })?;
        let snapshots = self.host.metrics().subscribe(Box::new({
            let mailbox = mailbox.clone();
            move |snapshot| mailbox.post(Message::Snapshot(snapshot))
        }));
        Ok(Open {
            mailbox,
            thread,
            signals: handle,
            _snapshots: snapshots.ok(),
        })
    }

    /// Gives the terminal back. May be called twice.
    fn close(&self) {
        let open = {
            let mut seat = self.lock();
            seat.active = false;
            seat.open.take()
        };
        if let Some(open) = open {
            open.mailbox.post(Message::Close);
            open.mailbox.end_prompts();
            open.signals.close();
            // It ends as soon as the terminal has its last bytes.
            let _ = open.thread.join();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seat> {
        // Either there is a screen or there is none, whatever panicked.
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for DefaultTui {
    fn on_event(&self, event: &Event<'_>) -> Result<()> {
        if self.panicked.swap(false, Ordering::AcqRel) {
            let message = "the terminal screen panicked and was closed";
            return Err(Error::new(Class::ExtensionHost, "CallPanicked", message));
        }
        if !app::HEARD.contains(&event.name) {
            return Ok(());
        }
        if let Some(mailbox) = self.mailbox()? {
            mailbox.post(Message::Event {
                name: event.name.to_owned(),
                payload: event.payload.to_owned(),
            });
        }
        Ok(())
    }
}

impl Interactor for DefaultTui {
    async fn on_interaction(&self, request: Request, cx: &Cx) -> Result<Response> {
        let dismissed = Response::dismissed(&request);
        let Some(mailbox) = self.mailbox()? else {
            return Ok(dismissed);
        };
        if cx.is_cancelled() {
            // Another interactor was faster, so there is nothing to ask.
            return Ok(dismissed);
        }
        let _waiting = Waiting::begin(&mailbox, request);
        let id = &dismissed.interaction_id;
        // The answer goes to the host by itself, which then tells whether it has won.
        let _ = cx
            .unless_cancelled(poll_fn(|task| mailbox.poll_prompt(id, task)))
            .await;
        Ok(dismissed)
    }
}

/// A prompt on its way to an answer. Dropped, it is off the screen.
struct Waiting {
    mailbox: Arc<Mailbox>,
    id: String,
}

impl Waiting {
    fn begin(mailbox: &Arc<Mailbox>, request: Request) -> Self {
        let id = request.interaction_id.clone();
        mailbox.await_prompt(&id);
        mailbox.post(Message::Prompt(Box::new(request)));
        Self {
            mailbox: mailbox.clone(),
            id,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.mailbox.forget_prompt(&self.id);
        self.mailbox
            .post(Message::PromptGone(std::mem::take(&mut self.id)));
    }
}

impl Drop for DefaultTui {
    fn drop(&mut self) {
        self.close();
    }
}

/// Puts the screen together and runs it.
fn show(
    host: &Host,
    options: Options,
    device: Device,
    mailbox: Arc<Mailbox>,
    wake: std::fs::File,
) -> io::Result<()> {
    let env = |name: &str| {
        host.env()
            .get(name)
            .ok()
            .flatten()
            .filter(|value| !value.is_empty())
    };
    let snapshot = host.metrics().snapshot().ok();
    let is_resumed = snapshot
        .as_ref()
        .is_some_and(|snapshot| snapshot.session.turn_count > 0);
    let folder = snapshot
        .as_ref()
        .map(|snapshot| PathBuf::from(&snapshot.session.cwd))
        .unwrap_or_default();
    let size = device.size();
    let term = env("TERM").unwrap_or_default();
    let in_tmux = env("TMUX").is_some() && (term.starts_with("tmux") || term.starts_with("screen"));
    let abilities = Abilities {
        reflows: in_tmux,
        synchronized: false,
        color: match options.color {
            Color::Auto => env("NO_COLOR").is_none(),
            Color::Always => true,
            Color::Never => false,
        },
    };
    let locale = env("LC_ALL")
        .or_else(|| env("LC_CTYPE"))
        .or_else(|| env("LANG"));
    let charset = Charset::of(options.charset, locale.as_deref());
    let surroundings = Surroundings {
        in_multiplexer: in_tmux || env("STY").is_some() || env("ZELLIJ").is_some(),
        knows_osc9: matches!(
            env("TERM_PROGRAM").as_deref(),
            Some("iTerm.app" | "WezTerm" | "ghostty" | "WarpTerminal")
        ),
        editor: env("VISUAL")
            .or_else(|| env("EDITOR"))
            .unwrap_or_else(|| "vi".to_owned()),
        folder: folder.clone(),
    };
    let clock = Clock::local();
    let mut app = App::new(options, size, clock, ID);
    app.greet(
        env!("CARGO_PKG_VERSION"),
        &folder.display().to_string(),
        std::time::Instant::now(),
    );
    if let Some(snapshot) = snapshot {
        app.take_snapshot(snapshot);
    }
    let jobs = Jobs::new(host.clone(), mailbox.clone(), folder);
    if is_resumed {
        jobs.past();
    }
    let printer = Printer::new(usize::from(size.0), abilities);
    let mut runner = Runner::new(
        app,
        printer,
        charset,
        device,
        jobs,
        mailbox,
        wake,
        surroundings,
    );
    runner.run()
}

fn unusable(error: io::Error) -> Error {
    let message = format!("the terminal cannot be used: {error}");
    Error::new(Class::ExtensionHost, "LifecycleFailure", message)
}
