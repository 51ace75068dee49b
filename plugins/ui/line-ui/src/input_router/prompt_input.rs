//! One prompt's place at the desk.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::{Desk, Gone, Input, Owner, Place, State};
use crate::draft::Line;
use crate::keyboard::Hidden;
use crate::screen::{Busy, Tone};

/// The right to ask once those who came before have left. Dropped, it gives the screen to the next.
///
/// The caller of a prompt may simply drop its future when it is cancelled, so everything that must happen at its end happens
/// in the drop: the terminal shows again what is typed, and half a line typed for this prompt goes nowhere else.
pub(crate) struct Seat {
    desk: Arc<Desk>,
    number: u64,
    shown: bool,
    hidden: Option<Hidden>,
    end: Option<End>,
}

enum End {
    Answered,
    Gone(Gone),
}

impl Desk {
    /// Puts a prompt at the end of the queue.
    pub(crate) fn seat(self: &Arc<Self>, interaction_id: &str) -> Seat {
        let number = self.change(|state| {
            state.last_number += 1;
            state.places.push_back(Place {
                number: state.last_number,
                interaction_id: interaction_id.to_owned(),
                secret: false,
                shown: false,
                of_command: false,
                lines: VecDeque::new(),
                fate: None,
                waker: None,
            });
            state.last_number
        });
        Seat {
            desk: self.clone(),
            number,
            shown: false,
            hidden: None,
            end: None,
        }
    }
}

impl Seat {
    /// Notes that it is a command that asks.
    pub(crate) fn of_command(self) -> Self {
        self.desk.change(|state| {
            if let Some(place) = state.place(self.number) {
                place.of_command = true;
            }
        });
        self
    }

    /// Shows the question once it is this prompt's turn. What arrives from then on may answer it.
    pub(crate) async fn show(
        &mut self,
        heading: &str,
        invitation: &str,
        secret: bool,
    ) -> Result<(), Gone> {
        let shown = poll_fn(|cx| self.poll_show(cx, heading, invitation, secret)).await;
        if let Err(gone) = &shown
            && !matches!(gone, Gone::Settled(_) | Gone::Closed)
        {
            // There may be no other UI to show it, and the session waits for it.
            self.desk.screen.note(Tone::Plain, heading);
            self.desk.screen.note(Tone::Alarm, &gone.to_string());
        }
        shown
    }

    fn poll_show(
        &mut self,
        cx: &mut Context<'_>,
        heading: &str,
        invitation: &str,
        secret: bool,
    ) -> Poll<Result<(), Gone>> {
        let desk = self.desk.clone();
        let (keyboard, screen) = (&desk.keyboard, &desk.screen);
        desk.change(|state| {
            if let Some(gone) = state.gone(self.number) {
                return Poll::Ready(Err(gone));
            }
            if state.is_flooded() {
                return Poll::Ready(Err(Gone::Flooded));
            }
            let is_first = state
                .places
                .front()
                .is_some_and(|first| first.number == self.number);
            let is_terminal = keyboard.is_terminal();
            // A pipe does not say when something was sent. So whatever is in it now is read first, and not as an answer.
            if !is_first || (!is_terminal && keyboard.has_input()) {
                return state.wake_later(self.number, cx);
            }
            if is_terminal && !screen.notes_are_seen() {
                return Poll::Ready(Err(Gone::Unseen));
            }
            if is_terminal && secret {
                let Ok(hidden) = keyboard.hide() else {
                    return Poll::Ready(Err(Gone::Unhidden));
                };
                self.hidden = Some(hidden);
            }
            keyboard.discard();
            if let Some(place) = state.place(self.number) {
                (place.shown, place.secret) = (true, secret);
            }
            self.shown = true;
            screen.begin(Busy::Question);
            screen.ask(heading, invitation);
            Poll::Ready(Ok(()))
        })
    }

