//! The screen for pipes and plain terminals: one line at a time.
//!
//! A line is a message to the session, a slash command, or the answer to the prompt on the screen. The assistant's text
//! goes to standard output and everything else to standard error, so that `printf 'hello\n' | stud` is useful in a
//! pipeline. The README beside the manifest says who gets which line.
#![forbid(unsafe_code)]

mod escape;
mod keyboard;
mod draft;
mod screen;
mod input_router;
mod question;
mod reply;
mod prompt_heading;
mod field;
mod form;
mod dialog;
mod session_input;
mod event_text;
mod replay;
mod devices;

use std::io::{self, PipeReader, PipeWriter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use stud_sdk::interaction::{Action, Answer, UserResponse};
use stud_sdk::ui::{Event, Interactor, Payload, Request, Response, Subscriber, ui};
use stud_sdk::{Class, Config, Cx, CxExt as _, Error, Host, Result, Schema};

use devices::Devices;
use draft::Draft;
use event_text::News;
use input_router::{Desk, Gone};
use keyboard::Keyboard;
use prompt_heading::Names;
use question::{Stop, Talk};
use screen::{Look, Screen};
use session_input::LineUiInputEnded;

/// The plugin's id, by which other interactors' answers are told from its own.
const ID: &str = "line-ui";

/// How the screen looks.
#[derive(Config)]
struct Options {
    /// What invites to type on a terminal.
    #[stud(default = "> ")]
    prompt: String,
    /// When to use color: on a terminal that has not said `NO_COLOR`, always, or never.
    #[stud(default)]
    color: Color,
}

/// When to use color.
#[derive(Default, Schema)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// Shows the session and answers its prompts, one line at a time.
#[ui(
    id = "line-ui",
    title = "Line screen",
    config = Options,
    init = LineUi::new,
    activate = LineUi::activate,
    deactivate = LineUi::close,
    dispose = LineUi::close,
    events(LineUiInputEnded)
)]
struct LineUi {
    host: Host,
    keyboard: Arc<Keyboard>,
    screen: Arc<Screen>,
    names: Names,
    news: News,
    presence: Mutex<Presence>,
}

/// Whether the desk is open.
#[derive(Default)]
struct Presence {
    active: bool,
    sitting: Option<Sitting>,
}

/// A desk with the threads that serve it.
struct Sitting {
    desk: Arc<Desk>,
    /// Dropped, it ends the thread that waits for input, without taking any.
    _hang_up: PipeWriter,
    /// What it is about to show is shown before the plugin is gone.
    errands: JoinHandle<()>,
}

impl LineUi {
    fn new(host: Host, options: Options) -> Result<Self> {
        let devices = Devices::take().map_err(unusable)?;
        let color = match options.color {
            Color::Auto => devices.notes.is_terminal && wants_color(&host),
            Color::Always => true,
            Color::Never => false,
        };
        let look = Look {
            prompt: options.prompt,
            invites: devices.keyboard.is_terminal() && devices.notes.is_terminal,
            color,
        };
        Ok(Self {
            host,
            keyboard: Arc::new(devices.keyboard),
            screen: Arc::new(Screen::new(devices.text, devices.notes, look)),
            names: Names::default(),
            news: News::default(),
            presence: Mutex::default(),
        })
    }

    /// Begins to read, if there is a session to read for.
    ///
    /// Without one, this plugin must not read the input: `stud plugin list` inside a shell's `while read` loop must
    /// leave the loop's input alone.
    fn activate(&self) -> Result<()> {
        self.lock().active = true;
        if self.host.workspace().session_id().is_ok() {
            replay::show(&self.screen, &self.host);
            self.desk()?;
        }
        Ok(())
    }

    /// The desk. The first event or prompt of a session opens it, where activation came too early.
    fn desk(&self) -> Result<Option<Arc<Desk>>> {
        let mut presence = self.lock();
        if presence.active && presence.sitting.is_none() {
            self.screen.reopen();
            presence.sitting = Some(self.sit_down().map_err(unusable)?);
        }
        let sitting = presence.sitting.as_ref();
        Ok(sitting.map(|sitting| sitting.desk.clone()))
    }

