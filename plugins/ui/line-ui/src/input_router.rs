//! The desk: every line that is typed goes over it, to the session or to the prompt it answers.
//!
//! A line belongs to the prompt that was shown when its first byte arrived. So what was typed before a prompt was shown
//! never answers it, and what was typed for a prompt that has been settled answers nothing else.

mod gone;
mod prompt_input;

use std::collections::VecDeque;
use std::fmt;
use std::io::ErrorKind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::Thread;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::draft::{Draft, Line};
use crate::escape;
use crate::keyboard::Keyboard;
use crate::screen::{Busy, Screen, Tone};

pub(crate) use gone::{Fate, Gone};
pub(crate) use prompt_input::Seat;

/// How many bytes of lines may wait for the session before reading pauses.
const BACKLOG_LIMIT: usize = 4 * 1024 * 1024;

/// How many closed prompts are remembered until it is known how they ended.
const REMEMBERED: usize = 32;

/// What lies between the thread that reads, the thread that hands lines to the session, and the prompts.
pub(crate) struct Desk {
    keyboard: Arc<Keyboard>,
    screen: Arc<Screen>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    input: Input,
    /// Whose the line is that has begun and not ended.
    begun: Option<Owner>,
    backlog: VecDeque<Zeroizing<String>>,
    backlog_bytes: usize,
    /// The prompts, in the order they came. Only the first may be on the screen.
    places: VecDeque<Place>,
    last_number: u64,
    /// Prompts that have left the screen before anyone said how they ended.
    unexplained: VecDeque<String>,
    /// Whom to wake once the lock is released.
    rung: Vec<Waker>,
    /// The thread that hands lines to the session.
    runner: Option<Thread>,
    /// A command's prompt came after the end of the input, and is not answered here.
    gave_up: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Input {
    #[default]
    Open,
    /// Nothing more will come.
    Ended,
    /// Nothing more is wanted.
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Session,
    Prompt(u64),
    /// It was meant for a prompt that is gone.
    Nobody {
        /// Whether it may be a secret.
        secret: bool,
    },
}

/// One prompt.
struct Place {
    number: u64,
    interaction_id: String,
    secret: bool,
    shown: bool,
    /// Whether a command asks.
    of_command: bool,
    lines: VecDeque<Line>,
    fate: Option<Fate>,
    waker: Option<Waker>,
}

/// What is to be done with what was typed.
pub(crate) enum Errand {
    Line(Zeroizing<String>),
    /// Nothing more will come.
    End,
}

impl Desk {
    pub(crate) fn new(keyboard: Arc<Keyboard>, screen: Arc<Screen>) -> Self {
        Self {
            keyboard,
            screen,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Takes what can be read without waiting. False once nothing more is to be read.
    ///
    /// Reading happens under the lock: a holder that finds nothing to read knows that everything sent so far has
    /// been given its owner.
    pub(crate) fn read(&self, draft: &mut Draft) -> bool {
        let mut state = self.lock();
        while state.input == Input::Open && state.is_flooded() {
            state = self.wait(state);
        }
        if state.input != Input::Open {
            return false;
        }
        if !self.keyboard.has_input() {
            // A prompt has thrown away what was there.
            return true;
        }
        let mut chunk = Zeroizing::new([0; 4096]);
        match self.keyboard.read(&mut *chunk) {
            Ok(0) => self.end_input(&mut state, draft),
            Ok(count) => self.take(&mut state, &chunk[..count], draft),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            // The terminal or the pipe is gone.
            Err(_) => self.end_input(&mut state, draft),
        }
        let goes_on = state.input == Input::Open;
        state.ring_first();
        self.release(state);
        goes_on
    }

    fn take(&self, state: &mut State, bytes: &[u8], draft: &mut Draft) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if state.begun.is_none() {
                state.begun = Some(state.owner_of_next_line());
            }
            match piece.strip_suffix(b"\n") {
                None => draft.push(piece),
                Some(last) => {
                    draft.push(last);
                    let owner = state.begun.take().unwrap_or(Owner::Session);
                    self.show_enter(state);
                    self.deliver(state, owner, draft.finish());
                }
            }
        }
    }

    /// Keeps the picture of the terminal's last row true.
    fn show_enter(&self, state: &State) {
        if !self.keyboard.is_terminal() {
            return;
        }
        match state.places.front() {
            Some(place) if place.shown && place.secret => self.screen.end_row(),
            _ => self.screen.entered(),
        }
    }

    fn deliver(&self, state: &mut State, owner: Owner, line: Line) {
        match (owner, line) {
            (Owner::Prompt(number), line) => {
                // A prompt that leaves takes its lines along, so the owner is always there.
                if let Some(place) = state.place(number) {
                    place.lines.push_back(line);
                }
            }
            (Owner::Session, Line::Text(text)) if text.trim().is_empty() => self.screen.invite(),
            (Owner::Session, Line::Text(text)) => {
                state.backlog_bytes += text.len();
                state.backlog.push_back(text);
            }
            (Owner::Session, Line::Unusable(why)) => {
                self.screen.note(Tone::Alarm, &format!("not sent: {why}"));
                self.screen.invite();
            }
            (Owner::Nobody { secret }, line) => self.refuse(secret, &line),
        }
    }

    /// Says that a line goes nowhere, so that it can be typed again. What may be a secret is not shown.
    fn refuse(&self, secret: bool, line: &Line) {
        let note = match line {
            Line::Text(text) if text.trim().is_empty() => return,
            Line::Text(text) if !secret => format!(
                "not sent, because the prompt it was typed for is gone: {}",
                escape::line(text)
            ),
            _ => "not sent, because the prompt it was typed for is gone".to_owned(),
        };
        self.screen.note(Tone::Alarm, &note);
        self.screen.invite();
    }

