//! The model acts in a stage of a state machine: the loop of a turn, with the stage's own transcript, tools and bound.

use std::sync::Arc;

use stud_contract_meta::Result;
use stud_host_api::BoxFuture;

use super::{Stage, Work, receive, render, tools};
use crate::model::Model;
use crate::session::{Input, Turn};
use crate::workflow::{Actor, StageAttempt};

/// Lets one model act.
pub(super) struct ModelActor {
    model: Model,
}

impl ModelActor {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            model: model.clone(),
        }
    }
}

impl Actor for ModelActor {
    fn receive<'a>(
        &'a self,
        turn: &'a Arc<Turn>,
        input: &'a Input,
    ) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let work = Work::of(turn, &self.model);
            work.stage(Stage::ReceiveInput, receive::receive(&work, input))
                .await
        })
    }

    fn act<'a>(
        &'a self,
        turn: &'a Arc<Turn>,
        attempt: &'a Arc<StageAttempt>,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            Work::in_stage(turn, &self.model, attempt)
                .act(attempt)
                .await
        })
    }

    fn converse<'a>(
        &'a self,
        turn: &'a Arc<Turn>,
        input: &'a Input,
    ) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move { Work::of(turn, &self.model).walk(input).await })
    }

    fn render<'a>(&'a self, turn: &'a Arc<Turn>, text: String) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let work = Work::of(turn, &self.model);
            work.stage(Stage::Render, render::render(&work, text)).await
        })
    }
}

impl Work {
    /// From the stage's body to its completion, to the model's last words, or to the turn cap. Gives whether it was the
    /// cap. The results of the tools that the last answer called are kept and not sent.
    async fn act(&self, attempt: &StageAttempt) -> Result<bool> {
        for turn in 0..attempt.turn_cap() {
            attempt.take_turn(self.turn.session());
            let iteration = u32::try_from(turn).unwrap_or(u32::MAX);
            let said = self.ask_model(iteration).await?;
            if said.proposals.is_empty() {
                self.stage(Stage::Render, render::render(self, said.text))
                    .await?;
                return Ok(false);
            }
            self.stage(Stage::ToolCall, tools::serve(self, said.proposals))
                .await?;
            if attempt.completion().is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
