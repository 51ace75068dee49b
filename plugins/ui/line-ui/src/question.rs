//! A conversation about one prompt: a question, a line, perhaps another question.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::draft::Line;
use crate::input_router::{Desk, Gone, Seat};
use crate::screen::Tone;

/// What calls a prompt off instead of answering it.
pub(crate) const CANCEL: &str = ".cancel";

/// Why a conversation ended without an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The person does not want to answer, which is a no.
    Cancelled,
    /// This terminal cannot answer.
    Gone(Gone),
}

/// One prompt on the screen.
pub(crate) struct Talk {
    desk: Arc<Desk>,
    seat: Seat,
    secret: bool,
    shown: bool,
}

impl Talk {
    /// A conversation that begins with its first question. A secret one is not echoed.
    pub(crate) fn new(desk: &Arc<Desk>, interaction_id: &str, secret: bool) -> Self {
        Self {
            desk: desk.clone(),
            seat: desk.seat(interaction_id),
            secret,
            shown: false,
        }
    }

    /// The same for the question of a command.
    pub(crate) fn of_command(self) -> Self {
        Self {
            seat: self.seat.of_command(),
            ..self
        }
    }

    /// Asks, and gives the line as it was typed.
    pub(crate) async fn ask(
        &mut self,
        heading: &str,
        invitation: &str,
    ) -> Result<Zeroizing<String>, Stop> {
        if self.shown {
            self.desk.screen().ask(heading, invitation);
        } else {
            self.seat.show(heading, invitation, self.secret).await?;
            self.shown = true;
        }
        loop {
            match self.seat.line().await? {
                Line::Text(text) if text.trim() == CANCEL => return Err(Stop::Cancelled),
                Line::Text(text) => return Ok(text),
                Line::Unusable(why) => {
                    self.correct(why);
                    self.desk.screen().ask("", invitation);
                }
            }
        }
    }

    /// Asks until `read` makes sense of what is typed; its error says what was wrong.
    pub(crate) async fn ask_until<T>(
        &mut self,
        heading: &str,
        invitation: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Stop> {
        let mut heading = heading;
        loop {
            let typed = self.ask(heading, invitation).await?;
            match read(&typed) {
                Ok(answer) => return Ok(answer),
                Err(why) => self.correct(&why),
            }
            heading = "";
        }
    }

    /// Says what is wrong with what was typed.
    pub(crate) fn correct(&self, why: &str) {
        self.desk.screen().note(Tone::Alarm, why);
    }

    /// Says something that needs no answer.
    pub(crate) fn remark(&self, remark: &str) {
        self.desk.screen().note(Tone::Faint, remark);
    }

    /// The person has answered, be it with a no.
    pub(crate) fn answered(self) {
        self.seat.answered();
    }

    /// There will be no answer from here.
    pub(crate) fn give_up(self, why: Gone) {
        self.seat.give_up(why);
    }
}

impl From<Gone> for Stop {
    fn from(gone: Gone) -> Self {
        Self::Gone(gone)
    }
}