    fn sit_down(&self) -> io::Result<Sitting> {
        let desk = Arc::new(Desk::new(self.keyboard.clone(), self.screen.clone()));
        let (ear, hang_up) = io::pipe()?;
        let (keyboard, weak) = (self.keyboard.clone(), Arc::downgrade(&desk));
        thread::Builder::new()
            .name("line-ui-reader".to_owned())
            .spawn(move || listen(&keyboard, &weak, &ear))?;
        let (host, served) = (self.host.clone(), desk.clone());
        let errands = thread::Builder::new()
            .name("line-ui-errands".to_owned())
            .spawn(move || session_input::run(&served, &host))?;
        Ok(Sitting {
            desk,
            _hang_up: hang_up,
            errands,
        })
    }

    /// Ends the prompts on the screen and stops reading. May be called twice.
    fn close(&self) {
        let sitting = {
            let mut presence = self.lock();
            presence.active = false;
            presence.sitting.take()
        };
        if let Some(sitting) = sitting {
            sitting.desk.close();
            // A closed desk blocks no caller, so this thread ends as soon as its output is written.
            let _ = sitting.errands.join();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Presence> {
        // The desk is open or closed, whatever panicked.
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for LineUi {
    fn on_event(&self, event: &Event<'_>) -> Result<()> {
        match self.desk()? {
            Some(desk) => self.news.hear(event, ID, &desk, &self.names),
            None => Ok(()),
        }
    }
}

impl Interactor for LineUi {
    async fn on_interaction(&self, request: Request, cx: &Cx) -> Result<Response> {
        if cx.is_cancelled() {
            // Another interactor was faster, so there is nothing to ask, and no line to take for it.
            return Ok(Response::dismissed(&request));
        }
        let Some(desk) = self.desk()? else {
            return Ok(Response::dismissed(&request));
        };
        self.names.learn(&request.payload);
        let secret = matches!(request.payload, Payload::AuthPassword(_));
        let mut talk = Talk::new(&desk, &request.interaction_id, secret);
        let of_command = matches!(request.payload, Payload::Confirm(_) | Payload::Select(_));
        if of_command {
            talk = talk.of_command();
        }
        let held = cx
            .unless_cancelled(dialog::hold(&mut talk, &request, &self.names))
            .await;
        Ok(match held {
            Ok(Ok(answer)) => {
                talk.answered();
                Response::accepted(&request, answer)
            }
            Ok(Err(Stop::Cancelled)) => {
                talk.answered();
                refusal(&request)
            }
            Ok(Err(Stop::Gone(why))) => {
                if of_command && why == Gone::InputEnded {
                    desk.give_up();
                }
                talk.give_up(why);
                Response::dismissed(&request)
            }
            // Cancelled: the returned value is ignored, and the end of `talk` removes the question from the screen.
            Err(_) => Response::dismissed(&request),
        })
    }
}

impl Drop for LineUi {
    fn drop(&mut self) {
        self.close();
    }
}

/// A person's no to the whole question.
fn refusal(request: &Request) -> Response {
    let cancel = UserResponse::new(Action::Cancel);
    match &request.payload {
        Payload::ToolInput(_) => Response::accepted(request, Answer::ToolInput(cancel)),
        Payload::ToolApproval(_) => Response::accepted(request, Answer::ToolApproval(cancel)),
        _ => Response::rejected(request, "cancelled at the prompt"),
    }
}

/// Reads input until the desk is closed. It owns nothing that would keep the plugin alive.
fn listen(keyboard: &Keyboard, desk: &Weak<Desk>, hang_up: &PipeReader) {
    let mut draft = Draft::default();
    while keyboard.wait(hang_up) {
        match desk.upgrade() {
            Some(desk) if desk.read(&mut draft) => {}
            _ => return,
        }
    }
}

fn wants_color(host: &Host) -> bool {
    let env = host.env();
    // What cannot be looked up may be a no.
    matches!(env.get("NO_COLOR"), Ok(None))
        && !matches!(env.get("TERM"), Ok(Some(term)) if term == "dumb")
}

fn unusable(error: io::Error) -> Error {
    let message = format!("the input or a thread to read it cannot be had: {error}");
    Error::new(Class::ExtensionHost, "LifecycleFailure", message)
}

#[cfg(test)]
mod tests;