    /// The next line that was typed for this prompt.
    pub(crate) async fn line(&mut self) -> Result<Line, Gone> {
        poll_fn(|cx| {
            self.desk.change(|state| {
                let Some(place) = state.place(self.number) else {
                    return Poll::Ready(Err(Gone::Closed));
                };
                // A prompt settled elsewhere is not answered here, even if a line was typed.
                if place.fate.is_none()
                    && let Some(line) = place.lines.pop_front()
                {
                    return Poll::Ready(Ok(line));
                }
                match state.gone(self.number) {
                    Some(gone) => Poll::Ready(Err(gone)),
                    None => state.wake_later(self.number, cx),
                }
            })
        })
        .await
    }

    /// The person has answered, be it with a no.
    pub(crate) fn answered(mut self) {
        self.end = Some(End::Answered);
    }

    /// There will be no answer from here.
    pub(crate) fn give_up(mut self, why: Gone) {
        self.end = Some(End::Gone(why));
    }
}

impl State {
    fn gone(&self, number: u64) -> Option<Gone> {
        let place = self.places.iter().find(|place| place.number == number)?;
        match (&place.fate, self.input) {
            (Some(fate), _) => Some(Gone::Settled(fate.clone())),
            (None, Input::Closed) => Some(Gone::Closed),
            (None, Input::Ended) => Some(Gone::InputEnded),
            (None, Input::Open) => None,
        }
    }

    fn wake_later<T>(&mut self, number: u64, cx: &Context<'_>) -> Poll<T> {
        if let Some(place) = self.place(number) {
            place.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // Before the next prompt is let onto the screen.
        self.hidden = None;
        let is_answered = matches!(self.end, Some(End::Answered));
        // Whatever is typed once the screen says that the prompt is gone is not for it, so it has to be gone before.
        self.desk.retract(self.number, is_answered);
        if self.shown && !is_answered {
            if self.desk.keyboard.is_terminal() && self.desk.keyboard.has_input() {
                self.desk.screen.note(Tone::Alarm, THROWN_AWAY);
            }
            self.desk.keyboard.discard();
            let why = match &self.end {
                Some(End::Gone(gone)) => Some(gone.clone()),
                _ => self.desk.lock().gone(self.number),
            };
            let why = why.map_or_else(
                || "closed here: cancelled, or answered elsewhere".to_owned(),
                |gone| gone.to_string(),
            );
            self.desk.screen.note(Tone::Faint, &why);
        }
        self.desk.leave(self.number);
        if self.shown {
            self.desk.screen.end(Busy::Question);
        }
    }
}

impl Desk {
    /// Takes a prompt's right to lines. It stays in its place, so that the next prompt waits until it has said why it goes.
    fn retract(&self, number: u64, is_answered: bool) {
        let spilled = self.change(|state| {
            let place = state.place(number)?;
            let (was_shown, secret) = (std::mem::take(&mut place.shown), place.secret);
            let lines = std::mem::take(&mut place.lines);
            let forgotten =
                (was_shown && place.fate.is_none()).then(|| place.interaction_id.clone());
            // Whether the answer from here won is not known yet, nor how a prompt ended that was just taken away.
            if let Some(interaction_id) = forgotten {
                state.remember(&interaction_id);
            }
            // What follows an answer is meant for the session, unless it may be the rest of a secret.
            let heir = match (is_answered, secret) {
                (true, false) => Owner::Session,
                (_, secret) => Owner::Nobody { secret },
            };
            let spilled = is_answered && secret && !lines.is_empty();
            for line in lines {
                if !spilled {
                    self.deliver(state, heir, line);
                }
            }
            if state.begun == Some(Owner::Prompt(number)) {
                state.begun = Some(heir);
            }
            Some(spilled)
        });
        if spilled == Some(true) {
            let note = "what was typed after the secret was thrown away";
            self.screen.note(Tone::Faint, note);
        }
    }

    /// Lets the next prompt onto the screen.
    fn leave(&self, number: u64) {
        self.change(|state| {
            state.places.retain(|place| place.number != number);
            state.ring_first();
        });
    }
}

/// What is said of keys that no line came of.
const THROWN_AWAY: &str = "what was typed for the prompt was thrown away";