    fn end_input(&self, state: &mut State, draft: &mut Draft) {
        if !draft.is_empty() && state.begun == Some(Owner::Session) {
            // A prompt wants Enter; a message that ends with the input is whole.
            self.deliver(state, Owner::Session, draft.finish());
        }
        if self.keyboard.is_terminal() {
            self.screen.end_row();
        }
        self.screen.begin(Busy::Over);
        state.begun = None;
        state.input = Input::Ended;
        state.ring_all();
    }

    /// The next thing to do, once there is one. Nothing once the desk is closed.
    pub(crate) fn next_errand(&self) -> Option<Errand> {
        let mut state = self.lock();
        loop {
            if state.input == Input::Closed {
                return None;
            }
            if let Some(line) = state.backlog.pop_front() {
                state.backlog_bytes -= line.len();
                self.release(state);
                return Some(Errand::Line(line));
            }
            if state.input == Input::Ended {
                return Some(Errand::End);
            }
            state = self.wait(state);
        }
    }

    /// The person has said that this was all.
    pub(crate) fn end(&self) {
        self.screen.begin(Busy::Over);
        self.change(|state| {
            if state.input == Input::Open {
                state.input = Input::Ended;
            }
            state.forget_backlog();
            state.ring_all();
        });
    }

    /// Nothing is read, asked or sent from here on.
    pub(crate) fn close(&self) {
        self.screen.begin(Busy::Over);
        let runner = self.change(|state| {
            state.input = Input::Closed;
            state.forget_backlog();
            state.ring_all();
            state.runner.take()
        });
        if let Some(runner) = runner {
            runner.unpark();
        }
    }

    /// A command begins, and has not asked anything yet.
    pub(crate) fn begin_command(&self) {
        self.lock().gave_up = false;
    }

    /// A command's question could not be answered, because the input is at its end: the command waits in vain.
    pub(crate) fn give_up(&self) {
        let runner = self.change(|state| {
            state.gave_up = true;
            state.runner.clone()
        });
        if let Some(runner) = runner {
            runner.unpark();
        }
    }

    /// Lets the questions of a command that is over leave the screen, be they answered here or elsewhere: what is typed
    /// below the command's last words is not meant for them.
    pub(crate) fn see_questions_off(&self) {
        /// They are settled and about to go; one that does not is a later command's, and stays.
        const MOMENT: Duration = Duration::from_secs(1);
        let there = |state: &mut State| {
            state.input != Input::Closed && state.places.iter().any(|place| place.of_command)
        };
        drop(self.changed.wait_timeout_while(self.lock(), MOMENT, there));
    }

    /// Whether the question of the command that runs could not be answered.
    pub(crate) fn gave_up(&self) -> bool {
        self.lock().gave_up
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().input == Input::Closed
    }

    /// Names the thread to wake when the desk is closed while that thread waits for the host.
    pub(crate) fn set_runner(&self, runner: Thread) {
        self.lock().runner = Some(runner);
    }

    /// Lets some time pass; false if the desk was closed meanwhile.
    pub(crate) fn rest(&self, time: Duration) -> bool {
        let open = |state: &mut State| state.input != Input::Closed;
        let waited = self.changed.wait_timeout_while(self.lock(), time, open);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.input != Input::Closed
    }

    /// A prompt was settled elsewhere. Says so for one that has left the screen already; one that is still there says it
    /// by itself when it leaves.
    pub(crate) fn settle(&self, interaction_id: &str, fate: Fate) {
        let left_before = self.change(|state| {
            let known = |place: &&mut Place| place.interaction_id == interaction_id;
            if let Some(place) = state.places.iter_mut().find(known) {
                place.fate.get_or_insert_with(|| fate.clone());
                let waker = place.waker.take();
                state.rung.extend(waker);
                return false;
            }
            state.explain(interaction_id)
        });
        if left_before {
            self.screen.note(Tone::Faint, &fate.to_string());
        }
    }

    /// A prompt was settled by the answer given here.
    pub(crate) fn confirm(&self, interaction_id: &str) {
        self.lock().explain(interaction_id);
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let result = change(&mut state);
        self.release(state);
        result
    }

    /// Unlocks first, because a waker may run anything.
    fn release(&self, mut state: MutexGuard<'_, State>) {
        let rung = std::mem::take(&mut state.rung);
        drop(state);
        self.changed.notify_all();
        rung.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is whole before anything in it can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn owner_of_next_line(&self) -> Owner {
        match self.places.front() {
            Some(place) if place.shown => Owner::Prompt(place.number),
            _ => Owner::Session,
        }
    }

    fn place(&mut self, number: u64) -> Option<&mut Place> {
        self.places.iter_mut().find(|place| place.number == number)
    }

    fn is_flooded(&self) -> bool {
        self.backlog_bytes > BACKLOG_LIMIT
    }

    fn forget_backlog(&mut self) {
        self.backlog.clear();
        self.backlog_bytes = 0;
    }

    fn ring_first(&mut self) {
        let first = self.places.front_mut();
        let waker = first.and_then(|place| place.waker.take());
        self.rung.extend(waker);
    }

    fn ring_all(&mut self) {
        let wakers = self
            .places
            .iter_mut()
            .filter_map(|place| place.waker.take());
        self.rung.extend(wakers);
    }

    fn remember(&mut self, interaction_id: &str) {
        if self.unexplained.len() == REMEMBERED {
            self.unexplained.pop_front();
        }
        self.unexplained.push_back(interaction_id.to_owned());
    }

    /// Whether the prompt was one of those whose end was not known.
    fn explain(&mut self, interaction_id: &str) -> bool {
        let before = self.unexplained.len();
        self.unexplained.retain(|id| id != interaction_id);
        self.unexplained.len() < before
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
